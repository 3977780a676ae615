"""What only the whole document tells: sizes and margins, fonts of fixed pitch, known words, furniture, headings."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from kb_pipeline.steps.pdf.contents_pages import leave_out_contents
from kb_pipeline.steps.pdf.furniture import continuations, furniture, plain
from kb_pipeline.steps.pdf.inline import words_of
from kb_pipeline.steps.pdf.lines import Line
from kb_pipeline.steps.pdf.model import Page, PdfOutlineEntry, Word
from kb_pipeline.steps.pdf.outline import Heading, by_fonts, find_titles, squash
from kb_pipeline.steps.pdf.paragraphs import Measures, has_room
from kb_pipeline.steps.pdf.sheets import PageSheet, sheet_of

_FEWEST_ENTRIES = 3
"""Entries of an outline that was found on the pages; fewer tell nothing of what headings look like."""
_MOST_FURNITURE = 0.8
"""Share of a document's rows that may be running heads and feet."""
_SAMPLE = 60
"""Words of a font by which its pitch is told."""


@dataclass(slots=True)
class Study:
    """A document taken apart to rows, and what is known of it.

    ``headings`` has the heading of each piece by the piece's identity, ``missing`` the entries of the outline that no
    page shows, ``contents`` the pages with tables of contents or indexes, which are left out.
    """

    sheets: dict[int, PageSheet]
    measures: Measures
    fixed_fonts: set[str]
    words: set[str]
    headings: dict[int, Heading]
    missing: list[PdfOutlineEntry]
    contents: list[int]
    lefts: dict[int, float] = field(default_factory=dict)
    rights: dict[int, float] = field(default_factory=dict)

    def is_fixed(self, word: Word) -> bool:
        """Whether the word is set in a font of fixed pitch."""
        return word.style.fixed_pitch or word.style.font in self.fixed_fonts

    def left_out(self, page: int) -> str:
        """The text of a page that was left out on purpose."""
        return "\n".join(self.sheets[page].left_out)


def study(pages: Iterable[Page], outline: Sequence[PdfOutlineEntry] = ()) -> Study:
    """Read all pages of a document, one by one, before any is laid out."""
    fonts: dict[str, list[tuple[str, float]]] = defaultdict(list)
    named: set[str] = set()
    words: set[str] = set()
    sheets: list[PageSheet] = []
    for page in pages:
        sheets.append(sheet_of(page))
        for word in page.words:
            style = word.style
            if style.fixed_pitch:
                named.add(style.font)
            elif len(word.text) > 2 and len(sample := fonts[style.font]) < _SAMPLE:
                sample.append((word.text, word.box.width / (len(word.text) * style.size or 1)))
        words |= words_of(page.text)
    fixed_fonts = named | {font for font, sample in fonts.items() if _is_fixed(sample)}
    for sheet in sheets:
        for row in sheet.rows:
            for piece in row:
                piece.fixed = _fixed_share(piece.words, fixed_fonts) > 0.85
    titles = {name for entry in outline if (name := plain(entry.title))}
    rows_of_furniture = furniture(sheets, titles, _body_size(sheets))
    if sum(map(len, rows_of_furniture.values())) > _MOST_FURNITURE * sum(len(sheet.rows) for sheet in sheets):
        rows_of_furniture = {}  # short pages that are alike: nothing would be left of them
    for sheet in sheets:
        if rows := rows_of_furniture.get(sheet.number):
            sheet.leave_out(rows)
        sheet.leave_out(continuations(sheet))
    contents = leave_out_contents(sheets)
    measures = Measures(_body_size(sheets), _leading(sheets))
    result = Study(
        {sheet.number: sheet for sheet in sheets}, measures, fixed_fonts, words, {}, [], contents, *_margins(sheets)
    )
    _set_headings(result, sheets, outline)
    return result


def _set_headings(result: Study, sheets: Sequence[PageSheet], outline: Sequence[PdfOutlineEntry]) -> None:
    headings, missing, counters = find_titles(sheets, outline)
    result.missing.extend(entry for entry in missing if entry.page not in result.contents)
    for sheet in sheets:
        sheet.leave_out([row for row in counters if any(row is other for other in sheet.rows)])
    body_size, leading = result.measures.body_size, result.measures.leading
    if len(headings) < _FEWEST_ENTRIES or len(headings) < 0.5 * len(outline):
        piece_ids = {id(piece) for heading in headings for piece in heading.pieces}
        headings.extend(
            heading
            for heading in by_fonts(sheets, body_size, leading)
            if not any(id(piece) in piece_ids for piece in heading.pieces)
        )
    else:
        _add_title(sheets, headings, body_size)
    for heading in headings:
        for piece in heading.pieces:
            result.headings[id(piece)] = heading


def _add_title(sheets: Sequence[PageSheet], headings: list[Heading], body_size: float) -> None:
    """Make the largest lines of the first page its title, above the headings of the outline."""
    if not sheets or not sheets[0].rows:
        return
    rows = sheets[0].rows
    largest = max(piece.size for row in rows for piece in row)
    pieces = [piece for row in rows for piece in row if piece.size > 0.97 * largest]
    piece_ids = {id(piece) for heading in headings for piece in heading.pieces}
    text = squash(" ".join(piece.text for piece in pieces))
    if largest < 1.3 * body_size or any(id(piece) in piece_ids for piece in pieces) or not 2 < len(text) < 160:
        return
    for heading in headings:
        heading.level += 1
    headings.append(Heading(sheets[0].number, 1, pieces))


def _is_fixed(sample: Sequence[tuple[str, float]]) -> bool:
    """Whether all letters have one width, as far as the words tell, which must have narrow and wide letters."""
    letters = {letter for text, _ in sample for letter in text}
    if len(sample) < 8 or sum(letter.isalpha() for letter in letters) < 10:
        return False
    widths = sorted(width for _, width in sample)
    various = letters & set("iljft.,'") and letters & set("mwMW@")
    return bool(various) and widths[-1] - widths[0] < 0.02 * widths[-1]


def _fixed_share(words: Sequence[Word], fixed_fonts: set[str]) -> float:
    letters = fixed = 0
    for word in words:
        letters += len(word.text)
        if word.style.fixed_pitch or word.style.font in fixed_fonts:
            fixed += len(word.text)
    return fixed / max(letters, 1)


def _body_size(sheets: Sequence[PageSheet]) -> float:
    sizes: Counter[float] = Counter()
    for sheet in sheets:
        for row in sheet.rows:
            for piece in row:
                if not piece.fixed:
                    sizes[round(piece.size, 1)] += sum(len(word.text) for word in piece.words)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _leading(sheets: Sequence[PageSheet]) -> float:
    """The usual distance of lines of a paragraph, in heights of the font."""
    distances: Counter[float] = Counter()
    for sheet in sheets:
        before: Line | None = None
        right = max((row[-1].right for row in sheet.rows), default=0.0)
        for row in sheet.rows:
            line = row[0]
            same = before is not None and before.size == line.size and abs(before.left - line.left) < 1
            if before is not None and same and len(row) == 1 and not has_room(before, line, right):
                ratio = (line.baseline - before.baseline) / max(line.size, 1)
                if 0.9 < ratio < 2.6:
                    distances[round(ratio, 1)] += 1
            before = line
    if not distances:
        return 1.2
    most = distances.most_common(1)[0][1]
    if most < 5:
        return min(min(distances), 1.5)
    return min(ratio for ratio, count in distances.items() if count > 0.5 * most)


def _margins(sheets: Sequence[PageSheet]) -> tuple[dict[int, float], dict[int, float]]:
    """Where the text begins and ends on each page: left and right pages may differ."""
    lefts: dict[int, float] = {}
    rights: dict[int, float] = {}
    for sides in ((0,), (1,), (0, 1)):
        group = [sheet for sheet in sheets if sheet.number % 2 in sides and sheet.rows]
        begins = Counter(round(row[0].left) for sheet in group for row in sheet.rows)
        ends = [max(row[-1].right for row in sheet.rows) for sheet in group]
        if not begins:
            continue
        often = 0.25 * begins.most_common(1)[0][1]
        left = min(place for place, count in begins.items() if count >= often)
        for sheet in group:
            lefts.setdefault(sheet.number, left)
            rights.setdefault(sheet.number, min(median(ends), sheet.width))
    return lefts, rights
