"""The connection to an Azure AI Search service: checked settings, clients made at first use, errors explained."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import SecretStr

from kb_pipeline.errors import MissingExtraError
from kb_pipeline.search.azure_errors import explained
from kb_pipeline.search.azure_settings import check_alias, checked_endpoint, checked_key
from kb_pipeline.services import Service, azure_credential
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from azure.core import MatchConditions
    from azure.core.credentials import AzureKeyCredential, TokenCredential
    from azure.search.documents import SearchClient
    from azure.search.documents.indexes import SearchIndexClient
    from azure.search.documents.indexes.models import SearchAlias, SearchIndex

T = TypeVar("T")

_NAME = "Azure AI Search"
_ROLE = "Search Index Data Contributor and Search Service Contributor"


class SearchService:
    """One service, by the settings; each process makes clients of its own, be it given a pickle or forked."""

    def __init__(self, settings: Settings) -> None:
        """Check what is needed; nothing is sent yet.

        Raises:
            SettingsError: the endpoint is missing or no URL, or the key cannot be one.
            MissingExtraError: the SDK is not installed.
        """
        try:
            import azure.search.documents  # noqa: F401
        except ImportError as exc:
            raise MissingExtraError(_NAME, "azure") from exc
        self.settings = settings
        self.endpoint = checked_endpoint(settings)
        check_alias(settings)
        self._key = checked_key(settings)
        self._clients: dict[tuple[int, str], Any] = {}
        self._described = Service(
            _NAME, self.endpoint, "KB_SEARCH_ENDPOINT", "KB_SEARCH_API_KEY", _ROLE, SecretStr(self._key)
        )

    def __reduce__(self) -> tuple[type["SearchService"], tuple[Settings]]:
        """Travel between processes without connections."""
        return type(self), (self.settings,)

    @contextmanager
    def explained(self, index: str = "") -> Iterator[None]:
        """Turn what the SDK raises into ``SearchError``; where an ``index`` is named, its absence is told as such."""
        with explained(self._described, self.settings.service_timeout_seconds, index):
            yield

    @property
    def place(self) -> str:
        """Name and address, for messages."""
        return self._described.place

    @property
    def definitions(self) -> "SearchIndexClient":
        """For indexes and aliases."""
        from azure.search.documents.indexes import SearchIndexClient

        return self._client("", lambda: SearchIndexClient(self.endpoint, self._credential(), **self._options()))

    def documents(self, index: str) -> "SearchClient":
        """For the documents of an index."""
        from azure.search.documents import SearchClient

        return self._client(index, lambda: SearchClient(self.endpoint, index, self._credential(), **self._options()))

    def _client(self, name: str, make: Callable[[], T]) -> T:
        """The client of this process: two that write to one connection get each other's answers."""
        key = (os.getpid(), name)
        if key not in self._clients:
            self._clients[key] = make()
        client: T = self._clients[key]
        return client

    def read_index(self, name: str) -> "SearchIndex | None":
        """The definition of an index as it is now, with its ETag; ``None`` if there is none."""
        return self._read(lambda: self.definitions.get_index(name))

    def put_index(self, definition: "SearchIndex") -> bool:
        """Make or replace a definition, unless somebody was faster; without an ETag there must be none yet."""
        return self._put(lambda on: self.definitions.create_or_update_index(definition, match_condition=on), definition)

    def read_document(self, index: str, key: str, select: list[str]) -> dict[str, Any] | None:
        """One document; ``None`` if there is none."""
        found = self._read(lambda: self.documents(index).get_document(key, selected_fields=select))
        return None if found is None else dict(found)

    def takes_filter(self, index: str, condition: str) -> bool:
        """Whether documents can be filtered so: not by a field that is not there or not filterable."""
        from azure.core.exceptions import HttpResponseError

        with self.explained(index):
            try:
                list(self.documents(index).search(search_text="*", filter=condition, top=1))
            except HttpResponseError as exc:
                if exc.status_code != 400:
                    raise
                return False
        return True

    def read_alias(self, name: str) -> "SearchAlias | None":
        """An alias as it is now, with its ETag; ``None`` if there is none."""
        return self._read(lambda: self.definitions.get_alias(name))

    def put_alias(self, alias: "SearchAlias") -> bool:
        """Make or move an alias, unless somebody was faster; without an ETag there must be none yet."""
        return self._put(lambda on: self.definitions.create_or_update_alias(alias, match_condition=on), alias)

    def delete_index(self, name: str) -> bool:
        """Delete an index, if there is one; ``False`` when the service keeps it because an alias names it.

        https://learn.microsoft.com/rest/api/searchservice/preview-api/delete-alias
        """
        from azure.core.exceptions import HttpResponseError

        with self.explained():
            try:
                self.definitions.delete_index(name)
            except HttpResponseError as exc:
                if exc.status_code != 400:
                    raise
                return False
        return True

    def _read(self, get: Callable[[], T]) -> T | None:
        from azure.core.exceptions import ResourceNotFoundError

        with self.explained():
            try:
                return get()
            except ResourceNotFoundError:
                return None

    def _put(self, put: "Callable[[MatchConditions], object]", thing: "SearchIndex | SearchAlias") -> bool:
        from azure.core import MatchConditions
        from azure.core.exceptions import ResourceExistsError, ResourceModifiedError

        with self.explained():
            try:
                put(MatchConditions.IfNotModified if thing.e_tag else MatchConditions.IfMissing)
            except (ResourceModifiedError, ResourceExistsError):
                return False
        return True

    def _credential(self) -> "AzureKeyCredential | TokenCredential":
        from azure.core.credentials import AzureKeyCredential

        return AzureKeyCredential(self._key) if self._key else azure_credential()

    def _options(self) -> dict[str, Any]:
        from kb_pipeline.azure_policies import TokensOverLoopback
        from kb_pipeline.search.azure_policies import SearchRetries

        timeout = self.settings.service_timeout_seconds
        signs_on_loopback = not self._key and self.endpoint.startswith("http://")
        return {
            "retry_policy": SearchRetries(),
            "per_call_policies": [TokensOverLoopback()] if signs_on_loopback else [],
            "permit_redirects": False,  # the key would go along, to whatever host is named
            "connection_timeout": min(10.0, timeout),
            "read_timeout": timeout,
        }
