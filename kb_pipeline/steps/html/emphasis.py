"""Bold and italic, only where CommonMark can tell their borders from the text around them."""

import unicodedata

from kb_pipeline.steps.html.dom import Element, dissolve, has_text, names, text_of
from kb_pipeline.steps.html.placeholders import PLACEHOLDER, without_placeholders

_BOLD = names("strong b")
_ITALIC = names("em i cite var dfn")
_MEANINGLESS = (
    "u",
    "ins",
    "mark",
    "big",
    "small",
    "font",
    "acronym",
    "abbr",
    "label",
    "blink",
    "bdi",
    "bdo",
    "time",
    "data",
)


def tidy_emphasis(main: Element) -> None:
    """Dissolve emphasis that is empty, nested in its like, or would show as literal asterisks.

    Source of the last rule: https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run
    """
    for element in list(main.iter(*_BOLD, *_ITALIC)):
        element.tag = "strong" if element.tag in _BOLD else "em"
        if (
            (not without_placeholders(text_of(element)).strip() and not _is_code(element))
            or any(ancestor.tag == element.tag for ancestor in element.iterancestors())
            or not _flanks(element)
        ):
            dissolve(element)
    for element in list(main.iter(*_MEANINGLESS)):
        dissolve(element)


def _is_code(element: Element) -> bool:
    return has_text(element) and PLACEHOLDER.fullmatch(text_of(element)) is not None


def _flanks(element: Element) -> bool:
    text = "".join(map(str, element.itertext()))
    first, last = text.strip()[:1], text.strip()[-1:]
    before = " " if text[:1].isspace() else _character_before(element)
    after = " " if text[-1:].isspace() else _character_after(element)
    return not (_is_punctuation(first) and _is_word(before)) and not (_is_punctuation(last) and _is_word(after))


def _character_before(element: Element) -> str:
    previous, parent = element.getprevious(), element.getparent()
    text = previous.tail if previous is not None else parent.text if parent is not None else ""
    return (text or "")[-1:]


def _character_after(element: Element) -> str:
    following = element.getnext()
    return (element.tail or (text_of(following) if following is not None else ""))[:1]


def _is_punctuation(character: str) -> bool:
    # Private-use characters are placeholders: code, which begins with a backtick.
    return bool(character) and unicodedata.category(character)[0] in "PSC"


def _is_word(character: str) -> bool:
    return bool(character) and not character.isspace() and not _is_punctuation(character)
