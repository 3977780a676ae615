"""Convert an article's HTML to markdown with image markers: the order of the steps.

Each step changes the tree in place and is independent of the others; each is in its own module. ``content`` reduces
the page to its article, and html-to-markdown writes the markdown.
"""

from collections.abc import Collection, Mapping
from importlib.metadata import version
from typing import NamedTuple

from kb_pipeline.errors import EmptyArticleError
from kb_pipeline.records import ConvertedArticle, ImageInfo, Link
from kb_pipeline.steps.html.code import mark_code_blocks, mark_inline_code
from kb_pipeline.steps.html.content import PageContent, document_content, find_content, nothing_in
from kb_pipeline.steps.html.dom import Element
from kb_pipeline.steps.html.images import contexts_of
from kb_pipeline.steps.html.links import collect_links
from kb_pipeline.steps.html.list_numbers import spell_letters, split_lists
from kb_pipeline.steps.html.markdown import write_markdown
from kb_pipeline.steps.html.page_marks import mark_pages
from kb_pipeline.steps.html.paragraphs import tidy_blocks
from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline.steps.html.tables import flatten_tables
from kb_pipeline.steps.html.text import tidy_emphasis
from kb_pipeline.steps.pages import without_marks

CONVERTER_VERSION = f"12+html-to-markdown-{version('html-to-markdown')}"
"""Increase the first number whenever the same page would give different markdown."""


def convert_html(article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
    """Convert the main content of a page; ``images`` maps the image files of the folder to their headers.

    Raises:
        UnreadableArticleError: the bytes are not HTML.
        EmptyArticleError: there is no main content: no text and no image.
    """
    if converted := _converted(article_id, find_content(article_id, html, images)):
        return converted
    raise nothing_in(article_id)


def convert_document(
    article_id: str, name: str, html: str, images: Mapping[str, ImageInfo], pages: Collection[int] = ()
) -> ConvertedArticle:
    """Convert the page that the document ``name`` was read into; ``images`` are its own and those of its folder.

    ``pages`` are the numbers of its pages, each of which begins in ``html`` with its element.

    Raises:
        EmptyArticleError: it has no text and no image.
    """
    content = document_content(html, images, pages)
    if content and (converted := _converted(article_id, content)):
        return converted
    raise EmptyArticleError(f"{article_id}: {name} holds no text and no image")


def _converted(article_id: str, content: PageContent) -> ConvertedArticle | None:
    main, metadata, counts, placed, placeholders, warnings, left_out = content
    code_blocks, links, tables = flatten_tree(main, placeholders)
    references = placed.with_contexts(contexts_of(main, placed.places, placeholders))
    mark_pages(main, placeholders)
    markdown = write_markdown(main, placeholders)
    if not without_marks(markdown).strip():
        return None
    return ConvertedArticle(
        article_id=article_id,
        title=metadata.title or article_id,
        source_url=metadata.source_url,
        language=metadata.language,
        key_topics=metadata.key_topics,
        markdown=markdown,
        images=references,
        links=links,
        counts=counts.model_copy(update={"images": len(placed.places), "tables": tables, "code_blocks": code_blocks}),
        decorative_images=placed.decorative,
        lost_images=placed.lost,
        warnings=(*placed.warnings, *warnings),
        left_out=left_out,
        converter=f"local-{CONVERTER_VERSION}",
    )


class Flattened(NamedTuple):
    """Content counted and collected while a tree was flattened."""

    code_blocks: int
    links: tuple[Link, ...]
    tables: int


def flatten_tree(main: Element, placeholders: Placeholders) -> Flattened:
    """Reduce an article's tree, in place, to what ``write_markdown`` supports: plain blocks, code as placeholders."""
    code_blocks = mark_code_blocks(main, placeholders)
    links = collect_links(main)  # while code in link labels is still text
    mark_inline_code(main, placeholders)
    tidy_emphasis(main)
    spell_letters(main)
    tables = flatten_tables(main)
    split_lists(main)
    tidy_blocks(main)
    return Flattened(code_blocks, links, tables)
