"""Plain text, in the habits of people who write it."""

import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.sources.plain_text import TextSource
from kb_pipeline_tests.sources.reading import markdown_of

WRAPPED = "To clear a jam in the printer, open the rear cover, pull the green lever,\nand remove the sheet slowly."


def read(text: str) -> str:
    return markdown_of(TextSource().read("guide", "guide.txt", text.encode()))


TEXTS = [
    ("Refunds\n=======\n\nAsk\n---\nwords", "# Refunds\n\n## Ask\n\nwords"),
    (WRAPPED, WRAPPED.replace("\n", " ")),
    ("Ann Lee\nPaper Street 1\nBerlin", "Ann Lee  \nPaper Street 1  \nBerlin"),
    ("- one\n- two\n  more\n\n1. three", "- one\n- two  \n  more\n\n1. three"),
    ("Run:\n\n    kb ingest\n      --all\n\nend", "Run:\n\n```\nkb ingest\n  --all\n```\n\nend"),
    ("a\n\n> quoted", "a\n\n> quoted"),
    ("Model   Price\nA100    39\nB200    59", "```\nModel   Price\nA100    39\nB200    59\n```"),
    ("Model   Price\n-------------\nA100    39", "```\nModel   Price\n-------------\nA100    39\n```"),
    ("+---+---+\n| a | b |\n+---+---+", "```\n+---+---+\n| a | b |\n+---+---+\n```"),
    ("One sentence.  Two.  Three.\nFour.  Five.", "One sentence. Two. Three.  \nFour. Five."),
    ("a *b* _c_ [d](e) <f> # g `h` &amp;", "a \\*b\\* \\_c\\_ \\[d\\](e) \\<f> # g \\`h\\` \\&amp;"),
    ("# no heading", "\\# no heading"),
    ("Regards\n-- \nAnn", "Regards\n\n--  \nAnn"),
    ("one\n\ftwo", "one\n\ntwo"),
]


@pytest.mark.parametrize(("text", "markdown"), TEXTS)
def test_what_people_write_is_read_as_they_mean_it(text: str, markdown: str) -> None:
    assert read(text) == markdown


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252", "utf-16-le"])
def test_it_is_read_in_its_encoding(encoding: str) -> None:
    found = TextSource().read("guide", "guide.txt", "Die Größe des Bildes\r\n".encode(encoding))
    assert markdown_of(found) == "Die Größe des Bildes"


REFUSED = [
    (b"\x7fELF" + bytes(100), UnreadableArticleError, "is a program under another name; rename it"),
    (bytes(range(256)) * 10, UnreadableArticleError, "is binary"),
    (b"  \n", EmptyArticleError, "is empty"),
    (b"<!doctype html><p>Sign in", UnreadableArticleError, "is a page of HTML or XML"),
    (b"a" * 20_000_001, UnreadableArticleError, "has 20,000,001 bytes of text"),
]


@pytest.mark.parametrize(("data", "error", "why"), REFUSED, ids=[why for *_, why in REFUSED])
def test_what_is_no_text_is_refused(data: bytes, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=f"^guide: guide.txt {why}"):
        TextSource().read("guide", "guide.txt", data)
