"""What the XML of an OpenDocument spreadsheet (ODF 1.3) says of its sheets besides their values."""

import io
import zipfile
from typing import Any

from lxml import etree

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.sources.office import check_xml, safe_tree
from kb_pipeline.sources.sheets.marks import NOTHING, SheetMarks

_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_AS_SHOWN = ("percentage", "currency")
"""Types of which the text that is shown says more than the value."""
_LONGEST = 300
"""Characters of a title or an author that the file claims."""

Element = Any
"""An element of lxml."""


class OdsSheets:
    """Reads the parts of a spreadsheet."""

    def __init__(self, name: str, container: zipfile.ZipFile) -> None:
        if "META-INF/manifest.xml" in container.namelist():
            manifest = safe_tree(name, container.read("META-INF/manifest.xml"))
            if next(manifest.iter("{*}encryption-data"), None) is not None:
                raise UnreadableArticleError(f"{name} is encrypted; save it without a password")
        xml = container.read("content.xml")
        check_xml(name, xml)
        self._tables: dict[str, _Table] = {}
        for _, element in etree.iterparse(
            io.BytesIO(xml), tag=f"{_TABLE}table", resolve_entities=False, no_network=True, huge_tree=False
        ):
            self._tables[element.get(f"{_TABLE}name", "")] = _Table(element)
            element.clear()
        self.title, self.facts = "", None
        if "meta.xml" in container.namelist():
            meta = safe_tree(name, container.read("meta.xml"))
            self.title = _said(meta, f"{_DC}title")
            facts = DocumentFacts(
                author=_said(meta, f"{_META}initial-creator") or _said(meta, f"{_DC}creator"),
                created=_said(meta, f"{_META}creation-date"),
                changed=_said(meta, f"{_DC}date"),
                producer=_said(meta, f"{_META}generator"),
            )
            self.facts = None if facts == DocumentFacts() else facts

    def marks(self, sheet: str, rows: int) -> SheetMarks:
        """What is said of a sheet with so many rows."""
        table = self._tables.get(sheet)
        return table.marks(rows) if table else NOTHING


class _Table:
    """What is said of one table: runs of rows, which stand once however often they are repeated."""

    def __init__(self, table: Element) -> None:
        self._hidden_columns = _hidden_columns(table)
        self._hidden_rows: list[range] = []
        self._texts: dict[tuple[int, int], str] = {}
        row = 0
        for element in table.iter(f"{_TABLE}table-row"):
            times = _times(element, "number-rows-repeated")
            if _is_hidden(element):
                self._hidden_rows.append(range(row, row + times))
            elif times == 1:
                self._read(row, element)
            row += times

    def marks(self, rows: int) -> SheetMarks:
        hidden = {row for run in self._hidden_rows for row in range(run.start, min(run.stop, rows))}
        return SheetMarks(hidden, self._hidden_columns, texts=self._texts)

    def _read(self, row: int, element: Element) -> None:
        column = 0
        for cell in element.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            times = _times(cell, "number-columns-repeated")
            if times == 1 and cell.get(f"{_OFFICE}value-type") in _AS_SHOWN:
                text = " ".join("".join(map(str, part.itertext())) for part in cell.iterchildren(f"{_TEXT}p"))
                self._texts[row, column] = " ".join(text.split())
            column += times


def _hidden_columns(table: Element) -> list[tuple[int, int]]:
    hidden: list[tuple[int, int]] = []
    column = 0
    for element in table.iter(f"{_TABLE}table-column"):
        times = _times(element, "number-columns-repeated")
        if _is_hidden(element):
            hidden.append((column, column + times - 1))
        column += times
    return hidden


def _is_hidden(element: Element) -> bool:
    """Whether a row or column is hidden, or filtered out."""
    return element.get(f"{_TABLE}visibility") in ("collapse", "filter")


def _times(element: Element, attribute: str) -> int:
    stated = element.get(f"{_TABLE}{attribute}", "1")
    return int(stated) if stated.isdecimal() else 1


def _said(properties: Element, name: str) -> str:
    return " ".join((next(properties.iter(name), properties).text or "").split())[:_LONGEST]
