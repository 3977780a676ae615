"""EPUB books: their chapters in order."""

import pytest

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources import SourceDocument
from kb_pipeline.sources.pandoc.epub import EpubSource
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.books import book, zipped
from kb_pipeline_tests.sources.reading import markdown_of

CIPHER = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"


def read(data: bytes) -> SourceDocument:
    return EpubSource().read("guide", "guide.epub", data)


def locked(method: str) -> bytes:
    entry = f'<encryption><EncryptedData><EncryptionMethod Algorithm="{method}"/></EncryptedData></encryption>'
    return book({"a.xhtml": "<p>words</p>"}, files={"META-INF/encryption.xml": entry})


def test_chapters_follow_each_other_with_pictures_tables_and_links() -> None:
    png = screenshot("A")
    chapters = {
        "b.xhtml": '<h1>Ask</h1><p>See <a href="a.xhtml#two">the list</a>.</p><p><img src="p.png" alt="Dialog"/></p>',
        "a.xhtml": '<h1 id="two">List</h1><table><tr><th>R</th><th>S</th></tr><tr><td>1</td><td>2</td></tr></table>'
        "<pre>  x\n y</pre>",
    }
    found = read(book(chapters, title="Refunds", files={"p.png": png}))
    assert (found.title, found.images) == ("Refunds", {"guide.epub/image1.png": png})
    assert found.facts is not None
    assert found.facts.author == "Ann Lee"
    assert markdown_of(found).split("\n\n") == [
        *("# Ask", "See [the list](#a.xhtml_two).", "[[IMG:guide.epub/image1.png]]"),
        *("# List", "| R | S |\n| --- | --- |\n| 1 | 2 |", "```\n  x\n y\n```"),
    ]


def test_a_book_says_its_language() -> None:
    assert '<html lang="en">' in read(book({"a.xhtml": "<p>words</p>"})).html


def test_a_book_that_is_protected_is_refused_and_one_with_mangled_fonts_is_not() -> None:
    with pytest.raises(UnreadableArticleError, match=r"guide\.epub is protected against copying"):
        read(locked(CIPHER))
    assert "words" in read(locked("http://www.idpf.org/2008/embedding")).html


@pytest.mark.parametrize("file", ["../../../etc/passwd", "file:///etc/passwd", "http://127.0.0.1:9/a.png"])
def test_pictures_elsewhere_are_not_fetched(file: str) -> None:
    assert read(book({"a.xhtml": f'<p>words<img src="{file}"/></p>'})).images == {}


def test_entities_are_not_replaced() -> None:
    declared = '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "yyy">]>'
    data = zipped(
        {
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="c.opf"/></rootfiles></container>',
            "c.opf": f'{declared}<package xmlns="http://www.idpf.org/2007/opf"><metadata>&x;</metadata></package>',
        }
    )
    with pytest.raises(UnreadableArticleError, match=r"guide.epub cannot be read by pandoc"):
        read(data)
