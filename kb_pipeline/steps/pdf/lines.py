"""Words become pieces of lines, and pieces on one height rows.

A piece is what stands together without a wide gap: a line of a column, the cell of a table, the number before a
heading. Its words keep the order of PDFium's text, so that right-to-left lines read rightly.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kb_pipeline.steps.pdf.mirrored import is_right_to_left
from kb_pipeline.steps.pdf.model import Box, Page, Word
from kb_pipeline.steps.pdf.scripts import with_scripts
from kb_pipeline.steps.pdf.vertical import is_vertical

WIDE_GAP = 0.9
"""The gap between two words that separates pieces, in heights of the font: justified lines stay below."""
_UPRIGHT = (0, 1, 2, 358, 359)  # degrees; a scan may stand a little askew


@dataclass(slots=True)
class Line:
    """A piece of a line, or a whole one.

    ``fixed`` says that it is set in a font of fixed pitch, and ``order`` which place it has in the page's text.
    """

    page: int
    words: list[Word]
    box: Box
    baseline: float
    size: float
    fixed: bool = False
    order: int = 0

    @property
    def left(self) -> float:
        return self.box.left

    @property
    def right(self) -> float:
        return self.box.right

    @property
    def text(self) -> str:
        return text_of(self.words)

    @property
    def bold(self) -> bool:
        return all(word.style.bold for word in self.words)

    @property
    def italic(self) -> bool:
        return all(word.style.italic for word in self.words)

    @property
    def pitch(self) -> float:
        """The width of a letter, on average."""
        letters = sum(len(word.text) for word in self.words)
        return max(sum(word.box.width for word in self.words) / max(letters, 1), 0.5)

    def moved(self, by: float) -> "Line":
        """The same line, moved to the right."""
        box = self.box
        words = [
            word._replace(box=word.box._replace(left=word.box.left + by, right=word.box.right + by))
            for word in self.words
        ]
        return replace(self, words=words, box=Box(box.left + by, box.top, box.right + by, box.bottom))


Row = list[Line]
"""The pieces on one height, from left to right."""


def text_of(words: Iterable[Word]) -> str:
    """The words with a space before each that is not glued."""
    return "".join([word.text if word.glued else " " + word.text for word in words]).lstrip()


def rows_of(page: Page) -> tuple[list[Row], list[Line]]:
    """The rows of a page from top to bottom, and the lines that are turned, in the order of the text.

    A page most of whose words are turned is read as if it were turned back, and so is one whose letters stand below
    each other.
    """
    shown = list(with_scripts(without_doubles([word for word in page.words if not word.style.hidden])))
    if is_vertical(page):
        shown = [_laid_down(word) for word in shown]
    turned = Counter(word.style.rotation for word in shown).most_common(1)
    if turned and turned[0][0] in (90, 180, 270):
        shown = [_turned_back(word, turned[0][0], page) for word in shown]
    upright = [word for word in shown if word.style.rotation in _UPRIGHT]
    others = [word for word in shown if word.style.rotation not in _UPRIGHT]
    rows: list[Row] = []
    for piece in sorted(_pieces(page.number, upright), key=lambda piece: (piece.baseline, piece.left)):
        for row in reversed(rows[-3:]):
            if abs(row[0].baseline - piece.baseline) < 0.3 * min(row[0].size, piece.size):
                row.append(piece)
                break
        else:
            rows.append([piece])
    return [_merged(sorted(row, key=lambda piece: piece.left)) for row in rows], _turned_lines(page.number, others)


def join(pieces: Sequence[Line]) -> Line:
    """One line of the pieces of a row, in their order of reading."""
    if len(pieces) == 1:
        return pieces[0]
    box = pieces[0].box
    for piece in pieces[1:]:
        box = box.union(piece.box)
    words = [word for piece in pieces for word in piece.words]
    main = max(pieces, key=lambda piece: sum(len(word.text) for word in piece.words))
    return Line(pieces[0].page, words, box, main.baseline, main.size, all(piece.fixed for piece in pieces))


def part_of(piece: Line, words: list[Word]) -> Line:
    """The words of a piece that stand together, as a piece."""
    if len(words) == len(piece.words):
        return piece
    part = _line(piece.page, words)
    part.fixed = piece.fixed or all(word.style.fixed_pitch for word in words)
    return part


def _pieces(number: int, words: Sequence[Word]) -> Iterator[Line]:
    begin = 0
    for index in range(1, len(words) + 1):
        if index == len(words) or not _goes_on(words[index - 1], words[index]):
            piece = _line(number, list(words[begin:index]))
            piece.order = begin
            yield piece
            begin = index


def _goes_on(before: Word, word: Word) -> bool:
    size = max(before.style.size, word.style.size)
    shift = abs(before.baseline - word.baseline)
    if shift > 0.2 * size and not (word.glued or (shift < 0.6 * size and _is_raised(before, word))):
        return False
    gap = max(word.box.left - before.box.right, before.box.left - word.box.right)
    return gap < WIDE_GAP * size


def _is_raised(before: Word, word: Word) -> bool:
    """Whether one of them is smaller and beside the other: an exponent or the number of a footnote."""
    small, large = sorted((before.style.size, word.style.size))
    gap = word.box.left - before.box.right
    return small < 0.85 * large and -0.3 * large < gap < 0.6 * large


def line_of(number: int, words: Sequence[Word]) -> Line:
    """Words that stand together, as a line."""
    return _line(number, list(words))


def _line(number: int, words: list[Word]) -> Line:
    lefts, tops, rights, bottoms = zip(*[word.box for word in words], strict=True)
    box = Box(min(lefts), min(tops), max(rights), max(bottoms))
    size = words[0].style.size
    if any(word.style.size != size for word in words):
        letters: Counter[float] = Counter()
        for word in words:
            letters[word.style.size] += len(word.text)
        size = letters.most_common(1)[0][0]
    baseline = next(word.baseline for word in words if word.style.size == size)
    return Line(number, words, box, baseline, size)


def _merged(row: Row) -> Row:
    """Join pieces that the order of the text has apart, but not the page."""
    merged = row[:1]
    for piece in row[1:]:
        before = merged[-1]
        if piece.left - before.right < WIDE_GAP * max(before.size, piece.size) * 0.8:
            merged[-1] = _line(piece.page, _in_order(before, piece))
            merged[-1].order = min(before.order, piece.order)
        else:
            merged.append(piece)
    return merged


def _in_order(left: Line, right: Line) -> list[Word]:
    if right.left < left.right - 0.5 * left.size:
        return sorted((*left.words, *right.words), key=lambda word: word.box.left)
    if _goes_left(right.words) and is_right_to_left(_letters([*left.words, *right.words])):
        return [*right.words, *left.words]
    return [*left.words, *right.words]


def _goes_left(words: Sequence[Word]) -> bool:
    """Whether words are read from right to left on a page that is not: such pages are seen in a mirror."""
    return words[0].box.left > words[-1].box.left and is_right_to_left(_letters(words))


def _letters(words: Sequence[Word]) -> str:
    return "".join(word.text for word in words)


def without_doubles(words: Sequence[Word]) -> list[Word]:
    """Leave out what is painted twice on one place, as some programs make letters bold."""
    kept: list[Word] = []
    seen: dict[tuple[str, int], list[Word]] = {}
    for word in words:
        others = seen.setdefault((word.text, round(word.baseline)), [])
        if any(all(abs(one - two) < 1 for one, two in zip(other.box, word.box, strict=True)) for other in others):
            continue
        others.append(word)
        kept.append(word)
    return kept


def _laid_down(word: Word) -> Word:
    """The word of a column, as if it were turned like a word of another script in it."""
    return word._replace(style=replace(word.style, rotation=90)) if word.style.rotation == 0 else word


def _turned_back(word: Word, rotation: int, page: Page) -> Word:
    left, top, right, bottom = word.box
    if rotation == 90:
        box, baseline = (
            Box(top, page.width - right, bottom, page.width - left),
            page.width - left - 0.2 * (right - left),
        )
    elif rotation == 270:
        box, baseline = Box(page.height - bottom, left, page.height - top, right), right - 0.2 * (right - left)
    else:
        box = Box(page.width - right, page.height - bottom, page.width - left, page.height - top)
        baseline = page.height - word.baseline
    if word.style.rotation != rotation:
        return word._replace(box=box)
    return word._replace(box=box, baseline=baseline, style=replace(word.style, rotation=0))


def _turned_lines(number: int, words: Sequence[Word]) -> list[Line]:
    """What is turned, as lines of what follows each other in one direction."""
    lines: list[list[Word]] = []
    for before, word in pairwise([None, *words]):
        assert word is not None
        near = (
            before is not None
            and before.style.rotation == word.style.rotation
            and (
                abs(before.box.middle[0] - word.box.middle[0]) + abs(before.box.middle[1] - word.box.middle[1])
                < 3 * word.style.size + max(before.box.width, before.box.height) + max(word.box.width, word.box.height)
            )
        )
        if near:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [_line(number, line) for line in lines]
