"""Chunk a serving article: the order of the steps, and the fields of a chunk.

Not here: parsing and cutting markdown.
"""

import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache

from kb_pipeline.records import Chunk, Manifest, PageBreak
from kb_pipeline.steps.chunk.blocks import parse_blocks
from kb_pipeline.steps.chunk.cutting import split_blocks
from kb_pipeline.steps.chunk.deferred import NO_TITLES, Titles
from kb_pipeline.steps.chunk.page_breaks import breaks_of_parts
from kb_pipeline.steps.chunk.plain import CountTokens, context_line, image_paths
from kb_pipeline.steps.chunk.sections import Key, Section, group_sections, split_sections
from kb_pipeline.steps.pages import article_pages

CHUNKER_VERSION = "3"
"""Part of the fingerprint of everything made from chunks. Increase it if the same article would be cut differently."""

_SEEN = {
    "chunk_index",
    "title",
    "section_header",
    "heading_path",
    "content",
    "image_urls",
    "source_url",
    "key_topics",
    "access_control_list",
    "block_type",
    "page_breaks",
    "filename",
    "part_of",
    "document",
    "deferred",
}


def chunk_article(
    markdown: str,
    manifest: Manifest,
    *,
    count_tokens: CountTokens,
    max_tokens: int,
    min_tokens: int,
    deferring: Titles = NO_TITLES,
) -> list[Chunk]:
    """Return the chunks of ``article.md`` in order, one per H1-H3 section with levels relative to the page.

    Sections of fewer than ``min_tokens`` join the chunk before them within their parent; those longer than
    ``max_tokens`` (of the embedded text, including the context line) become several chunks. Every word of the article
    is in a chunk; only the header of a cut table and the image of a cut image block are in more than one. The comments
    that say where pages begin are in none: they become the ``page_breaks`` of the chunks. Sections with one of the
    titles ``deferring``, and those below them, are marked, and share no chunk with others.
    """
    paged = article_pages(markdown, manifest)

    @cache
    def room(key: Key) -> int:
        context = context_line(manifest.title, tuple(title for title, _ in key))
        return max(max_tokens - count_tokens(context), max_tokens // 2, 1)

    def limit(section: Section) -> int:
        return room(section.key)

    sections = list(split_sections(parse_blocks(paged.text), deferring))
    chunks: list[Chunk] = []
    pages = _Pages(paged.breaks)
    for group in group_sections(sections, count_tokens, limit, min_tokens):
        section = group.section
        fits = group.tokens <= limit(section)
        parts = [section.text] if fits else split_blocks(section.blocks, limit(section), count_tokens)
        contents = [part.strip("\n").rstrip() for part in parts]
        for part, (content, breaks) in enumerate(zip(contents, pages.of_next(section.text, contents), strict=True)):
            chunks.append(_chunk(manifest, section, part, len(chunks), content, breaks))
    return chunks


def with_readers(chunk: Chunk, readers: Sequence[str]) -> Chunk:
    """Return the chunk for other readers: users and groups, or everybody if there are none."""
    if chunk.access_control_list == tuple(readers):
        return chunk
    changed = chunk.model_copy(update={"access_control_list": tuple(readers)})
    return changed.model_copy(update={"content_hash": seen_hash(changed)})


def seen_hash(chunk: Chunk) -> str:
    """Return the content hash of a chunk made by this version, over everything readers and the embedder see."""
    # The version is included, because it also decides which text is embedded.
    return _digest([CHUNKER_VERSION, chunk.model_dump(include=_SEEN)])


def chunk_id(article_id: str, key: Key, part: int) -> str:
    """Return a chunk's permanent id, in characters and a length that every index accepts as a key.

    It derives from the article, the headings of the section and the number of the part, and not from a position in the
    article, so editing one section does not change the ids of others.
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "-", article_id).strip("-")[:60]
    return f"{readable}-{_digest([article_id, key, part])[:32]}".lstrip("-")


class _Pages:
    """The pages of an article, whose sections are asked for in order."""

    def __init__(self, breaks: Sequence[PageBreak]) -> None:
        self._breaks = breaks
        self._begun = 0
        self._position = 0

    def of_next(self, section: str, parts: Sequence[str]) -> list[tuple[PageBreak, ...]]:
        """Return the page breaks of each part of the next section; none if the article has no pages."""
        if not self._breaks:
            return [()] * len(parts)
        start, end = self._position, self._position + len(section)
        ending = bisect_left(self._breaks, end, key=lambda page_break: page_break.offset)
        inside = [
            page_break.model_copy(update={"offset": page_break.offset - start})
            for page_break in self._breaks[self._begun : ending]
        ]
        current = self._breaks[max(0, self._begun - 1)]
        self._begun, self._position = ending, end
        return breaks_of_parts(section, parts, inside, current)


def _chunk(
    manifest: Manifest, section: Section, part: int, index: int, content: str, breaks: tuple[PageBreak, ...]
) -> Chunk:
    path = section.heading_path
    chunk = Chunk(
        id=chunk_id(manifest.article_id, section.key, part),
        article_id=manifest.article_id,
        chunk_index=index,
        title=manifest.title,
        section_header=path[-1] if path else manifest.title,
        heading_path=path,
        content=content,
        image_urls=tuple(f"{manifest.article_id}/{image}" for image in image_paths(content)),
        source_url=manifest.source_url,
        key_topics=manifest.key_topics,
        access_control_list=manifest.access_control_list,
        content_hash="",
        converter=manifest.provenance.converter,
        run_id=manifest.provenance.run_id,
        page_breaks=breaks,
        filename=manifest.document.path.rpartition("/")[2] if manifest.document else "",
        deferred=section.deferred,
    )
    return chunk.model_copy(update={"content_hash": seen_hash(chunk)})


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()
