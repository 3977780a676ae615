"""The client of Mistral Document AI on Azure: reads PDFs, one call for each part within the limits of the service.

Its contract differs from that of Mistral's own platform: it takes documents as data URIs only, and refuses fields that
it does not know (``include_blocks``, ``table_format``) with 422. Making PDFs does not belong here.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kb_pipeline.analyzers.pdf_parts import PdfPart, split_pdf
from kb_pipeline.errors import KnowledgeBaseError, ServiceError, SettingsError, TransientError
from kb_pipeline.limited import waiting
from kb_pipeline.records import Usage
from kb_pipeline.services.retry import after_transient_errors
from kb_pipeline.services.service import Service, retry_after
from kb_pipeline.services.urls import azure_url
from kb_pipeline.services.usage import record_usage
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from mistralai.azure.client import MistralAzure
    from mistralai.azure.client.errors import MistralAzureError
    from mistralai.azure.client.models import OCRPageObject


@contextmanager
def translated_errors(service: Service, model: str, seconds: float) -> Iterator[None]:
    """Turn the errors of the SDK and its HTTP client into ours; ``model`` is the deployment in use.

    Raises:
        KnowledgeBaseError: the service refused, is busy, did not answer within ``seconds``, or cannot be reached.
    """
    import httpx2
    from mistralai.azure.client.errors import MistralAzureError, NoResponseError

    try:
        yield
    except MistralAzureError as exc:
        raise _refused(service, model, exc) from service.safe_cause(exc)
    except httpx2.TimeoutException as exc:
        raise service.silent(seconds) from exc
    except (httpx2.HTTPError, httpx2.InvalidURL, NoResponseError) as exc:
        raise service.unreachable(exc) from service.safe_cause(exc)


def _refused(service: Service, model: str, error: "MistralAzureError") -> KnowledgeBaseError:
    status, message = error.status_code, _error_message(error.body)
    if status < 300:  # sometimes the whole body of a successful answer is: null
        return TransientError(f"{service.place} answered {status} without pages; try again")
    if status == 404:
        message += f"; there must be a deployment {model} (KB_MISTRAL_MODEL)"
    return service.refused(status, message.removeprefix("; "), retry_after(error.headers))


def _error_message(body: str) -> str:
    """The message of an error by Azure, Mistral or a gateway, without the request that it repeats."""
    try:
        content: Any = json.loads(body)
    except ValueError:
        return body
    while isinstance(content, dict):
        content = next((content[key] for key in ("error", "message", "detail", "msg") if content.get(key)), "")
    if not isinstance(content, list):
        return str(content)
    # a validation error: https://fastapi.tiangolo.com/tutorial/handling-errors/
    return "; ".join(
        f"{'.'.join(map(str, entry.get('loc', ())))}: {entry.get('msg', '')}" if isinstance(entry, dict) else str(entry)
        for entry in content
    )


API_VERSION = "2024-05-01-preview"
SCOPE = "https://cognitiveservices.azure.com/.default"
"""The audience of tokens for Foundry resources and all models on them
(https://learn.microsoft.com/azure/ai-foundry/foundry-models/how-to/configure-entra-id)."""

MAX_PAGES = 30
"""The service's limit for the pages of a request on Azure."""
MAX_BYTES = 30_000_000 * 3 // 4
"""The service accepts 30 MB of base64, which has four characters for three bytes."""
_LONGEST_PAUSE = 20.0
"""Longest wait for a busy service in seconds; if it asks for more, only the build tries again."""


class _IncompleteError(ServiceError):
    """Pages are missing although they were paid for: worth one more try, but not in every run."""


class MistralOcr:
    """Reads PDFs with the deployment of the settings."""

    def __init__(self, settings: Settings) -> None:
        """Read the settings; nothing is sent yet.

        Raises:
            SettingsError: the endpoint is missing, or would receive the key unencrypted.
        """
        endpoint = (settings.mistral_endpoint or "").strip()
        if not endpoint:
            raise SettingsError(
                "KB_MISTRAL_ENDPOINT is not set; the analyzer mistral-doc-ai needs the address of a Foundry resource "
                f"that has {settings.mistral_model} deployed: https://NAME.services.ai.azure.com"
            )
        self._settings = settings
        self.service = Service(
            name="Mistral Document AI",
            endpoint=azure_url("KB_MISTRAL_ENDPOINT", endpoint),
            endpoint_setting="KB_MISTRAL_ENDPOINT",
            key_setting="KB_MISTRAL_API_KEY",
            role="Cognitive Services User",
            key=settings.mistral_api_key,
        )

    def read(self, pdf: bytes) -> list[str]:
        """Return the markdown of each page of a PDF of any length.

        Raises:
            TransientError: the service is busy or cannot be reached.
            ServiceError: the service refuses access or the document, leaves out pages twice, or finds no text.
            ArticleError: a page is too large for the service, or the PDF is encrypted or damaged.
        """
        # Two tries, so that one fault among many parts does not have all of them read, and paid for, again.
        tries = after_transient_errors(2, _LONGEST_PAUSE, _is_passing)
        pages: list[str] = []
        for part in split_pdf(pdf, MAX_PAGES, MAX_BYTES):
            with waiting():
                pages += tries(self._read, part)
        if not any(map(str.strip, pages)):
            raise ServiceError(f"{self.service.place} found no text in the PDF")
        return pages

    def _read(self, part: PdfPart) -> list[str]:
        model = self._settings.mistral_model
        data = base64.b64encode(part.pdf).decode("ascii")
        with translated_errors(self.service, model, self._settings.service_timeout_seconds):
            answer = self._client.ocr.process(
                model=model,
                document={"type": "document_url", "document_url": f"data:application/pdf;base64,{data}"},
                include_image_base64=False,
                include_blocks=None,
            )
        record_usage(Usage(model=model, calls=1, pages=answer.usage_info.pages_processed))
        # Deployments number pages from 0 or from 1, but always in the order of the document.
        pages = [_markdown(page) for page in answer.pages]
        self._require_all(part, pages)
        return pages

    def _require_all(self, part: PdfPart, pages: list[str]) -> None:
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
            client=httpx2.Client(params={"api-version": API_VERSION}),  # unlike the SDK's own, follows no redirect
            timeout_ms=int(self._settings.service_timeout_seconds * 1000),
        )


def _is_passing(error: BaseException) -> bool:
    if isinstance(error, TransientError):
        return (error.retry_after or 0) <= _LONGEST_PAUSE
    return isinstance(error, _IncompleteError)


def _markdown(page: "OCRPageObject") -> str:
    """The text of a page, with its separate tables put back and without the supposed pictures."""
    text = page.markdown
    for table in page.tables or ():
        text = text.replace(f"[{table.id}]({table.id})", table.content)
    for image in page.images:
        text = text.replace(f"![{image.id}]({image.id})", "")
    return text
