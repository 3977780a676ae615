"""Gaps are assigned and dismissed, and known again however they are worded later."""

import pytest

from kb_pipeline.errors import DamagedLayerError, GapNotFoundError
from kb_pipeline.evaluation.gap_decisions import GapDecision, decide, find_gap, load_decisions, look_for_gaps
from kb_pipeline.evaluation.gaps import Gap, KnowledgeGaps, RecordedQuestions, Unanswered, find_gaps, save_gaps
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings

AT = "2026-03-01T00:00:00+00:00"
LATER = "2099-01-0{}T00:00:00+00:00"
"""After every decision of these tests."""


def asked(question: str, at: str = AT) -> Unanswered:
    return Unanswered(question=question, asked_at=at, reason="refused")


def look(settings: Settings, *questions: Unanswered) -> list[Gap]:
    recorded = RecordedQuestions(unanswered=questions)
    return list(look_for_gaps(Workspace(settings), recorded, AT, records_content=True).gaps)


def test_a_gap_is_assigned_and_dismissed_with_a_reason(settings: Settings) -> None:
    (gap,) = look(settings, asked("Is there a mobile app?"))
    assert decide(settings, gap.id, "ann", assigned_to="bob").assigned_to == "bob"
    decision = decide(settings, gap.id, "ann", assigned_to="bob", is_dismissed=True, reason="We sell none.")
    assert decision.dismisses(find_gap(settings, gap.id))
    assert (decision.reason, decision.decided_by) == ("We sell none.", "ann")
    assert load_decisions(settings) == {gap.id: decision}
    assert not decide(settings, gap.id, "ann").dismisses(gap)


def test_a_dismissed_gap_returns_when_it_was_asked_three_times_again(settings: Settings) -> None:
    question = "Is there a mobile app?"
    (gap,) = look(settings, asked(question), asked(question), asked(question))
    decision = decide(settings, gap.id, "ann", is_dismissed=True, reason="We sell none.")
    again = [asked(question, LATER.format(day)) for day in (1, 2, 3)]
    (gap,) = look(settings, asked(question), *again[:2])
    assert decision.dismisses(gap)
    (gap,) = look(settings, asked(question), *again)
    assert not decision.dismisses(gap) and gap.id == decision.id


def test_what_is_dismissed_stays_so_from_when_it_first_was(settings: Settings) -> None:
    (gap,) = look(settings, asked("Is there a mobile app?"))
    first = decide(settings, gap.id, "ann", is_dismissed=True, reason="We sell none.")
    second = decide(settings, gap.id, "bob", is_dismissed=True, reason="We sell none.", assigned_to="bob")
    assert second.dismissed_at == first.dismissed_at


def test_a_gap_is_known_again_by_any_of_its_wordings_and_learns_new_ones(settings: Settings) -> None:
    first, second, third = "how do i connect to splunk?", "How do I connect  to Splunk", "How do I connect to splunk!"
    (gap,) = look(settings, asked(first, "2026-02-01T00:00:00+00:00"))
    decide(settings, gap.id, "ann", assigned_to="bob")
    (gap,) = look(settings, asked(first, "2026-02-01T00:00:00+00:00"), asked(second))
    assert len(load_decisions(settings)[gap.id].wordings) == 2
    (gap,) = look(settings, asked(second), asked(third))
    assert load_decisions(settings)[gap.id].assigned_to == "bob"


def test_no_two_gaps_have_the_same_id(settings: Settings) -> None:
    splunk, zebra = "How do I connect to Splunk?", "Where do zebras sleep at night?"
    one, other = look(settings, asked(splunk), asked(zebra))
    decide(settings, one.id, "ann", assigned_to="bob")
    known = {wording: one.id for each in (one, other) for wording in each.wordings}
    found = find_gaps(
        Workspace(settings),
        RecordedQuestions(unanswered=(asked(splunk), asked(splunk), asked(zebra))),
        AT,
        records_content=True,
        known=known,
    )
    assert len({gap.id for gap in found.gaps}) == 2 and found.gaps[0].id == one.id


@pytest.mark.parametrize("gap_id", ["0" * 16, "", "../../conversations", "A" * 16, "x" * 9000])
def test_there_must_be_such_a_gap(settings: Settings, gap_id: str) -> None:
    look(settings, asked("Is there a mobile app?"))
    with pytest.raises(GapNotFoundError, match="there is no gap"):
        decide(settings, gap_id, "ann")
    assert load_decisions(settings) == {}


def test_a_damaged_decision_is_an_error(settings: Settings) -> None:
    save_gaps(settings, KnowledgeGaps(made_at=AT, gaps=(Gap(id="0" * 16, count=1, reasons={}, last_asked=AT),)))
    decide(settings, "0" * 16, "ann")
    (settings.home_path / "evaluation" / "gaps" / f"{'0' * 16}.json").write_text("{")
    with pytest.raises(DamagedLayerError):
        load_decisions(settings)


def test_a_gap_of_which_nothing_is_decided_is_open() -> None:
    gap = Gap(id="0" * 16, count=3, reasons={}, last_asked=AT, recent=(AT, AT, AT))
    assert not GapDecision(id=gap.id).dismisses(gap)
