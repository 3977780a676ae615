"""The structure tags of a PDF (ISO 32000-2, 14.8) become HTML. Pure: the tree is read by ``sources.pdf.tags``.

Word, LibreOffice and browsers write such trees, which say what is a heading, a list, a row of a table. What they leave
open is decided by the place of the text on the page: where one paragraph ends in a group without a role, and the
indentation of code.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import groupby, pairwise
from typing import NamedTuple

from kb_pipeline.steps.html.list_numbers import in_letters
from kb_pipeline.steps.pdf.dictionary import Dictionary
from kb_pipeline.steps.pdf.figures import LONGEST_LABEL
from kb_pipeline.steps.pdf.inline import joins, words_of
from kb_pipeline.steps.pdf.model import Box, Page, Style, Word
from kb_pipeline.steps.pdf.scripts import with_scripts


@dataclass(frozen=True, slots=True)
class Content:
    """A leaf of the tree: the marked content ``mcid`` of a page, counted from 1."""

    page: int
    mcid: int


@dataclass(slots=True)
class Element:
    """An element of the tree with its standard type (``"P"``); its children keep their places over all pages."""

    kind: str
    alt: str = ""
    actual_text: str = ""
    attributes: Mapping[str, str | float] = field(default_factory=dict)
    children: "dict[int, Element | Content]" = field(default_factory=dict)

    def ordered(self) -> "list[Element | Content]":
        """The children in their order."""
        return [self.children[place] for place in sorted(self.children)]


class _Atom(NamedTuple):
    """A word or a picture of a paragraph, with the elements that it is in and the address that it leads to."""

    word: Word
    page: int
    styles: tuple[str, ...] = ()
    target: str = ""
    picture: str = ""

    @property
    def advance(self) -> float:
        """The width of a character if the font has a fixed pitch, else 0."""
        return self.word.box.width / len(self.word.text) if self.word.style.fixed_pitch and not self.picture else 0.0


GROUPS = frozenset(
    ("Document", "DocumentFragment", "Part", "Art", "Sect", "Div", "NonStruct", "Private", "Aside", "Index", "LBody")
)
_STYLES = {"Strong": "strong", "Em": "em", "Code": "code", "Sub": "sub"}
HEADING = re.compile(r"H([1-9])?$")
_GROUPS_OF_ROWS = ("THead", "TBody", "TFoot", "NonStruct", "Div", "Sect")
_LEFT_OUT = frozenset(("Artifact", "TOC", "TOCI", "Annot", "RP"))
_BLOCKS = frozenset(("P", "L", "Table", "BlockQuote", "Caption", "Note", "FENote", "Title", "LI", "TR"))
_ORDERED = re.compile(r"\(?(\d+|[a-z]{1,4}|[A-Z]{1,4})[.):]")
_ORDERED_STYLES = ("Decimal", "UpperRoman", "LowerRoman", "UpperAlpha", "LowerAlpha", "Ordered")
_UNORDERED_STYLES = ("Disc", "Circle", "Square", "Unordered")
_BROKEN = re.compile(r"\w[-\u2010]$")
"""A hyphen at the end of a line, which the word has anyway."""
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]")
_NEW_PARAGRAPH = 0.5
"""Space between two lines, in heights of a line, from which on they belong to two paragraphs."""
_ENDS = (".", "!", "?", ":")
_NEARLY_ALL = 0.97
"""Share of fixed pitch in a listing: a sign of another font may stand in it."""
_MOST_LETTERS = 100
"""Numbers that are looked for among letters and Roman numbers."""
_MOST_SPAN = 1_000
"""What HTML allows for the columns of a cell."""


class TaggedText(NamedTuple):
    """The HTML of the tagged pages, and the words of each page that are left out of it on purpose.

    ``on_pictures`` are words that are left out because a picture shows them.
    """

    html: str
    left_out: Mapping[int, str]
    on_pictures: Mapping[int, str]


def tagged_html(
    roots: Sequence[Element],
    pages: Sequence[Page],
    page_mark: Callable[[int], str],
    pictures: Mapping[tuple[int, int], str] = {},
    others: Mapping[int, str] = {},
) -> TaggedText:
    """Write the body of an HTML page with the content of the tree.

    ``page_mark`` gives the HTML that marks the beginning of a page, counted from 1. Each of ``pages`` gets its mark, in
    order. ``pictures`` are the names of pictures by page and id of marked content, and ``others`` the HTML of pages
    that the tree does not hold.
    """
    writer = _Writer(pages, page_mark, pictures, others)
    writer.blocks(roots)
    writer.turn(max((page.number for page in pages), default=0))
    writer.flush()
    return TaggedText("".join(writer.out), writer.words_of(writer.skipped), writer.words_of(writer.on_pictures))


class _Writer:
    def __init__(
        self,
        pages: Sequence[Page],
        page_mark: Callable[[int], str],
        pictures: Mapping[tuple[int, int], str],
        others: Mapping[int, str],
    ) -> None:
        self.out: list[str] = []
        self._page_mark = page_mark
        self._page = 0
        self._pictures = pictures
        self._others = others
        self._waiting: list[str] = []
        self.skipped: set[tuple[int, int]] = set()
        """Contents that are skipped on purpose: contents, labels, headers that are repeated."""
        self.on_pictures: set[tuple[int, int]] = set()
        self._alts: dict[tuple[int, int], str] = {}
        self._depth = 0
        self._links = {page.number: page.links for page in pages}
        self._edges = {page.number: _right_edge(page) for page in pages}
        self._known = frozenset[str]().union(*(words_of(page.text) for page in pages))
        self._dictionary = Dictionary(self._known)
        self._words: dict[tuple[int, int], list[Word]] = {}
        self._partly_hidden: set[tuple[int, int]] = set()
        for page in pages:
            self._partly_hidden |= {(page.number, word.style.mcid) for word in page.words if word.style.hidden}
            for word in with_scripts([word for word in page.words if not word.style.hidden]):
                if word.style.mcid >= 0:
                    self._words.setdefault((page.number, word.style.mcid), []).append(word)

    def words_of(self, contents: Collection[tuple[int, int]]) -> Mapping[int, str]:
        """The words of the tree in these contents, by page."""
        found: dict[int, list[str]] = {}
        for page, mcid in sorted(contents):
            found.setdefault(page, []).extend(word.text for word in self._words.get((page, mcid), ()))
        return {page: " ".join(words) for page, words in found.items()}

    def _skip(self, node: Element | Content) -> None:
        self.skipped |= tagged_words([node])

    def turn(self, page: int) -> None:
        """Mark the beginnings of all pages up to ``page`` that are not marked yet."""
        while self._page < page:
            self._page += 1
            self.out.append(self._page_mark(self._page))
            if self._page in self._others:
                self._waiting.append(self._others[self._page])
                self.flush()

    def flush(self) -> None:
        """Write pages that the tree does not hold, unless a block is open."""
        if self._depth == 0:
            self.out += self._waiting
            self._waiting = []

    def blocks(self, nodes: Sequence[Element | Content], *, in_column: bool = True) -> None:
        """Write the nodes as blocks; text between them becomes paragraphs.

        ``in_column``: their lines reach as far to the right as others of the page, which those of a cell do not.
        """
        atoms: list[_Atom] = []
        for node, is_apart in _flow(nodes):
            if isinstance(node, Element) and _holds_blocks(node):
                self._paragraphs(atoms)
                atoms = []
                self._block(node)
                continue
            more = list(self._atoms(node, ()))
            if atoms and more:
                edge = self._edges[atoms[-1].page] if in_column else max(atom.word.box.right for atom in atoms)
                if _starts_paragraph(atoms, more, edge, is_apart):
                    self._paragraphs(atoms)
                    atoms = []
            atoms += more
        self._paragraphs(atoms)

    def _block(self, element: Element) -> None:
        kind = element.kind
        if kind in _LEFT_OUT:
            self._skip(element)
            return
        if kind in GROUPS:
            self.blocks(element.ordered())
            return
        self._turn_to(element)
        self._depth += 1
        self._block_of(element)
        self._depth -= 1
        self.flush()

    def _block_of(self, element: Element) -> None:
        kind = element.kind
        if heading := HEADING.match(kind):
            self._heading(element, min(int(heading[1] or 1), 6))
        elif kind == "Title":
            self._heading(element, 1)
        elif kind == "L":
            self._list(element)
        elif kind == "Table":
            self._table(element)
        elif kind == "BlockQuote":
            self._wrapped("blockquote", element.ordered())
        elif kind == "Figure":
            self._figure(element)
        elif kind in ("P", "Caption", "Note", "FENote"):
            self._paragraph_element(element)
        elif kind == "LI":  # outside of a list
            self._wrapped("ul", [element], self._item)
        elif kind == "TR":  # outside of a table
            self._rows([element])
        else:
            self.blocks(element.ordered())

    def _turn_to(self, node: Element | Content) -> None:
        if page := self._first_page(node):
            self.turn(page)

    def _wrapped(
        self,
        tag: str,
        nodes: Sequence[Element | Content],
        write: "Callable[[Sequence[Element | Content]], None] | None" = None,
    ) -> None:
        self.out.append(f"<{tag}>")
        (write or self.blocks)(nodes)
        self.out.append(f"</{tag}>")

    def _heading(self, element: Element, level: int) -> None:
        atoms = list(self._atoms(element, ()))
        if not atoms:
            return
        self.out.append(f"<h{level}>")
        self._inline(atoms)
        self.out.append(f"</h{level}>")

    def _paragraph_element(self, element: Element) -> None:
        """Write an element that is a paragraph by its role: blocks inside of it follow it, or stand for it."""
        children = element.ordered()
        if any(isinstance(child, Element) and _holds_blocks(child) for child in children):
            self.blocks(children)
            return
        atoms = list(self._atoms(element, ()))
        if _is_code(atoms) and _lines_of(atoms) > 1:
            self._code(atoms)
        elif atoms:
            self.out.append("<p>")
            self._inline(atoms)
            self.out.append("</p>")

    def _paragraphs(self, atoms: list[_Atom]) -> None:
        """Write text that stands in no paragraph element."""
        if not atoms:
            return
        self.turn(atoms[0].page)
        if _is_code(atoms):
            self._code(atoms)
            return
        self.out.append("<p>")
        self._inline(atoms)
        self.out.append("</p>")

    def _figure(self, element: Element) -> None:
        children = element.ordered()
        atoms = [atom for child in self._shown(element) for atom in self._atoms(child, ())]
        if not any(atom.picture for atom in atoms):
            if element.actual_text and self._is_seen(element):
                self.out.append(f"<p>{escape(element.actual_text)}</p>")
            else:
                self.blocks(children)
            return
        self.out.append("<figure>")
        if all(atom.picture for atom in atoms):
            for atom in atoms:
                self.turn(atom.page)
                self.out.append(_img(atom.picture, atom.word.text))
        else:
            self.blocks([child for child in children if _kind(child) != "Caption"])
        for caption in (child for child in children if _kind(child) == "Caption"):
            self.out.append("<figcaption>")
            self._inline(list(self._atoms(caption, ())))
            self.out.append("</figcaption>")
        self.out.append("</figure>")

    def _shown(self, figure: Element) -> Sequence[Element | Content]:
        """The figure itself, without its caption, if it is a picture as a whole; else what it holds."""
        body = {place: child for place, child in figure.children.items() if _kind(child) != "Caption"}
        without_caption = replace(figure, children=body)
        is_whole = any(self._picture(content) for content in own_contents(figure))
        return [without_caption] if is_whole else without_caption.ordered()

    # --- lists -----------------------------------------------------------------------------------

    def _list(self, element: Element) -> None:
        children = element.ordered()
        items = [child for child in children if isinstance(child, Element) and child.kind == "LI"]
        if not items:
            self.blocks(children)
            return
        self.blocks([child for child in children if _kind(child) == "Caption"])
        labels = [self._label(item) for item in items]
        tag = "ol" if _is_ordered(element, labels) else "ul"
        first = next((label for label in labels if label), "")
        letters = _letters_of(first, str(element.attributes.get("ListNumbering", ""))) if tag == "ol" else ""
        numbers = [_number_of(label) if tag == "ol" and not letters else None for label in labels]
        begin = next(filter(None, numbers), 1)
        self.out.append(f"<{tag}{letters}>" if begin == 1 else f'<{tag} start="{begin}">')
        is_open, number, waiting = False, begin - 1, iter(numbers)
        for child in children:
            if isinstance(child, Element) and child.kind == "LI":
                self.out.append("</li>" if is_open else "")
                expected, said = number + 1, next(waiting)
                number = expected if said is None else said
                self._open_item(child, "" if number == expected else f' value="{number}"')
                is_open = True
            elif (
                isinstance(child, Element) and child.kind == "L"
            ):  # Word nests a list beside the item that it belongs to
                self.out.append("" if is_open else "<li>")
                self._list(child)
                is_open = True
            elif _kind(child) not in ("Caption", *_LEFT_OUT):
                self.out.append("" if is_open else "<li>")
                self.blocks([child])
                is_open = True
        self.out.append(f"</li></{tag}>" if is_open else f"</{tag}>")

    def _open_item(self, item: Element, value: str = "") -> None:
        self.out.append(f"<li{value}>")
        self._turn_to(item)
        for label in (child for child in item.ordered() if _kind(child) == "Lbl"):
            self._skip(label)
        self.blocks([child for child in item.ordered() if _kind(child) != "Lbl"])

    def _item(self, items: Sequence[Element | Content]) -> None:
        for item in items:
            if isinstance(item, Element):
                self._open_item(item)
                self.out.append("</li>")

    # --- tables ----------------------------------------------------------------------------------

    def _table(self, element: Element) -> None:
        for caption in (child for child in element.ordered() if _kind(child) == "Caption"):
            assert isinstance(caption, Element)
            self._paragraph_element(caption)
        if rows := list(_rows(element)):
            self._rows(rows)
        self.blocks([child for child in _beside_rows(element) if _kind(child) != "Caption"])

    def _rows(self, rows: Sequence[Element]) -> None:
        self.out.append("<table>")
        head: tuple[str, ...] | None = None
        begun = 0
        for row in rows:
            self._leave_out_repeats(row)
            cells = self._cells(row)
            texts = tuple(self._text(cell) for cell in cells)
            page = self._first_page(row)
            is_head = bool(cells) and all(cell.kind == "TH" for cell in cells)
            if is_head and head == texts and page > begun:  # a header that is repeated on each page
                begun = page
                self._skip(row)
                continue
            if head is None and is_head:
                head, begun = texts, page
            self.out.append("<tr>")
            for place, cell in enumerate(cells):
                tag = "th" if cell.kind == "TH" else "td"
                self.out.append(f"<{tag}{_spans(cell)}>")
                if place == 0:
                    self.turn(page)
                self.blocks(cell.ordered(), in_column=False)
                self.out.append(f"</{tag}>")
            self.out.append("</tr>")
        self.out.append("</table>")

    def _leave_out_repeats(self, row: Element) -> None:
        """Keep the first page of a row that browsers repeat on each page, as one element with the words of all."""
        texts: dict[int, str] = {}
        for content in _contents(row):
            if words := self._words.get((content.page, content.mcid)):
                texts[content.page] = texts.get(content.page, "") + " ".join(word.text for word in words)
        first = next(iter(texts), 0)
        if len(texts) > 1 and len(set(texts.values())) == 1:
            again = [content for content in _contents(row) if content.page != first]
            self.skipped |= tagged_words(again)
            _take_out(row, set(again))

    def _cells(self, row: Element) -> list[Element]:
        """The cells of a row; text that stands right inside of the row is one, too."""
        cells = []
        for child in row.ordered():
            if isinstance(child, Element):
                cells.append(child)
            elif self._text(bare := Element("TD", children={0: child})):
                cells.append(bare)
        return cells

    # --- text ------------------------------------------------------------------------------------

    def _inline(self, atoms: Sequence[_Atom]) -> None:
        """Write the text of a paragraph with its links and styles."""
        self._depth += 1
        before: _Atom | None = None
        for target, linked in groupby(_with_fixed_pitch_as_code(atoms), key=lambda atom: atom.target):
            is_first = True
            for styles, alike in groupby(linked, key=lambda atom: atom.styles):
                for place, atom in enumerate(alike):
                    if before:
                        self._join(before, atom)
                    if target and is_first:
                        self.out.append(f'<a href="{escape(target)}">')
                        is_first = False
                    if place == 0:
                        self.out += [f"<{style}>" for style in styles]
                    self.turn(atom.page)
                    self.out.append(_img(atom.picture, atom.word.text) if atom.picture else escape(atom.word.text))
                    before = atom
                self.out += [f"</{style}>" for style in reversed(styles)]
            self.out.append("</a>" if target else "")
        self._depth -= 1

    def _join(self, before: _Atom, atom: _Atom) -> None:
        """Write the space between two words, if there is one."""
        ended, begun = before.word, atom.word
        if begun.glued and not before.picture:
            return
        if ended.soft_hyphen:
            if joins(ended.text, begun.text, self._known, self._dictionary):
                self.out[-1] = self.out[-1].removesuffix("-")
        elif _is_elsewhere(before, atom) and _BROKEN.search(ended.text):
            if ended.text.endswith("\u2010") and joins(ended.text, begun.text, self._known, self._dictionary):
                self.out[-1] = self.out[-1].removesuffix("\u2010")  # which browsers put where they break a word
        elif not (_is_elsewhere(before, atom) and _without_spaces(ended, begun)):
            self.out.append(" ")

    def _code(self, atoms: Sequence[_Atom]) -> None:
        """Write lines in a font of fixed pitch, with the spaces that their places on the page show."""
        self._depth += 1
        self.out.append("<pre>")
        left = min(atom.word.box.left for atom in atoms)
        advance = min(atom.advance for atom in atoms if atom.advance) or 1.0
        lines = list(_code_lines(atoms))
        feet = [line[0].word.baseline for line in lines]
        pitch = min((low - high for high, low in pairwise(feet) if low - high > 1), default=0.0)
        for number, line in enumerate(lines):
            if number:
                self.out.append("\n")
                step = feet[number] - feet[number - 1]
                if pitch and line[0].page == lines[number - 1][0].page and step > 1.6 * pitch:
                    self.out.append("\n" * (round(step / pitch) - 1))
            self.turn(line[0].page)
            written = ""
            for place, atom in enumerate(line):
                column = round((atom.word.box.left - left) / advance)
                least = len(written) + (place > 0 and not atom.word.glued)
                written = written.ljust(max(column, least) if not atom.word.glued else least) + atom.word.text
            self.out.append(escape(written))
        self.out.append("</pre>")
        self._depth -= 1

    def _atoms(self, node: Element | Content, styles: tuple[str, ...], in_link: bool = False) -> Iterator[_Atom]:
        """The words and pictures of a node, with the styles of the elements that they are in."""
        if isinstance(node, Content):
            if self._picture(node):
                yield self._pictured(node)
            for word in self._words.get((node.page, node.mcid), ()):
                looks = (*styles, word.script) if word.script and word.script not in styles else styles
                yield _Atom(word, node.page, looks, self._target(node.page, word) if in_link else "")
            return
        if node.kind in _LEFT_OUT:
            self._skip(node)
            return
        pictures = [content for content in own_contents(node) if self._picture(content)]
        if node.kind in ("Figure", "Formula") and pictures:
            self._alts |= {(content.page, content.mcid): alt_of(node) for content in pictures}
            if node.kind == "Formula" or not self._is_frame(node):
                self.on_pictures |= tagged_words([node])
                yield from map(self._pictured, pictures)
                return
        style = _STYLES.get(node.kind)
        inner = (*styles, style) if style and style not in styles else styles
        in_link = in_link or node.kind in ("Link", "Reference", "BibEntry")
        within = [atom for child in node.ordered() for atom in self._atoms(child, inner, in_link)]
        if node.actual_text and within and self._is_seen(node):
            first, last = within[0].word, within[-1].word
            text = " ".join(node.actual_text.split())
            yield within[0]._replace(word=last._replace(text=text or "-", glued=first.glued))
            return
        yield from within

    def _pictured(self, content: Content) -> _Atom:
        """The picture that stands for a content, with what the author says of it."""
        alt = Word(self._alts.get((content.page, content.mcid), ""), Box(0, 0, 0, 0), 0, Style())
        return _Atom(alt, content.page, (), "", self._picture(content))

    def _is_frame(self, figure: Element) -> bool:
        """Whether a line of words inside is too long for a label, so that they are text before a picture or beside it.

        Words of a line stand near each other, and numbers may be those of an axis.
        """
        places = {(content.page, content.mcid) for content in _contents(figure)}
        words = (word for place in sorted(places) for word in self._words.get(place, ()) if not word.style.hidden)
        count, before = 0, None
        for word in words:
            size = word.box.height
            follows = (
                before is not None
                and abs(word.baseline - before.baseline) < 0.2 * size
                and -size < word.box.left - before.box.right < 0.8 * size
            )
            count = (count if follows else 0) + any(map(str.isalpha, word.text))
            if count > LONGEST_LABEL:
                return True
            before = word
        return False

    def _target(self, page: int, word: Word) -> str:
        """The address that the word leads to, "" if it is a place of the same document."""
        x, y = word.box.middle
        return next((link.target for link in self._links[page] if link.uri and link.box.holds(x, y, 1)), "")

    def _is_seen(self, element: Element) -> bool:
        """Whether no word of the element is hidden, of which its actual text would tell."""
        return self._partly_hidden.isdisjoint((content.page, content.mcid) for content in _contents(element))

    def _picture(self, content: Content) -> str:
        return self._pictures.get((content.page, content.mcid), "")

    def _first_page(self, node: Element | Content) -> int:
        """The page on which the node begins, 0 if it has no content."""
        places = ((content.page, content.mcid) for content in _contents(node))
        return next((place[0] for place in places if place in self._words or place in self._pictures), 0)

    def _text(self, node: Element | Content) -> str:
        return " ".join(atom.word.text for atom in self._atoms(node, ()))

    def _label(self, item: Element) -> str:
        label = next((child for child in item.ordered() if _kind(child) == "Lbl"), None)
        return self._text(label) if label else ""


def _img(name: str, alt: str) -> str:
    return f'<img src="{escape(name)}" alt="{escape(alt)}">'


def _kind(node: Element | Content) -> str:
    return node.kind if isinstance(node, Element) else ""


def _holds_blocks(element: Element) -> bool:
    """Whether the element is a block by its role, or holds one."""
    if element.kind in _BLOCKS or element.kind in _LEFT_OUT or HEADING.match(element.kind):
        return True
    if element.kind == "Figure":
        return any(_kind(child) == "Caption" for child in element.children.values())
    return any(isinstance(child, Element) and _holds_blocks(child) for child in element.children.values())


def _is_plain_group(element: Element) -> bool:
    """Whether the element groups others without a role, and holds neither text nor blocks itself."""
    holds_text = any(isinstance(child, Content) for child in element.children.values())
    return element.kind in GROUPS and not holds_text and not _holds_blocks(element)


def _flow(nodes: Sequence[Element | Content]) -> Iterator[tuple[Element | Content, bool]]:
    """The nodes, instead of groups without a role what they hold, and whether a group ends or begins before each."""
    is_apart = False
    for node in nodes:
        if isinstance(node, Element) and _is_plain_group(node):
            for place, (inner, is_inner_apart) in enumerate(_flow(node.ordered())):
                yield inner, is_inner_apart or place == 0
            is_apart = True
        else:
            yield node, is_apart
            is_apart = False


def _contents(node: Element | Content) -> Iterator[Content]:
    if isinstance(node, Content):
        yield node
    elif node.kind not in _LEFT_OUT:
        for child in node.ordered():
            yield from _contents(child)


def _take_out(element: Element, contents: Collection[Content]) -> None:
    for place, child in list(element.children.items()):
        if isinstance(child, Element):
            _take_out(child, contents)
        elif child in contents:
            del element.children[place]


def own_contents(node: Element | Content) -> Iterator[Content]:
    """The contents of a figure that are neither of its caption nor of a figure inside of it."""
    if isinstance(node, Content):
        yield node
        return
    for child in node.ordered():
        if _kind(child) not in (*_LEFT_OUT, "Caption", "Figure"):
            yield from own_contents(child)


def alt_of(figure: Element) -> str:
    """What the author says instead of the figure, or instead of those inside of it."""
    inner = [child for child in figure.ordered() if isinstance(child, Element) and child.kind != "Caption"]
    return figure.alt or " ".join(filter(None, map(alt_of, inner)))


def tagged_words(roots: Sequence[Element | Content]) -> frozenset[tuple[int, int]]:
    """The places, as page and id of marked content, that the tree refers to; what it leaves out on purpose as well."""
    places: set[tuple[int, int]] = set()
    stack: list[Element | Content] = list(roots)
    while stack:
        node = stack.pop()
        if isinstance(node, Content):
            places.add((node.page, node.mcid))
        else:
            stack += node.children.values()
    return frozenset(places)


def _right_edge(page: Page) -> float:
    """Where the longest lines of the page end, but for the few that stick out."""
    edges = sorted(word.box.right for word in page.words)
    return edges[int(0.98 * (len(edges) - 1))] if edges else 0.0


def _starts_paragraph(atoms: Sequence[_Atom], after: Sequence[_Atom], edge: float, is_apart: bool) -> bool:
    """Whether ``after`` begins a paragraph, and does not go on with the one of ``atoms``; lines end before ``edge``."""
    before, first = atoms[-1], after[0]
    if before.picture or first.picture or first.word.glued:
        return False
    ended, begun = before.word.box, first.word.box
    height = max(min(ended.height, begun.height), 1.0)
    code, is_more_code = _is_code(atoms), bool(first.advance)
    glued = next((place for place, atom in enumerate(after) if place and not atom.word.glued), 1)
    width = sum(atom.word.box.width for atom in after[:glued])
    had_room = ended.right + 0.5 * height + width < edge - 0.5 * height  # for the next word on the last line
    if before.page == first.page:
        if min(ended.bottom, begun.bottom) - max(ended.top, begun.top) > 0.3 * height:  # on one line
            return False
        gap = begun.top - ended.bottom
        if gap > _NEW_PARAGRAPH * height:
            return True
        if begun.top < ended.top:  # at the top of the next column
            return is_apart and (had_room or before.word.text.endswith(_ENDS))
        if is_apart and gap > 0.25 * height:
            return True
    elif is_apart and before.word.text.endswith(_ENDS) and not code:
        return True
    if code and is_more_code:
        return False
    return (is_apart and code) or (is_apart and is_more_code and len(after) > 1 and had_room) or had_room


def _is_elsewhere(before: _Atom, after: _Atom) -> bool:
    """Whether ``after`` stands on another line or page."""
    ended, begun = before.word, after.word
    return before.page != after.page or abs(ended.baseline - begun.baseline) > 0.5 * max(ended.box.height, 1)


def _without_spaces(ended: Word, begun: Word) -> bool:
    return bool(_CJK.match(ended.text[-1:]) and _CJK.match(begun.text[:1]))


def _with_fixed_pitch_as_code(atoms: Sequence[_Atom]) -> Iterator[_Atom]:
    """Words in a font of fixed pitch among others are code, also where no element says so."""
    is_mixed = any(not atom.advance and not atom.picture for atom in atoms)
    for atom in atoms:
        if is_mixed and atom.advance and "code" not in atom.styles:
            yield atom._replace(styles=(*atom.styles, "code"))
        else:
            yield atom


def _is_code(atoms: Sequence[_Atom]) -> bool:
    """Whether all text is in a font of fixed pitch; among many lines of it, a sign may be in another one."""
    if any(atom.picture for atom in atoms):
        return False
    letters = sum(len(atom.word.text) for atom in atoms)
    fixed = sum(len(atom.word.text) for atom in atoms if atom.advance)
    is_listing = fixed > _NEARLY_ALL * letters and _lines_of(atoms) > 2 and bool(atoms[0].advance)
    return fixed == letters or is_listing


def _lines_of(atoms: Sequence[_Atom]) -> int:
    return len({(atom.page, round(atom.word.baseline)) for atom in atoms})


def _code_lines(atoms: Sequence[_Atom]) -> Iterator[list[_Atom]]:
    line: list[_Atom] = []
    for atom in atoms:
        if line and _is_elsewhere(line[-1], atom):
            yield line
            line = []
        line.append(atom)
    if line:
        yield line


def _is_ordered(element: Element, labels: Sequence[str]) -> bool:
    numbering = str(element.attributes.get("ListNumbering", ""))
    if numbering in _ORDERED_STYLES or numbering in _UNORDERED_STYLES:
        return numbering in _ORDERED_STYLES
    written = [label for label in labels if label]
    return bool(written) and all(_ORDERED.match(f"{label}.") for label in written)


def _number_of(label: str) -> int | None:
    number = re.match(r"\(?(\d{1,6})\b", label)
    return int(number[1]) if number else None


def _letters_of(label: str, numbering: str) -> str:
    """The attributes of a list whose first item has this label, if that is a letter or a Roman number."""
    letters = label.strip("().: ")
    is_roman = "Alpha" not in numbering and ("Roman" in numbering or len(letters) > 1 or letters.lower() == "i")
    kind = "lower-roman" if is_roman else "lower-alpha"
    number = next((each for each in range(1, _MOST_LETTERS) if in_letters(each, kind) == letters.lower()), 0)
    if not number:
        return ""
    name = "i" if is_roman else "a"
    return f' type="{name.upper() if letters.isupper() else name}" start="{number}"'


def _rows(element: Element) -> Iterator[Element]:
    for child in element.ordered():
        if _kind(child) == "TR":
            assert isinstance(child, Element)
            yield child
        elif isinstance(child, Element) and child.kind in _GROUPS_OF_ROWS:
            yield from _rows(child)


def _beside_rows(element: Element) -> Iterator[Element | Content]:
    """What a table holds outside of its rows, such as charts that stand beside it on the sheet."""
    for child in element.ordered():
        if isinstance(child, Element) and child.kind in _GROUPS_OF_ROWS and next(_rows(child), None):
            yield from _beside_rows(child)
        elif _kind(child) != "TR":
            yield child


def _spans(cell: Element) -> str:
    spans = ""
    for name in ("ColSpan", "RowSpan"):
        value = cell.attributes.get(name, 1)
        if isinstance(value, float | int) and 1 < value <= _MOST_SPAN:
            spans += f' {name.lower()}="{int(value)}"'
    return spans
