"""What a PDF says about itself: dates, the outline, and what PDFium opens."""

from pathlib import Path

import pytest

from kb_pipeline.sources.pdf_file import MOST_OUTLINE_ENTRIES, iso_date, opened, outline_of
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


def test_an_outline_of_endless_length_is_ignored(tmp_path: Path) -> None:
    body = text_pdf(("One",)).replace(b"/Type/Catalog", b"/Outlines 900000 0 R/Type/Catalog")
    first = 900_001
    items = [b"900000 0 obj<</First %d 0 R/Last %d 0 R>>endobj\n" % (first, first)]
    items += (
        b"%d 0 obj<</Title(x)/Parent 900000 0 R/Next %d 0 R>>endobj\n" % (number, number + 1)
        for number in range(first, first + MOST_OUTLINE_ENTRIES + 10)
    )
    start = body.index(b"xref")
    # without a table of its objects, the reader finds them by itself
    (tmp_path / "a.pdf").write_bytes(body[:start] + b"".join(items) + b"trailer<</Root 1 0 R>>\n%%EOF")
    with opened(tmp_path / "a.pdf", "a.pdf") as document:
        entries, warnings = outline_of(document)
    assert not entries
    assert warnings == ("the outline has more than 20,000 entries and was ignored",)


def test_an_outline_in_a_circle_ends(tmp_path: Path) -> None:
    body = text_pdf(("One",)).replace(b"/Type/Catalog", b"/Outlines 90 0 R/Type/Catalog")
    items = b"90 0 obj<</First 91 0 R>>endobj\n91 0 obj<</Title(a)/Parent 90 0 R/Next 91 0 R/First 90 0 R>>endobj\n"
    start = body.index(b"xref")
    (tmp_path / "a.pdf").write_bytes(body[:start] + items + b"trailer<</Root 1 0 R>>\n%%EOF")
    with opened(tmp_path / "a.pdf", "a.pdf") as document:
        entries, _ = outline_of(document)
    assert [entry.title for entry in entries] == ["a"]
