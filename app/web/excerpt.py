"""Chooses what of a long page is shown for a question: the sections that share its words. Pure."""

import re
from collections.abc import Iterator

from app.language.words import WordWeights, words
from kb_pipeline.steps.chunk.plain import FENCE_LINE, plain_text

CUT = "[...]"
"""Stands where text was left out."""

_HEADING = re.compile(r"^ {0,3}#{1,6} \S")


def excerpt(markdown: str, query: str, most: int) -> str:
    """The sections of a page that answer a question best, in the page's order, in at most ``most`` characters.

    A mark stands where something was left out. Of a section that is too long, the blocks that fit are kept; one is
    cut only if none fits.
    """
    if len(markdown) <= most:
        return markdown
    sections = [list(_blocks(section)) for section in _sections(markdown)]
    pieces = [(at, block) for at, section in enumerate(sections) for block in section]
    weights = WordWeights(words(block) for _, block in pieces)
    query_words = set(words(query))

    def shared(text: str) -> float:
        return weights.sum(query_words & set(words(text)))

    of_sections = [shared("\n".join(section)) for section in sections]
    order = sorted(range(len(pieces)), key=lambda at: (-of_sections[pieces[at][0]], pieces[at][0], at))
    kept: set[int] = set()
    room = most - len(CUT)
    for at in order:
        size = len(pieces[at][1]) + 2 + len(CUT) + 2  # each may need a mark before it
        if size <= room:
            kept.add(at)
            room -= size
    if not kept:
        return cut(plain_text(pieces[order[0]][1]), most)
    return "\n\n".join(_with_marks([block if at in kept else None for at, (_, block) in enumerate(pieces)]))


def cut(text: str, most: int) -> str:
    """The text, or its beginning with a mark where it was cut, between words if there are any."""
    if len(text) <= most:
        return text
    whole = re.match(r"(?s).*\s", text[: most - len(CUT)])
    kept = whole[0] if whole and len(whole[0]) > most // 2 else text[: most - len(CUT) - 1]
    return f"{kept.rstrip()}\n{CUT}"


def _with_marks(blocks: list[str | None]) -> Iterator[str]:
    left_out = False
    for block in blocks:
        if block is None:
            left_out = True
            continue
        if left_out:
            yield CUT
        left_out = False
        yield block
    if left_out:
        yield CUT


def _sections(markdown: str) -> Iterator[str]:
    """Yield the page cut before each heading outside of code."""
    lines: list[str] = []
    in_code = False
    for line in markdown.split("\n"):
        if not in_code and _HEADING.match(line) and lines:
            yield "\n".join(lines)
            lines = []
        if FENCE_LINE.match(line):
            in_code = not in_code
        lines.append(line)
    yield "\n".join(lines)


def _blocks(section: str) -> Iterator[str]:
    """Yield the blocks of a section, a heading together with the block behind it."""
    lines: list[str] = []
    in_code = False
    for line in section.split("\n"):
        if FENCE_LINE.match(line):
            in_code = not in_code
        if line.strip() or in_code:
            lines.append(line)
        elif len(lines) == 1 and _HEADING.match(lines[0]):
            lines.append("")
        elif lines and lines[-1]:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines).rstrip()
