"""Text that no reader of a PDF sees is hidden, however it is hidden; what is seen never is."""

import pytest

from kb_pipeline_tests.sources.pdf.test_pages import only_page

WORD = "BT /T 12 Tf 100 700 Td (secret) Tj ET "
PIXEL = "BI /W 1 /H 1 /CS /G /BPC 8 /F /AHx ID 80> EI"
STRIPS = " ".join(f"96 {694 + 2 * place} 60 2 re f" for place in range(11))
SHADED = "q 96 694 60 20 re W n /S sh Q"
RESOURCES = (
    "/Resources << /Font << /T 5 0 R /M 6 0 R >> /Properties << /Off 7 0 R >> /XObject << /Form 8 0 R >> "
    "/ExtGState << /None << /ca 0 >> /Half << /ca .4 >> /Multiply << /BM /Multiply >> >> "
    "/Shading << /S << /ShadingType 2 /ColorSpace /DeviceGray /Coords [96 0 156 0] "
    "/Function << /FunctionType 2 /Domain [0 1] /C0 [.2] /C1 [.4] /N 1 >> /Extend [true true] >> >> >>"
)
LAYERS = "/OCProperties << /OCGs [7 0 R] /D << /OFF [7 0 R] >> >>"
FORM = "BT /T 12 Tf 100 700 Td (secret) Tj ET"
OBJECTS = (
    "<< /Type /OCG /Name (Draft) >>",
    "<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /OC 7 0 R /Resources << /Font << /T 5 0 R >> >> "
    f"/Length {len(FORM)} >>\nstream\n{FORM}\nendstream",
)


def shown(content: str, page: str = "") -> list[str]:
    """The words on the page that are not hidden."""
    found = only_page(content, f"{RESOURCES} {page}", LAYERS, OBJECTS)
    assert any(word.style.hidden or word.text for word in found.words)
    return [word.text for word in found.words if not word.style.hidden]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(f"{WORD} 0 g 96 694 60 20 re f", id="below a black bar"),
        pytest.param(f"{WORD} 0 g 96 699 60 8 re f", id="below a bar that leaves the tips of letters"),
        pytest.param(f"{WORD} 1 g 96 694 60 20 re f", id="below white"),
        pytest.param(f"{WORD} q 60 0 0 20 96 694 cm {PIXEL} Q", id="below a picture"),
        pytest.param(f"{WORD} {SHADED}", id="below a shading"),
        pytest.param(f"{WORD} 0 g {STRIPS}", id="below strips"),
        pytest.param(f"{WORD} 16 w 96 704 m 156 704 l S", id="below a thick line"),
        pytest.param(f"1 g {WORD}", id="white on white"),
        pytest.param("BT 7 Tr /T 12 Tf 100 700 Td (secret) Tj ET", id="letters that only cut out"),
        pytest.param(f".99 g {WORD}", id="nearly white on white"),
        pytest.param(f"1 0 0 rg 90 690 100 30 re f {WORD}", id="red on red"),
        pytest.param(f"1 g 1 Tr 1 G {WORD}", id="white outlines"),
        pytest.param("BT /T .5 Tf 100 700 Td (secret) Tj ET", id="half a point"),
        pytest.param("BT /T 12 Tf .5 Tz 100 700 Td (secret) Tj ET", id="pressed together"),
        pytest.param(f"q 300 300 10 10 re W n {WORD} Q", id="cut off"),
        pytest.param(f"q 300 300 m 300 300 l h W n {WORD} Q", id="cut off by nothing"),
        pytest.param(f"/OC /Off BDC {WORD} EMC", id="in a layer that is off"),
        pytest.param("/Form Do", id="in a form of a layer that is off"),
        pytest.param(f"q /None gs {WORD} Q", id="transparent"),
    ],
)
def test_unseen(content: str) -> None:
    assert shown(f"{content} q 1 0 0 1 0 -200 cm 100 Tz 0 Tr 0 g BT /T 12 Tf 100 700 Td (seen) Tj ET Q") == ["seen"]


def test_an_annotation_that_covers_text_hides_it() -> None:
    bar = "<< /Type /Annot /Subtype /Square /Rect [96 694 156 714] /IC [0 0 0] /C [0 0 0] /F 4 >>"
    assert shown(WORD, f"/Annots [{bar}]") == []


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(f"0 g 90 690 100 30 re f 1 g {WORD}", id="white on black"),
        pytest.param(f"{SHADED} 1 g {WORD}", id="white on a shading"),
        pytest.param(f"q 60 0 0 20 96 694 cm {PIXEL} Q 1 g {WORD}", id="white on a picture"),
        pytest.param(f".8 g {WORD}", id="light gray"),
        pytest.param(
            f"q BT 7 Tr /T 12 Tf 100 700 Td (secret) Tj ET 60 0 0 20 96 694 cm {PIXEL} Q", id="cut out of a picture"
        ),
        pytest.param("BT /T 4 Tf 100 700 Td (secret) Tj ET", id="small"),
        pytest.param(f"{WORD} /Half gs 1 1 0 rg 96 694 60 20 re f", id="below a transparent bar"),
        pytest.param(f"{WORD} /Multiply gs 1 1 0 rg 96 694 60 20 re f", id="below a marker"),
        pytest.param(
            f"{WORD} 98 698 m 150 698 l 98 703 m 150 703 l S 96 694 60 20 re S", id="underlined, struck, framed"
        ),
        pytest.param(f"{WORD} 0 g 96 694 60 8 re f", id="half below a bar"),
        pytest.param(f"{WORD} .5 g 96 694 60 20 re f 0 g {WORD}", id="painted again on a bar"),
        pytest.param(f"q 101 701 10 3 re W n {WORD} Q", id="cut off in part"),
        pytest.param("BT /T 12 Tf 100 700 Td (secret) Tj ET".replace("100 700 Td", "0 1 -1 0 100 700 Tm"), id="turned"),
    ],
)
def test_seen(content: str) -> None:
    assert shown(content)[:1] == ["secret"]


def test_links_notes_and_fields_hide_nothing() -> None:
    link = "<< /Type /Annot /Subtype /Link /Rect [96 694 156 714] /A << /S /URI /URI (https://x.example) >> >>"
    note = "<< /Type /Annot /Subtype /Text /Rect [96 694 156 714] /Contents (See here) >>"
    field = "<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /Rect [96 694 156 714] /MK << /BG [1] >> >>"
    assert shown(WORD, f"/Annots [{link} {note} {field}]") == ["secret"]


def test_what_stands_in_the_place_of_covered_text_is_seen() -> None:
    first = "BT /T 12 Tf 100 700 Td (The fee is 45 euros.) Tj ET"
    assert shown(f"{first} 1 g 96 694 160 20 re f 0 g {first.replace('45', '60')}") == [
        "The",
        "fee",
        "is",
        "60",
        "euros.",
    ]


def test_a_value_is_covered_in_the_middle_of_what_is_written_without_spaces() -> None:
    page = only_page("BT /M 12 Tf 100 700 Td (Account:7741-2209,open) Tj ET 0 g 156 694 69 20 re f")
    assert [(word.text, word.style.hidden, word.glued) for word in page.words] == [
        ("Account:", False, False),
        ("7741-2209", True, True),
        (",open", False, False),
    ]


def test_white_lines_between_others_that_touch_them_are_unseen() -> None:
    lines = "BT /T 12 Tf 100 710 Td (Above,) Tj 1 g 0 -10 Td (secret) Tj 0 g 0 -10 Td (Below) Tj ET"
    assert shown(lines) == ["Above,", "Below"]


def test_a_turned_page_is_looked_at_as_it_is_shown() -> None:
    bar = "0 g 96 694 60 20 re f"
    other = "BT /T 12 Tf 300 300 Td (seen) Tj ET"
    for degrees in (90, 180, 270):
        assert shown(f"{WORD} {bar} 0 g {other}", f"/Rotate {degrees} /CropBox [50 50 500 750]") == ["seen"]
