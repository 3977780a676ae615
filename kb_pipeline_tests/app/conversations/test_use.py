"""How answers were used is counted from what is stored, without a text of a person."""

from app.answering.planning.plan import plan_of
from app.conversations.asked import use_of
from app.schema.answers import ChatAnswer, Clarification, DocumentOption, Plan, ToolUse
from app.schema.conversations import Turn
from kb_pipeline.evaluation.use import AnswerUse, UseTally
from kb_pipeline_tests.app.grounding.passages import citation

ASKED_BACK = Clarification(
    question="Which?",
    asked="Summarise the guide",
    options=(
        DocumentOption(number=1, article_id="a", title="VPN guide"),
        DocumentOption(number=2, article_id="b", title="Tax"),
    ),
)


def turn(question: str = "How?", said: str = "So.", **answer: object) -> Turn:
    made = ChatAnswer(answer=said, citations=(), answered_by="extractive").model_copy(update=answer)
    return Turn(response_id=question, asked_at="2026-11-27", question=question, answer=made)


def followed(*statuses: str) -> Plan:
    plan = plan_of("LISTING")
    return plan.model_copy(
        update={"items": tuple(i.model_copy(update={"status": s}) for i, s in zip(plan.items, statuses, strict=True))}
    )


def test_answers_and_the_sources_that_were_opened() -> None:
    cited = (citation("Yes.").model_copy(update={"used": True}), citation("No.", 2))
    found = use_of([turn(citations=cited), turn(refused=True), turn(is_closest=True)], opened=1)
    assert (found.answers, found.refused, found.closest, found.sources) == (3, 1, 1, UseTally(times=1, well=1))


def test_a_courtesy_and_an_answer_that_failed_count_as_none() -> None:
    failed = turn().model_copy(update={"problem": "the model is away"})
    assert use_of([turn(said="You're welcome."), failed], opened=0) == AnswerUse()


def test_an_option_that_was_chosen() -> None:
    back = turn("Summarise the guide", clarification=ASKED_BACK)
    assert use_of([back, turn("2"), back, turn("Never mind, how do I pay?"), back], 0).options == UseTally(
        times=3, well=1
    )


def test_plans_and_tools_that_succeeded() -> None:
    tools = (ToolUse(name="search"), ToolUse(name="search", failed=True))
    found = use_of(
        [turn(plan=followed("COMPLETED", "COMPLETED"), tools=tools), turn(plan=followed("COMPLETED", "FAILED"))], 0
    )
    assert found.plans == {"LISTING": UseTally(times=2, well=1)}
    assert found.tools == {"search": UseTally(times=2, well=1)}


def test_what_never_happened_has_no_row() -> None:
    assert AnswerUse().rows() == []
    assert AnswerUse(answers=3, refused=1).rows() == [{"what": "answers that answer", "times": 2, "of": 3}]
