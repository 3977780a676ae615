"""Which documents a question about whole documents means, and which of its references is unclear."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from app.planning.finding import Found, find
from app.planning.kinds import Reading
from app.planning.plan import MAX_ATTEMPTS
from app.planning.references import Reference
from kb_pipeline.records import Chunk


@dataclass(frozen=True)
class Meant:
    """The documents that a question is about. ``unclear`` is the reference of which several may be meant.

    ``guessed``: the first of several was taken without asking. ``missing`` are references that mean no document,
    ``gone`` how many of the chosen documents are not there any more.
    """

    rows: tuple[Chunk, ...] = ()
    unclear: Reference | None = None
    candidates: tuple[Chunk, ...] = ()
    guessed: bool = False
    missing: tuple[Reference, ...] = ()
    gone: int = 0

    @property
    def is_vague(self) -> bool:
        """Whether a reference that means no document is only a description: the question may be about features."""
        return any(reference.by == "description" for reference in self.missing)

    def with_guesses(self) -> "Meant":
        """The same with the best candidates in place of what is unclear; it has been asked before."""
        if not self.unclear:
            return self
        return replace(self, rows=(*self.rows, *self.candidates[: max(1, self.unclear.count)]), guessed=True)


def meant_by(reading: Reading, rows: Sequence[Chunk], chosen: Sequence[Chunk], today: date) -> Meant:
    """The documents that the references of a question mean, each tried again more loosely if none fits.

    Of documents that the asker chose, all are meant; in a comparison beside those that are clear without them.
    """
    if chosen and (reading.kind != "COMPARISON" or len(chosen) > 1):
        return Meant(rows=tuple(chosen))
    meant: list[Chunk] = list(chosen)
    missing: list[Reference] = []
    unclear: tuple[Reference, Found] | None = None
    for reference in reading.references:
        found = _found(reference, rows, today)
        if found.certain:
            meant += found.certain
        elif len(found.candidates) == 1:
            meant += found.candidates
        elif found.candidates:
            if any(row in found.candidates for row in chosen):
                continue  # the asker chose among these
            unclear = unclear or (reference, found)
        else:
            missing.append(reference)
    distinct = tuple({row.article_id: row for row in meant}.values())
    if not unclear:
        return Meant(rows=distinct, missing=tuple(missing))
    reference, found = unclear
    others = tuple(row for row in found.candidates if row not in distinct)
    if len(others) == 1:
        return Meant(rows=(*distinct, *others), missing=tuple(missing))
    return Meant(rows=distinct, unclear=reference, candidates=others, missing=tuple(missing))


def _found(reference: Reference, rows: Sequence[Chunk], today: date) -> Found:
    """What a reference means; tried again in other spellings and kinds, then without what is said after its noun."""
    shorter = replace(reference, about="")
    for attempt, loosely in ((reference, False), (reference, True), (shorter, True))[:MAX_ATTEMPTS]:
        found = find(attempt, rows, today, loosely=loosely)
        if found.certain or found.candidates:
            return found
    return Found()
