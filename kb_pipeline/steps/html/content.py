"""Reduce a page to the tree of its article: the main content, images replaced, the markup of all tools made plain HTML.

This is shared by everything that reads an article's HTML. Each step changes the tree in place and is independent of
the others; each is in its own module. Not here: markdown (``convert``).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from kb_pipeline.errors import EmptyArticleError
from kb_pipeline.records import DocumentCounts, ImageInfo, LeftOutText
from kb_pipeline.steps.html.admonitions import quote_admonitions
from kb_pipeline.steps.html.code import CODE_BLOCKS, LINE_NUMBERS, join_code_lines, part_code_variants
from kb_pipeline.steps.html.controls import show_controls
from kb_pipeline.steps.html.decode import clean, decode
from kb_pipeline.steps.html.dom import HEADINGS, LISTS, Element, classes, has_text, is_inside, parse, text_of
from kb_pipeline.steps.html.formulas import spell_formulas
from kb_pipeline.steps.html.hidden import HiddenText, drop_hidden, hide
from kb_pipeline.steps.html.icons import name_icons
from kb_pipeline.steps.html.image_files import ImageFiles
from kb_pipeline.steps.html.images import PlacedImages, place_images
from kb_pipeline.steps.html.links import drop_empty_links, tidy_links
from kb_pipeline.steps.html.main_content import is_web_page, keep_main_content, purpose_of
from kb_pipeline.steps.html.metadata import Metadata, read_metadata
from kb_pipeline.steps.html.page import find_main_content, is_filled, remove_furniture, remove_page_tools, visible_body
from kb_pipeline.steps.html.page_marks import keep_pages, splits_word
from kb_pipeline.steps.html.picture_sources import show_pictures
from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline.steps.html.shadow import open_shadows
from kb_pipeline.steps.html.tables import name_columns, unwrap_layout_tables
from kb_pipeline.steps.html.text import join_keys, spell_out_definition_lists, tidy_headings
from kb_pipeline.steps.pages import PAGE_TAG

_LOADING, _MORE = 100, 10
"""Words of a page on which only a sign stands that something loads, and how many times as many it must show then."""


class PageContent(NamedTuple):
    """An article's tree and what was read from the page; ``counts`` has no images, tables and code blocks yet."""

    main: Element
    metadata: Metadata
    counts: DocumentCounts
    placed: PlacedImages
    placeholders: Placeholders
    warnings: tuple[str, ...] = ()
    left_out: tuple[LeftOutText, ...] = ()


def find_content(article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> PageContent:
    """Reduce a page to its article, with a placeholder in the place of each content image.

    Raises:
        UnreadableArticleError: the bytes are not HTML, or have too many style rules.
        EmptyArticleError: the page is empty.
    """
    page = fullest_page(decode(article_id, html), lambda each: see(each, images))
    if page is None or not is_filled(page.body):
        raise nothing_in(article_id)
    main = page.body
    left_out = keep_main_content(main, page.title, page.purpose) if page.is_of_web else None
    if left_out is None:
        main = find_main_content(main)
    tools = remove_page_tools(main)
    warnings = (*page.warnings, *drop_hidden(main, page.hidden))
    if not is_filled(main):
        raise nothing_in(article_id)
    content = _tidied(main, page.metadata, images, warnings)
    return content._replace(left_out=(*page.left_out, *(left_out or ()), *tools))


def see(page: Element, images: Mapping[str, ImageInfo]) -> list[HiddenText]:
    """Make plain HTML of what readers of the page see or can open, in place, and take out what they do not see."""
    open_shadows(page)
    show_pictures(page, ImageFiles(images))
    spell_formulas(page)
    name_icons(page)
    hidden = hide(page)
    show_controls(page)
    return hidden


class ReadablePage(NamedTuple):
    """A page without hidden text and furniture, and what its head says."""

    body: Element
    metadata: Metadata
    hidden: list[HiddenText]
    is_of_web: bool
    title: str
    purpose: str
    left_out: Sequence[LeftOutText]
    warnings: tuple[str, ...] = ()


def fullest_page(html: str, take_out: Callable[[Element], list[HiddenText]]) -> ReadablePage | None:
    """Return the page as a reader sees it; if only a sign is seen that something loads, the page without scripts.

    If nothing at all is seen, it is what is hidden until a script shows it. ``take_out`` removes what readers do not
    see; None if there is nothing to parse.
    """
    page = _page(html, take_out)
    words = _words_in(page.body) if page else 0
    if page is None or words >= _LOADING:
        return page
    # an element that nobody closed may hold all that follows, where browsers end it
    as_in_browsers = _page(LexborHTMLParser(html).html or "", take_out)
    if as_in_browsers and _words_in(as_in_browsers.body) > _MORE * words:
        return as_in_browsers
    other = None
    if "<noscript" in html.lower():
        other = _page(html, take_out, with_noscript=True)
        other = other if other and _words_in(other.body) > _MORE * words else None
    if other is None and not is_filled(page.body):  # beside text that is seen, hidden text stays hidden
        other = _page(html, lambda _: [])
    if other is None or not is_filled(other.body):
        return page
    return other._replace(warnings=("only a script shows the text of the page: it was taken from what the page holds",))


def _page(
    html: str, take_out: Callable[[Element], list[HiddenText]], with_noscript: bool = False
) -> ReadablePage | None:
    page = parse(html)
    if page is None:
        return None
    if with_noscript:
        for element in page.iter("noscript"):
            element.tag = "div" if next(element.iter(*HEADINGS), None) is not None else "template"
    hidden = take_out(page)
    tidy_headings(page)
    is_of_web, purpose, title = is_web_page(page), purpose_of(page), next(map(text_of, page.iter("title")), "")
    metadata = read_metadata(page)
    body = visible_body(page)
    keep_pages(body, ())
    left_out = remove_furniture(body)
    return ReadablePage(body, metadata, hidden, is_of_web, title, purpose, left_out)


def _words_in(body: Element) -> int:
    return sum(len(text.split()) for text in body.itertext())


def document_content(html: str, images: Mapping[str, ImageInfo], pages: Collection[int] = ()) -> PageContent | None:
    """Make the same of the page that a document was read into, where everything is content; ``None`` if it is empty.

    Only elements of these ``pages`` mark where a page begins; all others are an author's, and nothing.
    """
    page = parse(clean(html))
    if page is None:
        return None
    hidden = see(page, images)
    tidy_headings(page)
    body = visible_body(page)
    keep_pages(body, pages)
    return _tidied(body, read_metadata(page), images, drop_hidden(body, hidden))


def _tidied(
    main: Element, metadata: Metadata, images: Mapping[str, ImageInfo], warnings: tuple[str, ...]
) -> PageContent:
    tidy_links(main)
    join_code_lines(main)
    part_code_variants(main)
    name_columns(main)
    counts = count_content(main)

    placeholders = Placeholders()
    placed = place_images(main, images, placeholders)
    drop_empty_links(main)
    join_keys(main)
    quote_admonitions(main)
    spell_out_definition_lists(main)
    unwrap_layout_tables(main)
    return PageContent(main, metadata, counts, placed, placeholders, warnings)


def nothing_in(article_id: str) -> EmptyArticleError:
    """Return the error for a page without an article."""
    return EmptyArticleError(
        f"{article_id}: the page holds no text and no image besides navigation; if a script makes its text, set "
        "KB_RENDER=chromium, or stage the page as a browser saves it"
    )


def count_content(main: Element) -> DocumentCounts:
    """Count the content that must survive the conversion; images, tables and code blocks are counted by other steps.

    Anything inside a code block counts as code, whatever its markup.
    """
    items = [item for item in main.iter("li") if _is_shown(item)]
    return DocumentCounts(
        words=sum(len(text.split()) for text in main.itertext()) - sum(map(splits_word, main.iter(PAGE_TAG))),
        letters=_letters_in(main)
        - sum(_letters_in(element) for element in main.iter() if _holds_line_numbers(element)),
        headings=sum(_is_shown(heading) for heading in main.iter(*HEADINGS)),
        links=sum(_is_shown(link) for link in main.iter("a")),
        list_items=sum(1 for item in items if (parent := item.getparent()) is not None and parent.tag in LISTS),
    )


def _letters_in(element: Element) -> int:
    return sum(map(str.isalnum, "".join(map(str, element.itertext()))))


def _holds_line_numbers(element: Element) -> bool:
    """Return whether the element holds line numbers of code, which are left out."""
    if not element.get("class") or LINE_NUMBERS.isdisjoint(classes(element)):
        return False
    return element.tag == "td" or is_inside(element, *CODE_BLOCKS)


def _is_shown(element: Element) -> bool:
    return has_text(element) and not is_inside(element, *CODE_BLOCKS)
