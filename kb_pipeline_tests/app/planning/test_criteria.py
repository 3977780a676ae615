"""What must be true of an outcome, as functions."""

from app.planning.criteria import (
    AT_LEAST_ONE,
    EACH_HAS_A_SOURCE,
    EACH_HAS_ITS_PART,
    EXACTLY_ONE,
    FACT_IS_SAID,
    HAS_A_SUMMARY,
    SEVERAL,
    Outcome,
)
from kb_pipeline_tests.app.library import Made, rows_of

ONE = rows_of(Made("a.pdf", "A"))[-1]
OTHER = rows_of(Made("b.pdf", "B"))[-1]
BARE = ONE.model_copy(update={"document": None})


def test_numbers_of_documents() -> None:
    for documents, one, any_, several in (
        ((), False, False, False),
        ((ONE,), True, True, False),
        ((ONE, OTHER), False, True, True),
        ((ONE,) * 8, False, True, False),
    ):
        outcome = Outcome(documents)
        holding = (EXACTLY_ONE.holds(outcome), AT_LEAST_ONE.holds(outcome), SEVERAL.holds(outcome))
        assert holding == (one, any_, several)


def test_a_summary() -> None:
    assert HAS_A_SUMMARY.holds(Outcome((ONE, OTHER)))
    assert not HAS_A_SUMMARY.holds(Outcome((ONE, BARE)))
    assert not HAS_A_SUMMARY.holds(Outcome())


def test_sources() -> None:
    assert EACH_HAS_A_SOURCE.holds(Outcome(parts=["So. [Ref #1]", "Also. [Ref #2]"]))
    assert not EACH_HAS_A_SOURCE.holds(Outcome(parts=["So. [Ref #1]", "Also."]))
    assert not EACH_HAS_A_SOURCE.holds(Outcome())


def test_each_document_has_its_sentence() -> None:
    assert FACT_IS_SAID.holds(Outcome((ONE,), parts=["It has 3 pages. [Ref #1]"]))
    assert not FACT_IS_SAID.holds(Outcome((ONE, OTHER), parts=["It has 3 pages. [Ref #1]"]))


def test_each_document_has_its_part_or_is_said_to_have_none() -> None:
    assert EACH_HAS_ITS_PART.holds(Outcome((ONE, OTHER), parts=["So. [Ref #1]"], unsaid=["B"]))
    assert not EACH_HAS_ITS_PART.holds(Outcome((ONE, OTHER), parts=["So. [Ref #1]"]))
