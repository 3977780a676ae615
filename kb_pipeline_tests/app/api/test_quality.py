"""What was measured, as one person may see it."""

from typing import Any

import httpx
import pytest

from app.library.quality import _Visibility
from kb_pipeline.evaluation.answers import CitedPassage, GivenAnswer, answer_outcome
from kb_pipeline.evaluation.asking import Wording
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, signed_in
from kb_pipeline_tests.app.quality_history import ANSWERED, BREAD, CROP, GONE, JAM, NEW, OLD, SALARY, write_history

ANN, HR = signed_in("ann"), signed_in("bob", "group-hr")


@pytest.fixture
def history(own: Settings) -> None:
    """Something was measured."""
    write_history(own)


def asked_of(details: dict[str, Any]) -> set[str]:
    return {question["asked"] for question in details["questions"]}


def test_nothing_was_measured_at_first(service: httpx.Client) -> None:
    assert service.get("/api/quality/runs").json()["runs"] == []


def test_runs_are_told_oldest_first_with_what_each_measure_means(history: None, service: httpx.Client) -> None:
    told = service.get("/api/quality/runs").json()
    assert [run["id"] for run in told["runs"]] == [OLD, NEW, ANSWERED]
    score = told["runs"][0]["scores"]["article@5"]["all"]
    assert (score["value"], score["n"]) == (0.5, 4)
    assert told["runs"][1]["worse"] and not told["runs"][1]["accepted"]
    assert {score for run in told["runs"] for score in run["scores"]} <= {each["name"] for each in told["measures"]}
    only = service.get("/api/quality/runs", params={"kind": "answers"}).json()
    assert [run["id"] for run in only["runs"]] == [ANSWERED]


def test_a_run_is_told_with_what_was_expected_and_found(history: None, service: httpx.Client) -> None:
    questions = service.get(f"/api/quality/runs/{OLD}").json()["questions"]
    crop = next(question for question in questions if question["asked"] == CROP.question)
    assert (crop["title"], crop["section"], crop["answer_span"]) == ("Layers", "A section", "Crop to Content")
    assert [(found["title"], found["right"]) for found in crop["found"]] == [("Printing", False), ("Layers", True)]
    assert (crop["article_rank"], crop["missed"], crop["answer"]) == (2, [], None)


def test_answers_are_told_with_what_is_wrong_with_them(history: None, service: httpx.Client) -> None:
    details = service.get(f"/api/quality/runs/{ANSWERED}").json()
    answers = {question["asked"]: question["answer"] for question in details["questions"]}
    assert answers[CROP.question]["text"] == "Choose *Crop to Content*. [Ref #1]"
    assert answers[CROP.question]["unsupported"] == ["It costs five euros."]
    assert (answers[CROP.question]["grounded"], answers[CROP.question]["reason"]) == (0.5, "The price is nowhere.")
    assert answers[GONE.question]["failure"] == "the model was silent for 30 s"
    assert answers[BREAD.question]["refused"]


def test_two_runs_are_compared_question_by_question(history: None, service: httpx.Client) -> None:
    told = service.get("/api/quality/compare", params={"before": OLD, "after": NEW}).json()
    assert {change["after"]["asked"]: change["fate"] for change in told["changes"]} == {
        CROP.question: "lost",
        JAM.question: "won",
    }
    assert (told["questions"], told["differences"]["article@5"]["value"]) == (5, 0)


def test_an_answer_is_told_to_who_may_see_all_that_it_may_repeat() -> None:
    cited = CitedPassage(number=1, article_id="layers", chunk_id="layers-1", score=0.5)
    given = GivenAnswer(text="It is 12345. [Ref #1]", cited=(cited,), rests_on=("layers", "secret"))
    asked = answer_outcome(Wording(CROP, "own", CROP.question, False), given)
    for titles, text in (({"layers": "Layers"}, ""), ({"layers": "Layers", "secret": "Salaries"}, given.text)):
        answer = _Visibility(titles, None).question(asked, "answers").answer
        assert answer and answer.text == text


def test_an_answer_of_an_earlier_release_may_repeat_any_article() -> None:
    cited = CitedPassage(number=1, article_id="layers", chunk_id="layers-1", score=0.5)
    asked = answer_outcome(Wording(CROP, "own", CROP.question, False), GivenAnswer(text="It is 1.", cited=(cited,)))
    answer = _Visibility({"layers": "Layers"}, None).question(asked, "answers").answer
    assert answer and answer.text == ""


def test_what_a_person_may_not_see_is_neither_asked_nor_found_nor_answered(history: None, serve: Serve) -> None:
    service = serve(easy_auth=True)
    shown = service.get(f"/api/quality/runs/{ANSWERED}", headers=ANN).json()
    assert asked_of(shown) == {CROP.question, JAM.question, BREAD.question}
    assert "secret" not in str(shown) and "12345" not in str(shown) and "stapler" not in str(shown)
    told = service.get("/api/quality/compare", params={"before": OLD, "after": NEW}, headers=ANN)
    assert "secret" not in told.text
    for_hr = service.get(f"/api/quality/runs/{ANSWERED}", headers=HR).json()
    assert asked_of(for_hr) == {CROP.question, JAM.question, BREAD.question, SALARY.question}
    assert "12345" in str(for_hr)


def test_only_the_person_at_the_machine_hears_of_articles_that_are_gone(
    history: None, service: httpx.Client, serve: Serve
) -> None:
    assert asked_of(service.get(f"/api/quality/runs/{OLD}").json()) == {
        *(CROP.question, JAM.question, GONE.question, BREAD.question)
    }
    for_hr = serve(easy_auth=True).get("/api/quality/runs", headers=HR).json()
    assert all(run["unknown_articles"] == [] for run in for_hr["runs"])


@pytest.mark.parametrize(
    "path",
    [
        "runs/retrieval-ffffffffffffffff",
        "runs/..%2F..%2Fstate",
        f"compare?before={OLD}&after={ANSWERED}",
        f"compare?before={OLD}&after=nothing",
    ],
)
def test_what_was_not_measured_is_404(path: str, history: None, service: httpx.Client) -> None:
    reply = service.get(f"/api/quality/{path}")
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
