"""Raised and lowered words: exponents, indices, marks of notes, and letters that a logo moves up or down.

The text of a PDF goes on in a new line wherever the height of letters changes, so ``CO2`` may be three words there. On
the page what belongs together touches.
"""

from collections.abc import Iterable, Iterator

from kb_pipeline.steps.pdf.model import Word

_TINY, _SMALL = 0.4, 0.85
"""Size of a raised or lowered word, in sizes of the word that it belongs to."""
_RAISED, _LOWERED, _FARTHEST = 0.15, 0.06, 0.6
"""How far a word is moved from the ground of the one that it touches, in sizes of that."""
_GROUND = 0.02
"""How far the grounds of words in one line differ."""
_TOUCHING = 0.12
"""Gap between words that are one; the narrowest spaces of justified lines are twice as wide."""
_OVERLAP, _LOGO, _MOST_OVERLAP = 0.15, 0.05, 0.5
"""How far a letter reaches over the one before it: a small one of a logo, which is no exponent, or a full one."""


def with_scripts(words: Iterable[Word]) -> Iterator[Word]:
    """The words, ``glued`` to what they touch at another height, with their ``script``."""
    host: Word | None = None
    """The last word that stands on the ground."""
    before, reach = host, 0.0
    for word in words:
        placed, is_moved = word, False
        if host is not None and before is not None and not (word.style.rotation or host.style.rotation):
            is_moved = _is_moved(host, word, reach)
            if is_moved and _is_small(host, word):
                is_of_logo = before is host and word.box.left - reach < -_OVERLAP * host.style.size
                script = "" if is_of_logo else "sup" if word.baseline < host.baseline else "sub"
                placed = word._replace(glued=word.glued or bool(script), script=script)
            elif before.script and _touches(host, word, reach):
                placed = word._replace(glued=True)  # back on the ground
        host = host if is_moved else placed
        reach = max(reach, placed.box.right) if is_moved else placed.box.right
        yield placed
        before = placed


def _touches(host: Word, word: Word, reach: float) -> bool:
    """Whether a word stands right behind ``host``, which reaches to ``reach`` with all that stands above and below."""
    size = host.style.size
    is_behind = host.box.right - _MOST_OVERLAP * size <= word.box.left <= reach + _TOUCHING * size
    return is_behind and abs(host.baseline - word.baseline) <= _FARTHEST * size


def _is_moved(host: Word, word: Word, reach: float) -> bool:
    """Whether a word that touches ``host`` stands higher or lower: a small one, or a letter that a logo moves."""
    size = host.style.size
    if not _touches(host, word, reach) or abs(host.baseline - word.baseline) <= _GROUND * size:
        return False
    return _is_small(host, word) or (word.glued and word.box.left - reach < -_LOGO * size)


def _is_small(host: Word, word: Word) -> bool:
    """Whether a word has the size and the height of an exponent or an index; text after an initial is smaller."""
    size = host.style.size
    shift = host.baseline - word.baseline
    return _TINY * size < word.style.size < _SMALL * size and (shift > _RAISED * size or shift < -_LOWERED * size)
