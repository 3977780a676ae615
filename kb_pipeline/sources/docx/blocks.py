"""Says of each paragraph of a Word document what it is: a heading, an item of a list, code, a quote, text of an item.

mammoth goes by the style that a paragraph names itself, and counts nothing. So each paragraph gets a style of ours,
which names the HTML that it becomes, and the numbers that Word prints are written into its text.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lxml import etree

from kb_pipeline.sources.docx.code import find_code
from kb_pipeline.sources.docx.numbering import NumberedItem, Numbering, indent_in
from kb_pipeline.sources.docx.styles import Element, WordStyles, child, made_like, name_in, value
from kb_pipeline.sources.office import name_of

TITLE_CLASS = "kb-title"
HEADING = "kb-heading"
"""Begins the names of the styles of headings."""
_CODE = {
    *("source code", "code", "code block", "html preformatted", "preformatted text", "plain text", "macro text"),
}
_PRE = "pre:separator('\\n')"
_QUOTES = {"quote", "intense quote", "block text", "quotations"}
_HEADING = re.compile(r"heading ?([1-9])")
_DEEPEST_HEADING = 6  # HTML has six
_DEEPEST_LIST = 9
"""As many as Word has."""
_NEAR = 100
"""Twentieths of a point by which places differ that are meant to be the same."""
_STEP = 720
"""How far each level is indented in lists that do not say it: half an inch, as in Word's own."""
_MOST_BETWEEN = 3
"""Paragraphs between two items that still belong to the first of them; more are a text with numbers in it."""
_CONTAINERS = ("tc", "txbxContent", "body", "footnote", "endnote")
_SEEN = {"t", "drawing", "pict", "object", "sym", "footnoteReference", "endnoteReference", "oMath", "ruby"}
_BREAKS = {"lastRenderedPageBreak", "br"}
_START = "\ue000{token}:start:{number}\ue001"


class PlacedBlocks(NamedTuple):
    """The style map by which mammoth writes the paragraphs, and what marks the number at which a list begins."""

    style_map: str
    token: str

    def in_html(self, html: str) -> str:
        """Write the numbers at which lists begin into the elements of the lists."""
        mark = rf"\ue000{re.escape(self.token)}:start:(\d+)\ue001"
        html = re.sub(rf"<ol><li>{mark}", r'<ol start="\1"><li>', html)
        return re.sub(mark, "", html)


def place_blocks(parts: Sequence[Element], styles: WordStyles, numbering: Numbering, token: str) -> PlacedBlocks:
    """Give each paragraph of a document and its notes that is more than text a style of ours, in place."""
    paths: dict[str, str] = {}
    lists: dict[Element | None, _OpenLists] = {}
    code = {paragraph for part in parts for paragraph in find_code(part, styles)}
    margin = _margin(parts, styles)
    for block in [block for part in parts for block in part.iter("{*}p", "{*}tbl")]:
        container = next((one for one in block.iterancestors() if name_of(one) in _CONTAINERS), None)
        open_lists = lists.setdefault(container, _OpenLists(margin))
        if name_of(block) == "tbl":
            open_lists.close()
            continue
        placed = _placed(block, styles, numbering, open_lists, is_code=block in code)
        if placed is None:
            continue
        for one, path in ((block, placed.path), *placed.before):
            kind = HEADING if path.startswith("h") else "kb-block"
            _set_style(one, paths.setdefault(path, f"{kind}-{len(paths)}"))
        if placed.label:
            _insert_label(block, placed.label)
        if placed.start > 1:
            _insert_first(block, _START.format(token=token, number=placed.start))
    return PlacedBlocks("\n".join(f"p.{style} => {path}" for path, style in paths.items()), token)


class _Placed(NamedTuple):
    """The HTML path of a paragraph, what Word prints before it, and the number at which its list begins.

    ``before`` are paragraphs before it that turn out to belong to the item before, with their paths.
    """

    path: str
    label: str = ""
    start: int = 0
    before: tuple[tuple[Element, str], ...] = ()


@dataclass
class _OpenList:
    item: NumberedItem
    kind: str
    place: int
    number: int


@dataclass
class _OpenLists:
    """The lists in which the next paragraph of a container may stand, the outermost first.

    ``waiting`` is an item without words, and its place: text may follow in a paragraph that no list counts. ``ended``
    are the lists that were open before the paragraphs ``between``: the next item may go on counting one of them. Text
    at the ``margin`` belongs to no item.
    """

    margin: int = 0
    open: list[_OpenList] = field(default_factory=list)
    waiting: tuple[NumberedItem, int] | None = None
    ended: list[_OpenList] = field(default_factory=list)
    between: list[tuple[Element, str]] = field(default_factory=list)

    def close(self) -> None:
        self.open, self.ended, self.between = [], [], []

    def add(self, item: NumberedItem, place: int) -> _Placed:
        kind = "ol" if item.number and not item.label else "ul"
        before = self._taken_up(item)
        while self.open and self._is_outside(item, place):
            self.open.pop()
        is_inner = bool(self.open) and self._is_inside(item, place) and len(self.open) < _DEEPEST_LIST
        last = None if is_inner or not self.open else self.open.pop()
        goes_on = last is not None and last.kind == kind and (kind == "ul" or item.number == last.number + 1)
        self.open.append(_OpenList(item, kind, place, item.number))
        path = f"{'ul|ol > li > ' * (len(self.open) - 1)}{kind}{'' if goes_on else ':fresh'} > li:fresh"
        return _Placed(path, item.label, 0 if goes_on or kind == "ul" else item.number, before)

    def _taken_up(self, item: NumberedItem) -> tuple[tuple[Element, str], ...]:
        """Take up a list that this item goes on counting; the few paragraphs between belong to the item before."""
        ended, between = self.ended, self.between
        self.ended, self.between = [], []
        if self.open or len(between) > _MOST_BETWEEN or not item.number:
            return ()
        last = next((at for at, one in enumerate(ended) if one.item[:3] == (*item[:2], item.number - 1)), None)
        if last is None:
            return ()
        self.open = ended[: last + 1]
        return tuple((paragraph, "ul|ol > li > " * (last + 1) + block) for paragraph, block in between)

    def _is_outside(self, item: NumberedItem, place: int) -> bool:
        last = self.open[-1]
        if len(self.open) == 1:
            return False
        if last.item.counted_by == item.counted_by:
            return item.level < last.item.level
        return place < last.place - _NEAR

    def _is_inside(self, item: NumberedItem, place: int) -> bool:
        last = self.open[-1]
        if last.item.counted_by == item.counted_by:
            return item.level > last.item.level
        return place > last.place + _NEAR

    def text(self, paragraph: Element, place: int, block: str) -> _Placed | None:
        """Place a paragraph that no list counts: in an open item, if it stands at the place of it."""
        were_open = list(self.open)
        while self.open and (place <= self.margin or self.open[-1].place > place + _NEAR):
            self.open.pop()
        if self.open:
            return _Placed("ul|ol > li > " * len(self.open) + (block or "p:fresh"))
        self.ended = self.ended or were_open
        if self.ended and len(self.between) <= _MOST_BETWEEN:
            self.between.append((paragraph, block or "p:fresh"))
        return _Placed(block) if block else None


def _placed(
    paragraph: Element, styles: WordStyles, numbering: Numbering, lists: _OpenLists, *, is_code: bool
) -> _Placed | None:
    style, is_empty = styles.of_paragraph(paragraph), _is_empty(paragraph)
    if is_empty and child(paragraph, "pPr", "rPr", "vanish") is not None:
        return None  # hidden together with its end; Word does not count it
    if any(child(paragraph, "pPr", "rPr", gone) is not None for gone in ("del", "moveFrom")):
        return None  # it goes on in the next paragraph, or is gone
    item, place = _item_of(paragraph, style, styles, numbering)
    level = _heading_level(paragraph, style, styles)
    if is_empty:
        etree.strip_elements(paragraph, "{*}bookmarkStart", with_tail=False)  # for which mammoth writes a paragraph
        lists.waiting = (item, place) if item and not level else None
        return None
    if item is None and lists.waiting and place >= lists.waiting[1] - _NEAR:
        item, place = lists.waiting
    lists.waiting = None
    block = "" if level else _block_of(style, styles)
    if level or block.startswith("h1"):
        lists.close()
        path = block or f"h{min(level, _DEEPEST_HEADING)}:fresh"
        return _Placed(path, item.printed if item else "")
    if item is not None:
        return lists.add(item, place)
    return lists.text(paragraph, place, block or (_PRE if is_code else ""))


def _item_of(
    paragraph: Element, style: str, styles: WordStyles, numbering: Numbering
) -> tuple[NumberedItem | None, int]:
    """The item of a list that a paragraph is, and where its text begins."""
    own, of_style = child(paragraph, "pPr", "numPr"), styles.first(style, "pPr", "numPr")
    instance = value(child(own, "numId")) or value(styles.first(style, "pPr", "numPr", "numId"))
    said = value(child(own, "ilvl")) or value(child(of_style, "ilvl"))
    # a first level that is said says nothing if the list has another one for this style
    linked = (numbering.level_of_style(instance, value(one, "styleId")) for one in styles.chain(style))
    at = int(said) if said in {*"12345678"} and own is not None else next(filter(None, linked), 0)
    at = at or (int(said) if said in {*"12345678"} else 0)
    item = numbering.next(instance, at) if instance not in ("", "0") else None
    direct = indent_in(child(paragraph, "pPr", "ind"))
    by_style = indent_in(styles.first(style, "pPr", "ind"))
    by_list = numbering.indent(instance, at)
    nearest = (direct, by_list, by_style) if child(own, "numId") is not None else (direct, by_style, by_list)
    known = next((place for place in nearest if place is not None), None)
    return item, known if known is not None else (item.level + 1) * _STEP if item else 0


def _margin(parts: Sequence[Element], styles: WordStyles) -> int:
    """Where most text of a document begins that is in no list: some indent all of it below their headings."""
    places: Counter[int] = Counter()
    for paragraph in (one for part in parts for one in part.iter("{*}p")):
        style = styles.of_paragraph(paragraph)
        if child(paragraph, "pPr", "numPr") is None and styles.first(style, "pPr", "numPr") is None:
            said = indent_in(child(paragraph, "pPr", "ind"))
            places[(indent_in(styles.first(style, "pPr", "ind")) if said is None else said) or 0] += 1
    return max(0, min((-count, place) for place, count in places.items())[1]) if places else 0


def _heading_level(paragraph: Element, style: str, styles: WordStyles) -> int:
    """The level of a heading, counted from 1, as Word's own list of contents has it; 0 for text."""
    said = value(child(paragraph, "pPr", "outlineLvl"))
    for one in styles.chain(style) if not said else ():
        if match := _HEADING.fullmatch(name_in(one)):
            return int(match[1])
        if said := value(child(one, "pPr", "outlineLvl")):
            break
    if said:
        return int(said) + 1 if said in {*"012345678"} else 0
    name = styles.name(style) or style.casefold()
    if name == "heading":  # Apple's Pages
        return 1
    match = _HEADING.fullmatch(name)
    return int(match[1]) if match else 0


def _block_of(style: str, styles: WordStyles) -> str:
    for one in styles.chain(style):
        name = name_in(one)
        if name == "title":
            return f"h1.{TITLE_CLASS}:fresh"
        if name == "subtitle":
            return "p:fresh"
        if name in _CODE:
            return _PRE
        if name in _QUOTES:
            return "blockquote > p:fresh"
    return ""


def _is_empty(paragraph: Element) -> bool:
    return not any(name_of(part) != "t" or (part.text or "").strip() for part in paragraph.iter() if _is_seen(part))


def _is_seen(part: Element) -> bool:
    return isinstance(part.tag, str) and name_of(part) in _SEEN


def _set_style(paragraph: Element, style: str) -> None:
    properties = child(paragraph, "pPr")
    if properties is None:
        properties = made_like(paragraph, "pPr")
        paragraph.insert(0, properties)
    for name in ("pStyle", "numPr"):
        if (said := child(properties, name)) is not None:
            properties.remove(said)
    named = made_like(paragraph, "pStyle")
    named.set(named.tag.rpartition("}")[0] + "}val", style)
    properties.insert(0, named)


def _insert_label(paragraph: Element, label: str) -> None:
    """Write the label before the text, but after a break of the page with which the paragraph begins."""
    first = next((part for part in _contents(paragraph)), None)
    if first is not None and name_of(first) in _BREAKS:
        text = made_like(first, "t")
        text.text, text.tail, first.tail = f"{label} ", first.tail, None
        first.addnext(text)
    else:
        _insert_first(paragraph, f"{label} ")


def _contents(paragraph: Element) -> Iterator[Element]:
    return (part for part in paragraph.iter() if _is_seen(part) or name_of(part) in _BREAKS)


def _insert_first(paragraph: Element, text: str) -> None:
    run = made_like(paragraph, "r")
    written = made_like(paragraph, "t")
    written.text = text
    run.append(written)
    properties = child(paragraph, "pPr")
    paragraph.insert(0 if properties is None else paragraph.index(properties) + 1, run)
