"""The page a service gets to see: an article's main content as clean HTML, with a marker where each image stands.

It is rendered or sent as it is: no reference to anything outside, no script, no style, nothing but known tags.
Not here: how it looks in print.
"""

from collections.abc import Mapping

from lxml import etree

from kb_pipeline.records import ImageInfo
from kb_pipeline.steps.html.code import CODE_BLOCKS, verbatim
from kb_pipeline.steps.html.content import find_content, nothing_in
from kb_pipeline.steps.html.dom import BLOCKS, BOXES, Element, dissolve, has_text, names
from kb_pipeline.steps.html.emphasis import tidy_emphasis
from kb_pipeline.steps.html.paragraphs import tidy_blocks
from kb_pipeline.steps.html.placeholders import PLACEHOLDER
from kb_pipeline.steps.html.table_cells import flatten_cell
from kb_pipeline.steps.restore.aliases import aliases_of

_TAGS = BLOCKS - BOXES | names("body a br code del em kbd q s samp strike strong sub sup tt")
_ATTRIBUTES = {"a": ("href",), "ol": ("start",), "td": ("colspan", "rowspan"), "th": ("colspan", "rowspan")}


def service_html(article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> str:
    """The article's main content as one HTML5 document, each content image replaced by ``[[IMG:<name>]]``.

    Raises:
        UnreadableArticleError: the bytes are not HTML.
        EmptyArticleError: there is no main content: no text and no image.
    """
    content = find_content(article_id, html, images)
    main = content.main
    for block in list(main.iter(*CODE_BLOCKS)):
        _keep_code(block)
    tidy_emphasis(main)
    _simplify_tables(main)
    tidy_blocks(main)
    if not has_text(main):
        raise nothing_in(article_id)
    _keep_known_markup(main)
    aliases = aliases_of(content.placed.references)
    _show_markers(main, {place: aliases[file] for place, file in content.placed.places.items()})
    return _document(main, content.metadata.title or article_id, content.metadata.language)


def _keep_code(block: Element) -> None:
    code, tail = verbatim(block), block.tail
    block.clear()
    block.tag, block.text, block.tail = "pre", code, tail


def _simplify_tables(main: Element) -> None:
    """Captions go before their tables, and cells hold no tables: markdown has neither."""
    for caption in list(main.iter("caption")):
        table = caption.getparent()
        if table is not None and table.tag == "table":
            caption.tag, caption.tail = "p", None
            table.addprevious(caption)
    for table in list(main.iter("table")):
        cell = next(table.iterancestors("td", "th"), None)
        if cell is not None and next(cell.iterancestors("table", "td", "th"), None) is not None:
            flatten_cell(_outermost_cell(cell))


def _outermost_cell(cell: Element) -> Element:
    return next(reversed([cell, *cell.iterancestors("td", "th")]))


def _keep_known_markup(main: Element) -> None:
    for element in main.iter():
        kept = {name: element.get(name) for name in _ATTRIBUTES.get(str(element.tag), ())}
        if element.tag not in _TAGS:
            dissolve(element)
        element.attrib.clear()
        for name, value in kept.items():
            if value is not None:
                element.set(name, value)
    etree.strip_tags(main, "span", "div")


def _show_markers(main: Element, names: Mapping[str, str]) -> None:
    for element in list(main.iter()):
        if PLACEHOLDER.search(element.text or ""):
            element.text, markers = _with_markers(element.text or "", names)
            element[:0] = markers
        if PLACEHOLDER.search(element.tail or ""):
            words, markers = _with_markers(element.tail or "", names)
            element.tail = None
            for marker in reversed(markers):
                element.addnext(marker)
            element.tail = words


def _with_markers(text: str, names: Mapping[str, str]) -> tuple[str, list[Element]]:
    """The text before the first marker, and the markers, each with the text after it."""
    places = list(PLACEHOLDER.finditer(text))
    ends = [*(place.start() for place in places[1:]), len(text)]
    markers = []
    for place, end in zip(places, ends, strict=True):
        markers.append(etree.Element("span", {"class": "marker"}))
        markers[-1].text = f"[[IMG:{names[place[0]]}]]"
        markers[-1].tail = text[place.end() : end]
    return text[: places[0].start()], markers


def _document(body: Element, title: str, language: str | None) -> str:
    page = etree.Element("html")
    if language:
        page.set("lang", language)
    head = etree.SubElement(page, "head")
    etree.SubElement(head, "meta").set("charset", "utf-8")
    etree.SubElement(head, "title").text = title
    body.tail = None
    page.append(body)
    return etree.tostring(page, encoding="unicode", method="html", doctype="<!DOCTYPE html>")
