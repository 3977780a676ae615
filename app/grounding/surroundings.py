"""What stands around the found passages in their sections: chunks begin and end where the embedder's window does.

Here: which passages those are, and how many. Not here: searching for them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.records import SearchHit

ROOM = 2000
"""Characters of all surroundings of a search: five hits become half as long again.

Measured on 223 questions, of which the answer's words are in what is read for 157 with five hits alone, for 163 with
this room, for 165 without a limit (twice as long). Seven hits without surroundings are as long, and as good (163), but
leave a procedure cut where the chunker cut it."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A passage that stands right before or after found ones, which are given by their chunks' ids."""

    hit: SearchHit
    follows: str | None = None
    precedes: str | None = None


def neighbours(found: Sequence[SearchHit], sections: Sequence[SearchHit], room: int = ROOM) -> list[Neighbour]:
    """The passages right after and right before each found one in its section, those of the best first.

    ``sections`` are the passages of these sections. None is given twice, none that was found itself, and none that
    does not fit into what is left of ``room`` characters.
    """
    by_place = _by_place(found, sections)
    ids = {hit.chunk.id for hit in found}
    chosen: dict[str, Neighbour] = {}
    for hit in (beside for each in found for beside in _beside(each, by_place)):
        if hit.chunk.id not in ids | chosen.keys() and len(hit.chunk.content) <= room:
            room -= len(hit.chunk.content)
            before, after = by_place.get(_place(hit, -1)), by_place.get(_place(hit, 1))
            chosen[hit.chunk.id] = Neighbour(
                hit,
                follows=before.chunk.id if before and before.chunk.id in ids else None,
                precedes=after.chunk.id if after and after.chunk.id in ids else None,
            )
    return list(chosen.values())


def around_with_pictures(found: Sequence[SearchHit], sections: Sequence[SearchHit]) -> list[SearchHit]:
    """The passages with pictures around each found one, those of the best first; none that was found itself.

    That is right before, at the beginning of its section, where the figure of a dialog stands that the section goes on
    to describe, and right after.
    """
    by_place = _by_place(found, sections)
    ids = {hit.chunk.id for hit in found}
    first: dict[_Section, SearchHit] = {}
    for hit in sorted(by_place.values(), key=lambda hit: hit.chunk.chunk_index):
        first.setdefault(_place(hit)[:2], hit)
    around = (
        beside
        for hit in found
        for beside in (by_place.get(_place(hit, -1)), first[_place(hit)[:2]], by_place.get(_place(hit, 1)))
        if beside
    )
    return list({hit.chunk.id: hit for hit in around if hit.chunk.image_urls and hit.chunk.id not in ids}.values())


_Section = tuple[str, tuple[str, ...]]
_Place = tuple[str, tuple[str, ...], int]


def _by_place(*hits: Sequence[SearchHit]) -> dict[_Place, SearchHit]:
    return {_place(hit): hit for some in hits for hit in some}


def _place(hit: SearchHit, further: int = 0) -> _Place:
    return hit.chunk.article_id, hit.chunk.heading_path, hit.chunk.chunk_index + further


def _beside(hit: SearchHit, by_place: Mapping[_Place, SearchHit]) -> Iterator[SearchHit]:
    for further in (1, -1):
        if beside := by_place.get(_place(hit, further)):
            yield beside
