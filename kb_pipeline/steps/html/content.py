"""A page becomes the tree of its article: the main content, its images placed, every dialect made plain HTML.

What is shared by all that read an article's HTML. Each step changes the tree in place and knows nothing of the
others; what a step finds is in the module of its name. Not here: markdown (``convert``).
"""

from collections.abc import Mapping
from typing import NamedTuple

from kb_pipeline.errors import EmptyArticleError
from kb_pipeline.records import DocumentCounts, ImageInfo
from kb_pipeline.steps.html.admonitions import quote_admonitions
from kb_pipeline.steps.html.code import join_code_lines
from kb_pipeline.steps.html.counts import count_content
from kb_pipeline.steps.html.decode import decode
from kb_pipeline.steps.html.definition_lists import spell_out_definition_lists
from kb_pipeline.steps.html.dom import Element, parse
from kb_pipeline.steps.html.furniture import remove_furniture
from kb_pipeline.steps.html.headings import tidy_headings
from kb_pipeline.steps.html.images import PlacedImages, place_images
from kb_pipeline.steps.html.keys import join_keys
from kb_pipeline.steps.html.layout_tables import unwrap_layout_tables
from kb_pipeline.steps.html.links import drop_empty_links, tidy_links
from kb_pipeline.steps.html.main_content import find_main_content, visible_body
from kb_pipeline.steps.html.metadata import Metadata, read_metadata
from kb_pipeline.steps.html.page_tools import remove_page_tools
from kb_pipeline.steps.html.placeholders import Placeholders


class Content(NamedTuple):
    """An article's tree and what was learnt on the way; ``counts`` is without what later steps judge."""

    main: Element
    metadata: Metadata
    counts: DocumentCounts
    placed: PlacedImages
    placeholders: Placeholders


def find_content(article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> Content:
    """Read a page down to its article; a placeholder stands where each content image does.

    Raises:
        UnreadableArticleError: the bytes are not HTML.
        EmptyArticleError: there is nothing to parse.
    """
    page = parse(decode(article_id, html))
    if page is None:
        raise nothing_in(article_id)
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
    return Content(main, metadata, counts, placed, placeholders)


def nothing_in(article_id: str) -> EmptyArticleError:
    """What is wrong with a page that holds no article."""
    return EmptyArticleError(f"{article_id}: index.html holds no text and no image besides navigation")
