"""Pictures of pages, with marks where the sentences stand."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from app.library.originals.drawing import draw_page
from app.library.originals.marking import Quote
from app.library.originals.page import LONGEST_SIDE, PageMissingError, PageUnreadableError
from kb_pipeline.records import PageLine
from kb_pipeline_tests.app.library.originals.pdfs import SIZE, pdf_of
from kb_pipeline_tests.sources.pdfs import changed

LINES = ("Open the rear tray and pull the", "paper out slowly. Close the tray.")


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "printer.pdf"
    file.write_bytes(pdf_of(["Printing"], LINES))
    return str(file)


def pixels(png: bytes) -> Image.Image:
    return Image.open(BytesIO(png)).convert("RGB")


def test_a_page_is_drawn_in_the_width_that_was_asked_for(path: str) -> None:
    drawn = draw_page(path, 1, 800, ())

    assert (drawn.width, drawn.height) == (800, 600) == pixels(drawn.png).size
    assert (drawn.found, drawn.boxes) == ((), ())
    assert pixels(drawn.png).getpixel((2, 2)) == (255, 255, 255)


def test_a_sentence_is_marked_line_by_line_where_it_stands(path: str) -> None:
    drawn = draw_page(path, 2, 400, [Quote("Open the rear tray and pull the paper out slowly.")])

    assert drawn.found == (True,)
    first, second = drawn.boxes
    assert first[0] < 41 < 180 < first[2] and first[1] < 250 < first[3] < 262
    assert second[0] < 41 and second[1] < 230 < second[3] < 242
    tinted = _tinted(pixels(drawn.png))
    assert {y < SIZE[1] - 245 for _, y in tinted} == {True, False}, "on both lines"
    for x, y in tinted:
        left, bottom, right, top = first if y < SIZE[1] - 245 else second
        assert left - 1 <= x <= right + 1 and bottom - 1 <= SIZE[1] - y <= top + 1


def test_of_a_sentence_that_is_not_there_nothing_is_marked(path: str) -> None:
    drawn = draw_page(path, 1, 400, [Quote("Open the rear tray and pull the paper out slowly.")])

    assert (drawn.found, drawn.boxes) == ((False,), ())
    assert drawn.png == draw_page(path, 1, 400, ()).png


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_marks_turn_with_the_page(tmp_path: Path, rotate: int) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_of(LINES, rotate=rotate))
    drawn = draw_page(str(tmp_path / "a.pdf"), 1, 400, [Quote("Close the tray.")])

    tinted = _tinted(pixels(drawn.png))
    wide = max(x for x, _ in tinted) - min(x for x, _ in tinted)
    high = max(y for _, y in tinted) - min(y for _, y in tinted)
    assert (wide > high) == (rotate == 180)


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_on_a_scan_a_sentence_is_marked_where_ocr_read_it(tmp_path: Path, rotate: int) -> None:
    (tmp_path / "scan.pdf").write_bytes(pdf_of([], rotate=rotate))
    lines = [
        PageLine(top=20, bottom=30, words=(("Paper", 10, 40), ("jam.", 45, 60), ("Open", 70, 90), ("the", 95, 110))),
        PageLine(top=40, bottom=50, words=(("rear", 10, 30), ("tray.", 35, 60), ("Close", 70, 100), ("it.", 105, 120))),
    ]
    width = SIZE[0] if rotate in (0, 180) else SIZE[1]

    drawn = draw_page(str(tmp_path / "scan.pdf"), 1, width, [Quote("Open the rear tray."), Quote("Pay")], lines)

    assert drawn.found == (True, False)
    assert len(drawn.boxes) == 2
    tinted = _tinted(pixels(drawn.png))
    first, second = [at for at in tinted if at[1] < 35], [at for at in tinted if at[1] > 35]
    for places, left, right, top in ((first, 70, 110, 20), (second, 10, 55, 40)):
        across, down = [x for x, _ in places], [y for _, y in places]
        assert (min(across), max(across)) == pytest.approx((left, right), abs=2)
        assert (min(down), max(down)) == pytest.approx((top, top + 10), abs=2)


def _tinted(picture: Image.Image) -> list[tuple[int, int]]:
    data = picture.load()
    assert data is not None
    return [(x, y) for x in range(picture.width) for y in range(picture.height) if data[x, y] == (255, 236, 150)]


def test_no_side_is_longer_than_two_thousand_pixels(tmp_path: Path) -> None:
    narrow = pdf_of(["A"]).replace(b"[0 0 400 300]", b"[0 0 004 900]")
    (tmp_path / "narrow.pdf").write_bytes(narrow)
    drawn = draw_page(str(tmp_path / "narrow.pdf"), 1, 2000, ())

    assert drawn.height <= LONGEST_SIDE and 1 <= drawn.width <= 10


def test_a_page_whose_view_lies_beside_it_is_drawn_whole(tmp_path: Path) -> None:
    beside = pdf_of(["A"]).replace(b"/MediaBox", b"/CropBox[5000 5000 6000 6000]/MediaBox")
    (tmp_path / "beside.pdf").write_bytes(beside)
    drawn = draw_page(str(tmp_path / "beside.pdf"), 1, 400, ())
    assert (drawn.width, drawn.height) == (400, 300)


def test_a_page_that_is_not_there_is_named(path: str) -> None:
    for number in (0, -1, 3, 10**9):
        with pytest.raises(PageMissingError, match="2 pages"):
            draw_page(path, number, 400, ())


def test_a_protected_page_is_drawn_with_its_password_alone(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(changed(pdf_of(LINES), password="blue"))
    for password, problem in (("", "needs a password"), ("red", "KB_DOCUMENT_PASSWORDS is wrong")):
        with pytest.raises(PageUnreadableError, match=problem):
            draw_page(str(tmp_path / "a.pdf"), 1, 400, (), password=password)

    drawn = draw_page(str(tmp_path / "a.pdf"), 1, 400, [Quote("Close the tray.")], password="blue")
    assert drawn.found == (True,)


def test_a_file_that_is_no_pdf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"<html>")

    with pytest.raises(PageUnreadableError, match="not a PDF"):
        draw_page(str(tmp_path / "a.pdf"), 1, 400, ())
    with pytest.raises(PageUnreadableError, match="not there"):
        draw_page(str(tmp_path / "b.pdf"), 1, 400, ())


def test_a_file_that_is_replaced_is_drawn_anew(path: str) -> None:
    before = draw_page(path, 1, 400, ()).png
    Path(path + ".new").write_bytes(pdf_of(["Scanning"]))
    Path(path + ".new").replace(path)

    assert draw_page(path, 1, 400, ()).png != before
