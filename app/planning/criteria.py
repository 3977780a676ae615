"""What must be true of the outcome of an item of a plan: functions that check it, with the words that say it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.grounding.references import find_references
from kb_pipeline.records import Chunk


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an item of a plan made: documents, the passages of each, the parts of the text.

    ``unsaid`` are parts that say what is missing, which needs no source.
    """

    documents: Sequence[Chunk] = ()
    passages: Sequence[int] = ()
    parts: Sequence[str] = ()
    unsaid: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Criterion:
    """What must be true, in words and as a function."""

    text: str
    holds: Callable[[Outcome], bool]


EXACTLY_ONE = Criterion("Exactly one document", lambda outcome: len(outcome.documents) == 1)
AT_LEAST_ONE = Criterion("At least one document", lambda outcome: bool(outcome.documents))
SEVERAL = Criterion("Two to seven documents", lambda outcome: 2 <= len(outcome.documents) <= 7)
HAS_A_SUMMARY = Criterion(
    "Each document has a summary",
    lambda outcome: (
        bool(outcome.documents)
        and all(row.document and row.document.summary.standard_text for row in outcome.documents)
    ),
)
EACH_HAS_A_SOURCE = Criterion(
    "Each statement has a source", lambda outcome: bool(outcome.parts) and all(map(_has_source, outcome.parts))
)
FACT_IS_SAID = Criterion(
    "Each document has its sentence with a source",
    lambda outcome: len(outcome.parts) == len(outcome.documents) and all(map(_has_source, outcome.parts)),
)
EACH_HAS_ITS_PART = Criterion(
    "Each document has a part with its own source, or is said to have none",
    lambda outcome: (
        len(outcome.parts) + len(outcome.unsaid) >= len(outcome.documents) and all(map(_has_source, outcome.parts))
    ),
)


def _has_source(part: str) -> bool:
    return any(find_references(part))
