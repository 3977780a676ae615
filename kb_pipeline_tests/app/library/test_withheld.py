"""Kept answers are shown only to who may still read what they rest on."""

from pathlib import Path

import pytest

from app.callers.principal import Principal
from app.library.articles import Articles
from app.library.withheld import WITHHELD, readable_part, shown_turns
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


LUNCH, PAY = "/api/images/lunch/images/menu.png", "/api/images/pay/images/table.png"
FIRST = "> Lunch is at noon. [Ref #1]\n\n"


def part(articles: Articles, text: str, folded: tuple[int, int] | None = None, **changed: object) -> ChatAnswer | None:
    """What Bob may read of quotations of ``lunch`` (1) and ``pay`` (2)."""
    asked = turn(1, "lunch", "pay", by="extractive", used=("lunch", "pay")).answer
    assert asked
    return readable_part(articles, asked.model_copy(update={"answer": text, "folded": folded, **changed}), BOB)


@pytest.mark.parametrize(
    "hidden",
    [
        "From *Pay*:\n\n> Pay is high. [Ref #2]\n\n",
        "> Pay is high.\n>\n> | a | b |\n> |---|---|\n> | 1 | 2 |\n>\n> [Ref #2]\n\n",
        "> Both are said. [Ref #1] [Ref #2]\n\n",
        f"![the table]({PAY})\n\n",
        f"> The table. ![the table]({PAY}) [Ref #2]\n\n",
        "**See also**\n\n- *Lunch* [Ref #1]\n- *Pay › Bonus* [Ref #2]\n\n",
        "1. *Pay* says nothing.\n\n",
        "```\nsalary = 12345 [Ref #1]\n```\n\n",
        "> ```\n> salary [Ref #1]\n> ```\n>\n> [Ref #2]\n\n",
    ],
)
def test_quotations_are_left_out_with_all_that_may_name_them(articles: Articles, hidden: str) -> None:
    for text in (f"{hidden}{FIRST}", f"{FIRST}{hidden}"):
        left = part(articles, f"{text}*made of quotations*")
        assert left and left.answer == FIRST
        assert [each.article_id for each in left.citations] == ["lunch"]


def test_what_is_left_keeps_its_pictures_and_its_fold(articles: Articles) -> None:
    shown = f"{FIRST}![the menu]({LUNCH})\n\n"
    folded = "> Pay is high. [Ref #2]\n\n> Tea is at five. [Ref #1]\n\n"
    left = part(articles, shown + folded, (len(shown), len(shown + folded)))
    assert left and left.answer == f"{shown}> Tea is at five. [Ref #1]\n\n"
    assert left.folded and left.answer[slice(*left.folded)] == "> Tea is at five. [Ref #1]\n\n"


def test_nothing_is_left_of_what_has_no_parts(articles: Articles) -> None:
    both = f"{FIRST}> Pay is high. [Ref #2]"
    assert part(articles, "> Pay is high. [Ref #2]") is None
    assert part(articles, both, answered_by="agent") is None
    assert part(articles, both, leans_on=("pay",)) is None
    assert part(articles, both, did_you_mean="Is pay high?", follow_ups=("What is the pay?",)) == part(articles, both)
