"""Passages that say the same, found as one: pages that are copies of each other must not fill the first places."""

from collections.abc import Iterable

from kb_pipeline.records import Chunk, SearchHit

SPARE = 5
"""How many more hits to ask for than are wanted, because so many may be folded."""


def folded(hits: Iterable[SearchHit]) -> list[SearchHit]:
    """The hits without those whose passage a better one has already, word for word and under the same headings."""
    first: dict[tuple[object, ...], SearchHit] = {}
    for hit in hits:
        first.setdefault(_said(hit.chunk), hit)
    return list(first.values())


def _said(chunk: Chunk) -> tuple[object, ...]:
    # the title too: one sentence on the pages of two commands is about two commands
    return chunk.title, chunk.heading_path, " ".join(chunk.content.split())
