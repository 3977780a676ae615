"""The connection to an Azure AI Search service: checked settings, clients created on first use, and wrapped errors."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import SecretStr
from tenacity import Retrying

from kb_pipeline.errors import (
    IndexMissingError,
    IndexNotThereError,
    KnowledgeBaseError,
    MissingExtraError,
    SearchError,
    ServiceRefusedError,
    SettingsError,
    TransientError,
)
from kb_pipeline.services.retry import after_conflicts
from kb_pipeline.services.service import Service, azure_credential
from kb_pipeline.services.urls import azure_url
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from azure.core import MatchConditions
    from azure.core.credentials import AzureKeyCredential, TokenCredential
    from azure.search.documents import SearchClient
    from azure.search.documents.indexes import SearchIndexClient
    from azure.search.documents.indexes.models import SearchAlias, SearchIndex


T = TypeVar("T")


class SearchBusyError(SearchError, TransientError):
    """The search service is busy or cannot be reached; a later attempt may work."""


class ContestedError(SearchBusyError):
    """Another writer was first, or the service has not taken up a change yet."""


def until_uncontested(
    change: Callable[[], T], *, attempts: int = 20, first_pause: float = 0.02, longest_pause: float = 1.0
) -> T:
    """Make the change, again after a :class:`ContestedError`; pauses are in seconds.

    Raises:
        ContestedError: the last attempt failed as well.
    """
    policy = after_conflicts(attempts, first_pause, longest_pause, lambda error: isinstance(error, ContestedError))
    return Retrying(**policy)(change)


class SearchRefusedError(SearchError, ServiceRefusedError):
    """The search service refuses access, or does not have the index."""


@contextmanager
def translated_errors(
    service: Service, timeout: float, index: str, missing: Callable[[str], IndexMissingError]
) -> Iterator[None]:
    """Turn the SDK's errors into ours; ``timeout`` is the longest wait for an answer, in seconds.

    ``missing`` makes the error for an index that does not exist.

    Raises:
        IndexMissingError: documents of ``index`` were requested, and the index does not exist.
        SearchError: anything else; also a ``TransientError`` or a ``ServiceRefusedError`` if the answer says so.
    """
    from azure.core.exceptions import ResourceNotFoundError, ServiceResponseTimeoutError

    try:
        with service.translated_errors():
            yield
    except KnowledgeBaseError as exc:
        if isinstance(exc.__cause__, ServiceResponseTimeoutError):
            raise SearchBusyError(str(service.silent(timeout))) from exc.__cause__
        if index and isinstance(exc.__cause__, ResourceNotFoundError):
            raise missing(index) from exc.__cause__
        raise _as_search_error(exc) from exc.__cause__
    except (ValueError, TypeError, AttributeError, KeyError) as exc:  # raised by the SDK when it cannot read an answer
        raise SearchError(
            f"{service.place} gave an answer that cannot be read ({type(exc).__name__}: {service.words(exc)}); "
            f"check {service.endpoint_setting}"
        ) from service.safe_cause(exc)


def _as_search_error(error: KnowledgeBaseError) -> KnowledgeBaseError:
    match error:
        case SearchError():
            return error
        case TransientError():
            return SearchBusyError(str(error), error.retry_after)
        case ServiceRefusedError():
            return SearchRefusedError(str(error))
        case _:
            return SearchError(str(error))


_ALIAS = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_ALIAS = 100
"""The service allows 128 for an index; what the generation adds needs room."""


def checked_vectorizer(settings: Settings, embedder: str) -> tuple[str, str]:
    """Return the Azure OpenAI resource and the model with which the service embeds questions like ``embedder``.

    Raises:
        SettingsError: the service cannot do that.
    """
    kind, _, model = embedder.partition("/")
    if kind != "openai" or not settings.openai_azure_endpoint:
        raise SettingsError(
            "KB_SEARCH_VECTORIZER is set, so the search service embeds questions: that needs "
            f"KB_OPENAI_AZURE_ENDPOINT and KB_EMBEDDER=openai/MODEL, and the embedder is {embedder}"
        )
    return settings.openai_azure_endpoint.rstrip("/"), model.partition("/")[0]


_NAME = "Azure AI Search"
_ROLE = "Search Index Data Contributor and Search Service Contributor"


class SearchService:
    """One service. Each process creates its own clients, whether it was forked or received a pickle."""

    def __init__(self, settings: Settings) -> None:
        """Check the settings; nothing is sent yet.

        Raises:
            SettingsError: the endpoint, the alias or the key is missing or invalid.
            MissingExtraError: the SDK is not installed.
        """
        try:
            import azure.search.documents  # noqa: F401
        except ImportError as exc:
            raise MissingExtraError(_NAME, "azure") from exc
        self.settings = settings
        if not settings.search_endpoint:
            raise SettingsError("KB_INDEX is azure-ai-search, which needs a service; set KB_SEARCH_ENDPOINT")
        self.endpoint = azure_url("KB_SEARCH_ENDPOINT", settings.search_endpoint)
        alias = settings.search_alias
        if not _ALIAS.fullmatch(alias) or len(alias) > _LONGEST_ALIAS:
            raise SettingsError(
                f"KB_SEARCH_ALIAS is {alias!r}; indexes are named after it: up to {_LONGEST_ALIAS} lower-case letters, "
                "digits and single dashes, with no dash at either end"
            )
        self._key = settings.search_api_key.get_secret_value().strip() if settings.search_api_key else ""
        self._clients: dict[tuple[int, str], Any] = {}
        self._described = Service(
            _NAME, self.endpoint, "KB_SEARCH_ENDPOINT", "KB_SEARCH_API_KEY", _ROLE, SecretStr(self._key)
        )

    def __reduce__(self) -> tuple[type["SearchService"], tuple[Settings]]:
        return type(self), (self.settings,)

    @contextmanager
    def translated_errors(self, index: str = "") -> Iterator[None]:
        """Turn the SDK's errors into ours; name the ``index`` if the error is that it is missing."""
        with translated_errors(self._described, self.settings.service_timeout_seconds, index, self.missing):
            yield

    def missing(self, index: str) -> IndexMissingError:
        """Make the error for an index that does not exist; the advice depends on who fills it."""
        message = f"there is no search index {index} in {self.place}"
        if index == self.settings.search_index:
            return IndexNotThereError(f"{message}; check KB_SEARCH_INDEX and KB_SEARCH_ENDPOINT")
        if index == self.settings.search_documents_index:
            return IndexNotThereError(f"{message}; check KB_SEARCH_DOCUMENTS_INDEX and KB_SEARCH_ENDPOINT")
        return IndexMissingError(f"{message}; run: kb ingest")

    @property
    def place(self) -> str:
        """Name and address of the service, for messages."""
        return self._described.place

    @property
    def definitions(self) -> "SearchIndexClient":
        """The client for indexes and aliases."""
        from azure.search.documents.indexes import SearchIndexClient

        return self._client("", lambda: SearchIndexClient(self.endpoint, self._credential(), **self._options()))

    def documents(self, index: str) -> "SearchClient":
        """Return the client for the documents of an index."""
        from azure.search.documents import SearchClient

        return self._client(index, lambda: SearchClient(self.endpoint, index, self._credential(), **self._options()))

    def _client(self, name: str, make: Callable[[], T]) -> T:
        """The client of this process: two processes on one connection would get each other's answers."""
        key = (os.getpid(), name)
        if key not in self._clients:
            self._clients[key] = make()
        client: T = self._clients[key]
        return client

    def read_index(self, name: str) -> "SearchIndex | None":
        """Read the current definition of an index, with its ETag; ``None`` if it does not exist."""
        return self._read(lambda: self.definitions.get_index(name))

    def put_index(self, definition: "SearchIndex") -> bool:
        """Create or replace a definition; return False if its ETag is outdated, or it has none and the index exists."""
        return self._put(lambda on: self.definitions.create_or_update_index(definition, match_condition=on), definition)

    def read_document(self, index: str, key: str, select: list[str]) -> dict[str, Any] | None:
        """Read one document; ``None`` if it does not exist."""
        document = self._read(lambda: self.documents(index).get_document(key, selected_fields=select))
        return None if document is None else dict(document)

    def takes(self, index: str, **arguments: Any) -> bool:
        """Whether a search may have these arguments: not if a field is missing, or is not made for that."""
        from azure.core.exceptions import HttpResponseError

        with self.translated_errors(index):
            try:
                list(self.documents(index).search(**{"search_text": "*", "top": 1, **arguments}))
            except HttpResponseError as exc:
                if exc.status_code != 400:
                    raise
                return False
        return True

    def read_alias(self, name: str) -> "SearchAlias | None":
        """Read the current alias, with its ETag; ``None`` if it does not exist."""
        return self._read(lambda: self.definitions.get_alias(name))

    def put_alias(self, alias: "SearchAlias") -> bool:
        """Create or move an alias; return False if its ETag is outdated, or it has none and the alias exists."""
        return self._put(lambda on: self.definitions.create_or_update_alias(alias, match_condition=on), alias)

    def delete_alias(self, name: str) -> None:
        """Delete an alias if it exists; the index that it names stays."""
        self._read(lambda: self.definitions.delete_alias(name))

    def delete_index(self, name: str) -> bool:
        """Delete an index if it exists; return False if the service keeps it because an alias points to it.

        https://learn.microsoft.com/rest/api/searchservice/preview-api/delete-alias
        """
        from azure.core.exceptions import HttpResponseError

        with self.translated_errors():
            try:
                self.definitions.delete_index(name)
            except HttpResponseError as exc:
                if exc.status_code != 400:
                    raise
                return False
        return True

    def _read(self, get: Callable[[], T]) -> T | None:
        from azure.core.exceptions import ResourceNotFoundError

        with self.translated_errors():
            try:
                return get()
            except ResourceNotFoundError:
                return None

    def _put(self, put: "Callable[[MatchConditions], object]", definition: "SearchIndex | SearchAlias") -> bool:
        from azure.core import MatchConditions
        from azure.core.exceptions import ResourceExistsError, ResourceModifiedError

        with self.translated_errors():
            try:
                put(MatchConditions.IfNotModified if definition.e_tag else MatchConditions.IfMissing)
            except (ResourceModifiedError, ResourceExistsError):
                return False
        return True

    def _credential(self) -> "AzureKeyCredential | TokenCredential":
        from azure.core.credentials import AzureKeyCredential

        return AzureKeyCredential(self._key) if self._key else azure_credential()

    def _options(self) -> dict[str, Any]:
        from kb_pipeline.services.azure import BoundedRetries, TokensOverLoopback

        timeout = self.settings.service_timeout_seconds
        is_token_over_http = not self._key and self.endpoint.startswith("http://")
        return {
            "retry_policy": BoundedRetries(),
            "per_call_policies": [TokensOverLoopback()] if is_token_over_http else [],
            "permit_redirects": False,  # a redirect would send the key to any host it names
            "connection_timeout": min(10.0, timeout),
            "read_timeout": timeout,
        }
