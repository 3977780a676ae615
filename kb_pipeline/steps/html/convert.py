"""An article's HTML becomes markdown with image markers: the order of the steps.

Each step changes the page's tree in place and knows nothing of the others; html-to-markdown writes
the result. What a step finds is in the module of its name.
"""

from collections.abc import Mapping
from importlib.metadata import version

from kb_pipeline.errors import EmptyArticleError
from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.steps.html.admonitions import quote_admonitions
from kb_pipeline.steps.html.code import join_code_lines, mark_code_blocks, mark_inline_code
from kb_pipeline.steps.html.contexts import contexts_of
from kb_pipeline.steps.html.counts import count_content
from kb_pipeline.steps.html.decode import decode
from kb_pipeline.steps.html.definition_lists import spell_out_definition_lists
from kb_pipeline.steps.html.dom import parse
from kb_pipeline.steps.html.emphasis import tidy_emphasis
from kb_pipeline.steps.html.furniture import remove_furniture
from kb_pipeline.steps.html.headings import tidy_headings
from kb_pipeline.steps.html.images import place_images
from kb_pipeline.steps.html.keys import join_keys
from kb_pipeline.steps.html.layout_tables import unwrap_layout_tables
from kb_pipeline.steps.html.links import collect_links, drop_empty_links, tidy_links
from kb_pipeline.steps.html.main_content import find_main_content, visible_body
from kb_pipeline.steps.html.markdown import write_markdown
from kb_pipeline.steps.html.metadata import read_metadata
from kb_pipeline.steps.html.page_tools import remove_page_tools
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
    page = parse(decode(article_id, html))
    if page is None:
        raise _empty(article_id)
    tidy_headings(page)
    metadata = read_metadata(page)
    body = visible_body(page)
    remove_furniture(body)
    main = find_main_content(body)
    remove_page_tools(main)
    tidy_links(main)
    join_code_lines(main)
    counts = count_content(main)

    placeholders = Placeholders()
    placed = place_images(main, images, placeholders)
    drop_empty_links(main)
    join_keys(main)
    quote_admonitions(main)
    spell_out_definition_lists(main)
    unwrap_layout_tables(main)
    code_blocks = mark_code_blocks(main, placeholders)
    links = collect_links(main)  # while code in their labels is still text
    mark_inline_code(main, placeholders)
    tidy_emphasis(main)
    tables = flatten_tables(main)
    tidy_blocks(main)

    references = placed.with_contexts(contexts_of(main, placed.places))
    markdown = write_markdown(main, placeholders)
    if not markdown.strip():
        raise _empty(article_id)
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


def _empty(article_id: str) -> EmptyArticleError:
    return EmptyArticleError(f"{article_id}: index.html holds no text and no image besides navigation")
