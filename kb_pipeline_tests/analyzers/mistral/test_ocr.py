"""PDFs are read by a service that holds us to its contract, and whatever it does instead is told to a person."""

import io
import pickle
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from kb_pipeline.analyzers.mistral.ocr import MistralOcr
from kb_pipeline.errors import KnowledgeBaseError, ServiceError, ServiceRefusedError, SettingsError, TransientError
from kb_pipeline.services.usage import metering
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import OwnModel
from kb_pipeline_tests.managed_identity import signed_in
from kb_pipeline_tests.mistral_service import (
    DEPLOYMENT,
    KEY,
    Answer,
    DocumentService,
    document_service,
    invalid,
    refused,
)


def pdf_of(*texts: str) -> bytes:
    """A page for each text, in Helvetica."""
    writer = PdfWriter()
    kind = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font = writer._add_object(DictionaryObject({NameObject(key): NameObject(value) for key, value in kind.items()}))
    for text in texts:
        content = DecodedStreamObject()
        content.set_data(f"BT /F 12 Tf 60 700 Td ({text}) Tj ET".encode())
        page = writer.add_blank_page(width=595, height=842)
        page[NameObject("/Contents")] = writer._add_object(content)
        fonts = DictionaryObject({NameObject("/F"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


@pytest.fixture(scope="module")
def running() -> Iterator[DocumentService]:
    with document_service() as service:
        yield service


@pytest.fixture
def service(running: DocumentService) -> DocumentService:
    for list_ in (running.requests, running.faults, running.changes, running.page_counts):
        list_.clear()
    return running


def ocr(service: DocumentService, **changed: Any) -> MistralOcr:
    return MistralOcr(Settings(**(service.settings | changed)))


def test_a_document_is_read(service: DocumentService) -> None:
    assert ocr(service).read(pdf_of("First page.", "Second page.")) == ["First page.", "Second page."]
    assert service.requests[0].keys() == {"model", "document", "include_image_base64"}


@pytest.mark.parametrize("suffix", ["/", "/providers/mistral/azure/ocr", "/providers/mistral/azure/ocr?api-version=x"])
def test_the_address_may_be_what_the_portal_shows(service: DocumentService, suffix: str) -> None:
    assert ocr(service, mistral_endpoint=service.url + suffix).read(pdf_of("Text."))


def test_a_long_document_is_read_in_parts_and_in_order(service: DocumentService) -> None:
    texts = [f"Page {number}." for number in range(1, 65)]
    with metering() as used:
        assert ocr(service).read(pdf_of(*texts)) == texts
    assert service.page_counts == [30, 30, 4]
    assert [(usage.model, usage.calls, usage.pages) for usage in used] == [
        (DEPLOYMENT, 1, count) for count in service.page_counts
    ]


@pytest.mark.parametrize("indices", [[1, 2, 3], [0, 0, 0], [7, 3, 5]])
def test_pages_are_in_the_order_of_the_answer_however_they_are_counted(
    service: DocumentService, indices: list[int]
) -> None:
    def counted(answer: Answer) -> None:
        for page, index in zip(answer["pages"], indices, strict=True):
            page["index"] = index

    service.changes.append(counted)
    assert ocr(service).read(pdf_of("One.", "Two.", "Three.")) == ["One.", "Two.", "Three."]


def with_a_table_apart(answer: Answer) -> None:
    table = {"id": "tbl-0.md", "content": "| a |\n| --- |\n| b |", "format": "markdown"}
    box = dict.fromkeys(("top_left_x", "top_left_y", "bottom_right_x", "bottom_right_y"), 1)
    markdown = "Before\n\n[tbl-0.md](tbl-0.md)\n\n![img-0.jpeg](img-0.jpeg)\n\nAfter"
    answer["pages"][0].update(markdown=markdown, tables=[table], images=[{"id": "img-0.jpeg", **box}])


def test_tables_come_back_to_their_place_and_pictures_go(service: DocumentService) -> None:
    service.changes.append(with_a_table_apart)
    assert ocr(service).read(pdf_of("Text."))[0].split() == "Before | a | | --- | | b | After".split()


def test_an_empty_page_is_no_loss(service: DocumentService) -> None:
    assert ocr(service).read(pdf_of("One.", "", "Three.")) == ["One.", "", "Three."]


# --- failures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        (
            refused(401, "wrong key"),
            ServiceRefusedError,
            r"\(401\): wrong key; check KB_MISTRAL_API_KEY.*Cognitive Serv",
        ),
        (refused(403, "no access"), ServiceRefusedError, r"\(403\): no access; check KB_MISTRAL_API_KEY"),
        (refused(404, "unknown"), ServiceRefusedError, r"unknown; .*mistral-document-ai-2512 \(KB_MISTRAL_MODEL\)"),
        (refused(413, "too large"), ServiceError, r"rejected the request \(413\): too large"),
        (invalid("missing", "model", "Field required", KEY), ServiceError, r"\(422\): body.model: Field required$"),
        (JSONResponse({"detail": "nonsense"}, 422), ServiceError, r"\(422\).*Response validation|\(422\): nonsense"),
        (PlainTextResponse("upstream request timeout", 408), TransientError, r"\(408\): upstream request timeout"),
        (refused(429, "slow down", Retry_After="0"), TransientError, r"is busy \(429\): slow down"),
        (PlainTextResponse("<html>oops</html>", 500), TransientError, r"is busy \(500\)"),
        (refused(503, "away"), TransientError, r"is busy \(503\)"),
        (JSONResponse(None), TransientError, "answered 200 without pages"),
        (PlainTextResponse("<html>sign in</html>"), TransientError, "answered 200 without pages"),
        (JSONResponse({"pages": "none"}), TransientError, "answered 200 without pages"),
    ],
)
def test_a_refusal_names_service_status_and_setting(
    service: DocumentService, monkeypatch: pytest.MonkeyPatch, fault: Response, kind: type[Exception], message: str
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    service.faults += [fault, fault]
    with pytest.raises(kind, match=message) as caught:
        ocr(service).read(pdf_of("Text."))
    assert "Mistral Document AI at http://127.0.0.1" in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_fault_of_one_part_does_not_have_the_others_read_again(
    service: DocumentService, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)

    def busy_once(_answer: Answer) -> None:
        if len(service.requests) == 1:
            service.faults.append(refused(429, "slow down", Retry_After="7"))

    service.changes.append(busy_once)
    assert ocr(service).read(pdf_of(*[f"Page {number}." for number in range(40)]))[-1] == "Page 39."
    assert service.page_counts == [30, 10]
    assert pauses == [7.0]


def test_who_asks_for_a_long_pause_is_asked_again_by_the_build(service: DocumentService) -> None:
    service.faults.append(refused(429, "slow down", Retry_After="300"))
    with pytest.raises(TransientError) as caught:
        ocr(service).read(pdf_of("Text."))
    assert caught.value.retry_after == 300
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda answer: answer["pages"].pop(), r"read 2 of the 3 pages"),
        (lambda answer: answer["pages"].append(answer["pages"][0]), r"read 3 of the 3 pages"),
        (lambda answer: answer["pages"][1].update(markdown=" \n"), r"read 2 of the 3 pages"),
        (lambda answer: answer["pages"].clear(), r"read 0 of the 3 pages"),
    ],
    ids=["missing", "too-many", "unread", "none"],
)
def test_half_an_answer_is_no_answer(
    service: DocumentService, monkeypatch: pytest.MonkeyPatch, change: Callable[[Answer], object], message: str
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    service.changes.append(change)
    with metering() as used, pytest.raises(ServiceError, match=message):
        ocr(service).read(pdf_of("One.", "Two.", "Three."))
    assert [usage.pages for usage in used] == [3, 3]  # what was billed is counted all the same


def test_a_document_without_any_text_is_an_error(service: DocumentService) -> None:
    with pytest.raises(ServiceError, match="found no text in the PDF"):
        ocr(service).read(pdf_of("", ""))


def test_a_silent_service_is_not_waited_for_longer_than_is_set(
    service: DocumentService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        impatient = ocr(service, mistral_endpoint=endpoint, service_timeout_seconds=0.2)
        with pytest.raises(TransientError, match=r"did not answer within 0.2 s; .*KB_SERVICE_TIMEOUT_SECONDS"):
            impatient.read(pdf_of("Text."))


def test_a_service_that_is_not_there_is_told_with_its_setting(
    service: DocumentService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(TransientError, match=r"cannot be reached at http://127.0.0.1:1 .*check KB_MISTRAL_ENDPOINT"):
        ocr(service, mistral_endpoint="http://127.0.0.1:1").read(pdf_of("Text."))


@pytest.mark.parametrize("status", [400, 401, 404, 422, 500])
def test_no_message_quotes_the_key_that_an_answer_repeats(
    service: DocumentService, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    service.faults += [PlainTextResponse(f"Authorization: Bearer {KEY} is not valid for {KEY}", status)] * 2
    with pytest.raises(KnowledgeBaseError) as caught:
        ocr(service).read(pdf_of("Text."))
    problem: BaseException | None = caught.value
    while problem:
        assert KEY not in str(problem)
        problem = problem.__cause__


def test_nothing_is_sent_to_where_an_answer_leads(service: DocumentService) -> None:
    with OwnModel(lambda *_: JSONResponse({})) as other:
        service.faults.append(RedirectResponse(other.url))
        with pytest.raises(ServiceRefusedError, match=r"redirects to another address \(307\).*KB_MISTRAL_ENDPOINT"):
            ocr(service).read(pdf_of("Text."))
    assert not other.seen


# --- settings and identity -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        (None, "KB_MISTRAL_ENDPOINT is not set.*mistral-document-ai-2512"),
        (" ", "KB_MISTRAL_ENDPOINT is not set"),
        ("http://x.services.ai.azure.com", "must begin with https://"),
        ("x.services.ai.azure.com", "must begin with https://"),
    ],
)
def test_an_address_is_needed_to_which_a_key_may_be_sent(endpoint: str | None, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        MistralOcr(Settings(mistral_endpoint=endpoint))


def test_without_a_key_it_signs_in_with_a_token_for_the_right_audience(
    service: DocumentService, monkeypatch: pytest.MonkeyPatch
) -> None:
    audience = "https://cognitiveservices.azure.com"
    with signed_in(monkeypatch) as identity:
        monkeypatch.setattr(service, "lets_in", lambda header: identity.accepts(header, audience))
        reader = ocr(service, mistral_api_key=None)
        assert reader.read(pdf_of("One.")) == ["One."]
        assert reader.read(pdf_of("Two.")) == ["Two."]
        assert identity.audiences == [audience]


def test_without_key_and_identity_it_says_how_to_sign_in(
    service: DocumentService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with signed_in(monkeypatch) as identity:
        identity.status = 400
        with pytest.raises(ServiceRefusedError, match=r"KB_MISTRAL_API_KEY.*Cognitive Services User"):
            ocr(service, mistral_api_key=None).read(pdf_of("Text."))
    assert not service.requests


def test_travels_to_another_process(service: DocumentService) -> None:
    assert pickle.loads(pickle.dumps(ocr(service))).read(pdf_of("Text.")) == ["Text."]
