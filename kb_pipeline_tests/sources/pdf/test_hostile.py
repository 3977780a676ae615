"""PDF files that exhaust or confuse whoever reads them: each is read, or refused by its name, and alone."""

import re
import zlib
from collections.abc import Callable

import pytest
from pypdf.constants import PageLabelStyle

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.sources import DocumentLimits, SourceDocument, SourceTools, source_of
from kb_pipeline_tests.sources.pdfs import Sheet, Text, changed, file_of, pdf, reading, text_pdf, written

SAID = "The pump is switched on with the green key on its left side."
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
SHOWN = f"BT /F1 12 Tf 72 700 Td ({SAID}) Tj ET\n".encode()
GOOD = text_pdf((SAID,))


def read(data: bytes, limits: DocumentLimits | None = None) -> SourceDocument:
    tools = SourceTools(limits=limits or DocumentLimits())
    return source_of("pdf").equipped(tools).read("pumps", "manual.pdf", data)


def text_of(document: SourceDocument) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", document.html.partition("<body>")[2]).split())


def stream(data: bytes, entries: str = "") -> bytes:
    return f"<<{entries}/Length {len(data)}>>stream\n".encode() + data + b"\nendstream"


def packed(data: bytes, entries: str = "") -> bytes:
    return stream(zlib.compress(data, 9), f"{entries}/Filter/FlateDecode")


def page(content: bytes, resources: str = "", others: tuple[bytes, ...] = ()) -> bytes:
    """A file of one page, whose content is object 5; ``others`` are the objects from 6 on."""
    catalog, pages = b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 1/Kids[3 0 R]>>"
    own = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 4 0 R>>{resources}>>/Contents 5 0 R>>"
    return file_of([catalog, pages, own.encode(), FONT, content, *others])


def form(content: str, resources: str) -> bytes:
    return stream(content.encode(), f"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<<{resources}>>")


def picture(width: int, height: int, data: bytes) -> bytes:
    head = f"/Type/XObject/Subtype/Image/Width {width}/Height {height}/ColorSpace/DeviceGray/BitsPerComponent 8"
    return stream(data, f"{head}/Filter/FlateDecode")


def tree_in_a_circle() -> bytes:
    kids = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 9/Kids[3 0 R 2 0 R]>>"]
    return file_of([*kids, b"<</Type/Pages/Parent 2 0 R/Count 9/Kids[2 0 R 3 0 R]>>"])


def forms_in_a_circle() -> bytes:
    return page(stream(SHOWN + b"/X Do"), "/XObject<</X 6 0 R>>", (form("/X Do /X Do", "/XObject<</X 6 0 R>>"),))


def forms_within_forms() -> bytes:
    """Each of thirty forms shows the next one twice."""
    levels = [form("/X Do /X Do", f"/XObject<</X {number + 1} 0 R>>") for number in range(6, 36)]
    return page(stream(SHOWN + b"/X Do"), "/XObject<</X 6 0 R>>", (*levels, form("0 0 9 9 re f", "")))


def a_billion_blanks() -> bytes:
    packer = zlib.compressobj(9)
    chunks = [packer.compress(SHOWN), *(packer.compress(b" " * 1_000_000) for _ in range(1_000)), packer.flush()]
    return page(stream(b"".join(chunks), "/Filter/FlateDecode"))


HOSTILE = {
    "pages in a circle": tree_in_a_circle,
    "forms in a circle": forms_in_a_circle,
    "forms within forms": forms_within_forms,
    "a million operators": lambda: page(packed(SHOWN + b"0 0 1 1 re f\n" * 1_000_000)),
    "letters upon each other": lambda: page(packed(SHOWN + b"BT /F1 9 Tf 9 9 Td (x) Tj ET\n" * 300_000)),
    "a stream of a billion blanks": a_billion_blanks,
    "an image of ten billion pixels": lambda: page(
        stream(SHOWN + b"q 400 0 0 400 100 100 cm /I Do Q"),
        "/XObject<</I 6 0 R>>",
        (picture(100_000, 100_000, zlib.compress(b"\0" * 10_000_000)),),
    ),
    "ten thousand images": lambda: page(
        packed(SHOWN + b"".join(b"q 50 0 0 50 %d %d cm /I Do Q\n" % (n % 500, n // 20) for n in range(10_000))),
        "/XObject<</I 6 0 R>>",
        (picture(50, 50, zlib.compress(b"\x80" * 2_500)),),
    ),
    "half of a file": lambda: GOOD[: len(GOOD) // 2],
}
"""Makers, since these take seconds to make."""
ODD = {
    "a table of objects that goes back to itself": GOOD.replace(b"/Root 1 0 R", b"/Root 1 0 R/Prev 9"),
    "no table of objects": GOOD.replace(b"xref", b"xxxx"),
    "a stream that is shorter than it says": GOOD.replace(b"<</Length ", b"<</Length 9"),
    "something before its beginning": b"garbage\n" * 20 + GOOD,
    "two ends": GOOD + b"\n%%EOF\nstartxref\n0\n%%EOF",
    "states that are never restored": page(packed(b"q " * 100_000 + SHOWN)),
    "a page of five meters": pdf(Sheet([Text(SAID)], size=(14_400, 14_400))),
    **{
        f"a page that is turned by {degrees} degrees": pdf(Sheet([Text(SAID)], entries=f"/Rotate {degrees}"))
        for degrees in (90, 180, 270)
    },
    "a view that is larger than its page": pdf(Sheet([Text(SAID)], entries="/CropBox[-100 -100 900 900]")),
    "a view beside its page": pdf(Sheet([Text(SAID)], entries="/CropBox[5000 5000 6000 6000]")),
    "a page beside a point": pdf(Sheet([Text(SAID)]), Sheet(size=(1, 1))),
}

ANNOTATIONS = (
    "<</Type/Annot/Subtype/Link/Rect[70 690 300 712]/A<</S/GoToR/F(http://example.org/other.pdf)/D[0/Fit]>>>>",
    "<</Type/Annot/Subtype/Link/Rect[70 690 300 712]/A<</S/Launch/F(calc.exe)>>>>",
)
MEDIA = (
    "<</Type/Annot/Subtype/RichMedia/Rect[70 90 300 300]/RichMediaContent<<>>>>",
    "<</Type/Annot/Subtype/Movie/Rect[70 90 300 300]/Movie<</F(http://192.0.2.1/x.mov)>>>>",
    "<</Type/Annot/Subtype/Screen/Rect[70 90 300 300]/A<</S/Rendition/JS(app.alert\\(1\\))>>>>",
)
SCRIPT = b"<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.launchURL\\(1\\))>>/AA<</WC<</S/Launch/F(calc.exe)>>>>"
WAIT = "Please wait... If this message is not eventually replaced, your viewer cannot show this document."
ODD |= {
    "a script and a program to be launched": GOOD.replace(b"<</Type/Catalog", SCRIPT),
    "links to programs and other files": pdf(Sheet([Text(SAID)], annotations=ANNOTATIONS)),
    "films": pdf(Sheet([Text(SAID)], annotations=MEDIA)),
    "each letter twice": pdf(Sheet([Text(SAID), Text(SAID, x=72.3)])),
}
REFUSED = {
    "certificates": (
        GOOD.replace(
            b"/Root 1 0 R", b"/Root 1 0 R/Encrypt<</Filter/Adobe.PubSec/SubFilter/adbe.pkcs7.s4/V 2>>/ID[(a)(b)]"
        ),
        "encrypted by a method that is not supported",
    ),
    "a rights server": (
        GOOD.replace(b"/Root 1 0 R", b"/Root 1 0 R/Encrypt<</Filter/FOPN_fLock/V 1/R 2>>/ID[(a)(b)]"),
        "encrypted by a method that is not supported",
    ),
    "a form without pages of its own": (
        text_pdf((WAIT,)).replace(
            b"<</Type/Catalog", b"<</Type/Catalog/NeedsRendering true/AcroForm<</Fields[]/XFA(x)>>"
        ),
        "is an XFA form",
    ),
}


@pytest.mark.rare("hostile files of whole size")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("made", HOSTILE.values(), ids=HOSTILE)
def test_what_exhausts_a_reader_is_read_or_refused_by_name_and_the_next_file_is_read(
    made: Callable[[], bytes],
) -> None:
    limits = DocumentLimits(seconds=5, memory_mb=1_000)
    try:
        assert SAID in text_of(read(made(), limits))
    except (UnreadableArticleError, EmptyArticleError) as exc:
        assert str(exc).startswith("pumps: manual.pdf ")
    assert SAID in text_of(read(GOOD))


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_what_is_only_odd_is_read_and_nothing_of_it_is_run(data: bytes) -> None:
    assert text_of(read(data)) == SAID


@pytest.mark.parametrize(("data", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_nobody_can_read_is_refused_by_name(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableArticleError, match=f"pumps: manual.pdf .*{reason}"):
        read(data)


def test_a_password_of_the_owner_alone_is_not_asked_for() -> None:
    writer = reading(GOOD)
    writer.encrypt("", "owner", algorithm="AES-256")
    assert text_of(read(written(writer))) == SAID


def test_a_form_that_calculates_is_read_without_it() -> None:
    field = b"<</FT/Tx/T(a)/V(9)/AA<</C<</S/JavaScript/JS(app.alert\\(1\\))>>>>>>"
    read_form = read(GOOD.replace(b"<</Type/Catalog", b"<</Type/Catalog/AcroForm<</Fields[" + field + b"]/CO[]>>"))
    assert text_of(read_form) == SAID
    assert read_form.warnings == ()


def test_a_title_with_control_characters_is_cleaned() -> None:
    assert read(changed(GOOD, title="The pump\0\a switched\r\n\u2028")).title == "The pump switched"


def test_an_attached_file_that_is_damaged_is_told_like_others() -> None:
    listed = b"<</Type/Catalog/Names<</EmbeddedFiles<</Names[(a.txt)<</Type/Filespec/F(a.txt)>>(b.txt) 999 0 R]>>>>"
    assert read(GOOD.replace(b"<</Type/Catalog", listed)).warnings == (
        "2 attached files were not read: 'a.txt', a damaged one",
    )


def test_an_endless_label_is_cut() -> None:
    writer = reading(GOOD)
    writer.set_page_label(0, 0, style=PageLabelStyle.DECIMAL, prefix="x" * 10_000)
    (page,) = read(written(writer)).pages
    assert page.label == "x" * 40
