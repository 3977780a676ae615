"""How much of an answer is shown before "Show more": what a first screen has room for. Pure."""

from collections.abc import Iterator

from kb_pipeline.steps.markdown_parsers import block_parser

_FIRST_SCREEN = 750
"""Characters of markdown. Below a question a window of 1280x720 has room for about 870 of quoted text, a phone of
390x844 for 800; the paragraph that goes beyond 750 is shown whole.
"""
_PICTURE = 400
"""A picture takes the room of this many."""


def begin_of_fold(markdown: str, start: int, end: int) -> int:
    """Where the fold of an answer begins, of which ``start`` to ``end`` may be folded.

    Paragraphs of quotations are shown as long as a first screen has room; a heading or the name of a section never
    stands last.
    """
    shown = _room_of(markdown[:start])
    folded = markdown[start:end]
    begin, before = 0, 0
    for stop, is_quoted in _paragraphs(folded):
        if shown >= _FIRST_SCREEN:
            break
        shown += _room_of(folded[before:stop])
        before = stop
        if is_quoted:
            begin = stop
    return start + begin


def _room_of(markdown: str) -> int:
    return len(markdown) + _PICTURE * markdown.count("![")


def _paragraphs(markdown: str) -> Iterator[tuple[int, bool]]:
    """Yield where each paragraph, list or table ends, and whether it is part of a quotation or a picture."""
    lines = markdown.splitlines(keepends=True)
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    is_quotation = False
    for token in block_parser().parse(markdown):
        if token.level == 0:
            is_quotation = token.type == "blockquote_open"
        is_whole = token.level == 1 if is_quotation else token.level == 0
        if token.map and is_whole:
            first, behind = token.map
            while behind < len(lines) and not lines[behind].strip("> \n"):
                behind += 1
            yield ends[behind], is_quotation or lines[first].startswith("![")
