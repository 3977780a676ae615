"""Commands and names inside sentences, exactly as the author wrote them: what a service read of them is replaced."""

from kb_pipeline.steps.html.code import code_span
from kb_pipeline.steps.html.dom import dissolve, text_of
from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline.steps.restore.align import Alignment, Place
from kb_pipeline.steps.restore.edits import Edits, Point, after_signs, before_signs, inline_ancestors, signs_around
from kb_pipeline.steps.restore.words import Reading, Span

_FOUND = 0.6
_NOISE = 2
"""Words more than the article's code has, among which it may be found."""


def restore_code_spans(
    truth: Reading, reading: Reading, alignment: Alignment, placeholders: Placeholders, edits: Edits
) -> None:
    """Make code again of every code span whose words are found."""
    blocks = {word for span in reading.of("pre") for word in range(span.first, span.end)}
    _dissolve_text(truth, reading, alignment)
    written = {span[1:]: span.element for span in reading.of("code") if span.element.tag == "code"}
    for code in truth.of("code"):
        place = _place(code, truth, reading, alignment)
        if place is None or place.first in blocks:
            continue
        text = text_of(code.element)
        element = written.get((place.first, place.last + 1))
        if element is None:
            signs = signs_around(text, truth.text(code.first), truth.text(code.end - 1))
            _replace(text, signs, place, reading, placeholders, edits)
        elif text_of(element) != text:
            element.text = text
            del element[:]


def _dissolve_text(truth: Reading, reading: Reading, alignment: Alignment) -> None:
    """Make text again of what the service took for code and the article has as text."""
    code = {word for span in truth.of("code", "pre") for word in range(span.first, span.end)}
    for span in reading.of("code"):
        sources = [alignment.sources.get(word) for word in range(span.first, span.end)]
        text = sum(source is not None and source not in code for source in sources)
        if text > len(sources) / 2 and next(span.element.iterancestors("pre"), None) is None:
            dissolve(span.element)


def _place(code: Span, truth: Reading, reading: Reading, alignment: Alignment) -> Place | None:
    place = alignment.place(code.first, code.end)
    in_block = next(code.element.iterancestors("pre"), None) is not None
    if place is None or in_block or any(truth.words[word].is_mark for word in range(code.first, code.end)):
        return None
    near = place.last - place.first < code.end - code.first + _NOISE
    one_line = reading.words[place.first].line == reading.words[place.last].line
    return place if near and one_line and alignment.coverage(code.first, code.end) >= _FOUND else None


def _replace(
    code: str, signs: tuple[str, str], place: Place, reading: Reading, placeholders: Placeholders, edits: Edits
) -> None:
    """Put the code in the place of what was read as plain text, if it was read in one piece."""
    first, last = reading.words[place.first].spot, reading.words[place.last].spot
    around = list(inline_ancestors(first))
    if first != last or any(element.tag == "code" for element in around):
        return
    start, end = before_signs(Point(first, place.start), signs[0]), after_signs(Point(first, place.end), signs[1])
    if start.spot == end.spot == first:
        start, end = _with_ticks(start, end)
        span = code_span(code)
        in_table = next(first.parent.iterancestors("table"), None) is not None
        edits.replace(first, start.offset, end.offset, placeholders.add(span.replace("|", "\\|") if in_table else span))


def _with_ticks(start: Point, end: Point) -> tuple[Point, Point]:
    """The points outside of backticks that were read as text."""
    text, first, last = start.spot.text, start.offset, end.offset
    while first and text[first - 1] == "`" == text[last : last + 1]:
        first, last = first - 1, last + 1
    return Point(start.spot, first), Point(end.spot, last)
