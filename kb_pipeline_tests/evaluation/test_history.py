"""The history of evaluations, and what is decided about a run."""

import gzip
from pathlib import Path

import pytest

from kb_pipeline.errors import DamagedLayerError
from kb_pipeline.evaluation import history
from kb_pipeline.evaluation.history import last_accepted, load_outcomes, load_run, load_runs, save
from kb_pipeline.evaluation.judging import accept, comparison_with_baseline, judge, judge_live
from kb_pipeline.evaluation.measures import with_values
from kb_pipeline.evaluation.records import Evaluation
from kb_pipeline.settings import Settings
from kb_pipeline_tests.evaluation.known import LATER, evaluation, outcome, run


def runs_folder(settings: Settings) -> Path:
    return Path(settings.home) / "evaluation" / "runs"


def answers(number: int, ranks: list[int | None], at: str = LATER) -> Evaluation:
    """Thirty questions, the first of which stood at these ranks."""
    all_ranks = [*ranks, *[1] * (30 - len(ranks))]
    told = with_values([outcome(place, rank=rank) for place, rank in enumerate(all_ranks)])
    return evaluation(number, told, made_at=at, seen_at=at)


class TestKeeping:
    def test_what_is_saved_is_found_again(self, settings: Settings) -> None:
        kept = answers(1, [None])
        save(settings, kept)
        assert load_runs(settings) == [kept.run]
        assert load_run(settings, kept.run.id) == kept.run
        assert load_outcomes(settings, kept.run) == kept.outcomes

    def test_runs_come_oldest_first_and_by_kind(self, settings: Settings) -> None:
        late, early = answers(1, [], "2026-02-01T00:00:00+00:00"), answers(2, [], "2026-01-01T00:00:00+00:00")
        other = evaluation(3, [], id=f"answers-{3:016x}", kind="answers")
        for each in (late, early, other):
            save(settings, each)
        assert load_runs(settings, "retrieval") == [early.run, late.run]
        assert load_runs(settings, "answers") == [other.run]

    def test_before_the_first_there_is_none(self, settings: Settings) -> None:
        assert load_runs(settings) == []
        assert load_run(settings, run().id) is None

    @pytest.mark.parametrize("name", ["", "../../staging/x", "retrieval-0", "retrieval-00000000000000zz"])
    def test_what_is_no_id_is_never_a_path(self, settings: Settings, name: str) -> None:
        assert load_run(settings, name) is None

    @pytest.mark.parametrize("data", [b"", b"{}", b"\xff", run(9).model_dump_json().encode()])
    def test_a_damaged_file_is_left_out_and_said(
        self, settings: Settings, data: bytes, caplog: pytest.LogCaptureFixture
    ) -> None:
        save(settings, answers(1, []))
        (runs_folder(settings) / f"{run(2).id}.json").write_bytes(data)
        assert [each.id for each in load_runs(settings)] == [run(1).id]
        assert run(2).id in caplog.text

    @pytest.mark.parametrize(
        "data", [b"", b"half", gzip.compress(b"half", mtime=0), gzip.compress(b"[]" * 100, mtime=0)[:-9]]
    )
    def test_damaged_outcomes_are_said_with_what_to_do(self, settings: Settings, data: bytes) -> None:
        kept = answers(1, [])
        save(settings, kept)
        (runs_folder(settings) / f"{kept.run.id}.outcomes.json.gz").write_bytes(data)
        with pytest.raises(DamagedLayerError, match="materialize retrieval_quality again"):
            load_outcomes(settings, kept.run)

    def test_the_oldest_are_forgotten_but_never_what_the_next_is_compared_with(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(history, "KEPT", 3)
        for number in range(6):
            kept = answers(number, [], f"2026-01-0{number + 1}T00:00:00+00:00")
            save(settings, Evaluation(kept.run.model_copy(update={"accepted": number == 0}), kept.outcomes))
        assert [each.id for each in load_runs(settings)] == [run(number).id for number in (0, 3, 4, 5)]
        assert len(list(runs_folder(settings).iterdir())) == 8


class TestJudging:
    def test_the_first_is_accepted_and_so_is_what_is_not_worse(self, settings: Settings) -> None:
        first, second = (judge_live(settings, answers(number, [None] * number)) for number in (1, 2))
        assert (first.run.accepted, first.run.compared_with) == (True, None)
        assert (second.run.accepted, second.run.compared_with) == (True, first.run.id)

    def test_what_is_worse_is_kept_and_not_accepted(self, settings: Settings) -> None:
        first, worse = (judge_live(settings, answers(number, ranks)) for number, ranks in ((1, []), (2, [None] * 10)))
        assert not worse.run.accepted
        assert "article@5" in worse.run.worse[0]
        assert load_run(settings, worse.run.id) == worse.run
        found = last_accepted(load_runs(settings), "retrieval")
        assert found
        assert found.id == first.run.id

    def test_the_next_is_compared_with_the_last_that_was_accepted(self, settings: Settings) -> None:
        for number, ranks in ((1, []), (2, [None] * 10)):
            judge_live(settings, answers(number, ranks))
        third = judge_live(settings, answers(3, [None] * 11))
        assert third.run.compared_with == run(1).id
        assert not third.run.accepted

    def test_a_worse_one_can_be_accepted_by_hand_and_stays_so(self, settings: Settings) -> None:
        judge_live(settings, answers(1, []))
        worse = judge_live(settings, answers(2, [None] * 10))
        accept(settings, worse.run)
        again = judge_live(settings, Evaluation(load_run(settings, worse.run.id), worse.outcomes))
        assert (again.run.accepted, again.run.accepted_by_hand) == (True, True)
        assert judge_live(settings, answers(3, [None] * 11)).run.accepted

    def test_what_was_judged_keeps_its_judgement(self, settings: Settings) -> None:
        first = judge_live(settings, answers(1, [None] * 10))
        judge_live(settings, answers(2, []))
        assert judge_live(settings, first).run.accepted

    def test_a_state_that_came_back_is_what_the_next_is_compared_with(self, settings: Settings) -> None:
        first = judge_live(settings, answers(1, [], "2026-01-01T00:00:00+00:00"))
        judge_live(settings, answers(2, [], "2026-01-02T00:00:00+00:00"))
        seen = first.run.model_copy(update={"seen_at": "2026-01-03T00:00:00+00:00"})
        judge_live(settings, Evaluation(seen, first.outcomes))
        assert judge_live(settings, answers(3, [], "2026-01-04T00:00:00+00:00")).run.compared_with == first.run.id

    def test_another_one_to_compare_with_judges_anew(self, settings: Settings) -> None:
        good, poor, new = answers(1, []), answers(2, [None] * 15), answers(3, [None] * 10)
        for each in (good, poor):
            judge(settings, each, None)
        assert not judge(settings, new, good).run.accepted
        assert judge(settings, new, poor).run.accepted

    def test_what_it_was_compared_with_can_be_looked_at(self, settings: Settings) -> None:
        judge_live(settings, answers(1, []))
        worse = judge_live(settings, answers(2, [None] * 10))
        found = comparison_with_baseline(settings, worse)
        assert found
        assert found[0].id == run(1).id
        assert len(found[1].of("lost")) == 10
        for file in runs_folder(settings).glob(f"{run(1).id}*"):
            file.unlink()
        assert comparison_with_baseline(settings, worse) is None
