"""Two statements of published articles that contradict one another, and the check that tells of them."""

from collections.abc import Sequence
from typing import Literal

from kb_pipeline.records import CheckResult, Record
from kb_pipeline.steps.checks import outcome

STATEMENTS_AGREE = "statements_agree"


class Place(Record):
    """Where a statement stands, and the value in it that another statement contradicts."""

    article_id: str
    title: str
    chunk_id: str
    text: str
    says: str


class Finding(Record):
    """Two statements that contradict one another, seen from the article of ``here``; ``run_id`` is who saw it first."""

    kind: Literal["number", "date", "name"]
    here: Place
    there: Place
    run_id: str = ""


def statements_agree(findings: Sequence[Finding]) -> CheckResult:
    """Whether an article is free of statements that another article contradicts."""
    problems = [
        f"it says {each.here.says!r} where {each.there.article_id} says {each.there.says!r}: "
        f"\u201c{each.here.text}\u201d \u2013 \u201c{each.there.text}\u201d"
        for each in findings
    ]
    advice = "Mend the article that is wrong; if both are right, let each name what it speaks of"
    return outcome(STATEMENTS_AGREE, problems, f"{advice}.", {"contradictions": len(findings)})
