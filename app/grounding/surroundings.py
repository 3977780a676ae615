"""Chooses the passages next to the hits of a search, because a chunk ends where the embedder's window does.

Searching for them is the task of :mod:`app.retrieval`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kb_pipeline.records import SearchHit

ROOM = 2000
"""Characters of all neighbours of a search, about half as many as five hits have.

Measured on 223 questions: the passages contain the words of the answer for 157 with five hits alone, for 163 with this
room, and for 165 without a limit (twice as long). Seven hits without neighbours are as long and as good (163), but
leave a procedure cut where the chunker cut it."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A passage directly after or before hits, which are given by the ids of their chunks."""

    hit: SearchHit
    follows: str | None = None
    precedes: str | None = None


def neighbours(hits: Sequence[SearchHit], sections: Sequence[SearchHit], room: int = ROOM) -> list[Neighbour]:
    """The passages directly after and before each hit in its section, those of the best hit first.

    ``sections`` are all passages of these sections. Hits and passages already chosen are left out, and so are passages
    that do not fit into the rest of ``room`` characters.
    """
    by_place = _by_place(hits, sections)
    hit_ids = {hit.chunk.id for hit in hits}
    chosen: dict[str, Neighbour] = {}
    around = (by_place.get(_place(hit, offset)) for hit in hits for offset in (1, -1))
    for hit in filter(None, around):
        if hit.chunk.id not in hit_ids | chosen.keys() and len(hit.chunk.content) <= room:
            room -= len(hit.chunk.content)
            before, after = by_place.get(_place(hit, -1)), by_place.get(_place(hit, 1))
            chosen[hit.chunk.id] = Neighbour(
                hit,
                follows=before.chunk.id if before and before.chunk.id in hit_ids else None,
                precedes=after.chunk.id if after and after.chunk.id in hit_ids else None,
            )
    return list(chosen.values())


def around_with_pictures(hits: Sequence[SearchHit], sections: Sequence[SearchHit]) -> list[SearchHit]:
    """The passages with pictures around each hit, those of the best hit first, without the hits themselves.

    These are the passages directly before and after it, and the first one of its section, where the figure of the
    dialog stands that the section describes.
    """
    by_place = _by_place(hits, sections)
    hit_ids = {hit.chunk.id for hit in hits}
    first: dict[_Section, SearchHit] = {}
    for hit in sorted(by_place.values(), key=lambda hit: hit.chunk.chunk_index):
        first.setdefault(_place(hit)[:2], hit)
    around = (
        beside
        for hit in hits
        for beside in (by_place.get(_place(hit, -1)), first[_place(hit)[:2]], by_place.get(_place(hit, 1)))
        if beside
    )
    return list({hit.chunk.id: hit for hit in around if hit.chunk.image_urls and hit.chunk.id not in hit_ids}.values())


_Section = tuple[str, tuple[str, ...]]
_Place = tuple[str, tuple[str, ...], int]


def _by_place(*groups: Sequence[SearchHit]) -> dict[_Place, SearchHit]:
    return {_place(hit): hit for group in groups for hit in group}


def _place(hit: SearchHit, offset: int = 0) -> _Place:
    return hit.chunk.article_id, hit.chunk.heading_path, hit.chunk.chunk_index + offset
