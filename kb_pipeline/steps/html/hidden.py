"""Text that readers of a page cannot see is no text of its article: take it out, and say how much it was.

An element is hidden as a whole (not displayed, clipped, far outside of the page), or only the text that stands in it
(without visibility, too small, in the colour of what lies behind it): elements inside may show theirs. What a click
opens stays; so does what is in doubt, and the author is told of it. Not here: elements of which browsers never show
the text (``page``).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lxml import etree

from kb_pipeline.steps.html.dom import Element, has_text, is_inside, names, remove, says_something, text_of
from kb_pipeline.steps.html.icons import cell_to_fill
from kb_pipeline.steps.html.looks import Hiding, Look, expanded, is_picture, look_of
from kb_pipeline.steps.html.panel_labels import label_panels
from kb_pipeline.steps.html.panels import Panels
from kb_pipeline.steps.html.picture_sources import fades_in, loads_late
from kb_pipeline.steps.html.style_sheets import Declaration, DeclaredStyles
from kb_pipeline.wording import counted

_PICTURES = names("img image picture svg object input")
_NO_TEXT = names("script style noscript template head")
_UNPAINTED = names("transparent none inherit initial unset")
_MOVED = names("position margin transform size")
"""Ways to hide an element from which what is inside of it may be moved back."""
_SPOKEN = names("clip size position")
"""Ways to hide a text from all who do not let it be read to them."""
_ICONS = names("i span svg img")
_NAME = 5
"""Words of an icon's name."""
_KEPT = ("class", "id", "role", "type")
_MAY_HIDE = etree.XPath(
    "boolean(//style | //link[contains(translate(@href, 'DAT', 'dat'), 'data:')] | //@style | //@hidden | //@color"
    " | //@text | //@bgcolor | //*[@aria-hidden='true'] | //dialog)"
)


class HiddenText(NamedTuple):
    """Words that readers do not see, the element that holds or held them, and the property that hides them.

    ``is_sure`` is false where they may see them: the words stay.
    """

    element: Element
    words: int
    way: str
    is_whole: bool
    is_sure: bool = True


def hide(page: Element) -> list[HiddenText]:
    """Take out what readers do not see, in place, and put the labels of panels above them.

    What was hidden as a whole stays as an empty element.

    Raises:
        UnreadableArticleError: the page has too many style rules.
    """
    if not _MAY_HIDE(page):
        label_panels(page)
        return []
    styles = DeclaredStyles(page, expanded)
    readings = [
        _looks_in(page, styles, with_untold) for with_untold in ((True, False) if styles.has_untold else (True,))
    ]

    def is_escaped(element: Element) -> bool:
        return any(looks[inner].escapes for looks in readings for inner in element.iterdescendants())

    is_clear = not styles.is_incomplete and not any(map(_paints, styles.parts)) and not _is_stacked(page, readings)
    hidings: dict[Element, _Hidings] = {}
    for element in readings[0]:
        looks, parent = [each[element] for each in readings], element.getparent()
        around = hidings[parent] if parent is not None else None
        is_alike = around is not None and around.are_of_all_with(looks)
        hidings[element] = around if around and is_alike else _Hidings(element, looks, is_clear, is_escaped)
    hidden = dict.fromkeys(_silent_in(page), "aria-hidden")
    hidden |= {
        element: way
        for element, each in hidings.items()
        if each.is_surely_away and not _appears(element, way := each.whole.way)
    }
    unseen = {each.unseen_in: "visibility" for each in hidings.values() if each.unseen_in is not None}
    panels = Panels(page, unseen | hidden, styles.opened, lambda element: not hidings[element].text.way)
    found = list(_hidden_in(page, hidings, hidden, panels))
    for each in found:
        if each.is_sure:
            _take_out(each)
    for dialog in page.iter("dialog"):  # that is open, or that a click opens
        dialog.tag = "div"
    label_panels(page, panels.opened)
    return [each for each in found if each.words or each.is_whole]


def _looks_in(page: Element, styles: DeclaredStyles, with_untold: bool) -> dict[Element, Look]:
    looks: dict[Element, Look] = {}
    for element in page.iter():
        parent = element.getparent()
        around = looks[parent] if parent is not None else Look()
        looks[element] = look_of(element, styles.of(element, with_untold), around)
    return looks


class _Hidings:
    """What hides an element, where its style sheets may be read in several ways: surely if it does in all of them."""

    def __init__(
        self, element: Element, looks: Sequence[Look], is_clear: bool, is_escaped: Callable[[Element], bool]
    ) -> None:
        self._looks = looks
        self.text = _in_all([look.text_hidden(element, is_clear) for look in looks])
        whole = _in_all([look.hidden for look in looks])
        self.whole = whole._replace(is_sure=False) if whole.way in _MOVED and is_escaped(element) else whole
        unseen = [look.unseen_in for look in looks if look.unseen_in is not None]
        is_sure = len(unseen) == len(looks) and not any(look.is_animated for look in looks)
        self.unseen_in = unseen[0] if is_sure else None
        self.may_be_unseen = bool(unseen)

    @property
    def is_surely_away(self) -> bool:
        return bool(self.whole.way) and self.whole.is_sure

    def are_of_all_with(self, looks: Sequence[Look]) -> bool:
        """Return whether they hold for an element inside with these looks: it looks as the one around it does."""
        return all(one is other and one.is_any_text_alike for one, other in zip(self._looks, looks, strict=True))


def _in_all(hidings: Sequence[Hiding]) -> Hiding:
    if len(hidings) == 1:
        return hidings[0]
    way = next((each.way for each in hidings if each.way), "")
    return Hiding(way, all(each.way and each.is_sure for each in hidings))


def _is_stacked(page: Element, readings: Sequence[Mapping[Element, Look]]) -> bool:
    """Return whether something that is drawn may stand behind text that it does not hold, or the page may be dark."""
    if any("dark" in (each.get("content") or "").lower() for each in page.iterfind(".//meta[@name='color-scheme']")):
        return True
    return any(
        (look.floats or element.tag in ("col", "colgroup")) and (look.paints or is_picture(element))
        for looks in readings
        for element, look in looks.items()
    )


def _paints(declared: Declaration) -> bool:
    return declared.name in ("color", "background-color", "background-image") and declared.value not in _UNPAINTED


def _hidden_in(
    page: Element,
    hidings: Mapping[Element, _Hidings],
    hidden: Mapping[Element, str],
    panels: Panels,
) -> Iterator[HiddenText]:
    doubts: dict[Element, str] = {}
    walk = etree.iterwalk(page, events=("start",))
    for _, element in walk:
        each, text = hidings[element], hidings[element].text
        if element.tag in _NO_TEXT:
            walk.skip_subtree()
        elif element in hidden and not panels.opens(element):
            walk.skip_subtree()
            words = _words_in(element.iter())
            is_icon = hidden[element] == "aria-hidden" and words == 1  # its name is no loss
            yield HiddenText(element, 0 if is_icon else words, hidden[element], is_whole=True)
        else:
            is_unseen = each.unseen_in is not None and not panels.opens(each.unseen_in)
            if is_unseen and element.tag in _PICTURES and not _appears(element, "visibility"):
                yield HiddenText(element, 0, "visibility", is_whole=True)
            elif is_unseen or (text.way and text.is_sure):
                yield HiddenText(element, _words_in([element]), "visibility" if is_unseen else text.way, is_whole=False)
            else:
                doubt = doubts.get(element.getparent(), "") or ("" if each.is_surely_away else each.whole.way)
                doubts[element] = doubt
                way = doubt or text.way or ("visibility" if each.may_be_unseen and each.unseen_in is None else "")
                if way:
                    yield HiddenText(element, _words_in([element]), way, is_whole=False, is_sure=False)


def _appears(element: Element, way: str) -> bool:
    """Return whether readers see something in the place of an element that is hidden by itself.

    A script shows a picture once it is loaded, a box to be ticked is drawn by what stands beside it, and an icon that
    fills a cell is told to those who do not see it.
    """
    if element.tag == "img":
        return loads_late(element) or (way == "opacity" and fades_in(element))
    if element.tag == "input":
        kind, is_drawn = element.get("type"), way not in ("display", "visibility")
        return is_drawn and (kind == "checkbox" or (kind == "radio" and is_inside(element, "label", "td")))
    return (way in _SPOKEN or element.get("role") == "tooltip") and _names_icon_of_cell(element)


def _names_icon_of_cell(element: Element) -> bool:
    """Return whether a short text is all that stands in a cell beside an icon."""
    cell = cell_to_fill(element)
    if cell is None or _words_in(element.iter()) > _NAME or text_of(cell) != text_of(element):
        return False
    return any(each.tag in _ICONS and not has_text(each) for each in cell.iter())


def _silent_in(page: Element) -> Iterator[Element]:
    """Yield what screen readers are told to leave out: decoration, names of icons, text that stands there twice.

    Pictures are shown. A page that was saved while a dialog was open says it of everything below the dialog.
    """
    silent = page.findall(".//*[@aria-hidden='true']")
    words = _words_inside(page) if silent else {}
    for element in silent:
        is_shown = next(element.iter("img"), None) is not None
        if not is_shown and words[element] * 2 < words[page]:
            yield element


def _words_inside(page: Element) -> dict[Element, int]:
    """The words in each element and all that is in it, each counted once, however deep it is nested."""
    words: dict[Element, int] = {}
    for element in reversed(list(page.iter())):
        words[element] = _words_in([element]) + sum(words[child] for child in element)
    return words


def _words_in(elements: Iterable[Element]) -> int:
    texts = (text for element in elements if element.tag not in _NO_TEXT for text in _own_texts(element))
    return sum(len(list(filter(says_something, text.split()))) for text in texts)


def _own_texts(element: Element) -> Iterator[str]:
    yield element.text or ""
    yield from (child.tail or "" for child in element)


def _take_out(hidden: HiddenText) -> None:
    element = hidden.element
    if hidden.is_whole:
        kept, tail = {name: value for name in _KEPT if (value := element.get(name))}, element.tail
        element.clear()
        element.tail = tail
        for name, value in kept.items():
            element.set(name, value)
        if element.tag not in ("nav", "footer"):
            element.tag = "span"
        return
    element.text = None
    for child in element:
        child.tail = None


def drop_hidden(main: Element, hidden: list[HiddenText]) -> tuple[str, ...]:
    """Remove what is left of hidden elements in the main content, in place, and return warnings of their words."""
    if not hidden:
        return ()
    inside = set(main.iter())
    of_main = [each for each in hidden if each.element in inside]
    remove(main, [each.element for each in of_main if each.is_whole])
    words = {True: Counter[str](), False: Counter[str]()}
    for each in of_main:
        words[each.is_sure][each.way] += each.words
    warnings = []
    if total := words[True].total():
        were = counted(total, "word that readers do not see was", "words that readers do not see were")
        warnings.append(f"{were} left out (hidden by {_ways(words[True])})")
    if total := words[False].total():
        were = counted(total, "word was kept that readers may not see", "words were kept that readers may not see")
        warnings.append(f"{were} (by {_ways(words[False])})")
    return tuple(warnings)


def _ways(words: Counter[str]) -> str:
    return ", ".join(way for way, count in words.most_common() if count)
