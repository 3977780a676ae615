"""The events of an answer in the Responses protocol.

    plan, and each change of it       reasoning
    a tool is called, and returns     function_call, function_call_output
    a search                          file_search_call, or web_search_call
    a question that is asked back     structured_outputs, before the message with its words
    text                              one message, with a url_citation for each reference
    the whole answer, if wanted       structured_outputs, last: with all citations, which annotations cannot carry

A client that knows none of the items reads the message. While that is open, nothing else begins: a response that is
cut off would have a gap in its place. What happens meanwhile follows the message.
"""

import json
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

from azure.ai.agentserver.responses import ResponseEventStream
from azure.ai.agentserver.responses.models import ResponseUsage

from app.answering.base import AskedBack, ItemChanged, Planned, Searched, Step, TextPart, ToolEnded, ToolStarted
from app.grounding.references import find_references
from app.grounding.source_style import Placed, SourceStyle
from app.schema.answers import ChatAnswer, Plan, PlanStatus
from app.schema.passages import Citation

Event = MutableMapping[str, Any]


_WORDS: dict[PlanStatus, str] = {
    "PENDING": "to do",
    "IN_PROGRESS": "in progress",
    "COMPLETED": "done",
    "FAILED": "failed",
}


class AnswerEvents:
    """Makes the events of an answer, item by item."""

    def __init__(
        self, stream: ResponseEventStream, style: SourceStyle | None = None, *, carries_answer: bool = False
    ) -> None:
        """``style`` writes references as sources; without it they stay as they are.

        ``carries_answer``: the response ends with the whole answer, for clients that reach no other route.
        """
        self._stream = stream
        self._style = style
        self._carries_answer = carries_answer
        self._message: Any = None
        self._content: Any = None
        self._plan: Plan | None = None
        self._later: list[Step] = []

    def of(self, event: Step | TextPart) -> Iterator[Event]:
        """The events of what has just happened."""
        if isinstance(event, TextPart):
            yield from self._text(event.delta)
        elif self._message is None:
            yield from self._item(event)
        else:
            self._later.append(event)

    def _item(self, event: Step) -> Iterator[Event]:
        match event:
            case Searched(query, on_web=True):
                yield from self._searched_web(query)
            case Searched(query):
                yield from self._searched(query)
            case Planned(plan):
                items = "\n".join(f"{item.position}. {item.description}" for item in plan.items)
                yield from self._planned(plan, f"Plan:\n{items}")
            case ItemChanged(position, status) if self._plan:
                plan = self._plan.with_status(position, status)
                changed = next((item for item in plan.items if item.position == position), None)
                if changed:
                    yield from self._planned(plan, f"{position}. {changed.description}: {_WORDS[status]}")
            case ToolStarted(call_id, name, arguments):
                said = json.dumps(dict(arguments), ensure_ascii=False)
                yield from self._stream.output_item_function_call(name, call_id, said)
            case ToolEnded(call_id, _, summary, error):
                outcome = {"success": False, "error": error} if error else {"success": True, "summary": summary}
                said = json.dumps(outcome, ensure_ascii=False)
                yield from self._stream.output_item_function_call_output(call_id, said)
            case AskedBack(clarification):
                yield from self._stream.output_item_structured_outputs(
                    {"clarification": clarification.model_dump(mode="json")}
                )

    def _planned(self, plan: Plan, words: str) -> Iterator[Event]:
        """Reasoning that a person can read; ``plan`` is a field of ours, for programs."""
        self._plan = plan
        *events, done = self._stream.output_item_reasoning_item(words)
        yield from events
        _amend(self._stream, done, {"plan": plan.model_dump(mode="json")})
        yield done

    def _searched_web(self, query: str) -> Iterator[Event]:
        action = {"type": "search", "query": query}
        return self._called(self._stream.add_output_item_web_search_call(), {"action": action})

    def _searched(self, query: str) -> Iterator[Event]:
        return self._called(self._stream.add_output_item_file_search_call(), {"queries": [query]})

    def _called(self, call: Any, added: dict[str, Any]) -> Iterator[Event]:  # noqa: ANN401  (two kinds of searches)
        yield call.emit_added()
        yield call.emit_in_progress()
        yield call.emit_searching()
        yield call.emit_completed()
        done: Any = call.emit_done()
        _amend(self._stream, done, added)
        yield done

    def _text(self, delta: str) -> Iterator[Event]:
        yield from self._begin()
        if piece := self._style.feed(delta) if self._style else delta:
            yield self._content.emit_delta(piece)

    def end(self, answer: ChatAnswer) -> Iterator[Event]:
        """The events of the end: the references of the complete text, the end of the message, what happened since."""
        yield from self._begin()
        text, placed = answer.answer, list(find_references(answer.answer))
        if self._style:
            if rest := self._style.finish():
                yield self._content.emit_delta(rest)
            text, placed = self._style.written, self._style.placed
        annotations = list(_annotations(placed, answer.citations))
        yield self._content.emit_text_done(text)
        for annotation in annotations:
            yield self._content.emit_annotation_added(annotation)
        part: Any = self._content.emit_done()
        part["part"]["annotations"] = annotations
        yield part
        done: Any = self._message.emit_done()
        content = {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}
        _amend(self._stream, done, {"content": [content]})
        yield done
        for event in self._later:
            yield from self._item(event)
        if self._carries_answer:
            yield from self._stream.output_item_structured_outputs({"answer": answer.model_dump(mode="json")})

    @staticmethod
    def usage(answer: ChatAnswer) -> ResponseUsage | None:
        """The tokens that the model read and wrote; ``None`` if no model was used."""
        if answer.usage is None:
            return None
        read, written = answer.usage.input_tokens, answer.usage.output_tokens
        return {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        }

    def _begin(self) -> Iterator[Event]:
        if self._message is None:
            self._message = self._stream.add_output_item_message()
            yield self._message.emit_added()
            self._content = self._message.add_text_content()
            yield self._content.emit_added()


def _amend(stream: ResponseEventStream, event: Event, fields: dict[str, Any]) -> None:
    """Add fields that the builder does not support to a finished item, in the event and in the stored response."""
    event["item"].update(fields)
    for item in stream.response["output"]:
        if item["id"] == event["item"]["id"]:
            item.update(fields)


def _annotations(placed: Iterable[Placed], citations: Iterable[Citation]) -> Iterator[dict[str, Any]]:
    by_number = {citation.number: citation for citation in citations}
    for start, end, number in placed:
        if citation := by_number.get(number):
            yield {
                "type": "url_citation",
                "url": citation.document_url or citation.source_url or f"/api/articles/{citation.article_id}",
                "title": " › ".join(citation.heading_path) or citation.title,
                "start_index": start,
                "end_index": end,
            }
