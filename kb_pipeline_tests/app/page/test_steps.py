"""What goes on while an answer is made, and what was done for it, in words."""

import pytest

from app.client import PlanStep, SearchStep, Step, ToolStep
from app.page.steps import FollowedPlan, now
from app.page.templates import render
from app.schema.answers import Plan, PlanItem, PlanStatus


def plan(*statuses: PlanStatus) -> Plan:
    items = (
        PlanItem(position=at, description=f"Find <b>{at}</b>", acceptance_criteria="one", status=status)
        for at, status in enumerate(statuses, 1)
    )
    return Plan(kind="COMPARISON", items=tuple(items))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (SearchStep(("crop",)), "Reading what was found"),
        (PlanStep(plan("PENDING", "PENDING")), ""),
        (PlanStep(plan("COMPLETED", "IN_PROGRESS", "PENDING")), "Step 2 of 3: Find <b>2</b>"),
        (ToolStep("rag_semantic_search", {"query": "crop\na layer"}), "Searching for “crop a layer”"),
        (ToolStep("search_knowledge_base", {"query": "crop"}), "Searching for “crop”"),
        (ToolStep("rag_list_documents", {"limit": 3}), "Listing documents"),
        (ToolStep("rag_get_document", {"doc_id": "install.pdf"}), "Reading the summary of install.pdf"),
        (ToolStep("search_web", {"query": "x" * 500}), f"Searching the web for “{'x' * 79}…”"),
        (ToolStep("rag_get_document", {}), "Using rag_get_document"),
        (ToolStep("get_weather", {"city": "Bern"}), "Using get_weather"),
    ],
)
def test_a_step_is_said_in_words(step: Step, words: str) -> None:
    assert now(step) == words


def test_what_a_step_names_is_shown_as_text() -> None:
    assert "<b>2" not in render("answer", "pulse", now(PlanStep(plan("COMPLETED", "IN_PROGRESS"))))


@pytest.mark.parametrize(
    ("statuses", "heading"),
    [
        (("COMPLETED", "COMPLETED"), "Plan · Comparison · 2 of 2 steps done"),
        (("COMPLETED", "FAILED", "PENDING"), "Plan · Comparison · 1 of 3 steps done, 1 failed"),
        (("IN_PROGRESS",), "Plan · Comparison · 0 of 1 step done"),
    ],
)
def test_the_heading_of_a_plan_says_how_far_it_was_followed(statuses: tuple[PlanStatus, ...], heading: str) -> None:
    assert FollowedPlan(plan(*statuses)).heading == heading


def test_the_items_of_a_plan_are_shown_as_text_with_their_statuses() -> None:
    shown = render("answer", "plan", FollowedPlan(plan("COMPLETED", "FAILED", "PENDING", "IN_PROGRESS")))
    assert "&lt;b&gt;1" in shown and "<b>" not in shown
    for words in ("done", "failed", "not begun", "not finished"):
        assert f">{words}</span>" in shown
