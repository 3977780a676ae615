"""The routes of documents: the original file, and pictures of its pages."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from pydantic import SecretStr

from app.callers.principal import Principal
from app.grounding.page_pictures import quote_id
from app.library.retrieval import Retrieval
from kb_pipeline.flow.layers.serving_article import OCR_LINES
from kb_pipeline.records import Chunk, PageBreak, PageInfo, PageLine
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests.app.api.conftest import Serve, signed_in
from kb_pipeline_tests.app.library.originals.pdfs import pdf_of, serve_document
from kb_pipeline_tests.sources.pdfs import changed

pytestmark = pytest.mark.slow("reads text on pictures")

SENTENCE = "Open the rear tray and pull the paper out slowly to clear a paper jam."
PAGES = ["Printing"], ["Open the rear tray and pull the paper out", "slowly to clear a paper jam."]
PDF = pdf_of(*PAGES)
URL = "/api/documents/printing/user guide.pdf"
PICTURE = "/api/documents/printing/pages/2.png"


@pytest.fixture
def documents(own: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The article ``printing`` is a PDF of two pages; its passage begins on the first."""
    serve_document(own, "printing", "user guide.pdf", PDF)
    serve_document(own, "layers", "notes.docx", b"PK\x03\x04", "application/vnd.openxmlformats")
    find = Retrieval.find

    def with_pages(self: Retrieval, chunk_ids: Collection[str], who: Principal) -> list[Chunk]:
        return [_on_two_pages(chunk) for chunk in find(self, chunk_ids, who)]

    monkeypatch.setattr(Retrieval, "find", with_pages)
    return own


def _on_two_pages(chunk: Chunk) -> Chunk:
    breaks = PageBreak(offset=0, page=1), PageBreak(offset=max(0, chunk.content.find(SENTENCE)), page=2)
    return chunk.model_copy(update={"page_breaks": breaks, "filename": "user guide.pdf"})


@pytest.fixture
def client(serve: Serve, documents: Settings) -> httpx.Client:
    return serve(documents)


def chunk_of(client: httpx.Client, article_id: str, words: str) -> str:
    chunks = client.get(f"/api/articles/{article_id}").json()["chunks"]
    return next(str(chunk["chunk_id"]) for chunk in chunks if words in chunk["content"])


def marked(client: httpx.Client, **query: Any) -> httpx.Response:
    query = {"chunk": chunk_of(client, "printing", SENTENCE), "quote": quote_id(SENTENCE), **query}
    return client.get(PICTURE, params=query)


def test_pages_of_a_protected_document_are_shown_to_its_readers(serve: Serve, documents: Settings) -> None:
    serve_document(documents, "printing", "user guide.pdf", changed(PDF, password="blue"))
    passwords = SecretStr('{"printing": "blue"}')
    reply = serve(documents.model_copy(update={"document_passwords": passwords})).get(PICTURE)

    assert (reply.status_code, reply.headers["content-type"]) == (200, "image/png")
    assert serve(documents).get(PICTURE).status_code != 200


# --- the original --------------------------------------------------------------------------------


def test_the_original_is_given_out_as_it_is(client: httpx.Client) -> None:
    reply = client.get(URL)

    assert (reply.status_code, reply.content) == (200, PDF)
    assert reply.headers["content-type"] == "application/pdf"
    assert reply.headers["content-disposition"] == "inline; filename*=UTF-8''user%20guide.pdf"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in reply.headers["content-security-policy"]


def test_a_part_of_the_original_can_be_read_and_a_known_copy_is_not_sent_again(client: httpx.Client) -> None:
    part = client.get(URL, headers={"range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, b"%PDF")
    assert part.headers["content-range"] == f"bytes 0-3/{len(PDF)}"

    again = client.get(URL, headers={"if-none-match": part.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_only_a_pdf_is_shown_in_the_browser(client: httpx.Client) -> None:
    reply = client.get("/api/documents/layers/notes.docx")

    assert reply.headers["content-disposition"] == "attachment; filename*=UTF-8''notes.docx"


@pytest.mark.parametrize(
    "url",
    [
        "/api/documents/printing/other.pdf",
        "/api/documents/printing/manifest.json",
        "/api/documents/printing/..%2fmanifest.json",
        "/api/documents/printing/document%2fuser%20guide.pdf",
        "/api/documents/..%2fprinting/user%20guide.pdf",
        "/api/documents/hostile/user%20guide.pdf",
        "/api/documents/unknown/user%20guide.pdf",
        "/api/documents/printing/%00",
    ],
)
def test_nothing_else_is_given_out(client: httpx.Client, url: str) -> None:
    assert client.get(url).status_code == 404


def test_originals_stay_here_if_they_are_not_to_be_given_out(serve: Serve, documents: Settings) -> None:
    client = serve(documents, serve_documents=False)

    assert client.get(URL).status_code == 404
    assert client.get(PICTURE).status_code == 200


def test_who_may_not_see_the_article_sees_neither_the_original_nor_a_page(serve: Serve, documents: Settings) -> None:
    serve_document(documents, "secret", "salaries.pdf", PDF)
    client = serve(documents, easy_auth=True)

    for url in ("/api/documents/secret/salaries.pdf", "/api/documents/secret/pages/1.png"):
        seen = client.get(url, headers=signed_in("ann", "group-hr"))
        assert seen.status_code == 200
        for headers in (signed_in("bob"), signed_in("bob") | {"if-none-match": seen.headers["etag"]}):
            assert client.get(url, headers=headers).status_code == 404


# --- pictures of pages ---------------------------------------------------------------------------


def test_a_page_is_shown_as_a_picture(client: httpx.Client) -> None:
    reply = client.get(PICTURE, params={"width": 800})

    assert (reply.status_code, reply.headers["content-type"]) == (200, "image/png")
    assert Image.open(BytesIO(reply.content)).size == (800, 600)
    assert reply.headers["cache-control"] == "private, no-cache"
    assert reply.headers["kb-marked"] == "0/0"


def test_the_cited_sentence_is_marked_on_its_page_only(client: httpx.Client) -> None:
    plain = client.get(PICTURE)
    reply = marked(client)

    assert (reply.headers["kb-marked"], reply.content != plain.content) == ("1/1", True)
    chunk, quote = chunk_of(client, "printing", SENTENCE), quote_id(SENTENCE)
    first = client.get("/api/documents/printing/pages/1.png", params={"chunk": chunk, "quote": quote})
    assert first.headers["kb-marked"] == "0/0"


def test_a_sentence_that_is_not_in_the_passage_is_not_marked(client: httpx.Client) -> None:
    assert marked(client, quote=[quote_id("Pay the invoice."), "' or 1=1 --"]).headers["kb-marked"] == "0/0"


def test_the_headers_say_what_is_marked_without_the_picture(client: httpx.Client) -> None:
    query = {"chunk": chunk_of(client, "printing", SENTENCE), "quote": quote_id(SENTENCE)}
    reply = client.head(PICTURE, params=query)

    assert (reply.status_code, reply.headers["kb-marked"], reply.content) == (200, "1/1", b"")
    assert int(reply.headers["content-length"]) == len(client.get(PICTURE, params=query).content)


def test_the_headers_say_which_page_is_a_scan(serve: Serve, documents: Settings) -> None:
    pages = [PageInfo(number=1, read_by="text"), PageInfo(number=2, read_by="ocr")]
    serve_document(documents, "printing", "scan.pdf", pdf_of(["Printing"], []), pages=pages)
    client = serve(documents)

    reply = marked(client)
    assert (reply.headers["kb-marked"], reply.headers["kb-scan"]) == ("0/1", "true")
    assert "kb-scan" not in client.get("/api/documents/printing/pages/1.png").headers


def test_a_sentence_is_marked_on_a_scan_where_ocr_read_it(serve: Serve, documents: Settings) -> None:
    pages = [PageInfo(number=1, read_by="ocr"), PageInfo(number=2, read_by="ocr")]
    places = [(word, 40.0 + 20 * at, 58.0 + 20 * at) for at, word in enumerate(SENTENCE.split())]
    lines = {2: (PageLine(top=50, bottom=62, words=tuple(places)),)}
    scan = pdf_of([], [])
    serve_document(documents, "printing", "scan.pdf", scan, pages=pages)
    unmarked = marked(serve(documents))
    serve_document(documents, "printing", "scan.pdf", scan, pages=pages, lines=lines)
    client = serve(documents)

    reply = marked(client)
    assert (reply.headers["kb-marked"], reply.headers["kb-scan"]) == ("1/1", "true")
    assert reply.headers["etag"] != unmarked.headers["etag"]
    assert reply.content != unmarked.content
    assert client.get("/api/documents/printing/ocr-lines.json").status_code == 404


def test_lines_of_ocr_that_are_not_those_of_the_version_mark_nothing(serve: Serve, documents: Settings) -> None:
    lines = {2: (PageLine(top=50, bottom=62, words=((SENTENCE, 40, 300),)),)}
    pages = [PageInfo(number=1), PageInfo(number=2, read_by="ocr")]
    serve_document(documents, "printing", "scan.pdf", pdf_of([], []), pages=pages, lines=lines)
    file = Path(Layout.of(documents).serving("printing")) / OCR_LINES
    for damaged in (b"{}", file.read_bytes() + b"\n"):
        file.unlink()
        file.write_bytes(damaged)
        assert marked(serve(documents)).headers["kb-marked"] == "0/1"
    file.unlink()
    assert marked(serve(documents)).headers["kb-marked"] == "0/1"


def test_a_known_picture_is_not_sent_again(client: httpx.Client) -> None:
    etag = marked(client).headers["etag"]
    chunk = chunk_of(client, "printing", SENTENCE)
    again = client.get(PICTURE, params={"chunk": chunk, "quote": quote_id(SENTENCE)}, headers={"if-none-match": etag})

    assert (again.status_code, again.content) == (304, b"")


def test_a_replaced_document_has_other_pictures(client: httpx.Client, documents: Settings) -> None:
    before = client.get(PICTURE)
    serve_document(documents, "printing", "user guide.pdf", pdf_of(["One"], ["Two"]))
    after = client.get(PICTURE, headers={"if-none-match": before.headers["etag"]})

    assert (after.status_code, after.content != before.content) == (200, True)


@pytest.mark.parametrize("page", ["0", "-1", "3", "1000000000", "x", "1.5", "%31%00", "..", "1%2f..%2f2"])
def test_a_page_that_is_not_there_is_not_found(client: httpx.Client, page: str) -> None:
    assert client.get(f"/api/documents/printing/pages/{page}.png").status_code == 404


@pytest.mark.parametrize("width", ["0", "-1", "2001", "1000000000", "x", "", "1e3"])
def test_a_width_that_cannot_be_drawn_is_refused(client: httpx.Client, width: str) -> None:
    reply = client.get(PICTURE, params={"width": width})

    assert reply.status_code == 400
    assert "1 to 2,000" in reply.json()["error"]["message"]


def test_chunks_of_other_articles_are_not_found(client: httpx.Client) -> None:
    for chunk in (chunk_of(client, "layers", "Undo"), "unknown", "..", "' or 1=1 --"):
        assert client.get(PICTURE, params={"chunk": chunk, "quote": quote_id(SENTENCE)}).status_code == 404


def test_articles_and_other_documents_have_no_pictures_of_pages(client: httpx.Client) -> None:
    for article_id in ("layers", "hostile", "unknown", ".."):
        assert client.get(f"/api/documents/{article_id}/pages/1.png").status_code == 404


def test_a_damaged_file_is_named_as_the_reason(client: httpx.Client, documents: Settings) -> None:
    serve_document(documents, "printing", "user guide.pdf", b"%PDF-1.7 and nothing else")
    reply = client.get(PICTURE)

    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "not_drawn")
    assert "damaged" in reply.json()["error"]["message"]


def test_many_readers_at_once_all_get_their_page(client: httpx.Client) -> None:
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda at: client.get(PICTURE, params={"width": 100 + at % 20}), range(100)))

    assert {reply.status_code for reply in replies} == {200}
