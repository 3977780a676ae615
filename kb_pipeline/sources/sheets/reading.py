"""Reads a spreadsheet into HTML: opens the file, and writes the sheets that readers see."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import chain, islice

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import PageInfo
from kb_pipeline.sources.base import SourceDocument, page_element
from kb_pipeline.sources.sheets.delimited import read_delimited
from kb_pipeline.sources.sheets.sheet import Row, Sheet
from kb_pipeline.sources.sheets.tables import SheetWriter
from kb_pipeline.sources.sheets.workbooks import open_workbook
from kb_pipeline.steps.html.decode import clean

PAGE_ROWS = 500
"""Rows that count as a page, for what cites pages: some screens of a table."""
_MOST_CELLS = 1_000_000
"""Cells with a value; what is larger is a database. So many take half a minute to read and two to convert."""
_LONGEST_NAME = 22
"""Characters of a sheet's name in the label of a page, which has 40."""
_DELIMITED = (".csv", ".tsv")


def read(name: str, data: bytes, most_pages: int) -> SourceDocument:
    """Read a spreadsheet; without pages, nothing is in it.

    Raises:
        UnreadableArticleError: it is no spreadsheet, is damaged, encrypted or too large.
    """
    is_text = name.lower().endswith(_DELIMITED)
    workbook = read_delimited(name, data) if is_text else open_workbook(name, data)
    writer = _Writer(name, most_pages)
    body = "".join(writer.sheet(sheet) for sheet in workbook.sheets)
    title = workbook.title or name.rpartition(".")[0] or name
    return SourceDocument(
        f"<html><head><title>{escape(title)}</title></head><body>{clean(body)}</body></html>",
        title=title,
        images=workbook.images,
        warnings=tuple(workbook.warnings()),
        pages=tuple(writer.pages),
        facts=workbook.facts,
        control=writer.control,
    )


class _Writer:
    """Writes sheets as sections, and counts their pages."""

    def __init__(self, name: str, most_pages: int) -> None:
        self._name, self._most_pages = name, most_pages
        self._cells = 0
        self.pages: list[PageInfo] = []
        self.control: dict[int, str] = {}

    def sheet(self, sheet: Sheet) -> str:
        tables, pages = SheetWriter(), _pages(sheet.rows)
        begun = list(islice(pages, 2))
        pictures = sorted(sheet.pictures.items())
        parts = [self._page(sheet.name, "") + _heading(sheet.name)] if pictures and not begun else []
        for rows in chain(begun, pages):
            told = _told(rows)
            # answers show whole sections, and a sheet may have thousands of passages
            heading = (
                _heading(f"{sheet.name}, {told}" if sheet.name else told) if len(begun) > 1 else _heading(sheet.name)
            )
            parts.append(self._page(_label(sheet.name, told), self._words(rows)) + heading)
            end = _page_of(rows[0]) * PAGE_ROWS + PAGE_ROWS
            beside = [html for row, group in pictures if row <= end for html in group]
            pictures = [(row, group) for row, group in pictures if row > end]
            parts.append(tables.write(rows) + "".join(beside))
        return "".join([*parts, *(html for _, group in pictures for html in group)])

    def _page(self, label: str, words: str) -> str:
        """Begin a page with this control text."""
        number = len(self.pages) + 1
        if number > self._most_pages:
            raise UnreadableArticleError(
                f"{self._name} has more than {self._most_pages:,} pages of {PAGE_ROWS} rows; split it, or raise "
                "KB_DOCUMENT_PAGES"
            )
        self.control[number] = words
        self.pages.append(PageInfo(number=number, label=label, words=len(words.split())))
        return page_element(number, label)

    def _words(self, rows: Sequence[Row]) -> str:
        texts = [text for row in rows for text in row.cells.values()]
        self._cells += len(texts)
        if self._cells > _MOST_CELLS:
            raise UnreadableArticleError(
                f"{self._name} has more than {_MOST_CELLS:,} cells with a value; put what readers ask for into a "
                "smaller one"
            )
        return "\n".join(texts)


def _pages(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """The rows with a value, in pages that begin at row 1, 501 and so on."""
    page: list[Row] = []
    for row in rows:
        if page and _page_of(row) != _page_of(page[0]):
            yield page
            page = []
        page.append(row)
    if page:
        yield page


def _page_of(row: Row) -> int:
    """The page of its sheet on which a row stands, counted from 0."""
    return (row.number - 1) // PAGE_ROWS


def _told(rows: Sequence[Row]) -> str:
    first, last = rows[0].number, rows[-1].number
    return f"rows {first}-{last}" if last > first else f"row {first}"


def _label(name: str, told: str) -> str:
    """What a page of a sheet is called."""
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1].rstrip()}…"
    return f"{short}, {told}" if name else told


def _heading(text: str) -> str:
    return f"<h1>{escape(text)}</h1>" if text else ""
