"""Titles of conversations: one line, made of the first question where nobody wrote one."""

import unicodedata

MOST = 80
UNTITLED = "Untitled conversation"
_LONGEST = 200
_ENOUGH = 4_000
_UNSEEN = frozenset({"Cc", "Cs", "Cn", "Co"})
_DIRECTIONS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that reorder what is written around them: a list of titles must not be."""


def title_of(question: str) -> str:
    """The beginning of a question, at most ``MOST`` characters, cut between words where it has any."""
    line = one_line(question)
    if len(line) <= MOST:
        return line or UNTITLED
    cut = line[: MOST - 1]
    words = cut if line[MOST - 1] == " " else cut.rpartition(" ")[0]
    return (words or cut).rstrip() + "…"


def one_line(text: str) -> str:
    """Text as it can stand in a list: no line breaks, nothing invisible but joiners, not endless."""
    words = " ".join(text[:_ENOUGH].split())
    return " ".join("".join(filter(_is_shown, words)).split())[:_LONGEST].rstrip()


def _is_shown(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN and character not in _DIRECTIONS
