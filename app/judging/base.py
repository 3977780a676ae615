"""The contract of a judge: it says of each statement of an answer whether the passages bear it out.

Here: what all judges share. A judge is a help beside an answer, never a part of it: if it fails, nothing is checked.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.grounding.statements import Statement
from app.schema.answers import TokenUsage
from kb_pipeline.errors import KnowledgeBaseError

_log = logging.getLogger(__name__)

VerdictKind = Literal["supported", "contradicted", "unsupported"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the passages say of a statement: the same, otherwise, or nothing of it.

    ``passage`` is the one that says the same or otherwise, ``says`` its words; an unsupported statement has neither.
    """

    kind: VerdictKind
    passage: int | None = None
    says: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict for each statement, in their order; ``None`` for one that was not judged.

    ``usage`` is what the calls of a model have used, if there were any and its service tells.
    """

    verdicts: list[Verdict | None]
    usage: TokenUsage | None = None


class Judge(ABC):
    """Judges statements. A backend implements :meth:`verdicts_on`, and sets ``name``, as ``KB_JUDGE`` has it.

    One judge serves all answers at once and keeps nothing of them.
    """

    name: str

    async def judge(self, question: str, statements: Sequence[Statement], passages: Mapping[int, str]) -> Judged:
        """Judge the statements of an answer to a question by the passages, which have numbers.

        A passage is the text that the answer was made from, with the headings above it. Whatever goes wrong is logged;
        then no statement is judged.
        """
        judged = Judged([None] * len(statements))
        if not (statements and passages):
            return judged
        try:
            return await self.verdicts_on(question, statements, passages)
        except KnowledgeBaseError as exc:
            _log.warning("the statements of an answer are not checked: %s", exc)
        except Exception:  # a plug-in may raise anything, and the answer is good without it
            _log.exception("the statements of an answer are not checked, because %s failed unexpectedly", self.name)
        return judged

    @abstractmethod
    async def verdicts_on(self, question: str, statements: Sequence[Statement], passages: Mapping[int, str]) -> Judged:
        """Judge at least one statement by at least one passage.

        Raises:
            KnowledgeBaseError: a service failed, or the files of a model cannot be read.
        """

    async def close(self) -> None:  # noqa: B027  (most have nothing to close)
        """Close what it opened itself."""


class Nobody(Judge):
    """Judges no statement, and costs nothing (``KB_JUDGE=none``): answers are as they are without a judge."""

    name = "none"

    async def verdicts_on(self, question: str, statements: Sequence[Statement], passages: Mapping[int, str]) -> Judged:
        return Judged([None] * len(statements))


def cited_by(statement: Statement, passages: Mapping[int, str]) -> list[int]:
    """The numbers of the passages that a statement is compared with: none if it refers to others only."""
    return [number for number in dict.fromkeys(statement.passages or passages) if number in passages]
