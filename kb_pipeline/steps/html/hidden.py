"""Text that readers of a page cannot see is no text of its article: take it out, and say how much it was.

An element is hidden as a whole (not displayed, clipped, far outside of the page), or only the text that stands in it
(without visibility, too small, in the colour of what lies behind it): elements inside may show theirs. What a click
opens stays. Not here: elements of which browsers never show the text (``page``).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lxml import etree

from kb_pipeline.steps.html.dom import Element, names, remove
from kb_pipeline.steps.html.looks import Look, expanded, look_of
from kb_pipeline.steps.html.panels import Panels
from kb_pipeline.steps.html.style_sheets import Styles
from kb_pipeline.wording import counted

_PICTURES = names("img image picture svg object input")
_NO_TEXT = names("script style noscript template head")
_KEPT = ("class", "id", "role")
_MAY_HIDE = etree.XPath(
    "boolean(//style | //link[contains(translate(@href, 'DAT', 'dat'), 'data:')] | //@style | //@hidden | //@color"
    " | //@text | //@bgcolor | //*[@aria-hidden='true'])"
)


class HiddenText(NamedTuple):
    """Words that readers do not see, the element that holds or held them, and the property that hides them."""

    element: Element
    words: int
    way: str
    is_whole: bool


def hide(page: Element) -> list[HiddenText]:
    """Take out what readers do not see, in place. What was hidden as a whole stays as an empty element.

    Raises:
        UnreadableArticleError: the page has too many style rules.
    """
    if not _MAY_HIDE(page):
        return []
    styles = Styles(page, expanded)
    looks: dict[Element, Look] = {}
    for element in page.iter():
        parent = element.getparent()
        looks[element] = look_of(element, styles.of(element), looks[parent] if parent is not None else Look())
    unseen = {look.unseen_in: "visibility" for look in looks.values() if look.unseen_in is not None}
    hidden = dict.fromkeys(_silent_in(page), "aria-hidden")
    hidden |= {each: look.hidden_by for each, look in looks.items() if look.hidden_by}
    panels = Panels(page, unseen | hidden, styles.opened, lambda element: not looks[element].text_hidden_by)
    found = list(_hidden_in(page, looks, hidden, panels))
    for each in found:
        _take_out(each)
    return [each for each in found if each.words or each.is_whole]


def _hidden_in(
    page: Element, looks: dict[Element, Look], hidden: dict[Element, str], panels: Panels
) -> Iterator[HiddenText]:
    walk = etree.iterwalk(page, events=("start",))
    for _, element in walk:
        look = looks[element]
        if element.tag in _NO_TEXT:
            walk.skip_subtree()
        elif element in hidden and not panels.opens(element):
            walk.skip_subtree()
            words = _words_in(element.iter())
            is_icon = hidden[element] == "aria-hidden" and words == 1  # its name is no loss
            yield HiddenText(element, 0 if is_icon else words, hidden[element], is_whole=True)
        else:
            is_unseen = look.unseen_in is not None and not panels.opens(look.unseen_in)
            way = "visibility" if is_unseen else look.text_hidden_by
            if is_unseen and element.tag in _PICTURES:
                yield HiddenText(element, 0, way, is_whole=True)
            elif way:
                yield HiddenText(element, _words_in([element]), way, is_whole=False)


def _silent_in(page: Element) -> Iterator[Element]:
    """Yield what screen readers are told to leave out: decoration, names of icons, text that stands there twice.

    Pictures are shown. A page that was saved while a dialog was open says it of everything below the dialog.
    """
    everything = _words_in(page.iter())
    for element in page.iterfind(".//*[@aria-hidden='true']"):
        is_shown = next(element.iter("img"), None) is not None
        if not is_shown and _words_in(element.iter()) * 2 < everything:
            yield element


def _words_in(elements: Iterable[Element]) -> int:
    texts = (text for element in elements if element.tag not in _NO_TEXT for text in _own_texts(element))
    return sum(any(map(str.isalnum, word)) for text in texts for word in text.split())


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
    """Remove what is left of hidden elements in the main content, in place, and return a warning of their words."""
    if not hidden:
        return ()
    inside = set(main.iter())
    of_main = [each for each in hidden if each.element in inside]
    remove(main, [each.element for each in of_main if each.is_whole])
    words: Counter[str] = Counter()
    for each in of_main:
        words[each.way] += each.words
    if not (total := words.total()):
        return ()
    ways = ", ".join(way for way, count in words.most_common() if count)
    were = counted(total, "word that readers do not see was", "words that readers do not see were")
    return (f"{were} left out (hidden by {ways})",)
