"""How one text became another: lines that are in both, and the words that were removed and added between them. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from app.schema.conversations import TextPiece

_CONTEXT = 2
"""Lines in both texts that are shown before and after a change."""
_WORD = re.compile(r"\S+\s*|\s+")
_ALIKE = 0.4
"""Share of equal words from which two runs of lines are compared word by word; below, that would read as a jumble."""
_Step = tuple[str, int, int, int, int]


def difference(before: str, after: str, *, is_excerpt: bool = False) -> tuple[TextPiece, ...]:
    """The pieces that lead from one text to the other; empty if their lines are the same but for blank ones.

    ``is_excerpt``: ``before`` was a part of its text, so what ``after`` has before and after it is not an addition.
    """
    old, new = lines_of(before), lines_of(after)
    steps: Sequence[_Step] = SequenceMatcher(None, old, new).get_opcodes()
    if is_excerpt:
        steps = [*_without_additions_around(steps)]
    if all(tag == "equal" for tag, *_ in steps):
        return ()
    pieces: list[TextPiece] = []
    for at, (tag, i, j, k, m) in enumerate(steps):
        if tag == "equal":
            pieces += _context(old[i:j], is_first=at == 0, is_last=at == len(steps) - 1)
        else:
            pieces += _changed(_text(old[i:j]), _text(new[k:m]))
    return tuple(_joined(pieces))


def lines_of(text: str) -> list[str]:
    """The lines of a text without blank ones and without spaces at their ends."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _without_additions_around(steps: Sequence[_Step]) -> Iterator[_Step]:
    for at, step in enumerate(steps):
        if step[0] != "insert" or 0 < at < len(steps) - 1:
            yield step


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _context(lines: Sequence[str], *, is_first: bool, is_last: bool) -> list[TextPiece]:
    """The lines nearest to the changes around them."""
    after_change = lines[:_CONTEXT] if not is_first else []
    before_change = lines[-_CONTEXT:] if not is_last else []
    if len(after_change) + len(before_change) >= len(lines):
        return [TextPiece(change="same", text=_text(lines))]
    return [
        TextPiece(change="same", text=_text(after_change)),
        TextPiece(change="skipped"),
        TextPiece(change="same", text=_text(before_change)),
    ]


def _changed(before: str, after: str) -> list[TextPiece]:
    """Removed and added words, or whole lines if few words are in both."""
    if SequenceMatcher(None, before.split(), after.split()).ratio() < _ALIKE:
        return [TextPiece(change="removed", text=before), TextPiece(change="added", text=after)]
    old, new = _WORD.findall(before), _WORD.findall(after)
    pieces: list[TextPiece] = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new).get_opcodes():
        removed, added = "".join(old[i:j]), "".join(new[k:m])
        if tag == "equal":
            pieces.append(TextPiece(change="same", text=removed))
            continue
        end = _shared_space(removed, added)
        pieces.append(TextPiece(change="removed", text=removed.removesuffix(end)))
        pieces.append(TextPiece(change="added", text=added.removesuffix(end)))
        pieces.append(TextPiece(change="same", text=end))
    return pieces


def _shared_space(removed: str, added: str) -> str:
    """The white space that both end with, if both have words."""
    space = removed[len(removed.rstrip()) :]
    return space if removed.strip() and added.strip() and added[len(added.rstrip()) :] == space else ""


def _joined(pieces: Iterable[TextPiece]) -> Iterator[TextPiece]:
    """Without empty pieces, and with neighbours of the same kind in one."""
    shown = (piece for piece in pieces if piece.text or piece.change == "skipped")
    for change, group in groupby(shown, lambda piece: piece.change):
        yield TextPiece(change=change, text="".join(piece.text for piece in group))
