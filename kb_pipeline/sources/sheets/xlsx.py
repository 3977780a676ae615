"""What the XML of an Excel workbook (Office Open XML, ECMA-376) says of its sheets besides their values."""

import io
import mimetypes
import posixpath
import re
import zipfile
from collections.abc import Mapping
from html import escape
from typing import Any

from lxml import etree

from kb_pipeline.sources.office import InsideImages, check_xml, metafile, safe_tree
from kb_pipeline.sources.sheets.marks import NOTHING, SheetMarks, hides_values, number_format
from kb_pipeline.sources.sheets.sheet import Workbook

_WORKBOOK, _STYLES = "xl/workbook.xml", "xl/styles.xml"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_STRICT_R = "{http://purl.oclc.org/ooxml/officeDocument/relationships}"
_BUILT_IN = {1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%"}
"""Codes of number formats that files name by number alone (18.8.30); those of dates are calamine's."""
_PLACE = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6})")
_LINKS = ("https://", "http://", "mailto:")
_MOST_PICTURES = 1_000
"""Pictures of a workbook: bounds what hostile ones cost."""

Element = Any
"""An element of lxml."""


class XlsxSheets:
    """Reads the parts of a workbook."""

    def __init__(self, name: str, container: zipfile.ZipFile, workbook: Workbook) -> None:
        self._name, self._container, self._workbook = name, container, workbook
        self.images = InsideImages(name)
        self._codes = self._formats()
        targets = self._targets(_WORKBOOK)
        sheets = safe_tree(name, container.read(_WORKBOOK)).iter("{*}sheet")
        self._parts = {sheet.get("name"): targets.get(_relation(sheet, "id"), "") for sheet in sheets}

    def marks(self, sheet: str, _rows: int) -> SheetMarks:
        """What is said of a sheet."""
        part = self._parts.get(sheet, "")
        if part not in self._container.namelist():
            return NOTHING
        reading = _SheetPart(self._codes)
        reading.read(self._name, self._container.read(part))
        targets = self._targets(part)
        links: dict[int, dict[int, str]] = {}
        for (row, column), relation in reading.links.items():
            if targets.get(relation, "").startswith(_LINKS):
                links.setdefault(row, {})[column] = targets[relation]
        reading.marks.links = links
        if reading.drawing in targets:
            reading.marks.pictures = self._pictures(targets[reading.drawing])
        return reading.marks

    def _formats(self) -> list[str]:
        """The code of the number format of each style of a cell."""
        if _STYLES not in self._container.namelist():
            return []
        styles = safe_tree(self._name, self._container.read(_STYLES))
        own = {each.get("numFmtId"): each.get("formatCode", "") for each in styles.iter("{*}numFmt")}
        built_in = {str(number): code for number, code in _BUILT_IN.items()}
        known = {**built_in, **own}
        return [
            _understood(known.get(each.get("numFmtId"), ""))
            for formats in styles.iter("{*}cellXfs")
            for each in formats.iter("{*}xf")
        ]

    def _targets(self, part: str) -> Mapping[str, str]:
        """What a part refers to, by the names that it uses: other parts, or addresses."""
        folder, file = posixpath.split(part)
        relations = f"{folder}/_rels/{file}.rels"
        if relations not in self._container.namelist():
            return {}
        targets: dict[str, str] = {}
        for each in safe_tree(self._name, self._container.read(relations)).iter("{*}Relationship"):
            target = each.get("Target", "")
            if each.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            targets[each.get("Id", "")] = target
        return targets

    def _pictures(self, part: str) -> Mapping[int, list[str]]:
        """The pictures that lie on a sheet, as HTML, by the number of the row at which each begins."""
        links: dict[int, list[str]] = {}
        if part not in self._container.namelist():
            return links
        targets = self._targets(part)
        for anchor in safe_tree(self._name, self._container.read(part)):
            row = int(anchor.findtext("{*}from/{*}row") or 0) + 1
            for picture in anchor.iter("{*}pic"):
                if html := self._picture(picture, targets):
                    links.setdefault(row, []).append(html)
        return links

    def _picture(self, picture: Element, targets: Mapping[str, str]) -> str:
        about = picture.find(".//{*}cNvPr")
        alt = (about.get("descr") or "") if about is not None else ""
        for blip in picture.iter("{*}blip"):
            part = targets.get(_relation(blip, "embed"), "")
            kind = mimetypes.types_map.get(posixpath.splitext(part)[1].lower(), "image/x-emf")
            if part not in self._container.namelist() or len(self.images.files) >= _MOST_PICTURES:
                continue
            if metafile(kind) or not kind.startswith("image/"):
                self._workbook.told.append(f"a picture in a Windows format was left out ({posixpath.basename(part)})")
                continue
            file = self.images.add(self._container.read(part), kind)
            return f'<p><img src="{escape(file)}" alt="{escape(alt)}"></p>'
        return ""


class _SheetPart:
    """Reads the part of one sheet, row by row, without keeping it in memory."""

    def __init__(self, codes: list[str]) -> None:
        self._codes = codes
        self._hidden_rows: set[int] = set()
        self._hidden_columns: list[tuple[int, int]] = []
        self._formats: dict[tuple[int, int], str] = {}
        self.links: dict[tuple[int, int], str] = {}
        self.drawing = ""
        self.marks = SheetMarks(self._hidden_rows, self._hidden_columns, self._formats)

    def read(self, name: str, xml: bytes) -> None:
        check_xml(name, xml)
        tags = ("{*}row", "{*}col", "{*}hyperlink", "{*}drawing")
        row = -1
        for _, element in etree.iterparse(
            io.BytesIO(xml), tag=tags, resolve_entities=False, no_network=True, huge_tree=False
        ):
            match etree.QName(element).localname:
                case "row":
                    row = int(element.get("r") or row + 2) - 1
                    self._row(row, element)
                case "col":
                    if _is_set(element.get("hidden")) or element.get("width") == "0":
                        self._hidden_columns.append((int(element.get("min")) - 1, int(element.get("max")) - 1))
                case "hyperlink":
                    if place := _place(element.get("ref", "").partition(":")[0]):
                        self.links[place] = _relation(element, "id")
                case "drawing":
                    self.drawing = _relation(element, "id")
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]

    def _row(self, row: int, element: Element) -> None:
        if _is_set(element.get("hidden")) or element.get("ht") == "0":
            self._hidden_rows.add(row)
        column = -1
        for cell in element:
            place = _place(cell.get("r", "")) or (row, column + 1)
            column = place[1]
            code = self._code(cell.get("s"))
            if code:
                self._formats[place] = code
            formula, value = cell.find("{*}f"), cell.find("{*}v")
            if formula is not None and (value is None or value.text is None) and cell.get("t") != "str":
                self.marks.without_value += 1

    def _code(self, style: str | None) -> str:
        number = int(style or 0)
        return self._codes[number] if number < len(self._codes) else ""


def _place(reference: str) -> tuple[int, int] | None:
    """Row and column of ``B7``, counted from 0."""
    match = _PLACE.fullmatch(reference)
    if not match:
        return None
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(match[2]) - 1, column - 1


def _understood(code: str) -> str:
    """The code of a format, if it changes what calamine says."""
    return code if hides_values(code) or number_format(code) else ""


def _relation(element: Element, name: str) -> str:
    return element.get(_R + name) or element.get(_STRICT_R + name) or ""


def _is_set(flag: str | None) -> bool:
    return flag in ("1", "true", "on")
