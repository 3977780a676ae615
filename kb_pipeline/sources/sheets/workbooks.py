"""Opens workbooks: calamine reads their values, their XML says what of them readers see and how it is shown."""

import io
import zipfile
from collections.abc import Callable, Iterator

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources.containers import check_container
from kb_pipeline.sources.first_bytes import kind_of
from kb_pipeline.sources.office import DAMAGED, title_and_facts
from kb_pipeline.sources.sheets.marks import NOTHING, SheetMarks
from kb_pipeline.sources.sheets.ods import OdsSheets
from kb_pipeline.sources.sheets.sheet import Row, Sheet, Value, Workbook
from kb_pipeline.sources.sheets.xlsx import XlsxSheets

_XLSX_PART, _ODS_PART = "xl/workbook.xml", "content.xml"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLD = "hidden rows and columns of this old format are not known, and are read: save it as .xlsx if it has some"
_MarksOf = Callable[[str, int], SheetMarks]
"""Returns what the XML says of a sheet with this name, of which calamine knows so many rows."""


def open_workbook(name: str, data: bytes) -> Workbook:
    """Open a workbook. Its sheets are read while they are asked for.

    Raises:
        UnreadableArticleError: it is none, is damaged or encrypted; its sheets may raise it, too.
    """
    ending = name[name.rfind(".") :].lower()
    try:
        if ending == ".ods":
            return _ods(name, data)
        return _xls(name, data) if ending == ".xls" else _xlsx(name, data)
    except (*DAMAGED, CalamineError) as exc:
        raise _damaged(name, exc) from exc


def _xlsx(name: str, data: bytes) -> Workbook:
    check_container(name, data, _XLSX_PART, with_macros=name.lower().endswith(".xlsm"))
    container = zipfile.ZipFile(io.BytesIO(data))
    workbook = Workbook(iter(()))
    workbook.title, workbook.facts = title_and_facts(container)
    sheets = XlsxSheets(name, container, workbook)
    workbook.images = sheets.images.files
    workbook.sheets = _sheets(name, data, workbook, sheets.marks)
    return workbook


def _ods(name: str, data: bytes) -> Workbook:
    check_container(name, data, _ODS_PART)
    sheets = OdsSheets(name, zipfile.ZipFile(io.BytesIO(data)))
    workbook = Workbook(iter(()), sheets.title, sheets.facts)
    workbook.sheets = _sheets(name, data, workbook, sheets.marks)
    return workbook


def _xls(name: str, data: bytes) -> Workbook:
    if not data.startswith(_OLE):
        kind = kind_of(data)
        told = f"is {kind} under another name" if kind else "is no Excel workbook"
        raise UnreadableArticleError(f"{name} {told}; save it as .xlsx")
    workbook = Workbook(iter(()), told=[_OLD])
    workbook.sheets = _sheets(name, data, workbook, lambda sheet, rows: NOTHING)
    return workbook


def _sheets(name: str, data: bytes, workbook: Workbook, marks_of: _MarksOf) -> Iterator[Sheet]:
    try:
        opened = CalamineWorkbook.from_filelike(io.BytesIO(data))
    except PasswordError as exc:
        raise UnreadableArticleError(f"{name} is encrypted; save it without a password") from exc
    except (CalamineError, *DAMAGED) as exc:
        raise _damaged(name, exc) from exc
    for each in opened.sheets_metadata:
        if each.typ != SheetTypeEnum.WorkSheet:
            continue
        if each.visible != SheetVisibleEnum.Visible:
            workbook.hidden_sheets += 1
            continue
        try:
            values = opened.get_sheet_by_name(each.name)
            marks = marks_of(each.name, values.total_height)
        except (CalamineError, *DAMAGED) as exc:
            raise _damaged(name, exc) from exc
        yield Sheet(each.name, _rows(values, marks, workbook), marks.pictures)


def _rows(sheet: CalamineSheet, marks: SheetMarks, workbook: Workbook) -> Iterator[Row]:
    """The rows that are seen and have a value."""
    merged = _Merged(sheet)
    workbook.without_value += marks.without_value
    hidden_columns: set[int] = set()
    _, first_column = sheet.start or (0, 0)  # rows are given from the first one on, columns from the first with a value
    blank = False
    for at, values in enumerate(sheet.iter_rows()):
        by_column = {column: value for column, value in enumerate(values, first_column) if value != ""}
        if by_column and marks.hides_row(at):
            workbook.hidden_rows += 1
            continue
        hidden_columns |= (hidden := set(filter(marks.hides_column, by_column)))
        cells, shown = {}, {}
        for column, value in by_column.items():
            if column in hidden:
                continue
            text = marks.text_of(at, column, value)
            workbook.hidden_cells += text is None
            if text:
                cells[column], shown[column] = text, value
        if cells:
            merged.repeat(at, cells, shown)
            yield Row(at + 1, cells, shown, merged.spans.get(at, {}), marks.links.get(at, {}), blank)
        blank = not cells
    workbook.hidden_columns += len(hidden_columns)


class _Merged:
    """The merged cells of a sheet. What one says of several rows is said in each, as each has to make sense by itself.

    Only formats of Excel tell them; LibreOffice's leaves the covered cells empty.
    """

    def __init__(self, sheet: CalamineSheet) -> None:
        self.spans: dict[int, dict[int, int]] = {}
        self._down: dict[int, dict[int, int]] = {}
        self._open: dict[int, tuple[int, str, Value]] = {}
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
            if right > left:
                self.spans.setdefault(top, {})[left] = right - left + 1
            if bottom > top:
                self._down.setdefault(top, {})[left] = bottom

    def repeat(self, at: int, cells: dict[int, str], values: dict[int, Value]) -> None:
        """Add to a row what merged cells above it say of it as well."""
        self._open = {column: open_ for column, open_ in self._open.items() if open_[0] >= at}
        for column, (_, text, value) in self._open.items():
            cells.setdefault(column, text)
            values.setdefault(column, value)
        for column, bottom in self._down.get(at, {}).items():
            if column in cells:
                self._open[column] = bottom, cells[column], values[column]


def _damaged(name: str, error: Exception) -> UnreadableArticleError:
    reason = " ".join(str(error).split())[:200]
    return UnreadableArticleError(
        f"{name} is damaged ({type(error).__name__}: {reason}); open it in a spreadsheet program and save it again"
    )
