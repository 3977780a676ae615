"""Check a page against its markdown by another reading of it: what its readers see or open stands there.

The page is read by lexbor, an HTML parser as browsers have one, and by none of the converter's code. Counted are the
words of all blocks between the first and the last one that was published, and of all in the element that the page
declares its main content; the text of controls in sentences, what icons in empty cells mean, the numbers of lists, and
the pictures that lie in the article's folder. Of style sheets little is read and of scripts nothing: it only warns.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from kb_pipeline.records import CheckResult, ConvertedArticle, ImageInfo, LeftOutText
from kb_pipeline.steps.checks.specs import named, number, outcome

_NOT_SEEN = (
    "script, style, template, noscript, iframe, object, video, audio, canvas, svg > *:not(title), datalist, "
    "progress, meter, dialog:not([open]), pre button, [class*=lineno], [class*=line-number], "
    "a > img:only-child[src*=logo i], a > img:only-child[alt*=logo i], "
    "nav, footer, [role=navigation], [role=banner], [role=contentinfo], [role=search], [aria-hidden=true], "
    "input[type=hidden], input[type=search], .headerlink"
)
_MAIN = frozenset({"main", "article"})
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure form "
    "h1 h2 h3 h4 h5 h6 header hr legend li main ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
_OWN_TEXT = frozenset({"option", "select", "textarea", "title"})
_FIELDS = frozenset({"text", "number", "button", "submit", "email", "url"})
_ICONS = frozenset({"span", "i", "svg", "abbr"})
_BACKED = frozenset({"div", "span", "a", "figure", "section"})
"""Elements that show a picture by an attribute that a script reads, or by their style."""
_LABELS = frozenset({"button", "label"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_WORD = re.compile(r"\w+")
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,8}\s*")
_STATEMENT = re.compile(r"[^\W\d_]{2}\W*[.!。！]\W*(?:\s|$)")
_UNSURE = re.compile(
    r"display\s*:\s*none|visibility|opacity|clip|text-indent\s*:\s*-|transform|color\s*:|(?:left|top|right)\s*:\s*-\d"
    r"|font-size\s*:\s*[01]?(?:\.\d+)?(?:px|pt|em|rem|%|;|$)|(?:max-)?(?:height|width)\s*:\s*[01](?:px|;|$)",
    re.I,
)
"""Styles that may hide an element: whether they do, only a browser knows."""
_HIDES = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_OPENERS = ("aria-controls", "data-target", "data-bs-target", "href", "for", "data-tab", "data-panel")
_NOTATION = re.compile(r"</?su[bp]>|\[\[IMG:[^\[\]]*+\]\]|\]\((?:[^()\s]*+|<[^<>]*+>)\)|\\(?=[^\w\s]|_)")
_SENTENCE = 5
"""Words of a block that says where the published part of the page begins and ends."""
_FEWEST = 3
"""Words of a block that is missing as a whole; fewer are the names of page tools."""
_MOST_LINKED = 0.4
"""Share of links in what may be navigation."""
_RUN = 3
"""So many words in a row are the block's own and not the same words elsewhere."""
_ICON = 64
"""Pixels of the shorter side of a picture that says something beside words."""


class _Block(NamedTuple):
    """The words of a block as its readers see them; of a row of a table if an icon says something in it.

    A block of buttons only is a tool of the page, if it is not published.
    """

    words: tuple[str, ...]
    linked: int = 0
    is_main: bool = False
    number: str = ""
    is_tool: bool = False
    is_row: bool = False


@dataclass
class SeenPage:
    """What the readers of a page see: its blocks in their order, and its pictures.

    A picture is the files of which a browser shows one, the number of the block that follows it, and whether it stands
    in the main content. ``ticks`` are the boxes that are ticked in items and cells.
    """

    blocks: list[_Block] = field(default_factory=list)
    pictures: list[tuple[frozenset[str], int, bool]] = field(default_factory=list)
    ticks: int = 0


def read_seen(html: str, images: Mapping[str, ImageInfo]) -> SeenPage:
    """Read a page; ``images`` are the pictures in its folder."""
    tree = LexborHTMLParser(html)
    body = tree.body
    if body is None:
        return SeenPage()
    opened, unseen, ticked = _opened(body), _hiding_selectors(tree), _ticked(body)
    for form in body.css("form[action], form[role=search]"):
        if form.css_first("h1, h2, h3, h4, h5, h6") is None:  # else it may be the frame of a whole page
            for control in form.css("button, input, label, select, textarea"):
                control.decompose()
    for node in body.css("noscript"):
        if node.css_first("img") and not node.text().strip():
            node.unwrap()
    for node in body.css(_NOT_SEEN):
        node.decompose()
    for selector in ("[hidden]", "[style]", *unseen):
        for node in _matched(body, selector):
            style = node.attributes.get("style")
            is_hidden = "hidden" in node.attributes or style is None or _UNSURE.search(style)
            is_named = node.attributes.get("role") == "tabpanel" or (node.attributes.get("id") or "") in opened
            is_opened = is_named or _follows_opener(node) or _fades_in(node)
            if is_hidden and node.tag not in ("html", "body") and not is_opened:
                node.decompose()
    seen = _Reader(images, dict(_numbers(body))).read(body)
    seen.ticks = ticked
    return seen


def _ticked(body: LexborNode) -> int:
    """How many boxes are ticked in items and cells; also those that a page hides and draws in its own way."""
    boxes = body.css("li input[type=checkbox][checked], td input[type=checkbox][checked]")
    tools = body.css("nav input, form[action] input, [role=navigation] input, [hidden] input, input[hidden]")
    return len({box.mem_id for box in boxes} - {tool.mem_id for tool in tools})


def _opened(body: LexborNode) -> set[str]:
    values = (node.attributes.get(name) or "" for name in _OPENERS for node in body.css(f"[{name}]"))
    return {value.lstrip("#.") for value in values if value[:1] not in ("", "/") and "." not in value[1:]}


def _follows_opener(node: LexborNode) -> bool:
    """Whether what stands before an element says of itself that it opens something."""
    before = node.prev
    while before is not None and before.is_text_node:
        before = before.prev
    return before is not None and before.css_first("[aria-expanded]") is not None


def _fades_in(node: LexborNode) -> bool:
    """Whether it is a picture that is transparent until its file is there."""
    is_late = "onload" in node.attributes or node.attributes.get("loading") == "lazy"
    return node.tag == "img" and is_late and "opacity" in (node.attributes.get("style") or "")


def _hiding_selectors(tree: LexborHTMLParser) -> list[str]:
    """What a style sheet in the page hides."""
    sheets = " ".join(style.text() for style in tree.css("style"))
    rules = (rule.rpartition("{") for rule in sheets.split("}"))
    hiding = (before.rpartition("{")[2].strip() for before, _, style in rules if _HIDES.search(style))
    return list(dict.fromkeys(hiding))


def _matched(body: LexborNode, selector: str) -> list[LexborNode]:
    """The elements for which a selector holds; browsers, too, ignore what they cannot read."""
    try:
        return body.css(selector)
    except SelectolaxError:
        return []


def _numbers(body: LexborNode) -> Iterator[tuple[int, str]]:
    for numbered in body.css("ol"):
        items = [item for item in numbered.iter() if item.tag == "li"]
        values, attributes = [_integer(item.attributes.get("value")) for item in items], numbered.attributes
        if (attributes.get("type") or "1") != "1":  # letters
            continue
        if not ("start" in attributes or "reversed" in attributes or any(value is not None for value in values)):
            continue
        step = -1 if "reversed" in attributes else 1
        start = _integer(attributes.get("start"))
        number = start if start is not None else (len(items) if step < 0 else 1)
        for item, value in zip(items, values, strict=True):
            number = number if value is None else value
            if number >= 0:  # markdown has no others
                yield item.mem_id, str(number)
            number += step


def _integer(value: str | None) -> int | None:
    return int(value) if value and _INTEGER.fullmatch(value) else None


class _Place(NamedTuple):
    """Where a node stands: its block, in a link, a button, the main content or not, and its row and cell."""

    block: int
    is_linked: bool = False
    is_button: bool = False
    is_main: bool = False
    row: int = 0
    cell: int = 0


class _Reader:
    """Collects the texts of a page, each node after the one around it."""

    def __init__(self, images: Mapping[str, ImageInfo], numbers: Mapping[int, str]) -> None:
        self._images, self._numbers = images, numbers
        self._places: dict[int, _Place] = {}
        self._texts: dict[tuple[int, int], list[tuple[str, bool]]] = {}
        self._parts: Counter[int] = Counter()
        self._mains: set[tuple[int, int]] = set()
        self._worded: set[tuple[int, int]] = set()
        self._cells: dict[int, dict[int, list[str]]] = {}
        self._icons: dict[int, dict[int, list[str]]] = {}
        self._page = SeenPage()

    def read(self, body: LexborNode) -> SeenPage:
        self._places[body.mem_id] = _Place(body.mem_id)
        for node in body.traverse(include_text=True):
            around = node.parent
            if around is not None and around.mem_id in self._places and node.mem_id != body.mem_id:
                self._add(node, around, self._places[around.mem_id])
        for (block, part), texts in self._texts.items():
            is_tool = (block, part) not in self._worded
            text = _plain("".join(text for text, _ in texts))
            linked = sum(len(_WORD.findall(text)) for text, is_linked in texts if is_linked)
            number, is_main = "" if part else self._numbers.get(block, ""), (block, part) in self._mains
            self._page.blocks.append(_Block(_words(text), linked, is_main, number, is_tool))
        for row, icons in self._icons.items():
            cells = self._cells[row]
            if any(not "".join(cells[cell]).strip() for cell in icons):
                said = (" ".join(texts).strip() or " ".join(icons.get(cell, [])) for cell, texts in cells.items())
                self._page.blocks.append(_Block(_words(" ".join(said)), is_row=True))
        return self._page

    def _add(self, node: LexborNode, around: LexborNode, place: _Place) -> None:
        if node.is_text_node:
            text = node.text_content or ""
            self._say(f" {text} " if around.tag == "button" else text, around, place)
            return
        tag, value = node.tag or "", node.attributes
        if tag == "math" or tag in _BLOCKS or _is_variant(node) or _is_one_of_labels(node, tag, value):
            self._parts[place.block] += 1  # what follows is not one run of words with what came before
            place = place._replace(block=node.mem_id)
        if tag == "math":  # its letters stand in another order in a line of text
            return
        if tag == "tr":
            place = place._replace(row=node.mem_id)
        elif tag in ("td", "th"):
            place = place._replace(cell=node.mem_id)
            self._cells.setdefault(place.row, {})[place.cell] = []
        is_main = place.is_main or tag in _MAIN or value.get("role") == "main"
        is_button = (tag == "button" or value.get("role") == "button") and around.tag not in _HEADINGS
        place = place._replace(is_linked=place.is_linked or tag == "a", is_main=is_main)
        place = place._replace(is_button=place.is_button or is_button)
        self._places[node.mem_id] = place
        is_picture = tag == "img" or (tag in _BACKED and node.child is None)
        if is_picture and (files := _picture(node, self._images)):
            self._page.pictures.append((files, len(self._texts), is_main))
        if tag in _ICONS and place.cell and (name := _icon(node)):
            self._icons.setdefault(place.row, {}).setdefault(place.cell, []).append(name)
        self._say(_said_by(node, tag, value), around, place)

    def _say(self, text: str, around: LexborNode, place: _Place) -> None:
        part = place.block, self._parts[place.block]
        if not text or around.tag in _OWN_TEXT or (part not in self._texts and not text.strip()):
            return
        self._texts.setdefault(part, []).append((text, place.is_linked))
        if place.is_main:
            self._mains.add(part)
        if text.strip() and not place.is_button:
            self._worded.add(part)
        if place.cell:
            self._cells[place.row][place.cell].append(text)


def _is_variant(node: LexborNode) -> bool:
    """Whether it is code that follows other code at once: of several languages, of which a switch shows one."""
    return node.tag == "code" and node.prev is not None and node.prev.tag == "code"


def _is_one_of_labels(node: LexborNode, tag: str, value: Mapping[str, str | None]) -> bool:
    """Whether it is one of several labels in a line, which open what stands below each of them."""
    if tag not in _LABELS and "aria-controls" not in value and value.get("role") not in ("tab", "button"):
        return False
    before, after = node.prev, node.next
    while before is not None and _is_between_labels(before):
        before = before.prev
    while after is not None and _is_between_labels(after):
        after = after.next
    beside = [each for each in (before, after) if each is not None]
    return not any(each.is_text_node for each in beside) and any(each.tag == tag for each in beside)


def _is_between_labels(node: LexborNode) -> bool:
    return node.tag == "input" or (bool(node.is_text_node) and not (node.text_content or "").strip())


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _said_by(node: LexborNode, tag: str, value: Mapping[str, str | None]) -> str:
    """What an element says besides its text: the value of a field, the choice in a list."""
    if tag == "br":
        return " "
    if tag == "input" and (value.get("type") or "text").lower() in _FIELDS:
        return f" {value.get('value') or ''} "
    if tag == "select":
        options = node.css("option")
        chosen = [option for option in options if "selected" in option.attributes] or options[:1]
        return f" {' '.join(option.text() for option in chosen)} "
    return f" {node.text()} " if tag == "textarea" else ""


def _icon(node: LexborNode) -> str:
    title = node.css_first("title") if node.tag == "svg" else None
    return node.attributes.get("aria-label") or node.attributes.get("title") or (title.text() if title else "") or ""


def _picture(image: LexborNode, images: Mapping[str, ImageInfo]) -> frozenset[str]:
    """The files of a picture; of one that leads to a larger one, the larger one."""
    around, nodes = image.parent, [image]
    if around is not None and around.tag == "picture":
        nodes += around.css("source")
        around = around.parent
    if around is not None and around.tag == "a":
        named = (file for name, value in around.attributes.items() if name != "class" for file in _files(value))
        if larger := [file for file in named if file in images]:
            return frozenset(larger)
    named_files = {
        file
        for node in nodes
        for name, value in node.attributes.items()
        if node.tag not in _BACKED or name.startswith("data-")
        for file in _files(value)
    }
    return frozenset(name for name in named_files if name in images and min(_sides(images[name])) > _ICON)


def _sides(info: ImageInfo) -> tuple[int, int]:
    return (0, 0) if info.problem else (info.width, info.height)


def _files(value: str | None) -> list[str]:
    parts = (part.strip().split(" ")[0] for part in (value or "").split(","))
    return [unquote(re.split("[?#]", part)[0]).removeprefix("./") for part in parts]


def seen_is_published(article: ConvertedArticle, page: SeenPage) -> CheckResult:
    """Check that what readers of the page see stands in the markdown."""
    published, left_out = _Published(article.markdown), _LeftOut(article.left_out)
    blocks = [published.compare(block) for block in page.blocks]
    first, last = _published_part(blocks)
    lost_words, counted, on_purpose = [], 0, 0
    for place, (block, lost, _) in enumerate(blocks):
        is_inside = block.is_main or block.is_row or first <= place <= last
        if is_inside and (not lost or _is_said(block, lost)):
            if lost and left_out.holds(block.words):
                on_purpose += 1
                continue
            counted += len(block.words)
            lost_words += [_example(block.words, lost)] if lost else []
    numbers = [
        f"{block.number}. {' '.join(block.words[:4])}"
        for block, lost, _ in blocks
        if block.number and not lost and not published.holds((block.number, *block.words[:4]))
    ]
    shown = {image.file for image in article.images}
    pictures = [
        " or ".join(sorted(files))
        for files, place, is_main in page.pictures
        if files.isdisjoint(shown) and (is_main or first < place <= last)
    ]
    lost_ticks = max(page.ticks - article.markdown.count("☑"), 0)
    problems = [
        *([f"{number(lost_ticks, 'tick')} of boxes not in the markdown"] if lost_ticks else []),
        *named("place", "with words that are not in the markdown", lost_words),
        *named("item", "of lists with another number", numbers),
        *named("picture", "not published", pictures),
    ]
    return outcome(
        "seen_is_published",
        problems,
        "Compare the page as a browser shows it; if something is missing, write that part of the HTML more plainly.",
        {
            **{"words": counted, "places": len(lost_words), "numbers": len(numbers), "pictures": len(pictures)},
            "left_out_on_purpose": on_purpose,
        },
    )


class _Compared(NamedTuple):
    """A block, which of its words are missing, and where it stands in the markdown: None if it does not.

    Its place is -1 if it stands there in parts.
    """

    block: _Block
    lost: Sequence[int]
    found: int | None


def _published_part(blocks: Sequence[_Compared]) -> tuple[int, int]:
    """The first and the last block that stand in the markdown, in the order of the page.

    What is there twice, leads elsewhere, or is found in the middle of it, may be a page's header.
    """
    times = Counter(block.words for block, _, _ in blocks)
    stand = [
        (place, found)
        for place, (block, _, found) in enumerate(blocks)
        if found is not None
        and len(block.words) >= _SENTENCE
        and not (block.is_row or times[block.words] > 1 or _is_linked(block))
    ]
    first, last = 0, len(stand) - 1
    while first < last and stand[first][1] > stand[first + 1][1] >= 0:
        first += 1
    while first < last and 0 <= stand[last][1] < stand[last - 1][1]:
        last -= 1
    return (stand[first][0], stand[last][0]) if stand else (0, -1)


def _is_linked(block: _Block) -> bool:
    return block.linked >= _MOST_LINKED * len(block.words)


def _is_said(block: _Block, lost: Sequence[int]) -> bool:
    is_whole = len(lost) == len(block.words) and not block.is_row
    fewest = _FEWEST if is_whole else 1
    return len(block.words) >= fewest and not block.is_tool and not _is_linked(block)


def _example(words: Sequence[str], lost: Sequence[int]) -> str:
    return " ".join(words[max(lost[0] - 2, 0) : lost[0] + 4])


def _plain(text: str) -> str:
    """A text without the notation of markdown; also that of a page, which may say something of such notation."""
    return _NOTATION.sub("", text.replace("<br>", " "))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


class _Letters:
    """Letters and digits in one piece, as words may be glued by markup; ``place`` is where the last ones were found."""

    def __init__(self, letters: str) -> None:
        self._letters = letters
        self.place = 0

    def holds(self, words: Sequence[str]) -> bool:
        """Whether the words stand there one after the other; looked for first where the last ones were found."""
        letters = _letters("".join(words))
        place = self._letters.find(letters, self.place)
        if place < 0:
            place = self._letters.find(letters, 0, self.place + len(letters))
        if place >= 0 and len(words) >= _RUN:
            self.place = place
        return place >= 0


class _LeftOut(_Letters):
    """What the conversion left out on purpose.

    A box that states something is none for its name: also a section of an article may be called so.
    """

    def __init__(self, left_out: Sequence[LeftOutText]) -> None:
        texts = (each.text for each in left_out if each.why != "name" or not _STATEMENT.search(each.text))
        super().__init__("\n".join(_letters(text.casefold()) for text in texts))


class _Published:
    """The words of a markdown text."""

    def __init__(self, markdown: str) -> None:
        markdown = _plain(markdown).casefold()
        words = _WORD.findall(markdown)
        self._words = frozenset(words)
        self._runs = frozenset(_runs(words))
        self._letters = _Letters(_letters(markdown))

    def compare(self, block: _Block) -> _Compared:
        """Which words of a block are missing, and where it stands; words that stand only elsewhere do not say where."""
        if self.holds(block.words):
            return _Compared(block, [], self._letters.place)
        lost = self._missing_of(block)
        runs = list(_runs(block.words))
        is_there = len(lost) * 2 < len(block.words) if lost else sum(run in self._runs for run in runs) * 2 > len(runs)
        return _Compared(block, lost, -1 if is_there else None)

    def holds(self, words: Sequence[str]) -> bool:
        """Whether the words stand there one after the other."""
        return self._letters.holds(words)

    def _missing_of(self, block: _Block) -> list[int]:
        """Which words of a block are missing; all of them if the markdown has no run of them in this order."""
        words = block.words
        if block.is_row:
            return [len(words) - 1]
        if len(words) > _RUN and self._runs.isdisjoint(_runs(words)):
            return list(range(len(words)))
        return [place for place, word in enumerate(words) if word not in self._words]


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[place:] for place in range(_RUN)), strict=False)
