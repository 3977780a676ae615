"""Text inside blocks: emphasis, definition lists, headings and keys, in forms that CommonMark can represent."""

import unicodedata

from kb_pipeline.steps.html.dom import (
    HEADINGS,
    Element,
    classes,
    dissolve,
    has_text,
    is_block,
    is_inside,
    names,
    text_of,
    wrap_content,
)
from kb_pipeline.steps.html.placeholders import PLACEHOLDER, without_placeholders

_BOLD = names("strong b")
_ITALIC = names("em i cite var dfn")
_STRUCK = names("s del strike")
_MEANINGLESS = names("u ins mark big small font acronym abbr label blink bdi bdo time data output")


def tidy_emphasis(main: Element) -> None:
    """Dissolve emphasis that is empty, nested in the same kind, or would show as literal asterisks.

    Source of the last rule: https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run
    """
    for element in list(main.iter(*_BOLD, *_ITALIC)):
        element.tag = "strong" if element.tag in _BOLD else "em"
        text = text_of(element)
        if (
            (not without_placeholders(text).strip() and not PLACEHOLDER.fullmatch(text))
            or any(ancestor.tag == element.tag for ancestor in element.iterancestors())
            or not _flanks(element)
        ):
            dissolve(element)
    for element in list(main.iter(*_MEANINGLESS)):
        dissolve(element)
    for element in list(main.iter(*_STRUCK)):
        if is_inside(element, *_STRUCK):
            dissolve(element)


def _flanks(element: Element) -> bool:
    """Return whether CommonMark recognises asterisks around the element as emphasis."""
    text = "".join(map(str, element.itertext()))
    first, last = text.strip()[:1], text.strip()[-1:]
    previous, parent, following = element.getprevious(), element.getparent(), element.getnext()
    text_before = previous.tail if previous is not None else parent.text if parent is not None else ""
    text_after = element.tail or (text_of(following) if following is not None else "")
    before = " " if text[:1].isspace() else (text_before or "")[-1:]
    after = " " if text[-1:].isspace() else text_after[:1]
    return not (_is_punctuation(first) and _is_word(before)) and not (_is_punctuation(last) and _is_word(after))


def _is_punctuation(character: str) -> bool:
    # Private-use characters are placeholders: code, which begins with a backtick.
    return bool(character) and unicodedata.category(character)[0] in "PSC"


def _is_word(character: str) -> bool:
    return bool(character) and not character.isspace() and not _is_punctuation(character)


def spell_out_definition_lists(main: Element) -> None:
    """Turn terms, and summaries of details, into bold paragraphs, and definitions into plain blocks, in place."""
    for element in list(main.iter("dt", "dd", "dl", "summary")):
        if element.tag not in ("dt", "summary"):
            dissolve(element)
            continue
        element.attrib.clear()
        has_blocks = any(map(is_block, element.iterdescendants()))
        element.tag = "div" if has_blocks else "p"
        if not has_blocks and has_text(element):
            wrap_content(element, "strong")


def tidy_headings(page: Element) -> None:
    """End headings where the next one begins, dissolve empty ones, turn Doxygen's page title into an h1, in place."""
    for heading in list(page.iter(*HEADINGS)):
        unclosed = heading.getparent()
        if unclosed is not None and unclosed.tag in HEADINGS:
            # <h2>title<h2>, a frequent slip: browsers end the first heading where the second one begins
            following = [heading, *heading.itersiblings()]
            following[-1].tail = f"{following[-1].tail or ''}{unclosed.tail or ''}"
            unclosed.tail = None
            for element in reversed(following):
                unclosed.addnext(element)
    for heading in list(page.iter(*HEADINGS)):
        if not has_text(heading) and next(heading.iter("img"), None) is None:
            dissolve(heading)
    for element in page.iter("div"):
        parent = element.getparent()
        if "title" in classes(element) and parent is not None and "headertitle" in classes(parent):
            element.tag = "h1"
            return


_KEY_CLASSES = frozenset({"keycap", "key", "kbd", "keysym"})


def join_keys(main: Element) -> None:
    """Insert a plus sign between keys that follow each other directly."""
    for key in main.iter("kbd", "span"):
        following = key.getnext()
        if not key.tail and following is not None and _is_key(key) and _is_key(following):
            key.tail = "+"


def _is_key(element: Element) -> bool:
    return element.tag == "kbd" or not _KEY_CLASSES.isdisjoint(classes(element))
