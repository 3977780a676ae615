"""Notes on pages and what is filled into forms are text of the page, where they stand."""

import re
from collections.abc import Sequence

import pytest
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject, TextStringObject

from kb_pipeline.sources import SourceDocument, source_of
from kb_pipeline_tests.sources.pdfs import Sheet, Tag, Text, pdf, reading, written

SAID = "The pump is switched on with the green key."


def read(data: bytes) -> SourceDocument:
    return source_of("pdf").read("pumps", "manual.pdf", data)


def text_of(document: SourceDocument) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", document.html.partition("<body>")[2]).split())


def note(text: str, box: str, entries: str = "", kind: str = "FreeText") -> str:
    return f"<</Type/Annot/Subtype/{kind}/Contents({text})/Rect[{box}]/DA(/Helv 12 Tf){entries}>>"


def filled(data: bytes, *fields: tuple[str, str, Sequence[int], dict[str, object]]) -> bytes:
    """The PDF with fields on its first page: type, value, box, and further entries of each."""
    writer = reading(data)
    references = []
    for number, (kind, value, box, entries) in enumerate(fields):
        field = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Annot"),
                NameObject("/Subtype"): NameObject("/Widget"),
                NameObject("/FT"): NameObject(kind),
                NameObject("/T"): TextStringObject(f"field {number}"),
                NameObject("/V"): NameObject(value) if kind == "/Btn" else TextStringObject(value),
                NameObject("/Rect"): ArrayObject(map(NumberObject, box)),
                **{NameObject(name): entry for name, entry in entries.items()},
            }
        )
        if kind == "/Btn":
            field[NameObject("/AS")] = NameObject(value)
            looks = DictionaryObject({NameObject("/Yes"): DictionaryObject(), NameObject("/Off"): DictionaryObject()})
            field[NameObject("/AP")] = DictionaryObject({NameObject("/N"): looks})
        references.append(writer._add_object(field))
    writer.pages[0][NameObject("/Annots")] = ArrayObject(references)
    writer._root_object[NameObject("/AcroForm")] = DictionaryObject({NameObject("/Fields"): ArrayObject(references)})
    return written(writer)


def test_a_note_in_a_box_is_a_paragraph_where_it_stands() -> None:
    sheet = Sheet(
        [Text(SAID, y=700), Text("It warms up.", y=300)], annotations=[note("New price from May", "72 500 300 520")]
    )
    assert read(pdf(sheet)).html.endswith(
        f"<p>{SAID}</p>\n<p>New price from May</p>\n<p>It warms up.</p>\n</body></html>"
    )


def test_a_note_beside_text_does_not_mix_with_it() -> None:
    texts = [Text(SAID, y=700 - 14 * n) for n in range(6)]
    sheet = Sheet(texts, annotations=[note("Ask Bo about the price", "350 650 420 690")])
    assert text_of(read(pdf(sheet))) == f"{' '.join([SAID] * 6)} Ask Bo about the price"


def test_a_note_on_a_page_with_tags_is_kept() -> None:
    sheet = Sheet(annotations=[note("New price", "72 500 300 520")])
    tags = Tag("Document", [Tag("P", [Text(SAID, y=700)]), Tag("P", [Text("It warms up.", y=300)])])
    assert text_of(read(pdf(sheet, tags=tags))) == f"{SAID} New price It warms up."


@pytest.mark.parametrize("entries", ["/F 2", "/F 32"], ids=["hidden", "not to be viewed"])
def test_a_note_that_nobody_sees_is_none(entries: str) -> None:
    sheet = Sheet([Text(SAID)], annotations=[note("Secret", "72 500 300 520", entries)])
    assert text_of(read(pdf(sheet))) == SAID


def test_comments_that_open_on_a_click_are_counted() -> None:
    comments = [note("Ask Bo", "72 500 90 520", kind="Text"), note("Check", "72 690 300 710", kind="Highlight")]
    document = read(pdf(Sheet([Text(SAID)], annotations=comments)))
    assert text_of(document) == SAID
    assert document.warnings == ("2 comments that open on a click were not read, on pages: 1",)


@pytest.mark.parametrize(
    ("kind", "value", "entries", "text"),
    [
        ("/Tx", "Ann Lee", {}, "Name: Ann Lee"),
        ("/Tx", "Ann Lee\nBo", {"/Ff": NumberObject(1 << 12)}, "Name: Ann Lee Bo"),
        (
            "/Ch",
            "Leeds",
            {"/Ff": NumberObject(1 << 17), "/Opt": ArrayObject([TextStringObject("Leeds")])},
            "Name: Leeds",
        ),
        ("/Btn", "/Yes", {}, "Name: ☑"),
        ("/Btn", "/Off", {}, "Name: ☐"),
        ("/Tx", "secret", {"/Ff": NumberObject(1 << 13)}, "Name:"),
        ("/Tx", "hidden", {"/F": NumberObject(2)}, "Name:"),
        ("/Tx", "", {}, "Name:"),
    ],
)
def test_what_is_filled_in_stands_behind_its_label(
    kind: str, value: str, entries: dict[str, object], text: str
) -> None:
    sheet = Sheet([Text("Name:", y=700), Text(SAID, y=600)])
    document = read(filled(pdf(sheet), (kind, value, (150, 696, 350, 712), entries)))
    assert text_of(document) == f"{text} {SAID}"


def test_a_tick_before_its_label_is_read_before_it() -> None:
    sheet = Sheet([Text("Paid leave", x=100, y=700), Text(SAID, y=600)])
    document = read(filled(pdf(sheet), ("/Btn", "/Yes", (80, 696, 92, 708), {})))
    assert text_of(document) == f"☑ Paid leave {SAID}"


def test_what_is_filled_into_a_tagged_form_belongs_to_the_tag_of_its_label() -> None:
    tags = Tag("Document", [Tag("P", [Text("Name:", y=700)]), Tag("P", [Text(SAID, y=600)])])
    document = read(filled(pdf(Sheet(), tags=tags), ("/Tx", "Ann Lee", (150, 696, 350, 712), {})))
    assert document.html.endswith(f"<p>Name: Ann Lee</p><p>{SAID}</p></body></html>")
    assert "Ann Lee" in document.control[1]
