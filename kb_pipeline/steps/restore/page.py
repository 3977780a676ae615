"""The page that a service receives, and the cleaning of the markdown that it returns.

The page is an article's main content as clean HTML with a marker in the place of each image: no external references,
scripts or styles, only known tags. Not here: its layout in print.
"""

import re
from collections.abc import Mapping
from html.entities import html5

from lxml import etree

from kb_pipeline.records import ImageInfo
from kb_pipeline.steps.html.code import CODE_BLOCKS, verbatim
from kb_pipeline.steps.html.content import find_content, nothing_in
from kb_pipeline.steps.html.decode import clean
from kb_pipeline.steps.html.dom import BLOCKS, BOXES, Element, dissolve, has_text, is_inside, names, replace_with_text
from kb_pipeline.steps.html.paragraphs import tidy_blocks
from kb_pipeline.steps.html.placeholders import PLACEHOLDER
from kb_pipeline.steps.html.tables import flatten_cell
from kb_pipeline.steps.html.text import tidy_emphasis
from kb_pipeline.steps.restore.recognise import aliases_of

_TAGS = BLOCKS - BOXES | names("body a br code del em kbd q s samp strike strong sub sup tt")
_ATTRIBUTES = {"a": ("href",), "ol": ("start",), "td": ("colspan", "rowspan"), "th": ("colspan", "rowspan")}

_FENCED = re.compile(
    r"^(?P<indent>[ \t>]*+)(?P<fence>`{3,}+|~{3,}+)[^`\n]*+$(?:\n.*+)*?(?:\n[ \t>]*+(?P=fence)[`~]*+[ \t]*+$|\Z)", re.M
)
_FRAME = re.compile(r"</?(?:figure|figcaption|figurecontent|section|div|center|article|main)(?:\s[^<>]*)?/?>", re.I)
_SELECTION = re.compile(r":(?:un)?selected:|[\u2610-\u2612]")
_FORMULA = re.compile(r"(?<![\\$\w])\$(?!\$)([^$\n]{1,60}?)(?<!\\)\$(?![$\w])")
_COMMAND = re.compile(r"\\([A-Za-z]+|[%$&#_{} ,;])|\^\s*\{?\s*\\circ\s*\}?|[{}^_$]")
_OTHER_NAMES = {
    **{"to": "→", "gets": "←", "dots": "…", "ldots": "…", "cdots": "⋯", "degree": "°", "quad": " ", "qquad": " "},
    **{"textbf": "", "textit": "", "text": "", "mathrm": "", "mathbf": "", "rm": "", "bf": "", "left": "", "right": ""},
    **{
        "blacktriangleright": "▶",
        "triangleright": "▷",
        "textbackslash": "\\\\",
        "textgreater": ">",
        "textless": "&lt;",
    },
}
"""TeX commands that are not MathML entities."""


def service_html(article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> str:
    """Return the article's main content as an HTML5 document, with each content image replaced by ``[[IMG:<name>]]``.

    Raises:
        UnreadableArticleError: the bytes are not HTML.
        EmptyArticleError: there is no main content: no text and no image.
    """
    content = find_content(article_id, html, images)
    main = content.main
    for block in list(main.iter(*CODE_BLOCKS)):
        replace_with_text(block, verbatim(block), "pre")
    tidy_emphasis(main)
    _simplify_tables(main)
    tidy_blocks(main)
    if not has_text(main):
        raise nothing_in(article_id)
    _keep_known_markup(main)
    aliases = aliases_of(content.placed.references)
    _show_markers(main, {place: aliases[file] for place, file in content.placed.places.items()})
    return _document(main, content.metadata.title or article_id, content.metadata.language)


def clean_markdown(markdown: str, article: str) -> str:
    """Remove what the service added to the markdown; anything that ``article`` contains itself stays."""
    head, end, tail = clean(markdown).rpartition("-->")
    # An unclosed comment would hide the rest.
    text = head + end + tail.replace("<!--", "&lt;!--")
    parts, done = [], 0
    for code in _FENCED.finditer(text):
        parts += [_clean(text[done : code.start()], article), code[0]]
        done = code.end()
    return "".join([*parts, _clean(text[done:], article)])


def _simplify_tables(main: Element) -> None:
    """Move captions before their tables, and flatten tables in cells: markdown supports neither."""
    for caption in list(main.iter("caption")):
        table = caption.getparent()
        if table is not None and table.tag == "table":
            caption.tag, caption.tail = "p", None
            table.addprevious(caption)
    for table in list(main.iter("table")):
        cell = next(table.iterancestors("td", "th"), None)
        if cell is not None and is_inside(cell, "table", "td", "th"):
            outermost_cell = [cell, *cell.iterancestors("td", "th")][-1]
            flatten_cell(outermost_cell)


def _keep_known_markup(main: Element) -> None:
    for element in main.iter():
        attributes = {name: element.get(name) for name in _ATTRIBUTES.get(str(element.tag), ())}
        if element.tag not in _TAGS:
            dissolve(element)
        element.attrib.clear()
        for name, value in attributes.items():
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
    """Return the text before the first marker, and the markers, each with the text after it."""
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


def _clean(text: str, article: str) -> str:
    text = _FRAME.sub("\n\n", text)
    text = _SELECTION.sub(lambda match: match[0] if match[0] in article else "", text)
    return _FORMULA.sub(lambda match: match[0] if match[0] in article else _words_of(match), text)


def _words_of(formula: re.Match[str]) -> str:
    """Return the text of a formula, or the formula itself if it is more than a few signs and words."""
    if "\\" not in formula[1] and "^" not in formula[1]:
        return formula[0]
    text = _COMMAND.sub(_sign, formula[1])
    return formula[0] if "\0" in text else text.strip()


def _sign(command: re.Match[str]) -> str:
    name = command[1]
    if name is None:
        return "°" if "circ" in command[0] else "" if command[0] in "{}" else "\0"
    if not name.isalpha():
        return " " if name in " ,;" else f"\\{name}"
    return _OTHER_NAMES.get(name, html5.get(f"{name};", "\0"))
