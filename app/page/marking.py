"""Marks sentences in markdown: two characters around each, which come through a markdown parser unharmed.

They are punctuation of a script that nobody writes any more, because emphasis begins and ends beside punctuation only.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

MARK_START, MARK_END = "\U00010100", "\U00010101"
_BLOCK_MARKUP = re.compile(r"(?:[ \t\n>|]|#{1,6} |[-*+] |\d{1,9}[.)] |`{3,}[^\n]*\n)*")
_AFTER_TEXT = " \t\n|`"


def without_marks(text: str) -> str:
    """The text without these characters."""
    return text.replace(MARK_START, "").replace(MARK_END, "")


def marked_source(markdown: str, quotes: Sequence[str]) -> str:
    """The markdown with every quote marked where it first stands; a quote that is not there is left out."""
    markdown = without_marks(markdown)
    out: list[str] = []
    at = 0
    for start, end in _joined(_spans(markdown, quotes)):
        out += [markdown[at:start], MARK_START, markdown[start:end], MARK_END]
        at = end
    return "".join([*out, markdown[at:]])


def _spans(markdown: str, quotes: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where the quotes' words are: without what only begins a list item, a heading or a table row."""
    for quote in quotes:
        found = markdown.find(quote) if quote.strip() else -1
        if found < 0:
            continue
        begins = _BLOCK_MARKUP.match(markdown, found, found + len(quote))
        start = begins.end() if begins else found
        end = start + len(markdown[start : found + len(quote)].rstrip(_AFTER_TEXT))
        if start < end:
            yield start, end


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
