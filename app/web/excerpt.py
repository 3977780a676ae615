"""Chooses what of a long page is shown for a question: the sections that share its words. Pure."""

import re
from collections.abc import Iterator

from app.language.words import WordWeights, words
from kb_pipeline.steps.chunk.blocks import list_items, parse_blocks
from kb_pipeline.steps.chunk.plain import plain_text

CUT = "[...]"
"""Stands where text was left out."""


def excerpt(markdown: str, query: str, most: int) -> str:
    """The sections of a page that answer a question best, in the page's order, in at most ``most`` characters.

    A mark stands where something was left out. Of a section that is too long, the blocks that fit are kept; one is
    cut only if none fits.
    """
    if len(markdown) <= most:
        return markdown
    sections = _sections(markdown, most)
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


def _sections(markdown: str, most: int) -> list[list[str]]:
    """The blocks of each section, a heading together with the block behind it; of a long list its items."""
    sections: list[list[str]] = [[]]
    is_behind_heading = False
    for block in parse_blocks(markdown):
        texts = list_items(block.text) if block.kind == "list" and len(block.text) > most else [block.text]
        first, *others = (text.strip("\n") for text in texts)
        if block.kind == "heading":
            sections.append([first])
        elif is_behind_heading:
            sections[-1][-1] += f"\n\n{first}"
        else:
            sections[-1].append(first)
        sections[-1] += others
        is_behind_heading = block.kind == "heading"
    return sections
