"""The judge that judges nothing (``KB_JUDGE=none``): answers are as they are without one."""

from collections.abc import Mapping, Sequence

from app.grounding.statements import Statement
from app.judging.base import Judge, Judged


class Nobody(Judge):
    """Judges no statement, and costs nothing."""

    name = "none"

    async def verdicts_on(self, question: str, statements: Sequence[Statement], passages: Mapping[int, str]) -> Judged:
        return Judged([None] * len(statements))
