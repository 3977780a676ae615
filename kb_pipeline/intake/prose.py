"""Tells an article from a page that only leads to others: an index, a list of contents, a search, a redirection, a
sign-in.

It goes by structure, so it knows no tool and no language: such a page has no prose of its own, that is no block with
more text outside of links than inside, no code, no table of values, and no picture.
"""

import re
from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from kb_pipeline.steps.html.dom import BLOCKS, HEADINGS, Element, is_inside, parse, text_of
from kb_pipeline.steps.html.page import find_main_content, is_filled, remove_furniture, visible_body

_SENTENCE = 40
"""Letters. A shorter text outside of links is a label, a letter of an index, or a remark beside a link."""
_FEW_BLOCKS = 3
"""Blocks of prose that a page of searching has: what to type, and what is needed for it."""
_FEW_LINKS = 3
"""A short page with fewer links than these is not there for them."""
_STATEMENT = re.compile(r"\{%[^{}%]*%\}")
_REPLACED = re.compile(rf"{_STATEMENT.pattern}|\{{\{{[^{{}}]*\}}\}}")
"""What programs that make pages replace in templates; a page about that has prose besides."""
SIGN_IN = "it asks for a password"
_LARGE = 2_000_000
"""Characters of a page that surely has prose; reading it would take long."""


def page_of(title: str, body: str) -> str:
    """The page of an article that a service keeps as a title and the HTML below it."""
    shown = escape(title)
    head = f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{shown}</title></head>\n<body><main>\n'
    return f"{head}<h1>{shown}</h1>\n{body}\n</main></body></html>\n"


def why_no_article(html: str) -> str:
    """Why a page is left out; "" if it is an article."""
    if len(html) > _LARGE:
        return ""
    page = parse(html)
    if page is None:
        return "it is empty"
    is_search, is_redirection, is_sign_in = _searches(page), _redirects(page), _signs_in(page)
    body = visible_body(page)
    remove_furniture(body)
    main = find_main_content(body)
    if not is_filled(main):
        return "it leads to another page" if is_redirection else "it has no text and no picture besides navigation"
    blocks = sum(1 for _ in _prose(main))
    if _STATEMENT.search(html) and not _tells(_REPLACED.sub("", html)):
        return "it is a template that pages are made of"
    if is_redirection and blocks <= _FEW_BLOCKS:
        return "it leads to another page"
    if is_search and blocks <= _FEW_BLOCKS:
        return "it searches the other pages"
    if is_sign_in and blocks <= 1:
        return SIGN_IN
    links = sum(map(_is_link, main.iter("a")))
    if not blocks and links >= _FEW_LINKS and next(main.iter("pre", "img", "image", "code"), None) is None:
        return "it only leads to other pages"
    return ""


def _tells(html: str) -> bool:
    """Whether a page has prose or code in its main part."""
    if (page := parse(html)) is None:
        return False
    body = visible_body(page)
    remove_furniture(body)
    main = find_main_content(body)
    return next(_prose(main), None) is not None or next(main.iter("pre"), None) is not None


def _redirects(page: Element) -> bool:
    return any(map(is_refresh, page.iter("meta")))


def is_refresh(element: Element) -> bool:
    """Whether an element sends browsers on to another page, and not only those without scripts."""
    return (
        element.tag == "meta"
        and (element.get("http-equiv") or "").lower() == "refresh"
        and not is_inside(element, "noscript")
    )


def _signs_in(page: Element) -> bool:
    """Whether the page asks for a password, and not only in a box of its site that each page has."""
    return any(
        (field.get("type") or "").lower() == "password"
        and not is_inside(field, "nav", "header", "footer", "aside", "dialog")
        and not _is_beside_article(field)
        for field in page.iter("input")
    )


def _searches(page: Element) -> bool:
    """Whether the page has an empty place for what a search finds, outside of the navigation."""
    for element in page.iter("div", "ul", "ol", "section", "main"):
        name = f"{element.get('id') or ''} {element.get('class') or ''}".lower()
        if (
            "search" in name
            and "result" in name
            and not text_of(element, 1)
            and not is_inside(element, "nav", "header")
        ):
            return not _is_beside_article(element)
    return False


def _is_beside_article(place: Element) -> bool:
    """Whether the place is in a box that opens over the article, as many themes have on each page."""
    return any(
        each.get("role") in ("dialog", "search") or "modal" in (each.get("class") or "").lower()
        for each in place.iterancestors()
    )


def _is_link(element: Element) -> bool:
    """Whether an element leads somewhere, and is not only a place that others lead to."""
    return element.tag == "a" and bool(element.get("href"))


def _prose(main: Element) -> Iterator[Element]:
    """The blocks with a sentence of their own, most of it outside of links."""
    places: dict[Element, _Place] = {main: _Place(main, in_link=False)}
    own: Counter[Element] = Counter()
    linked: Counter[Element] = Counter()

    def count(text: str | None, place: _Place) -> None:
        if place.block.tag not in HEADINGS:
            (linked if place.in_link else own)[place.block] += len(" ".join((text or "").split()))

    for element in main.iter():  # parents first
        if element is not main:
            parent = element.getparent()
            around = places[main if parent is None else parent]
            count(element.tail, around)
            block = element if element.tag in BLOCKS else around.block
            places[element] = _Place(block, around.in_link or _is_link(element))
        if isinstance(element.tag, str):
            count(element.text, places[element])
    yield from (block for block, letters in own.items() if letters >= _SENTENCE and letters > linked[block])


class _Place(NamedTuple):
    """The block that an element's text belongs to, and whether it is the text of a link."""

    block: Element
    in_link: bool
