"""An answer in the events of the Responses protocol: its searches, its text, its references."""

from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

from azure.ai.agentserver.responses import ResponseEventStream
from azure.ai.agentserver.responses.models import ResponseUsage

from app.answering.base import Searched
from app.grounding.references import find_references
from app.schema import ChatAnswer, Citation

Event = MutableMapping[str, Any]


class AnswerEvents:
    """Emits an answer: one ``file_search_call`` for each search, one message for all the text."""

    def __init__(self, stream: ResponseEventStream) -> None:
        """Say which response it is of."""
        self._stream = stream
        self._message: Any = None
        self._content: Any = None

    def searched(self, event: Searched) -> Iterator[Event]:
        """A search that was done."""
        call = self._stream.add_output_item_file_search_call()
        yield call.emit_added()
        yield call.emit_in_progress()
        yield call.emit_searching()
        yield call.emit_completed()
        done: Any = call.emit_done()
        _amend(self._stream, done, {"queries": [event.query]})
        yield done

    def text(self, delta: str) -> Iterator[Event]:
        """More of the text."""
        yield from self._begin()
        yield self._content.emit_delta(delta)

    def end(self, answer: ChatAnswer) -> Iterator[Event]:
        """The text is complete: its references, then the end of the message."""
        yield from self._begin()
        annotations = list(_annotations(answer.answer, answer.citations))
        yield self._content.emit_text_done(answer.answer)
        for annotation in annotations:
            yield self._content.emit_annotation_added(annotation)
        part: Any = self._content.emit_done()
        part["part"]["annotations"] = annotations
        yield part
        done: Any = self._message.emit_done()
        text = {"type": "output_text", "text": answer.answer, "annotations": annotations, "logprobs": []}
        _amend(self._stream, done, {"content": [text]})
        yield done

    @staticmethod
    def usage(answer: ChatAnswer) -> ResponseUsage | None:
        """What a model was given and wrote; nothing where no model was asked."""
        if answer.usage is None:
            return None
        given, wrote = answer.usage.input_tokens, answer.usage.output_tokens
        return {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": wrote,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + wrote,
        }

    def _begin(self) -> Iterator[Event]:
        if self._message is None:
            self._message = self._stream.add_output_item_message()
            yield self._message.emit_added()
            self._content = self._message.add_text_content()
            yield self._content.emit_added()


def _amend(stream: ResponseEventStream, event: Event, fields: dict[str, Any]) -> None:
    """Add to a finished item what its builder has no words for, in the event and in the response that is kept."""
    event["item"].update(fields)
    for item in stream.response["output"]:
        if item["id"] == event["item"]["id"]:
            item.update(fields)


def _annotations(text: str, citations: Iterable[Citation]) -> Iterator[dict[str, Any]]:
    by_number = {citation.number: citation for citation in citations}
    for start, end, number in find_references(text):
        if citation := by_number.get(number):
            yield {
                "type": "url_citation",
                "url": citation.source_url or f"/api/articles/{citation.article_id}",
                "title": " › ".join(citation.heading_path) or citation.title,
                "start_index": start,
                "end_index": end,
            }
