"""What a PDF says about itself: dates, the outline, and what PDFium opens."""

from pathlib import Path

import pytest

from kb_pipeline.sources.pdf.file import MOST_OUTLINE_ENTRIES, Outline, iso_date, opened, outline_of
from kb_pipeline_tests.sources.pdfs import reading, text_pdf, written


@pytest.mark.parametrize(
    ("said", "iso"),
    [
        ("D:20240131120507+01'00'", "2024-01-31T12:05:07+01:00"),
        ("D:20240131120507Z", "2024-01-31T12:05:07Z"),
        ("D:202401311205", "2024-01-31T12:05:00"),
        ("D:20240131", "2024-01-31"),
        ("D:2024", "2024"),
        ("20240131", "2024-01-31"),
        ("D:20241931", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates_are_as_exact_as_they_are_written(said: str, iso: str) -> None:
    assert iso_date(said) == iso


def test_the_outline_has_levels_and_pages(tmp_path: Path) -> None:
    writer = reading(text_pdf(("One",), ("Two",)))
    chapter = writer.add_outline_item("Chapter", page_number=0)
    writer.add_outline_item("Section", page_number=1, parent=chapter)
    (tmp_path / "a.pdf").write_bytes(written(writer))
    with opened(tmp_path / "a.pdf", "a.pdf") as document:
        entries, warnings = outline_of(document)
    assert [(entry.title, entry.level, entry.page) for entry in entries] == [("Chapter", 1, 1), ("Section", 2, 2)]
    assert not warnings


def with_outline(*entries: str) -> bytes:
    """A PDF of two pages, the objects 5 and 6, with an outline: object 90, whose entries are numbered from 91."""
    body = text_pdf(("One",), ("Two",)).replace(b"/Type/Catalog", b"/Outlines 90 0 R/Type/Catalog")
    items = b"".join(b"%d 0 obj<<%s>>endobj\n" % (number, entry.encode()) for number, entry in enumerate(entries, 91))
    # without a table of its objects, the reader finds them by itself
    return body[: body.index(b"xref")] + b"90 0 obj<</First 91 0 R>>endobj\n" + items + b"trailer<</Root 1 0 R>>\n%%EOF"


def outline_in(folder: Path, data: bytes) -> Outline:
    (folder / "a.pdf").write_bytes(data)
    with opened(folder / "a.pdf", "a.pdf") as document:
        return outline_of(document)


def test_an_outline_of_endless_length_is_ignored(tmp_path: Path) -> None:
    endless = (f"/Title(x)/Next {number} 0 R" for number in range(92, 92 + MOST_OUTLINE_ENTRIES + 10))
    entries, warnings = outline_in(tmp_path, with_outline(*endless))
    assert not entries
    assert warnings == ("the outline has more than 20,000 entries and was ignored",)


@pytest.mark.parametrize("way_back", ["/First 90 0 R", "/First 91 0 R", "/Next 91 0 R", "/First 92 0 R/Next 91 0 R"])
def test_an_outline_in_a_circle_is_read_once_with_a_warning(tmp_path: Path, way_back: str) -> None:
    data = with_outline("/Title(a)/Dest[5 0 R/Fit]/Next 92 0 R", f"/Title(b)/Dest[6 0 R/Fit]{way_back}")
    entries, warnings = outline_in(tmp_path, data)
    assert [(entry.title, entry.page) for entry in entries] == [("a", 1), ("b", 2)]
    assert warnings == ("the outline leads back to itself; each of its entries was read once",)


OUTSIDE = {
    "a page that is not there": "/Dest[77 0 R/Fit]",
    "a number beyond the pages": "/Dest[99/Fit]",
    "a number before the pages": "/Dest[-3/Fit]",
    "an unknown name": "/Dest(nowhere)",
    "a page of another file": "/A<</S/GoToR/F(other.pdf)/D[0/Fit]>>",
    "an address": "/A<</S/URI/URI(https://example.org/)>>",
    "nothing": "",
}


@pytest.mark.parametrize("target", OUTSIDE.values(), ids=OUTSIDE)
def test_entries_that_lead_out_of_the_document_have_no_page_and_are_counted(tmp_path: Path, target: str) -> None:
    data = with_outline(f"/Title(Out)/Next 92 0 R{target}", "/Title(In)/Dest[6 0 R/Fit]")
    entries, warnings = outline_in(tmp_path, data)
    assert [(entry.title, entry.page) for entry in entries] == [("Out", 0), ("In", 2)]
    assert warnings == ("entries of the outline that lead to no page: 1",)
