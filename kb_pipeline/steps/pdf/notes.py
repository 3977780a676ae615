"""What is written on a page of a PDF beside its text: notes in boxes of their own, and what is filled into a form."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kb_pipeline.steps.pdf.model import Box, Page, Style, Word

_WIDTH = 0.5
"""Width of a letter, in heights of the font, as nothing tells how a note is set."""
_LEADING = 1.2
"""The usual distance of lines, in sizes of their letters."""


@dataclass(frozen=True, slots=True)
class Note:
    """A text in a box; that of a field of a form belongs to the words beside it."""

    box: Box
    text: str
    is_field: bool = False


def with_notes(page: Page, notes: Sequence[Note], *, is_tagged: bool) -> Page:
    """The page with these texts among its words.

    A note beside other text is set apart, and one on a page with tags belongs to the tag above it.
    """
    if not notes:
        return page
    words, apart = list(page.words), list(page.notes)
    sizes = Counter(word.style.size for word in page.words if not word.style.hidden)
    usual = Style(font="Note", size=sizes.most_common(1)[0][0] if sizes else 10.0)
    for note in notes:
        beside = [word for word in page.words if not word.style.hidden and _is_beside(word, note)]
        if note.is_field:
            _fill_in(words, note, beside, usual)
        elif beside and not is_tagged:
            apart.append(tuple(_set(note, usual)))
        else:
            _put_below(words, note, usual)
    text = "\r\n".join((page.text, *(note.text for note in notes)))
    return replace(page, words=tuple(words), notes=tuple(apart), text=text)


def _is_beside(word: Word, note: Note) -> bool:
    return note.box.top - 1 <= word.baseline <= note.box.bottom + 0.2 * word.style.size and not word.style.rotation


def _fill_in(words: list[Word], note: Note, beside: Sequence[Word], usual: Style) -> None:
    """Put what is filled in behind the words on its left, else before those on its right, in their style."""
    left = [word for word in beside if word.box.right <= note.box.left + 2]
    right = [word for word in beside if word.box.left >= note.box.right - 2]
    if left:
        anchor, step = max(left, key=lambda word: word.box.right), 1
    elif right:
        anchor, step = min(right, key=lambda word: word.box.left), 0
    else:
        _put_below(words, note, usual)
        return
    style = replace(anchor.style, bold=False, italic=False)
    place = next(number for number, word in enumerate(words) if word is anchor)
    words[place + step : place + step] = _set(note, style, anchor.baseline)


def _put_below(words: list[Word], note: Note, style: Style) -> None:
    """Put a text behind that of the words above it."""
    above = [number for number, word in enumerate(words) if word.baseline < note.box.top and not word.style.hidden]
    place = 0
    if above:
        nearest = max(above, key=lambda number: (words[number].baseline, number))
        style = replace(style, mcid=words[nearest].style.mcid)
        of_tag = (number for number, word in enumerate(words) if word.style.mcid == style.mcid)
        place = 1 + (max(of_tag) if style.mcid >= 0 else nearest)
    words[place:place] = _set(note, style)


def _set(note: Note, style: Style, baseline: float | None = None) -> Iterator[Word]:
    """The words of a text, line by line from the top of its box, or on this baseline."""
    size = style.size
    y = note.box.top + size if baseline is None else baseline
    for line in _lines(note, size):
        x = note.box.left + 1
        for text in line:
            right = x + len(text) * _WIDTH * size
            yield Word(text, Box(x, y - 0.8 * size, right, y + 0.2 * size), y, style)
            x = right + _WIDTH * size
        y += _LEADING * size


def _lines(note: Note, size: float) -> Iterator[list[str]]:
    """The words of each line, as many as the box is wide."""
    most = max(note.box.width / (_WIDTH * size), 1)
    for line in note.text.splitlines():
        taken: list[str] = []
        for word in line.split():
            if taken and len(" ".join([*taken, word])) > most and not note.is_field:
                yield taken
                taken = []
            taken.append(word)
        if taken:
            yield taken


def sorted_notes(notes: Iterable[Note]) -> list[Note]:
    """The notes from top to bottom and left to right."""
    return sorted(notes, key=lambda note: (note.box.top, note.box.left))
