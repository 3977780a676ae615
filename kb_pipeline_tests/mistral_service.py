"""Mistral Document AI on loopback: really reads the PDFs it is sent, and holds both sides to the contract.

Requests and answers are checked against the schemas of the official SDK (``specs/mistral_*``); what Azure is
reported to do beyond them is done here: unknown fields are refused with 422, documents must be data URIs of at most
30 pages and 30 MB. Not here: the model that describes images (``openai_server``).
"""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pypdfium2
from jsonschema import Draft202012Validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kb_pipeline_tests.app.model_servers import OwnModel
from kb_pipeline_tests.mistral_reader import DPI, Reader, read_pages, recognised_lines, written_lines
from kb_pipeline_tests.openai_server import openai_server

KEY = "key-of-the-foundry-resource-0123456789"
DEPLOYMENT = "mistral-document-ai-2512"
PATH = "/providers/mistral/azure/ocr"
MAX_PAGES, MAX_BYTES = 30, 30_000_000
FIELDS = {
    *("model", "document", "pages", "include_image_base64", "image_limit", "image_min_size"),
    *("bbox_annotation_format", "document_annotation_format"),
}
"""What Azure knows of; the SDK's default ``include_blocks`` and ``table_format`` are not among it."""

_SPECS = Path(__file__).parent / "specs"
_DATA_URI = "data:application/pdf;base64,"

Answer = dict[str, Any]


class DocumentService:
    """What was asked of it; ``faults`` are given instead of the next answers, ``changes`` are made to them."""

    def __init__(self, lines_of: Reader = written_lines) -> None:
        self.url = ""
        self.lines_of = lines_of
        self.lets_in: Callable[[str | None], bool] = f"Bearer {KEY}".__eq__
        self.faults: list[Response] = []
        self.changes: list[Callable[[Answer], object]] = []
        self.requests: list[dict[str, Any]] = []
        self.page_counts: list[int] = []
        self.violations: list[str] = []

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that lead here: ``Settings(**service.settings, ...)``."""
        return {"analyzer": "mistral-doc-ai", "mistral_endpoint": self.url, "mistral_api_key": KEY}

    def answer(self, body: dict[str, Any], request: Request) -> Response:
        self.requests.append(body)
        if self.faults:
            return self.faults.pop(0)
        refusal = self._refusal(body, request)
        return refusal or JSONResponse(self._read(body))

    def _refusal(self, body: dict[str, Any], request: Request) -> Response | None:
        if not self.lets_in(request.headers.get("Authorization")):
            return refused(401, "Access denied due to invalid subscription key or wrong API endpoint.")
        if request.method != "POST" or request.url.path != PATH or not request.query_params.get("api-version"):
            return refused(404, "Resource not found")
        self._hold_to("Request", body)
        if unknown := sorted(body.keys() - FIELDS):
            return invalid("extra_forbidden", unknown[0], "Extra inputs are not permitted", body[unknown[0]])
        if body["model"] != DEPLOYMENT:
            return refused(404, "The API deployment for this resource does not exist.")
        return self._unfit(body["document"].get("document_url", ""))

    def _unfit(self, uri: str) -> Response | None:
        if not uri.startswith(_DATA_URI):
            return invalid("value_error", "document", "Only data URIs of PDFs are supported", uri)
        if len(uri) > MAX_BYTES:
            return refused(413, "Request entity too large")
        pages = _page_count(_pdf(uri))
        self.page_counts.append(pages)
        return refused(400, f"Document has {pages} pages, more than {MAX_PAGES}") if pages > MAX_PAGES else None

    def _read(self, body: dict[str, Any]) -> Answer:
        pdf = _pdf(body["document"]["document_url"])
        texts = read_pages(pdf, self.lines_of)
        if not any(map(str.strip, texts)):  # a scan
            texts = read_pages(pdf, recognised_lines)
        pages = [_page(index, text) for index, text in enumerate(texts)]
        usage = {"pages_processed": len(pages), "doc_size_bytes": len(pdf)}
        answer = {"pages": pages, "model": DEPLOYMENT, "usage_info": usage, "document_annotation": None}
        for change in self.changes:
            change(answer)
        self._hold_to("Response", answer)
        return answer

    def _hold_to(self, contract: str, message: dict[str, Any]) -> None:
        self.violations += [error.message[:200] for error in _contract(contract).iter_errors(message)]


def refused(status: int, message: str, **headers: str) -> Response:
    """An error as Azure words it."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse({"error": {"code": str(status), "message": message}}, status, names)


def invalid(kind: str, field: str, message: str, given: Any) -> Response:
    """A validation error as Azure words it: it repeats what was sent."""
    return JSONResponse({"detail": [{"type": kind, "loc": ["body", field], "msg": message, "input": given}]}, 422)


@contextmanager
def document_service(lines_of: Reader = written_lines) -> Iterator[DocumentService]:
    """A running document service; whoever broke the contract is told at the end."""
    service = DocumentService(lines_of)
    with OwnModel(service.answer) as server:
        service.url = server.url
        yield service
    assert not service.violations


@contextmanager
def mistral_service(lines_of: Reader = written_lines) -> Iterator[dict[str, Any]]:
    """The settings with which the analyzer ``mistral-doc-ai`` finds its two services, here."""
    with document_service(lines_of) as documents, openai_server() as vision:
        yield documents.settings | vision.settings


@cache
def _contract(of: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((_SPECS / f"mistral_OCR{of}.from-sdk-3.7.0.schema.json").read_text()))


def _pdf(uri: str) -> bytes:
    return base64.b64decode(uri.removeprefix(_DATA_URI), validate=True)


def _page_count(pdf: bytes) -> int:
    with pypdfium2.PdfDocument(pdf) as document:
        return len(document)


def _page(index: int, markdown: str) -> Answer:
    dimensions = {"dpi": DPI, "width": 719, "height": 1018}
    return {"index": index, "markdown": markdown, "images": [], "dimensions": dimensions}
