"""Restore code exactly: replace what a service read of code blocks and code spans by the article's own."""

from collections.abc import Iterator
from copy import deepcopy

from kb_pipeline.steps.html.code import code_span
from kb_pipeline.steps.html.dom import HEADINGS, Element, dissolve, is_block, is_inside, text_of
from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline.steps.pages import PAGE_TAG
from kb_pipeline.steps.restore.align import Alignment, MatchPlace
from kb_pipeline.steps.restore.edits import Edits, Point, after_signs, before_signs, inline_ancestors, signs_around
from kb_pipeline.steps.restore.words import Reading, WordSpan

_MIN_BLOCK_COVERAGE = 0.5
"""Share of a block's words that the service has; with less it may be another block."""
_MIN_CODE_SHARE = 0.6
"""The share of a line's words that must come from code for the line to be code."""
_MIN_SPAN_COVERAGE = 0.6
"""More than of a block, because a span is a word or two."""
_MAX_EXTRA_WORDS = 2
"""Additional words allowed among those of the article's code."""
_LINES = HEADINGS | {"p", "pre", "li"}


def restore_code_blocks(truth: Reading, reading: Reading, alignment: Alignment) -> int:
    """Replace every code block that is found, in place, and return the number of those that are not.

    What the service took for code although it is text in the article becomes text.
    """
    blocks = truth.of("pre")
    block_of = {word: number for number, block in enumerate(blocks) for word in range(block.first, block.end)}
    matched = [
        number
        for number, block in enumerate(blocks)
        if alignment.coverage(block.first, block.end) >= _MIN_BLOCK_COVERAGE
    ]
    lines = {line: sources for line, sources in _code_lines(reading, alignment, block_of) if sources & {*matched}}
    replaced = set()
    for number in matched:
        first = next((line for line, sources in lines.items() if number in sources), None)
        if first is not None:
            _insert_before(first.element, deepcopy(blocks[number].element))
            replaced.add(number)
    for line in lines:
        _clear(line.element)
    for span in reading.of("pre"):
        if span not in lines and _is_plain_text(span, alignment, block_of):
            span.element.tag = "p"
    _dissolve_text(truth, reading, alignment)  # before links are restored, because none begins inside code
    return len(blocks) - len(replaced)


def restore_code_spans(
    truth: Reading, reading: Reading, alignment: Alignment, placeholders: Placeholders, edits: Edits
) -> None:
    """Turn the words of every code span of the article, where they are found, into code."""
    blocks = {word for span in reading.of("pre") for word in range(span.first, span.end)}
    written = {span[1:]: span.element for span in reading.of("code") if span.element.tag == "code"}
    for code in truth.of("code"):
        place = _place(code, truth, reading, alignment)
        if place is None or place.first in blocks:
            continue
        text = text_of(code.element)
        element = written.get((place.first, place.last + 1))
        if element is None:
            signs = signs_around(text, truth.text(code.first), truth.text(code.end - 1))
            _replace_text(text, signs, place, reading, placeholders, edits)
        elif text_of(element) != text:
            element.text = text
            del element[:]


def _code_lines(
    reading: Reading, alignment: Alignment, block_of: dict[int, int]
) -> Iterator[tuple[WordSpan, set[int]]]:
    """Return the lines that are code, each with the numbers of the code blocks that it comes from."""
    for line in reading.lines:
        sources = [block_of.get(alignment.sources.get(word, -1)) for word in range(line.first, line.end)]
        in_blocks = [source for source in sources if source is not None]
        if len(in_blocks) >= _MIN_CODE_SHARE * len(sources) and line.element.tag in _LINES:
            yield line, set(in_blocks)


def _insert_before(line: Element, block: Element) -> None:
    block.tail = None
    parent = line.getparent()
    if line.tag == "li" and parent is not None:
        parent.addprevious(block)
    else:
        line.addprevious(block)


def _clear(line: Element) -> None:
    """Remove the words of a line, but no page that begins in it; what is left empty is dropped with the tree's text."""
    line.text = None
    for child in list(line):
        if is_block(child):
            break
        if child.tag == PAGE_TAG:
            child.tail = None
        else:
            line.remove(child)


def _is_plain_text(block: WordSpan, alignment: Alignment, block_of: dict[int, int]) -> bool:
    sources = [alignment.sources.get(word) for word in range(block.first, block.end)]
    outside = sum(source is not None and source not in block_of for source in sources)
    return bool(sources) and outside >= _MIN_CODE_SHARE * len(sources)


def _dissolve_text(truth: Reading, reading: Reading, alignment: Alignment) -> None:
    """Turn what the service took for code, although it is text in the article, back into text."""
    code = {word for span in truth.of("code", "pre") for word in range(span.first, span.end)}
    for span in reading.of("code"):
        sources = [alignment.sources.get(word) for word in range(span.first, span.end)]
        text = sum(source is not None and source not in code for source in sources)
        if text > len(sources) / 2 and not is_inside(span.element, "pre"):
            dissolve(span.element)


def _place(code: WordSpan, truth: Reading, reading: Reading, alignment: Alignment) -> MatchPlace | None:
    place = alignment.place(code.first, code.end)
    if (
        place is None
        or is_inside(code.element, "pre")
        or any(truth.words[word].is_mark for word in range(code.first, code.end))
    ):
        return None
    near = place.last - place.first < code.end - code.first + _MAX_EXTRA_WORDS
    one_line = reading.words[place.first].line == reading.words[place.last].line
    return place if near and one_line and alignment.coverage(code.first, code.end) >= _MIN_SPAN_COVERAGE else None


def _replace_text(
    code: str, signs: tuple[str, str], place: MatchPlace, reading: Reading, placeholders: Placeholders, edits: Edits
) -> None:
    """Replace words that were read as plain text by the code, if they are in a single piece of text."""
    first, last = reading.words[place.first].spot, reading.words[place.last].spot
    ancestors = list(inline_ancestors(first))
    if first != last or any(element.tag == "code" for element in ancestors):
        return
    start, end = before_signs(Point(first, place.start), signs[0]), after_signs(Point(first, place.end), signs[1])
    if start.spot == end.spot == first:
        start, end = _with_ticks(start, end)
        span = code_span(code)
        in_table = is_inside(first.parent, "table")
        edits.replace(first, start.offset, end.offset, placeholders.add(span.replace("|", "\\|") if in_table else span))


def _with_ticks(start: Point, end: Point) -> tuple[Point, Point]:
    """Move the points outside of backticks that were read as text."""
    text, first, last = start.spot.text, start.offset, end.offset
    while first and text[first - 1] == "`" == text[last : last + 1]:
        first, last = first - 1, last + 1
    return Point(start.spot, first), Point(end.spot, last)
