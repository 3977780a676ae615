"""What the panel of a source says about the marks on the picture of a page."""

import pytest

from app.page.page_picture import note_on_marks


@pytest.mark.parametrize(
    ("marked", "wanted", "is_cited_scan", "said"),
    [
        (2, 2, False, ""),
        (0, 0, False, ""),
        (1, 2, False, "1 of 2 cited sentences are marked; the others stand below, but were not found here."),
        (
            0,
            2,
            False,
            "Nothing is marked: the page is a scan, or its text reads differently. The cited sentences stand below.",
        ),
        (0, 2, True, "The page is a scan; the cited sentences are not marked on it."),
        (0, 0, True, "The page is a scan; the cited sentences are not marked on it."),
    ],
)
def test_a_reader_is_told_what_is_not_marked(marked: int, wanted: int, is_cited_scan: bool, said: str) -> None:
    assert note_on_marks(marked, wanted, is_cited_scan=is_cited_scan) == said
