"""What a diagnosis is worth beside what people know of the incident, and when a run of them is worse than another."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from kb_pipeline.evaluation.comparison import FEWEST_QUESTIONS, compare
from kb_pipeline.evaluation.diagnosis import (
    GivenDiagnosis,
    Suspect,
    changed_rows,
    diagnosis_outcome,
    diagnosis_values,
    missed_rows,
)
from kb_pipeline.evaluation.history import forget_runs, load_outcomes, load_run, load_runs, save
from kb_pipeline.evaluation.judging import accept, judge_live
from kb_pipeline.evaluation.measures import mean_scores
from kb_pipeline.evaluation.plot import plot_history
from kb_pipeline.evaluation.records import Evaluation, QuestionOutcome
from kb_pipeline.network.incidents import Incident
from kb_pipeline.settings import Settings
from kb_pipeline_tests.evaluation.known import AT, LATER, evaluation, run

TYPES = dict.fromkeys("abcdefgh", "Link")


def incident(*causes: str, number: int = 0, planned: Sequence[str] = ()) -> Incident:
    until = datetime(2026, 11, 2, 3, number, tzinfo=UTC)
    return Incident(incident=f"incident {number}", until=until, causes=causes, planned=tuple(planned))


def given(*named: str, ranked: str = "abcd", probability: float = 0.9, planned: Sequence[str] = ()) -> GivenDiagnosis:
    suspects = tuple(
        Suspect(id=name, probability=probability if not place else 0.01) for place, name in enumerate(ranked)
    )
    return GivenDiagnosis(ranked=suspects, named=named, planned=tuple(planned))


@pytest.mark.parametrize(
    ("known", "found", "values"),
    [
        (incident("a"), given("a"), {"top-1": 1, "top-3": 1, "Brier": 0.01}),
        (incident("c"), given("a"), {"top-1": 0, "top-3": 1, "Brier": 0.81}),
        (incident("d"), given("a"), {"top-1": 0, "top-3": 0, "Brier": 0.81}),
        (incident("a"), given(probability=0.1), {"top-1": 0, "top-3": 1, "Brier": 0.81}),
        (incident("a", "d"), given("a", "d"), {"top-1": 1, "top-3": 0.5, "Brier": 0.01}),
        (incident("a", "b", "c", "d"), given("a"), {"top-1": 1, "top-3": 1, "Brier": 0.01}),
        (incident(), given(probability=0.1), {"no common cause": 1, "Brier": 0.01}),
        (incident(), given("a"), {"no common cause": 0, "Brier": 0.81}),
        (incident(), GivenDiagnosis(named=("a",), is_alone=True), {"no common cause": 1, "Brier": 0}),
        (incident(), GivenDiagnosis(), {"no common cause": 1, "Brier": 0}),
        (incident("a"), GivenDiagnosis(), {"top-1": 0, "top-3": 0, "Brier": 1}),
        (
            incident("a", planned=["a"]),
            given("a", planned=["a", "b"]),
            {"top-1": 1, "top-3": 1, "planned work": 1, "Brier": 0.01},
        ),
        (
            incident("a", planned=["a"]),
            given("a"),
            {"top-1": 1, "top-3": 1, "planned work": 0, "Brier": 0.01},
        ),
        (incident("a"), GivenDiagnosis(failure="no telemetry"), {"top-1": 0, "top-3": 0}),
        (incident(), GivenDiagnosis(failure="no telemetry"), {"no common cause": 0}),
    ],
)
def test_only_a_cause_that_the_report_names_is_found(
    known: Incident, found: GivenDiagnosis, values: dict[str, float]
) -> None:
    assert diagnosis_values(known, found) == pytest.approx(values)


def outcome(known: Incident, found: GivenDiagnosis) -> QuestionOutcome:
    return diagnosis_outcome(known, "incidents", TYPES, found)


def test_scores_are_shown_by_what_had_failed() -> None:
    outcomes = [
        outcome(incident("a"), given("a")),
        outcome(incident("b", number=1), given("a")),
        outcome(incident("a", "b", number=2), given("a")),
        outcome(incident(number=3), given()),
    ]
    scores = mean_scores(outcomes)
    assert scores["top-1"]["all"].value == pytest.approx(2 / 3, abs=1e-6)
    assert {group: score.n for group, score in scores["top-1"].items()} == {
        "all": 3,
        "cause: Link": 2,
        "several causes": 1,
    }
    assert {group: score.n for group, score in scores["no common cause"].items()} == {"all": 1, "no common cause": 1}


def test_what_was_missed_is_told_with_what_had_failed_and_what_was_named() -> None:
    outcomes = [
        outcome(incident("a"), given("a")),
        outcome(incident("d", number=1), given("a")),
        outcome(incident(number=2), given("b", ranked="ba")),
        outcome(incident("a", number=3), GivenDiagnosis(failure="the store is closed")),
        outcome(incident("a", number=4, planned=["a"]), given("a")),
    ]
    told = {row["incident"]: (row["had failed"], row["named"]) for row in missed_rows(outcomes)}
    assert told == {
        "incident 1": ("d", "a"),
        "incident 2": ("no common cause", "b"),
        "incident 3": ("a", "failed: the store is closed"),
        "incident 4": ("a", "a"),
    }
    assert missed_rows(outcomes)[0]["candidates"] == "a 90%, b 1%, c 1%"


def diagnosed(number: int, right: Sequence[bool], **more: object) -> Evaluation:
    """A run over incidents with one cause each, which is named where it is right."""
    outcomes = [
        outcome(incident("a", number=place), given("a") if is_right else given("b", ranked="bcde"))
        for place, is_right in enumerate(right)
    ]
    told = {"id": f"diagnosis-{number:016x}", "kind": "diagnosis", "scenario": "telco", "scores": mean_scores(outcomes)}
    return evaluation(number, outcomes, **(told | more))


def test_of_few_incidents_more_lost_than_won_is_worse() -> None:
    before = diagnosed(0, [True, True, False])
    assert compare(before, diagnosed(1, [True, False, False])).worse == ("1 of 3 incidents lost, 0 won",)
    assert compare(before, diagnosed(1, [True, False, True])).worse == ()
    assert compare(before, diagnosed(1, [True, True, True])).worse == ()


def test_of_many_incidents_an_interval_below_zero_is_worse() -> None:
    before = diagnosed(0, [True] * FEWEST_QUESTIONS)
    assert compare(before, diagnosed(1, [False] + [True] * (FEWEST_QUESTIONS - 1))).worse == ()
    half = [False, True] * (FEWEST_QUESTIONS // 2)
    assert [told.split()[0] for told in compare(before, diagnosed(1, half)).worse] == ["top-1", "top-3"]


def test_only_incidents_that_both_runs_have_are_compared() -> None:
    comparison = compare(diagnosed(0, [True]), diagnosed(1, [True, False, False]))
    assert (comparison.questions, comparison.worse) == (1, ())


def test_a_changed_incident_is_told_with_what_was_named_before_and_now() -> None:
    comparison = compare(diagnosed(0, [True, True]), diagnosed(1, [True, False]))
    assert changed_rows(comparison.of("lost")) == [
        {"incident": "incident 1", "had failed": "a", "named before": "a", "named now": "b"}
    ]


def test_a_worse_run_is_not_what_the_next_is_compared_with_until_it_is_accepted(settings: Settings) -> None:
    judge_live(settings, diagnosed(0, [True, True], made_at=AT, seen_at=AT))
    worse = judge_live(settings, diagnosed(1, [True, False], made_at=LATER, seen_at=LATER))
    assert not worse.run.accepted
    again = judge_live(settings, diagnosed(2, [True, False], made_at=LATER, seen_at=LATER))
    assert (again.run.accepted, again.run.compared_with) == (False, "diagnosis-0000000000000000")
    accept(settings, worse.run)
    after = judge_live(settings, diagnosed(3, [True, False], made_at=LATER, seen_at=LATER))
    assert (after.run.accepted, after.run.compared_with) == (True, worse.run.id)


def test_each_scenario_has_a_history_of_its_own_and_goes_with_it(settings: Settings) -> None:
    save(settings, Evaluation(run(), ()))
    for number, name in enumerate(("telco", "metro")):
        save(settings, diagnosed(number, [True], scenario=name))
    assert [each.id for each in load_runs(settings)] == [run().id]
    (telco,) = load_runs(settings, "diagnosis", "telco")
    assert load_outcomes(settings, telco)[0].values["top-1"] == 1
    assert load_run(settings, telco.id) is None and load_run(settings, telco.id, "telco") == telco
    forget_runs(settings, "telco")
    forget_runs(settings, "telco")
    assert load_runs(settings, scenario="telco") == []
    assert [len(load_runs(settings, scenario=name)) for name in ("", "metro")] == [1, 1]


def test_its_history_is_a_picture() -> None:
    runs = [diagnosed(number, [True, number != 1], generation=f"v{number}").run for number in range(3)]
    assert plot_history(runs).startswith(b"\x89PNG")
