"""Pages are read as a reader sees them: each word with its own font, what is hidden or beside the page told apart."""

import pypdfium2
import pytest

from kb_pipeline.sources.pdf.pages import read_page


def pdf(content: str, page: str = "", labels: str = "", objects: tuple[str, ...] = ()) -> pypdfium2.PdfDocument:
    """A document of one page: its content, entries of its page and catalog, and objects from number 7 on."""
    bodies = [
        f"<< /Type /Catalog /Pages 2 0 R {labels} >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R "
        f"/Resources << /Font << /T 5 0 R /M 6 0 R >> >> {page} >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Bold >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
        *objects,
    ]
    data, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R >>\n"
    return pypdfium2.PdfDocument(data + f"{end}startxref\n{len(data)}\n%%EOF\n".encode())


def only_page(*args, **kwargs):
    document = pdf(*args, **kwargs)
    page = read_page(document, document[0], 1)
    document.close()
    return page


def texts(page):
    return [word.text for word in page.words]


def test_words_with_their_places_from_the_top():
    page = only_page("BT /T 10 Tf 100 700 Td (Two words) Tj ET")
    two, words = page.words
    assert (two.text, words.text) == ("Two", "words")
    assert two.box.left == pytest.approx(100, abs=0.5)
    assert two.baseline == pytest.approx(100, abs=0.5)
    assert two.box.top < two.baseline < two.box.bottom
    assert words.box.left > two.box.right


def test_a_word_of_code_inside_of_prose_knows_its_font():
    page = only_page("BT /T 10 Tf 100 700 Td (Call ) Tj /M 9 Tf (go) Tj /T 10 Tf (!) Tj ET")
    call, go, sign = page.words
    assert (call.style.font, call.style.bold, call.style.fixed_pitch) == ("Times-Bold", True, False)
    assert (go.style.font, go.style.size, go.style.fixed_pitch) == ("Courier", 9.0, True)
    assert (sign.text, sign.glued) == ("!", True)


@pytest.mark.parametrize(("widths", "is_fixed"), [([300, 600, 500, 550, 700], False), ([600] * 5, True)])
def test_a_font_that_calls_itself_of_fixed_pitch_is_so_if_its_letters_have_one_width(widths, is_fixed):
    """Apache FOP says so of every TrueType font that it embeds, so that whole manuals looked like code."""
    letters = " ".join(str(widths[place % len(widths)]) for place in range(26))
    font = "<< /Type /Font /Subtype /TrueType /BaseFont /EAAAAB+Garamond /FirstChar 97 /LastChar 122 "
    font += f"/Widths [{letters}] /FontDescriptor 8 0 R >>"
    descriptor = "<< /Type /FontDescriptor /FontName /EAAAAB+Garamond /Flags 33 /FontBBox [0 -200 1000 900] >>"
    resources = "/Resources << /Font << /T 7 0 R >> >>"
    page = only_page("BT /T 10 Tf 100 700 Td (set the clock) Tj ET", page=resources, objects=(font, descriptor))
    assert {word.style.fixed_pitch for word in page.words} == {is_fixed}


def test_invisible_and_white_text_is_hidden():
    page = only_page("BT /T 10 Tf 100 700 Td (seen ) Tj 3 Tr (scanned ) Tj 0 Tr 1 g (white) Tj ET")
    assert [(word.text, word.style.hidden) for word in page.words] == [
        ("seen", False),
        ("scanned", True),
        ("white", True),
    ]


def test_white_text_on_a_dark_ground_is_seen():
    page = only_page("0 g 90 690 200 30 re f BT /T 10 Tf 1 g 100 700 Td (white) Tj ET")
    assert not page.words[0].style.hidden


def test_text_beside_the_page_is_left_out():
    page = only_page("BT /T 10 Tf 100 700 Td (here) Tj 0 -900 Td (below) Tj ET")
    assert texts(page) == ["here"]
    assert "below" not in page.text


def test_a_turned_page_is_read_as_it_is_seen():
    page = only_page("BT /T 10 Tf 0 1 -1 0 100 200 Tm (upright) Tj ET", page="/Rotate 90")
    [word] = page.words
    assert (page.width, page.height) == (800, 600)
    assert word.style.rotation == 0
    assert word.box.left == pytest.approx(200, abs=1)
    assert word.baseline == pytest.approx(100, abs=1)


def test_the_crop_box_is_the_page():
    page = only_page("BT /T 10 Tf 100 700 Td (here) Tj ET", page="/CropBox [50 100 550 750]")
    assert (page.width, page.height) == (500, 650)
    assert page.words[0].box.left == pytest.approx(50, abs=0.5)
    assert page.words[0].baseline == pytest.approx(50, abs=0.5)


def test_lines_and_shapes():
    page = only_page("100 700 m 300 700 l S 100 600 50 20 re f 100 500 m 150 560 200 560 250 500 c S")
    line, shape, curve = page.drawings
    assert (line.box.left, line.box.right) == (pytest.approx(100, abs=1), pytest.approx(300, abs=1))
    assert (shape.filled, shape.box.top) == (True, pytest.approx(180, abs=0.5))
    assert curve.curved


def test_a_frame_is_its_four_lines():
    assert len(only_page("100 600 200 50 re S").drawings) == 4


def test_links_lead_to_addresses_or_pages():
    page = only_page(
        "BT /T 10 Tf 100 700 Td (here) Tj ET",
        page="/Annots [7 0 R 8 0 R]",
        objects=(
            "<< /Type /Annot /Subtype /Link /Rect [100 695 120 710] /A << /S /URI /URI (https://example.org/) >> >>",
            "<< /Type /Annot /Subtype /Link /Rect [100 595 120 610] /Dest [3 0 R /XYZ 0 0 0] >>",
        ),
    )
    assert [(link.uri, link.page) for link in page.links] == [("https://example.org/", 0), ("", 1)]
    assert page.links[0].box.holds(*page.words[0].box.middle)


def test_marked_content_and_labels():
    page = only_page(
        "BT /T 10 Tf 100 700 Td /P << /MCID 4 >> BDC (tagged) Tj EMC ( plain) Tj ET",
        labels="/PageLabels << /Nums [0 << /S /r /St 4 >>] >>",
    )
    assert [word.style.mcid for word in page.words] == [4, -1]
    assert page.label == "iv"


def test_a_page_without_anything():
    page = only_page("")
    assert (page.words, page.drawings, page.images, page.text) == ((), (), (), "")
