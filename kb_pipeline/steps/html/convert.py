"""An article's HTML becomes markdown with image markers: the order of the steps.

Each step changes the tree in place and knows nothing of the others; html-to-markdown writes the result.
What a step finds is in the module of its name; how a page becomes the tree of its article is in ``content``.
"""

from collections.abc import Mapping
from importlib.metadata import version
from typing import NamedTuple

from kb_pipeline.records import ConvertedArticle, ImageInfo, Link
from kb_pipeline.steps.html.code import mark_code_blocks, mark_inline_code
from kb_pipeline.steps.html.content import find_content, nothing_in
from kb_pipeline.steps.html.contexts import contexts_of
from kb_pipeline.steps.html.dom import Element
from kb_pipeline.steps.html.emphasis import tidy_emphasis
from kb_pipeline.steps.html.links import collect_links
from kb_pipeline.steps.html.markdown import write_markdown
from kb_pipeline.steps.html.paragraphs import tidy_blocks
from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline.steps.html.tables import flatten_tables

CONVERTER_VERSION = f"2+html-to-markdown-{version('html-to-markdown')}"
"""Raise the first number whenever the same page would give another markdown."""


def convert_html(article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
    """Convert the main content of a page; ``images`` maps the folder's image files to their headers.

    Raises:
        UnreadableArticleError: the bytes are not HTML.
        EmptyArticleError: there is no main content: no text and no image.
    """
    main, metadata, counts, placed, placeholders = find_content(article_id, html, images)
    code_blocks, links, tables = flatten_tree(main, placeholders)
    references = placed.with_contexts(contexts_of(main, placed.places))
    markdown = write_markdown(main, placeholders)
    if not markdown.strip():
        raise nothing_in(article_id)
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
        warnings=placed.warnings,
        converter=f"local-{CONVERTER_VERSION}",
    )


class Flattened(NamedTuple):
    """What a tree was found to hold while it was made plain."""

    code_blocks: int
    links: tuple[Link, ...]
    tables: int


def flatten_tree(main: Element, placeholders: Placeholders) -> Flattened:
    """Make the tree of an article what ``write_markdown`` can write, in place: code kept apart, plain blocks only."""
    code_blocks = mark_code_blocks(main, placeholders)
    links = collect_links(main)  # while code in their labels is still text
    mark_inline_code(main, placeholders)
    tidy_emphasis(main)
    tables = flatten_tables(main)
    tidy_blocks(main)
    return Flattened(code_blocks, links, tables)
