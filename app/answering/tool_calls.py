"""The tools of programs, as functions of the agent's model: what they find joins the answer's citations.

The model reads results as numbered passages, which are data and never instructions, so that it can refer to them.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from agent_framework import FunctionTool

from app.answering.base import Question, Searched, ToolEnded, ToolStarted
from app.answering.prompts import NO_MORE_SEARCHES
from app.answering.query import within_room
from app.answering.search_tool import KnowledgeBaseSearch
from app.grounding.citations import CitationBook, facts_of
from app.model.passages import format_passages, format_result
from app.schema.passages import Citation
from app.tools import AnyTool
from app.tools.base import ToolResult, as_value
from kb_pipeline.records import SearchHit

_LONG = 300
"""Characters of a text argument that a step shows."""


class ToolCalls:
    """Calls tools for one answer, for the person who asks. Calls count as searches of ``search``."""

    def __init__(
        self, tools: Mapping[str, AnyTool], question: Question, book: CitationBook, search: KnowledgeBaseSearch
    ) -> None:
        self.functions = [
            FunctionTool(
                name=tool.name,
                description=tool.description,
                func=partial(self._call, tool),
                input_model=_schema_of(tool),
            )
            for tool in tools.values()
        ]
        self._question = question
        self._book = book
        self._search = search
        self._count = 0

    async def _call(self, tool: AnyTool, /, **arguments: Any) -> str:
        if not self._search.may_search():
            return NO_MORE_SEARCHES
        self._count += 1
        call_id = f"{tool.name}_{self._count}"
        self._search.new_steps.append(ToolStarted(call_id, tool.name, _shown(arguments)))
        given = {name: value for name, value in arguments.items() if name not in tool.asker_decides}
        outcome = await tool.call(given, self._question.who)
        if outcome.failure:
            ended = ToolEnded(call_id, tool.name, "", outcome.failure.error)
        else:
            ended = ToolEnded(call_id, tool.name, f"{outcome.count} found")
            self._search.done = True
        self._search.new_steps.append(ended)
        if outcome.failure or not outcome.hits:
            return format_result(json.dumps(as_value(outcome), ensure_ascii=False))
        if any(hit.chunk.block_type != "document" for hit in outcome.hits):
            self._search.new_steps.append(Searched(outcome.query, outcome.count))
        return format_passages(self._cited(outcome))

    def _cited(self, outcome: ToolResult) -> Sequence[Citation]:
        """Return the passages that the model reads. All documents of a list are among them, each in short."""
        if all(hit.chunk.block_type == "document" for hit in outcome.hits) and len(outcome.hits) > 1:
            citations = self._book.add(outcome.hits)
            return [*map(_in_short, citations, outcome.hits)]
        return self._book.add(within_room(outcome.hits))


def _schema_of(tool: AnyTool) -> dict[str, Any]:
    """Return the schema of the arguments that a model may choose."""
    schema = tool.parameters_schema
    chosen = {name: each for name, each in schema.get("properties", {}).items() if name not in tool.asker_decides}
    return {**schema, "properties": chosen}


def _in_short(citation: Citation, hit: SearchHit) -> Citation:
    """Return the citation of a document with its facts and its short summary alone."""
    entry = hit.chunk.document
    facts = f"doc_id: {hit.chunk.article_id}. {facts_of(entry)}" if entry else ""
    return citation.model_copy(update={"passage": "\n\n".join([facts, entry.summary.brief_text if entry else ""])})


def _shown(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as a step shows them, without what is empty."""
    return {
        name: value[:_LONG] if isinstance(value, str) else value
        for name, value in arguments.items()
        if value not in (None, {}, [], "")
    }
