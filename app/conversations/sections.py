"""Whether a cited section still stands in its article, and what stands there instead. Pure."""

import re
from collections.abc import Sequence

from app.conversations.differences import difference, lines_of
from app.grounding.citations import as_cited, with_image_urls
from app.schema.articles import Contradiction
from app.schema.conversations import StaleReference
from app.schema.passages import Citation
from kb_pipeline.records import Chunk
from kb_pipeline.steps.chunk.plain import plain_text, plain_title

_SECTION_HEADING = re.compile(r"#{1,3} ")
_WORD = re.compile(r"\w+")
_SAME_SECTION = 0.6
"""Share of the words of a cited passage that a section under another heading must have to be taken for the same."""


def is_as_cited(citation: Citation, chunk: Chunk | None) -> bool:
    """Whether the chunk reads as the citation does."""
    return chunk is not None and lines_of(_shown(chunk)) == lines_of(citation.passage)


def stale_reference(citation: Citation, chunks: Sequence[Chunk], generation: str) -> StaleReference | None:
    """How a cited section differs from what its article says now; ``None`` if the article still says the same.

    ``chunks`` are those of the article in the current ``generation``, in order, as far as the reader may see them. An
    article that another generation cut into chunks at other places says the same if it has the cited lines anywhere;
    else they must also end where a section or a chunk does, because what was added to a section is a change of it.
    """
    was_cut_elsewhere = citation.origin.generation != generation
    cited = _own_lines(citation.passage)
    if _stands(cited, chunks, anywhere=was_cut_elsewhere):
        return None
    counterpart = _counterpart(citation, chunks)
    if counterpart is None:
        return StaleReference(number=citation.number, state="gone")
    parts = [_shown(chunk) for chunk in chunks if chunk.heading_path == counterpart.heading_path]
    # the text of a long section is in several chunks, and may have moved from one to another
    texts = dict.fromkeys(("\n".join(parts), *parts))
    pieces = min(
        (
            difference("\n".join(cited), "\n".join(_own_lines(text)), is_excerpt=was_cut_elsewhere or len(parts) > 1)
            for text in texts
        ),
        key=lambda pieces: sum(len(piece.text) for piece in pieces if piece.change != "same"),
    )
    return StaleReference(number=citation.number, state="changed", difference=pieces) if pieces else None


def contradicted(citation: Citation, contradictions: Sequence[Contradiction]) -> StaleReference | None:
    """What other articles say against what an answer used of a passage; ``None`` if nothing.

    ``contradictions`` are those of its article. Where it is not noted what the answer used, the whole passage counts.
    """
    used = [plain_title(plain_text(quote)) for quote in citation.quotes] or [plain_title(plain_text(citation.passage))]
    against = tuple(
        each
        for each in contradictions
        if each.chunk_id == citation.chunk_id and any(each.text in text or text in each.text for text in used)
    )
    return StaleReference(number=citation.number, state="contradicted", contradictions=against) if against else None


def _shown(chunk: Chunk) -> str:
    return with_image_urls(as_cited(chunk).content, chunk.article_id)


def _own_lines(section: str) -> list[str]:
    """The lines of a section from its own heading on: without headings of what encloses it, which begin its chunk if
    it comes first there."""
    lines = lines_of(section)
    while len(lines) > 1 and all(map(_SECTION_HEADING.match, lines[:2])):
        del lines[0]
    return lines


def _stands(cited: Sequence[str], chunks: Sequence[Chunk], *, anywhere: bool) -> bool:
    """Whether the article has these lines one after the other, as whole sections or chunks or ``anywhere``."""
    lines: list[str] = []
    edges = {0}
    for chunk in chunks:
        lines += lines_of(_shown(chunk))
        edges.add(len(lines))
    edges.update(at for at, line in enumerate(lines) if _SECTION_HEADING.match(line))
    starts = range(len(lines) - len(cited) + 1)
    return any(
        lines[at] == cited[0] and lines[at : at + len(cited)] == cited
        for at in (starts if cited else ())
        if anywhere or {at, at + len(cited)} <= edges
    )


def _counterpart(citation: Citation, chunks: Sequence[Chunk]) -> Chunk | None:
    """The chunk that stands in the place of the cited one: by its id, by its headings, or by most of its words."""
    by_id = next((chunk for chunk in chunks if chunk.id == citation.chunk_id), None)
    alike = [chunk for chunk in chunks if chunk.heading_path == citation.heading_path]
    if by_id or not chunks:
        return by_id
    if alike and citation.heading_path:  # without headings, all chunks are alike
        return alike[0]
    cited = set(_WORD.findall(citation.passage.casefold()))

    def share(chunk: Chunk) -> float:
        return len(cited & set(_WORD.findall(_shown(chunk).casefold()))) / max(1, len(cited))

    likest = max(chunks, key=share)
    return likest if share(likest) >= _SAME_SECTION else None
