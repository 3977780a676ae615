"""Mistral Document AI on Azure reads PDFs: one call for each part of a document within the service's limits.

Its contract differs from that of Mistral's own platform: documents as data URIs only, and fields that it does not
know (``include_blocks``, ``table_format``) are refused with 422. Not here: how PDFs are made.
"""

import base64
from functools import cached_property
from typing import TYPE_CHECKING

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from kb_pipeline.addresses import azure_url
from kb_pipeline.analyzers.mistral_parts import Part, split_pdf
from kb_pipeline.analyzers.mistral_problems import explained
from kb_pipeline.errors import ServiceError, SettingsError, TransientError
from kb_pipeline.metering import record_usage
from kb_pipeline.records import Usage
from kb_pipeline.services import Service
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from mistralai.azure.client import MistralAzure
    from mistralai.azure.client.models import OCRPageObject, OCRResponse

API_VERSION = "2024-05-01-preview"
SCOPE = "https://cognitiveservices.azure.com/.default"
"""Whom tokens are for: the audience of Foundry resources and all models on them
(https://learn.microsoft.com/azure/ai-foundry/foundry-models/how-to/configure-entra-id)."""

_LONGEST_PAUSE = 20.0
"""Seconds to wait here for a busy service; who asks for more is asked again by the build."""


class _IncompleteError(ServiceError):
    """Pages are missing that were paid for: asked for once more, but not with every run."""


class MistralOcr:
    """Reads PDFs with the deployment that the settings name."""

    def __init__(self, settings: Settings) -> None:
        """Take the service from the settings; nothing is sent yet.

        Raises:
            SettingsError: there is no endpoint, or one to which a key would travel in the clear.
        """
        self._settings = settings
        self.service = Service(
            name="Mistral Document AI",
            endpoint=_endpoint(settings),
            endpoint_setting="KB_MISTRAL_ENDPOINT",
            key_setting="KB_MISTRAL_API_KEY",
            role="Cognitive Services User",
            key=settings.mistral_api_key,
        )

    def read(self, pdf: bytes) -> list[str]:
        """The markdown of each page of a PDF of any length.

        Raises:
            TransientError: the service is busy or away.
            ServiceError: the service refuses us or the document, gives half an answer twice, or finds no text.
            ArticleError: a page is too large for the service.
        """
        pages = [page for part in split_pdf(pdf) for page in self._read_patiently(part)]
        if not any(map(str.strip, pages)):
            raise ServiceError(f"{self.service.place} found no text in the printed article")
        return pages

    def _read_patiently(self, part: Part) -> list[str]:
        """Try twice, so that one fault among many parts does not have all of them read, and paid, again."""
        tries = Retrying(retry=retry_if_exception(_passes), stop=stop_after_attempt(2), wait=_pause, reraise=True)
        return tries(self._read, part)

    def _read(self, part: Part) -> list[str]:
        with explained(self.service, self._settings.mistral_model, self._settings.service_timeout_seconds):
            answer = self._client.ocr.process(
                model=self._settings.mistral_model,
                document={"type": "document_url", "document_url": _data_uri(part.pdf)},
                include_image_base64=False,
                include_blocks=None,
            )
        self._record(answer)
        # pages are counted from 0 or from 1, depending on the deployment; their order is that of the document
        pages = [_markdown(page) for page in answer.pages]
        self._require_all(part, pages)
        return pages

    def _record(self, answer: "OCRResponse") -> None:
        pages = answer.usage_info.pages_processed
        record_usage(Usage(model=self._settings.mistral_model, calls=1, pages=pages))

    def _require_all(self, part: Part, pages: list[str]) -> None:
        read = [bool(page.strip()) or not part.has_text(number) for number, page in enumerate(pages[: part.pages])]
        if len(pages) != part.pages or not all(read):
            raise _IncompleteError(
                f"{self.service.place} read {sum(read)} of the {part.pages} pages it was sent, twice; try again later"
            )

    @cached_property
    def _client(self) -> "MistralAzure":
        import httpx2
        from mistralai.azure.client import MistralAzure

        key = self.service.key.get_secret_value() if self.service.key else ""
        return MistralAzure(
            api_key=key or self.service.tokens(SCOPE),
            server_url=self.service.endpoint,
            client=httpx2.Client(params={"api-version": API_VERSION}),  # follows no redirect, as the SDK's own would
            timeout_ms=int(self._settings.service_timeout_seconds * 1000),
        )


def _endpoint(settings: Settings) -> str:
    endpoint = (settings.mistral_endpoint or "").strip()
    if not endpoint:
        raise SettingsError(
            "KB_MISTRAL_ENDPOINT is not set; the analyzer mistral-doc-ai needs the address of a Foundry resource that "
            f"has {settings.mistral_model} deployed: https://NAME.services.ai.azure.com"
        )
    return azure_url("KB_MISTRAL_ENDPOINT", endpoint)


def _passes(problem: BaseException) -> bool:
    if isinstance(problem, TransientError):
        return (problem.retry_after or 0) <= _LONGEST_PAUSE
    return isinstance(problem, _IncompleteError)


def _pause(tried: RetryCallState) -> float:
    failure = tried.outcome.exception() if tried.outcome else None
    asked = failure.retry_after if isinstance(failure, TransientError) else None
    return 1.0 if asked is None else asked


def _data_uri(pdf: bytes) -> str:
    return "data:application/pdf;base64," + base64.b64encode(pdf).decode("ascii")


def _markdown(page: "OCRPageObject") -> str:
    """The page's text: tables that came apart from it are in place, what was taken for a picture is gone."""
    text = page.markdown
    for table in page.tables or ():
        text = text.replace(f"[{table.id}]({table.id})", table.content)
    for image in page.images:
        text = text.replace(f"![{image.id}]({image.id})", "")
    return text
