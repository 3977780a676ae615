"""Raised and lowered words: exponents, indices, marks of notes, and letters that a logo moves up or down.

The text of a PDF goes on in a new line wherever the height of letters changes, so ``CO2`` may be three words there. On
the page what belongs together touches.
"""

from collections.abc import Iterable, Iterator

from kb_pipeline.steps.pdf.model import Word

_SMALL = 0.85
"""Size of a raised or lowered word, in sizes of the word that it belongs to."""
_RAISED, _LOWERED, _FARTHEST = 0.15, 0.06, 0.6
"""By how much it is moved from the ground of the other one, in sizes of that."""
_GROUND = 0.02
"""By how much words on one ground differ."""
_TOUCHING = 0.12
"""Gap between words that are one; the narrowest spaces of justified lines are twice as wide."""
_OVERLAP, _LOGO, _MOST_OVERLAP = 0.15, 0.05, 0.5
"""By how much a letter reaches over the one before it: a small one of a logo, which is no exponent, or a full one."""


def with_scripts(words: Iterable[Word]) -> Iterator[Word]:
    """The words, ``glued`` to what they touch at another height, with their ``script``."""
    host: Word | None = None
    """The last word that stands on the ground."""
    before, reach = host, 0.0
    for word in words:
        found = word
        if host is not None and not (word.style.rotation or host.style.rotation):
            found = _beside(host, word, reach, is_right_behind=before is host)
        is_moved = (
            host is not None and found is not word and abs(host.baseline - found.baseline) > _GROUND * host.style.size
        )
        if not is_moved:
            host = found
        reach = max(reach, found.box.right) if is_moved else found.box.right
        yield found
        before = found


def _beside(host: Word, word: Word, reach: float, is_right_behind: bool) -> Word:
    """The word with what it is to ``host``, which reaches to ``reach`` with all that stands above and below it."""
    size = host.style.size
    shift, gap = host.baseline - word.baseline, word.box.left - reach
    is_beside = host.box.right - _MOST_OVERLAP * size <= word.box.left and gap <= _TOUCHING * size
    if not is_beside or abs(shift) > _FARTHEST * size:
        return word
    if word.style.size < _SMALL * size and (shift > _RAISED * size or shift < -_LOWERED * size):
        is_of_logo = is_right_behind and gap < -_OVERLAP * size
        return word._replace(glued=True, script="" if is_of_logo else "sup" if shift > 0 else "sub")
    if abs(shift) <= _GROUND * size:
        return word if is_right_behind else word._replace(glued=True)
    return word._replace(glued=True) if gap < -_LOGO * size else word
