"""The rows of an index that are no sections: one for each picture of an article, and one for the article as a whole.

Their text is embedded and searched like that of sections, but only by those who ask for it.
"""

from collections.abc import Iterator, Sequence
from itertools import count

from kb_pipeline.records import BlockType, Chunk, DocumentEntry, Manifest, PageBreak, ServedImage
from kb_pipeline.steps.chunk.article import chunk_id, seen_hash
from kb_pipeline.steps.chunk.plain import CountTokens, embedding_text
from kb_pipeline.steps.main_file import INDEX_FILE
from kb_pipeline.steps.markers import escape_line

ROWS_VERSION = "2"
"""Increase it if the rows of the same article would differ, apart from the text of its sections."""
_MOST_HEADINGS = 60
"""Headings in the text of a document row; the row keeps all of them."""


def rows_beside(
    chunks: Sequence[Chunk], manifest: Manifest, entry: DocumentEntry, *, count_tokens: CountTokens, max_tokens: int
) -> list[Chunk]:
    """Return the rows of an article besides its sections ``chunks``: its images in their order, then the document.

    Their text is cut to ``max_tokens``.
    """
    numbers = count(len(chunks))
    rows = [*_image_rows(chunks, manifest), _document_row(chunks, manifest, entry)]
    fitting = (_cut(row, count_tokens, max_tokens) for row in rows)
    numbered = (row.model_copy(update={"chunk_index": next(numbers)}) for row in fitting)
    return [row.model_copy(update={"content_hash": seen_hash(row)}) for row in numbered]


def _image_rows(chunks: Sequence[Chunk], manifest: Manifest) -> Iterator[Chunk]:
    sections: dict[str, Chunk] = {}
    for chunk in chunks:
        for url in chunk.image_urls:
            sections.setdefault(url, chunk)
    for image in manifest.images:
        url = f"{manifest.article_id}/{image.path}"
        if section := sections.get(url):
            yield section.model_copy(
                update={
                    "id": _row_id(manifest, "image", image.path),
                    "content": _caption_and_description(image),
                    "image_urls": (url,),
                    "block_type": "image",
                    "part_of": section.id,
                    "page_breaks": _page_of(section, image.path),
                }
            )


def _page_of(section: Chunk, path: str) -> tuple[PageBreak, ...]:
    page = section.page_at(max(section.content.find(path), 0))
    return (page.model_copy(update={"offset": 0}),) if page else ()


def _caption_and_description(image: ServedImage) -> str:
    caption, described = image.caption or image.alt, image.description
    lines = [caption] if caption.casefold().rstrip(".") not in described.description.casefold() else []
    lines += [described.description]
    if described.navigation_path:
        lines.append("Navigation: " + " > ".join(described.navigation_path))
    return "\n\n".join(escape_line(line) for line in lines if line.strip())


def _document_row(chunks: Sequence[Chunk], manifest: Manifest, entry: DocumentEntry) -> Chunk:
    filename = "" if entry.filename == INDEX_FILE else entry.filename
    named = [filename, entry.document_type, entry.department, entry.author]
    headings = [heading.text for heading in entry.headings[:_MOST_HEADINGS]]
    brief, standard = entry.summary.brief_text, entry.summary.standard_text
    parts = [manifest.title, ", ".join(filter(None, named)), "" if brief in standard else brief, standard]
    return Chunk(
        id=_row_id(manifest, "document", ""),
        article_id=manifest.article_id,
        chunk_index=len(chunks),
        title=manifest.title,
        section_header=manifest.title,
        heading_path=(),
        content="\n\n".join(
            [
                *(escape_line(line) for part in parts for line in part.split("\n\n") if line),
                *(f"- {escape_line(heading)}" for heading in headings),
            ]
        ),
        source_url=manifest.source_url,
        key_topics=manifest.key_topics,
        access_control_list=manifest.access_control_list,
        content_hash="",
        converter=manifest.provenance.converter,
        run_id=manifest.provenance.run_id,
        block_type="document",
        page_breaks=tuple(PageBreak(offset=0, page=page.number, label=page.label) for page in manifest.pages[:1]),
        filename=entry.filename,
        document=entry,
    )


def _row_id(manifest: Manifest, kind: BlockType, name: str) -> str:
    # No section has such a key: a heading is never empty.
    return chunk_id(manifest.article_id, (("", -1), (f"{kind}/{name}", 0)), 0)


def _cut(row: Chunk, count_tokens: CountTokens, max_tokens: int) -> Chunk:
    """Cut the row's text so that it can be embedded at once."""
    size = count_tokens(embedding_text(row))
    while size > max_tokens and (words := row.content.split(" "))[1:]:
        kept = min(len(words) - 1, max(1, int(len(words) * max_tokens / size)))
        row = row.model_copy(update={"content": " ".join(words[:kept]).rstrip()})
        size = count_tokens(embedding_text(row))
    return row
