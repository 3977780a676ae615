"""The steps of an answer, for people: what goes on now, and the plan as it was followed. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.client import PlanStep, SearchStep, ToolStep
from app.page.labels import count
from app.schema import Plan, PlanItem, PlanStatus, QueryKind

_KINDS: Mapping[QueryKind, str] = {
    "CONTENT_SEARCH": "Search",
    "LISTING": "List of documents",
    "METADATA_SEARCH": "Facts about documents",
    "DOCUMENT_SUMMARY": "Summary",
    "COMPARISON": "Comparison",
}
_STATUSES: Mapping[PlanStatus, tuple[str, str]] = {
    "PENDING": ("not begun", "kb-none"),
    "IN_PROGRESS": ("not finished", "kb-warn"),
    "COMPLETED": ("done", "kb-good"),
    "FAILED": ("failed", "kb-bad"),
}
_LONGEST = 80


def now(step: SearchStep | PlanStep | ToolStep) -> str:
    """What goes on since this step, in words; nothing if the step says nothing new."""
    match step:
        case SearchStep():
            return "Reading the passages"
        case ToolStep(name, arguments):
            return _tool(name, arguments)
        case PlanStep(plan):
            current = next((item for item in plan.items if item.status == "IN_PROGRESS"), None)
            return f"Step {current.position} of {len(plan.items)}: {_short(current.description)}" if current else ""


def _tool(name: str, arguments: Mapping[str, Any]) -> str:
    match name, arguments:
        case (("rag_semantic_search" | "search_knowledge_base"), {"query": query}):
            return f"Searching for “{_short(query)}”"
        case "search_web", {"query": query}:
            return f"Searching the web for “{_short(query)}”"
        case "rag_get_document", {"doc_id": document}:
            return f"Reading the summary of {_short(document)}"
        case "rag_list_documents", _:
            return "Listing documents"
    return f"Using {_short(name)}"


def _short(value: object) -> str:
    words = " ".join(str(value).split())
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1].rstrip() + "…"


@dataclass(frozen=True)
class FollowedPlan:
    """A plan for people who look at an answer that has ended."""

    plan: Plan

    @property
    def heading(self) -> str:
        """``Plan · Comparison · 2 of 3 steps done, 1 failed``."""
        steps = count(len(self.plan.items), "step")
        done, failed = self._number_of("COMPLETED"), self._number_of("FAILED")
        how = f"{done} of {steps} done{f', {failed} failed' if failed else ''}"
        return f"Plan · {_KINDS[self.plan.kind]} · {how}"

    @property
    def items(self) -> tuple[tuple[PlanItem, str, str], ...]:
        """Each item with its status in words and its class in the style sheet."""
        return tuple((item, *_STATUSES[item.status]) for item in self.plan.items)

    def _number_of(self, status: PlanStatus) -> int:
        return sum(item.status == status for item in self.plan.items)
