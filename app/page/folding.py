"""How much of an answer is shown before "Show more": what a first screen has room for. Pure."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from kb_pipeline.steps.markdown_parsers import block_parser

_FIRST_SCREEN = 750
"""Characters of markdown. Below a question a window of 1280x720 has room for about 870 of quoted text, a phone of
390x844 for 800; the paragraph that goes beyond 750 is shown whole.
"""
_PICTURE = 400
"""A picture takes the room of this many."""


class _Paragraph(NamedTuple):
    """A paragraph, list, table or picture: where it ends, and whether it is part of a quotation or a picture.

    ``goes_on``: it is a numbered list that does not begin with its first item, which stands before a picture.
    ``ends_quotation``: it is the last of its quotation, which bears the reference.
    """

    stop: int
    is_quoted: bool
    is_picture: bool
    goes_on: bool
    ends_quotation: bool


def begin_of_fold(markdown: str, start: int, end: int) -> int:
    """Where the fold of an answer begins, of which ``start`` to ``end`` may be folded.

    Paragraphs of quotations are shown as long as a first screen has room; a heading or the name of a section never
    stands last. Of a procedure that was begun all steps are shown, and one paragraph below them: nobody stops after the
    first one, and what to expect or to beware of stands behind the last one.
    """
    paragraphs = list(_paragraphs(markdown[start:end]))
    begins = [start, *(start + each.stop for each in paragraphs)]
    count = sum(_room_of(markdown[:begin]) < _FIRST_SCREEN for begin in begins[: len(paragraphs)])
    shown, rest = paragraphs[:count], paragraphs[count:]
    goes_on = _rest_of_procedure(rest) if shown and shown[-1].is_quoted else []
    if goes_on:
        return start + goes_on[-1].stop
    return start + next((each.stop for each in reversed(shown) if each.is_quoted), 0)


def _rest_of_procedure(rest: Sequence[_Paragraph]) -> Sequence[_Paragraph]:
    """Return the steps with which a procedure goes on, their pictures, and the paragraph that ends their quotation."""
    steps = list(takewhile(lambda each: each.is_picture or each.goes_on, rest))
    if not any(each.goes_on for each in steps):
        return []
    result = rest[len(steps) : len(steps) + 1]
    has_result = steps[-1].goes_on and not steps[-1].ends_quotation and result and result[0].ends_quotation
    return [*steps, *result] if has_result else steps


def _room_of(markdown: str) -> int:
    return len(markdown) + _PICTURE * markdown.count("![")


def _paragraphs(markdown: str) -> Iterator[_Paragraph]:
    lines = markdown.splitlines(keepends=True)
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    is_quotation, end_of_quotation = False, 0
    for token in block_parser().parse(markdown):
        if token.level == 0:
            is_quotation = token.type == "blockquote_open"
            end_of_quotation = token.map[1] if token.map and is_quotation else end_of_quotation
        is_whole = token.level == 1 if is_quotation else token.level == 0
        if token.map and is_whole:
            first, behind = token.map
            while behind < len(lines) and not lines[behind].strip("> \n"):
                behind += 1
            is_picture = lines[first].startswith("![")
            goes_on = token.type == "ordered_list_open" and int(token.attrGet("start") or 1) > 1
            is_last = is_quotation and behind >= end_of_quotation
            yield _Paragraph(ends[behind], is_quotation or is_picture, is_picture, goes_on, is_last)
