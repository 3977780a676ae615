"""Sections that are left for later, such as a production backlog: which they are, and a text without them.

A section is deferred by its heading, with everything below that. Titles are compared without regard to case and spaces.
Not here: who may see them, and where the titles are set.
"""

import re
from collections.abc import Iterable, Iterator

from kb_pipeline.steps.chunk.blocks import MarkdownBlock, list_items, parse_blocks
from kb_pipeline.steps.chunk.plain import plain_text, plain_title
from kb_pipeline.steps.pages import find_marks, without_marks

Titles = frozenset[str]
"""Titles of deferred sections, as :func:`titles_of` compares them."""

NO_TITLES: Titles = frozenset()

_MARKUP = re.compile(r"[\W_]+")
_BULLET = re.compile(r"\s*^[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", re.M)


def titles_of(names: Iterable[str]) -> Titles:
    """Return titles as they are compared; empty ones defer nothing."""
    return frozenset(filter(None, map(_folded, names)))


def _folded(title: str) -> str:
    return "".join(title.casefold().split())


def is_deferred(headings: Iterable[str], titles: Titles) -> bool:
    """Return whether one of the headings above a text, its own among them, defers it."""
    return bool(titles) and any(_folded(heading) in titles for heading in headings)


def deferring_titles(markdown: str, titles: Titles) -> Titles:
    """Return those of the titles that a heading of the text has."""
    letters = _MARKUP.sub("", markdown.casefold())
    possible = {title for title in titles if _MARKUP.search(title) or title in letters}
    if not possible:  # as in most texts, which need not be parsed
        return NO_TITLES
    return frozenset(possible & {_title(block) for block in parse_blocks(markdown) if block.kind == "heading"})


def without_deferred(markdown: str, titles: Titles) -> str:
    """Return converted markdown without its deferred sections; marks of pages that begin in them stay."""
    if not deferring_titles(markdown, titles):
        return markdown
    kept: list[str] = []
    for block, deferred in _in_sections(markdown, titles):
        if not deferred:
            kept.append(block.text)
        elif marks := find_marks(block.text):
            kept.append(" ".join(block.text[mark.start : mark.end] for mark in marks) + "\n\n")
    return "".join(kept)


def backlog_items(contents: Iterable[str]) -> tuple[str, ...]:
    """Return the bullets of these sections, each on one line without markup; those below a bullet are part of it.

    ``contents`` is the markdown of the sections, in order.
    """
    bullets = (
        bullet
        for content in contents
        for block in parse_blocks(content)
        if block.kind == "list"
        for bullet in list_items(block.text)
    )
    items = (plain_title(plain_text(_BULLET.sub("; ", bullet))).removeprefix("; ") for bullet in bullets)
    return tuple(item for item in items if item.strip("; "))


def _in_sections(markdown: str, titles: Titles) -> Iterator[tuple[MarkdownBlock, bool]]:
    """Yield each block, and whether its section is deferred."""
    level = 0  # of the heading that defers what is read, if one does
    for block in parse_blocks(markdown):
        if block.kind == "heading" and block.title:
            if level and block.level <= level:
                level = 0
            if not level and _title(block) in titles:
                level = block.level
        yield block, bool(level)


def _title(heading: MarkdownBlock) -> str:
    return _folded(without_marks(heading.title))
