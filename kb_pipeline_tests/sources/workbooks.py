"""Workbooks for tests: Excel's by XlsxWriter, which is no reader, OpenDocument's written by hand."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import xlsxwriter  # type: ignore[import-untyped]

from kb_pipeline_tests.sources.decks import with_parts

ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text", "meta", "style")
)


def workbook(build: Callable[[Any], None], parts: Mapping[str, bytes] | None = None) -> bytes:
    """An Excel workbook that the function fills; ``parts`` are added to the file, or replace its own."""
    saved = io.BytesIO()
    book = xlsxwriter.Workbook(saved, {"in_memory": True, "default_date_format": "yyyy-mm-dd"})
    build(book)
    book.close()
    return with_parts(saved.getvalue(), parts or {})


def table(*rows: Sequence[object], name: str = "Prices") -> bytes:
    """A workbook with one sheet of these rows; ``None`` is an empty cell."""

    def build(book: Any) -> None:
        fill(book.add_worksheet(name), *rows)

    return workbook(build)


def fill(sheet: Any, *rows: Sequence[object]) -> None:
    """Write these rows into a sheet, from A1 on."""
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            if value is not None:
                sheet.write(row, column, value)


def open_document(content: str, meta: str = "") -> bytes:
    """An OpenDocument spreadsheet with these tables."""
    saved = io.BytesIO()
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as container:
        container.writestr(zipfile.ZipInfo("mimetype"), ODS_TYPE)
        container.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
        container.writestr(
            "content.xml",
            f"<office:document-content {_NAMESPACES}><office:body><office:spreadsheet>{content}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
        container.writestr(
            "meta.xml",
            f'<office:document-meta {_NAMESPACES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>{meta}'
            "</office:meta></office:document-meta>",
        )
    return saved.getvalue()
