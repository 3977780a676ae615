"""Tables of contents, lists of figures, and indexes, whose lines lead to pages: an article has its own headings."""

import re
from collections.abc import Sequence

from kb_pipeline.steps.pdf.lines import Row
from kb_pipeline.steps.pdf.outline import squash
from kb_pipeline.steps.pdf.sheets import PageSheet

_DOTS = ".·…•"
# the pattern begins with a sign, and not with a repetition, so that most lines are passed over at once
_LEADERS = re.compile(r"[.·…•]\s?(?:[.·…•]\s?){3,}\s*(?:[A-Za-z]{0,2}[-.]?\d{1,4}|[ivxlc]{1,8})?\W*$")
_PAGE_AT_END = re.compile(r"(?:^|[\s.])(?:[A-Z]{1,2}-?)?(?:\d{1,4}|[ivxlc]{1,7})$")
_INDEX_ENTRY = re.compile(r"(?:,\s*|\s)(?:\d{1,4}|[ivxlc]{1,7})(?:[ff,–\s-]+\d{1,4})*,?$")
_TITLE = re.compile(
    r"(?:short |detailed )?(?:table of )?contents|list of (?:figures|tables|examples)|(?:concept|function|"
    r"variable|vector|general|keyword)?\s*(?:and \w+ )*index|inhaltsverzeichnis|table des matières|indice|índice|"
    r"目次|目录|содержание|"
    r"inhalt|sommaire|spis treści|inhoudsopgave|sumário|obsah|innehåll|indhold|innhold|目錄|차례|оглавление",
    re.I,
)
_PAGES = re.compile(r"(?:,?\s*[.·…•]*\s*\b(?:[A-Z]{0,2}-?\d{1,4}|[ivxlc]{1,7}))(?:[ff,–\s-]+\d{1,4})*\W*$|[.·…•\s]+$")
_NUMBERING = re.compile(r"^\W*(?:\w{1,3}\.)*\w?[\d.]*\W*\s")
_FROM_LETTER_TO_LETTER = re.compile(r"[^\W\d](?:.*[^\W\d])?", re.S)
_FEWEST = 3
"""Lines that lead to pages; one or two are a reference in the text."""
_OF_PAGE = 0.6
"""Share of a page's lines that lead to pages, where neither leaders nor a title say that they are contents."""
_OF_RUN, _OF_RUN_WITHOUT_LEADERS = 0.4, 0.55
"""The same from the first to the last such line: titles of two lines, and heads of parts, stand between them."""


def contents_rows(sheet: PageSheet, after_contents: bool) -> list[Row]:
    """The rows of a page that belong to contents; ``after_contents`` says that the page before ended with such.

    They are lines that end with a page's number behind leaders or at the right margin, with their titles and what
    stands between.
    """
    rows = sheet.rows
    if not rows:
        return []
    margin = max(row[-1].right for row in rows)
    texts = [_text(row) for row in rows]
    has_leaders = [_has_leaders(text) for text in texts]
    leads = [
        text[-1].isalnum() if leaders else _has_page_at_margin(row, margin)
        for row, text, leaders in zip(rows, texts, has_leaders, strict=True)
    ]
    count = sum(leads)
    titled = [_is_title(text) for text in texts]
    if count == len(rows) == 1 and after_contents:
        return list(rows)
    if count < _FEWEST and not (count and (after_contents or any(titled))):
        return []
    with_leaders = sum(has_leaders)
    if not with_leaders and count < _OF_PAGE * len(rows) and not (after_contents or any(titled)):
        return []
    first = next(index for index, lead in enumerate(leads) if lead)
    last = len(leads) - 1 - leads[::-1].index(True)
    run = last - first + 1
    if count < _OF_RUN * run or (not with_leaders and count < _OF_RUN_WITHOUT_LEADERS * run):
        return []
    # the title above, what goes on from the page before, and single letters of an index belong to them
    while first and (titled[first - 1] or (after_contents and first <= 2) or len(texts[first - 1]) < 3):
        first -= 1
    if with_leaders < _FEWEST and not after_contents and not any(titled):
        return []
    return rows[first : last + 1]


def index_rows(sheet: PageSheet, after_index: bool) -> list[Row]:
    """All rows of a page of an index in columns: most of its lines end with numbers of pages."""
    pieces = [piece for row in sheet.rows for piece in row]
    if len(pieces) < 12 and not (after_index and len(pieces) > 3):
        return []
    entries = sum(bool(_INDEX_ENTRY.search(piece.text)) for piece in pieces)
    titled = any(_is_title(_text(row)) for row in sheet.rows[:3])
    narrow = sum(piece.box.width < 0.45 * sheet.width for piece in pieces) >= 0.9 * len(pieces)
    needed = 0.4 if titled or after_index else 0.7
    return list(sheet.rows) if narrow and entries >= needed * len(pieces) and (titled or after_index) else []


def _has_leaders(text: str) -> bool:
    # most lines have too few dots for a closer look
    return sum(map(text.count, _DOTS)) > 3 and bool(_LEADERS.search(text))


def _text(row: Row) -> str:
    return " ".join(piece.text for piece in row)


def _is_title(text: str) -> bool:
    """Whether it is the title of contents, whatever numbers and signs stand before and after it."""
    letters = _FROM_LETTER_TO_LETTER.search(text)
    return bool(letters and _TITLE.fullmatch(letters.group()))


def _has_page_at_margin(row: Row, margin: float) -> bool:
    last = row[-1]
    return (
        len(row) > 1
        and last.right > margin - 3
        and len(last.words) == 1
        and bool(_PAGE_AT_END.fullmatch(last.text))
        and last.left - row[-2].right > 1.5 * last.size
    )


def leave_out_contents(sheets: Sequence[PageSheet]) -> list[int]:
    """Take contents and indexes from the pages; returns the numbers of the pages that had some.

    What they name must stand elsewhere in the document: a list of prices has numbers behind leaders as well.
    """
    runs: list[list[tuple[PageSheet, list[Row]]]] = []
    after_contents = after_index = False
    for sheet in sheets:
        rows = contents_rows(sheet, after_contents)
        after_contents = bool(rows) and rows[-1] is sheet.rows[-1]
        if not rows:
            rows = index_rows(sheet, after_index)
            after_index = bool(rows)
        if rows:
            if not runs or runs[-1][-1][0].number < sheet.number - 1:
                runs.append([])
            runs[-1].append((sheet, rows))
    if not runs:
        return []
    named = {id(row) for run in runs for _, rows in run for row in rows if not _is_title(_text(row))}
    text = "\n".join(squash(_text(row)) for sheet in sheets for row in sheet.rows if id(row) not in named)
    pages_of_contents = [
        page for run in runs if _stands_in(text, [row for _, rows in run for row in rows]) for page in run
    ]
    for sheet, rows in pages_of_contents:
        sheet.leave_out(rows)
    return [sheet.number for sheet, _ in pages_of_contents]


def _stands_in(text: str, rows: Sequence[Row]) -> bool:
    """Whether half of what the rows name stands in the text of the document."""
    names = {name for row in rows for piece in row if len(name := squash(_name(piece.text))) > 2}
    return sum(name in text for name in names) >= 0.5 * len(names)


def _name(text: str) -> str:
    """What an entry names, without its number, leaders and pages."""
    return _NUMBERING.sub("", _PAGES.sub("", text))
