"""What every source does alike: one suite for all formats."""

import re
import socket
from collections.abc import Callable
from random import Random

import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import Spoken
from kb_pipeline.sources import SourceDocument, SourceTools, source_of
from kb_pipeline.steps.formats import FORMATS
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.books import book, notebook, open_document, run, said, shown
from kb_pipeline_tests.sources.decks import presentation, slide
from kb_pipeline_tests.sources.letters import mail, outlook_mail
from kb_pipeline_tests.sources.word import document, paragraph, picture
from kb_pipeline_tests.sources.workbooks import table

WORDS = "Open the order and press Refund"


def printed(text: str) -> bytes:
    """A PDF with one line of text."""
    content = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources "
        b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (len(objects) + 1, table, end)


GOOD: dict[str, bytes] = {
    "markdown": f"# Refunds\n\n{WORDS}.\n\n![a](https://pictures.example/a.png)\n".encode(),
    "docx": document(
        paragraph("Refunds", "Heading 1"), paragraph(WORDS), picture("rId1"), media={"a.png": screenshot("A")}
    ),
    "pptx": presentation(lambda deck: slide(deck, 1, "Refunds", WORDS)),
    "pdf": printed(WORDS),
    "spreadsheet": table(("Refunds",), (WORDS, "Support")),
    "odt": open_document(f'<text:h text:outline-level="1">Refunds</text:h><text:p>{WORDS}</text:p>'),
    "epub": book({"a.xhtml": f"<h1>Refunds</h1><p>{WORDS}</p>"}, title="Orders"),
    "rtf": b"{\\rtf1\\ansi{\\pard " + WORDS.encode() + b"\\par}}",
    "rst": f"Refunds\n=======\n\n{WORDS}.\n".encode(),
    "org": f"* Refunds\n\n{WORDS}.\n".encode(),
    "asciidoc": f"= Refunds\n\n{WORDS}.\n".encode(),
    "ipynb": notebook(said(f"# Refunds\n\n{WORDS}."), run("1 + 1", shown(text_plain="2"))),
    "mail": mail(WORDS, subject="Refunds"),
    "outlook": outlook_mail("Refunds", WORDS),
    "text": f"{WORDS}\n".encode(),
    "picture": screenshot("A"),
    "recording": b"ID3\x04" + bytes(range(200)),
}
ENDINGS = {each.name: next(iter(each.media_types)) for each in FORMATS}
every_format = pytest.mark.parametrize("kind", sorted(ENDINGS))


def read(kind: str, data: bytes) -> SourceDocument:
    source = source_of(kind).equipped(SourceTools(transcribe=lambda _, __: [Spoken(start=61, end=63, text=WORDS)]))
    return source.read("guide", f"guide{ENDINGS[kind]}", data)


@every_format
def test_its_words_are_read_into_html(kind: str) -> None:
    found = read(kind, GOOD[kind])
    if kind == "picture":  # OCR reads it later, as it reads all pictures
        assert '<img src="guide.png"' in found.html
    else:
        assert WORDS in " ".join(re.sub("<[^>]*>", " ", found.html).split())
    assert all(name.startswith(f"guide{ENDINGS[kind]}/") for name in found.images)


@every_format
def test_its_pages_are_marked_in_order(kind: str) -> None:
    found = read(kind, GOOD[kind])
    marked = [int(number) for number in re.findall(r'<kb-page data-number="(\d+)"', found.html)]
    assert marked == [page.number for page in found.pages] == sorted(set(marked))


@every_format
def test_the_same_bytes_give_the_same_document(kind: str) -> None:
    assert read(kind, GOOD[kind]) == read(kind, bytes(bytearray(GOOD[kind])))


@every_format
def test_its_version_names_the_rules_and_the_library(kind: str) -> None:
    assert re.fullmatch(r"[a-z]+-\d+(\+[a-z0-9-]+-[\d.a-z]+)+", source_of(kind).version)


@every_format
def test_it_opens_no_connection(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    read(kind, GOOD[kind])


def nothing(_: bytes) -> bytes:
    return b""


def blanks(_: bytes) -> bytes:
    return b" \n" * 100


def zeros(_: bytes) -> bytes:
    return b"\0" * 5_000


def noise(_: bytes) -> bytes:
    return Random(1).randbytes(5_000)


@every_format
@pytest.mark.parametrize("broken", [nothing, blanks, zeros, noise])
def test_what_is_no_document_is_refused_by_the_name_of_its_file(kind: str, broken: Callable[[bytes], bytes]) -> None:
    with pytest.raises((UnreadableArticleError, EmptyArticleError), match=rf"^guide: .*guide\{ENDINGS[kind]}"):
        read(kind, broken(GOOD[kind]))


@every_format
@pytest.mark.parametrize("other", ["docx", "pptx", "pdf"])
def test_another_format_under_its_name_is_refused(kind: str, other: str) -> None:
    if other == kind:
        pytest.skip("its own format")
    with pytest.raises(UnreadableArticleError, match=rf"^guide: guide\{ENDINGS[kind]} (is|has) .*rename it"):
        read(kind, GOOD[other])


@every_format
def test_a_page_under_its_name_is_refused_unless_it_may_hold_one(kind: str) -> None:
    if kind == "markdown":
        pytest.skip("Markdown may be HTML")
    with pytest.raises(UnreadableArticleError, match="a page of HTML or XML"):
        read(kind, b"<!DOCTYPE html><title>Sign in</title><p>Sign in first")


@every_format
def test_a_damaged_document_is_read_or_refused_and_nothing_else(kind: str) -> None:
    data, dice = GOOD[kind], Random(7)
    for _ in range(15):
        changed = bytearray(data)
        for _ in range(dice.randrange(1, 9)):
            changed[dice.randrange(len(changed))] = dice.randrange(256)
        end = dice.randrange(1, len(changed)) if dice.random() < 0.3 else len(changed)
        try:
            read(kind, bytes(changed[:end]))
        except (UnreadableArticleError, EmptyArticleError) as exc:
            assert str(exc).startswith("guide: ")
