"""From a serving article to its chunks.

Here: the order of the steps, and what a chunk is called. Not here: how markdown is read or cut.
"""

import hashlib
import json
import re
from functools import cache

from kb_pipeline.records import Chunk, Manifest
from kb_pipeline.steps.chunk.blocks import parse_blocks
from kb_pipeline.steps.chunk.grouping import Group, group_sections
from kb_pipeline.steps.chunk.inline import image_paths
from kb_pipeline.steps.chunk.plain import CountTokens, context_line
from kb_pipeline.steps.chunk.sections import Key, Section, split_sections
from kb_pipeline.steps.chunk.splitting import split_blocks

CHUNKER_VERSION = "2"
"""Part of the fingerprint of everything made from chunks: raise it when the same article would be cut differently."""

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
}


def chunk_article(
    markdown: str, manifest: Manifest, *, count_tokens: CountTokens, max_tokens: int, min_tokens: int
) -> list[Chunk]:
    """The chunks of an article, in its order: one per H1-H3 section, levels relative to the page.

    Sections of fewer than ``min_tokens`` join the chunk above them within their parent; longer ones than
    ``max_tokens`` (of the embedded text, context line included) become several chunks. Every word of the
    article is in a chunk; only a cut table's header and a cut image block's image are in more than one.
    """

    @cache
    def room(key: Key) -> int:
        context = context_line(manifest.title, tuple(title for title, _ in key))
        return max(max_tokens - count_tokens(context), max_tokens // 2, 1)

    def limit(section: Section) -> int:
        return room(section.key)

    sections = split_sections(parse_blocks(markdown))
    chunks: list[Chunk] = []
    for group in group_sections(sections, count_tokens, limit, min_tokens):
        for part, content in enumerate(_parts(group, limit(group.section), count_tokens)):
            chunks.append(_chunk(manifest, group.section, part, len(chunks), content.strip("\n").rstrip()))
    return chunks


def _parts(group: Group, limit: int, count: CountTokens) -> list[str]:
    if group.tokens <= limit:
        return [group.section.text]
    return split_blocks(group.section.blocks, limit, count)


def _chunk(manifest: Manifest, section: Section, part: int, index: int, content: str) -> Chunk:
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
    )
    # with the version, because it also decides what of the content is embedded
    return chunk.model_copy(update={"content_hash": _digest([CHUNKER_VERSION, chunk.model_dump(include=_SEEN)])})


def chunk_id(article_id: str, key: Key, part: int) -> str:
    """A chunk's name for good, in characters and length that every index takes as a key.

    It derives from the article, the section's headings and the part's number within the section, never from a
    position in the article, so that editing one section renames no other.
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "-", article_id).strip("-")[:60]
    return f"{readable}-{_digest([article_id, key, part])[:32]}".lstrip("-")


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()
