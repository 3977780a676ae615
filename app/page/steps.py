"""The steps of an answer, for people: what goes on now, and the plan as it was followed. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.client import PlanStep, SearchStep, ToolStep
from app.schema.answers import Plan, PlanItem, PlanStatus, QueryKind
from app.schema.steps import shortened, tool_in_words
from kb_pipeline.wording import counted

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


def now(step: SearchStep | PlanStep | ToolStep) -> str:
    """What goes on since this step, in words; nothing if the step says nothing new."""
    match step:
        case SearchStep(on_web=on_web):
            return "Reading the pages" if on_web else "Reading what was found"
        case ToolStep(name, arguments):
            return tool_in_words(name, arguments)
        case PlanStep(plan):
            current = next((item for item in plan.items if item.status == "IN_PROGRESS"), None)
            return f"Step {current.position} of {len(plan.items)}: {shortened(current.description)}" if current else ""


@dataclass(frozen=True)
class FollowedPlan:
    """A plan for people who look at an answer that has ended."""

    plan: Plan

    @property
    def heading(self) -> str:
        """``Plan · Comparison · 2 of 3 steps done, 1 failed``."""
        steps = counted(len(self.plan.items), "step")
        done, failed = self._number_of("COMPLETED"), self._number_of("FAILED")
        how = f"{done} of {steps} done{f', {failed} failed' if failed else ''}"
        return f"Plan · {_KINDS[self.plan.kind]} · {how}"

    @property
    def items(self) -> tuple[tuple[PlanItem, str, str], ...]:
        """Each item with its status in words and its class in the style sheet."""
        return tuple((item, *_STATUSES[item.status]) for item in self.plan.items)

    def _number_of(self, status: PlanStatus) -> int:
        return sum(item.status == status for item in self.plan.items)
