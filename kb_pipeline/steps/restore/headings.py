"""Headings: what is one in the article is one in the result, at the level its author gave it."""

from lxml import etree

from kb_pipeline.steps.html.dom import HEADINGS, Element, is_block, text_of
from kb_pipeline.steps.restore.align import Alignment
from kb_pipeline.steps.restore.words import Reading, Span

_FOUND = 0.7
_LINES = HEADINGS | {"p"}


def restore_headings(truth: Reading, reading: Reading, alignment: Alignment) -> dict[int, Element]:
    """Give every heading that is found its level, in place, and make what is none a paragraph.

    Returns the headings that are found, by the number of their first word in the article.
    """
    found: dict[int, Element] = {}
    headings = truth.of(*HEADINGS)
    for heading in headings:
        line = _line_of(heading, reading, alignment)
        if line is not None:
            line.tag = heading.element.tag
            if next(heading.element.iter("strong"), None) is None:
                etree.strip_tags(line, "strong", "b")
            found[heading.first] = line
    wanted = set(found.values())
    starts = {word for heading in headings for word in range(heading.first, heading.end)}
    for other in reading.of(*HEADINGS):
        if other.element not in wanted and _is_other_text(other, starts, alignment):
            other.element.tag = "p"
    return found


def free_numbered_headings(truth: Reading, tree: Element) -> None:
    """Make a line again of a heading that begins with a number and was read as a list of one item, in place."""
    titles = {text_of(heading.element) for heading in truth.of(*HEADINGS)}
    for numbered in list(tree.iter("ol")):
        item = numbered[0] if len(numbered) == 1 else None
        title = f"{numbered.get('start', '1')}. {text_of(numbered)}"
        if item is not None and title in titles and not any(map(is_block, item.iterdescendants())):
            numbered.tag, item.tag = "p", "span"
            item.text = title[: title.index(" ") + 1] + (item.text or "").lstrip()


def _line_of(heading: Span, reading: Reading, alignment: Alignment) -> Element | None:
    """The line that is this heading and hardly anything else."""
    place = alignment.place(heading.first, heading.end)
    if place is None or alignment.coverage(heading.first, heading.end) < _FOUND:
        return None
    line = reading.line_of(place.first)
    words, added = heading.end - heading.first, line.end - line.first - (heading.end - heading.first)
    inside = line.first <= place.first and place.last < line.end
    return line.element if inside and line.element.tag in _LINES and added <= 1 + words // 3 else None


def _is_other_text(heading: Span, starts: set[int], alignment: Alignment) -> bool:
    """Whether the article has these words, and not in a heading."""
    sources = [alignment.sources[word] for word in range(heading.first, heading.end) if word in alignment.sources]
    outside = sum(source not in starts for source in sources)
    return outside >= max(1.0, _FOUND * (heading.end - heading.first))
