"""Kept answers are shown only to who may still read what they rest on."""

from pathlib import Path

import pytest

from app.callers.principal import Principal
from app.library.articles import Articles
from app.library.withheld import WITHHELD, shown_turns
from app.schema.answers import AnsweredBy, ChatAnswer, Clarification, DocumentOption, Plan, PlanItem
from app.schema.conversations import Turn
from app.schema.passages import Citation, CitationOrigin
from kb_pipeline.flow.access import Access, AccessLists
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout

ANN, BOB = Principal("ann", ("hr",)), Principal("bob")


@pytest.fixture
def articles(tmp_path: Path) -> Articles:
    """``pay`` is for hr alone."""
    layout = Layout.of(Settings(home=str(tmp_path)))
    AccessLists(layout).record("pay", Access(readers=("hr",)), pending=False)
    return Articles(layout)


def turn(number: int, *article_ids: str, by: AnsweredBy = "agent", used: tuple[str, ...] = ()) -> Turn:
    citations = tuple(
        Citation(
            chunk_id=f"{article_id}-1",
            article_id=article_id,
            title=article_id,
            section="",
            heading_path=(),
            passage="",
            score=1,
            number=place,
            origin=CitationOrigin(run_id="", converter="", content_hash="", embedding_model=""),
            used=article_id in used,
        )
        for place, article_id in enumerate(article_ids, 1)
    )
    answer = ChatAnswer(answer=f"answer {number}", citations=citations, answered_by=by)
    return Turn(response_id=f"caresp_{number}", asked_at="", question=f"question {number}", answer=answer)


def shown(articles: Articles, who: Principal, *turns: Turn) -> list[str | None]:
    return [each.answer.answer if each.answer else None for each in shown_turns(articles, turns, who)]


def test_a_models_answer_rests_on_every_passage_that_it_was_given(articles: Articles) -> None:
    turns = turn(1, "lunch"), turn(2, "lunch", "pay", used=("lunch",))
    assert shown(articles, ANN, *turns) == ["answer 1", "answer 2"]
    assert shown(articles, BOB, *turns) == ["answer 1", None]
    assert shown_turns(articles, turns, BOB)[1].problem == WITHHELD


def test_an_extractive_answer_rests_on_what_it_quotes(articles: Articles) -> None:
    quoting = turn(1, "lunch", "pay", by="extractive", used=("lunch",))
    assert shown(articles, BOB, quoting) == ["answer 1"]
    answer = shown_turns(articles, [quoting], BOB)[0].answer
    assert answer is not None
    assert [citation.article_id for citation in answer.citations] == ["lunch"]
    assert shown(articles, BOB, turn(1, "lunch", "pay", by="extractive", used=("pay",))) == [None]


def test_a_models_later_answers_may_repeat_what_is_withheld(articles: Articles) -> None:
    turns = turn(1, "lunch"), turn(2, "pay"), turn(3), turn(4, "lunch", by="extractive", used=("lunch",)), turn(5)
    assert shown(articles, BOB, *turns) == ["answer 1", None, None, "answer 4", None]
    assert None not in shown(articles, ANN, *turns)


def test_questions_and_turns_without_an_answer_stay_as_they_are(articles: Articles) -> None:
    unanswered = Turn(response_id="caresp_9", asked_at="", question="why?", problem="it was stopped")
    assert shown_turns(articles, [turn(1, "pay"), unanswered], BOB)[1] == unanswered
    assert shown_turns(articles, [turn(1, "pay")], BOB)[0].question == "question 1"


def test_what_was_asked_back_names_its_options(articles: Articles) -> None:
    options = tuple(DocumentOption(number=at, article_id=each, title=each) for at, each in enumerate(("lunch", "pay")))
    back = Clarification(question="Which?", asked="the list", options=options)
    asking = turn(1, by="extractive")
    asking = asking.model_copy(update={"answer": asking.answer.model_copy(update={"clarification": back})})
    assert shown(articles, ANN, asking) == ["answer 1"]
    assert shown(articles, BOB, asking) == [None]


def test_the_plan_of_an_answer_goes_with_the_first_passage_that_is_withheld(articles: Articles) -> None:
    item = PlanItem(position=1, description="Find the list of pay", acceptance_criteria="one")
    quoting = turn(1, "lunch", "pay", by="extractive", used=("lunch",))
    quoting = quoting.model_copy(
        update={"answer": quoting.answer.model_copy(update={"plan": Plan(kind="LISTING", items=(item,))})}
    )
    assert [each.answer.plan is None for who in (ANN, BOB) for each in shown_turns(articles, [quoting], who)] == [
        False,
        True,
    ]


def test_what_is_suggested_from_a_passage_goes_with_it(articles: Articles) -> None:
    refusal = turn(1, "lunch", "pay", by="extractive")
    assert refusal.answer
    update = {"refused": True, "ask_instead": ("What does the board earn?",), "did_you_mean": "lunch?"}
    refusal = refusal.model_copy(update={"answer": refusal.answer.model_copy(update=update)})
    shown_to = {who: shown_turns(articles, [refusal], who)[0].answer for who in (ANN, BOB)}
    assert [bool(answer and answer.ask_instead) for answer in shown_to.values()] == [True, False]


@pytest.mark.parametrize("by", ["agent", "extractive"])
def test_an_answer_that_leans_on_an_article_without_citing_it_is_withheld_with_it(
    articles: Articles, by: AnsweredBy
) -> None:
    naming = turn(1, "lunch", by=by, used=("lunch",))
    assert naming.answer
    naming = naming.model_copy(update={"answer": naming.answer.model_copy(update={"leans_on": ("pay",)})})
    assert (shown(articles, ANN, naming), shown(articles, BOB, naming)) == (["answer 1"], [None])


def test_a_turn_that_failed_says_to_who_may_read_it_what_it_rested_on(articles: Articles) -> None:
    failed = Turn(response_id="caresp_9", asked_at="", question="why?", problem="it failed", rests_on=("lunch", "pay"))
    assert shown_turns(articles, [failed], ANN) == (failed,)
    assert shown_turns(articles, [failed], BOB) == (failed.model_copy(update={"rests_on": None}),)


def test_an_article_whose_list_cannot_be_read_is_hidden_from_everybody(articles: Articles) -> None:
    path = articles.layout.access("lunch")
    path.write_text("{damaged")
    assert shown(articles, ANN, turn(1, "lunch")) == [None]
