"""The container of conversations in an Azure Cosmos DB account: opens or creates it, and explains its failures."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
)

from app.settings import AppSettings
from kb_pipeline.errors import KnowledgeBaseError, MissingExtraError, SettingsError, StorageError, TransientError
from kb_pipeline.services.service import BUSY, one_line, retry_after, safe_cause

if TYPE_CHECKING:
    from azure.cosmos.aio import ContainerProxy, CosmosClient
    from azure.identity.aio import DefaultAzureCredential

PARTITION_KEY = "/userId"
_BUSY = BUSY | {410, 449}  # a partition moved; retry with
_THROTTLED_TRIES = 4
"""Fewer than the SDK's nine, because a reader waits."""
_THROTTLED_SECONDS = 10
"""The longest that all of them wait; the SDK's default is 30."""
_INDEXING: dict[str, Any] = {
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": "/entries/*"}, {"path": '/"_etag"/?'}],
}


class CosmosAccount:
    """Opens the container when it is first used."""

    def __init__(self, settings: AppSettings) -> None:
        """Nothing is sent before the container is used.

        Raises:
            MissingExtraError: the packages are not installed.
        """
        try:
            import aiohttp  # noqa: F401  (the client needs it but does not depend on it)
            import azure.cosmos  # noqa: F401
        except ImportError as exc:
            raise MissingExtraError("KB_CONVERSATIONS=cosmos", "cosmos") from exc
        self._settings = settings
        self._opening = asyncio.Lock()
        self._open = AsyncExitStack()
        self._container: ContainerProxy | None = None

    async def container(self) -> "ContainerProxy":
        """The container, which is created if it is missing."""
        async with self._opening:
            if self._container is None:
                try:
                    with self.translated_errors():
                        self._container = await self._open_or_create(await self._client())
                except BaseException:
                    await self._open.aclose()
                    raise
            return self._container

    async def close(self) -> None:
        self._container = None
        await self._open.aclose()

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Turn failures of the service into our errors, which name the setting to check."""
        try:
            yield
        except ClientAuthenticationError as exc:
            raise self._unauthorised(f"the service could not sign in: {one_line(str(exc))}") from safe_cause(exc)
        except HttpResponseError as exc:
            raise self._refused(exc) from safe_cause(exc)
        except AzureError as exc:
            endpoint = self._settings.cosmos_endpoint
            message = f"{endpoint} cannot be reached ({one_line(str(exc))}); check KB_COSMOS_ENDPOINT"
            raise TransientError(message) from safe_cause(exc)

    async def _open_or_create(self, client: "CosmosClient") -> "ContainerProxy":
        names = self._settings
        container = client.get_database_client(names.cosmos_database).get_container_client(names.cosmos_container)
        try:
            properties = await container.read()
        except ResourceNotFoundError:
            return await self._create(client)
        if properties["partitionKey"]["paths"] != [PARTITION_KEY]:
            raise SettingsError(
                f"the container {names.cosmos_container} is partitioned by {properties['partitionKey']['paths']}, not "
                f"by {PARTITION_KEY}; name another one in KB_COSMOS_CONTAINER, it is created if it is missing"
            )
        return container

    async def _create(self, client: "CosmosClient", races: int = 2) -> "ContainerProxy":
        from azure.cosmos import PartitionKey

        names, by_user = self._settings, PartitionKey(path=PARTITION_KEY)
        try:
            database = await client.create_database_if_not_exists(names.cosmos_database)
            return await database.create_container_if_not_exists(
                names.cosmos_container, partition_key=by_user, indexing_policy=_INDEXING
            )
        except ResourceExistsError:  # "if not exists" is not atomic: another process was faster
            if not races:
                raise
            return await self._create(client, races - 1)

    async def _client(self) -> "CosmosClient":
        from azure.cosmos.aio import CosmosClient

        key = self._settings.cosmos_key
        client = CosmosClient(
            str(self._settings.cosmos_endpoint),
            credential=key.get_secret_value() if key else await self._identity(),
            retry_throttle_total=_THROTTLED_TRIES,
            retry_throttle_backoff_max=_THROTTLED_SECONDS,
        )
        self._open.push_async_callback(client.close)
        try:
            await client.__aenter__()
        except ValueError as exc:  # a key that is not base64, before anything was sent
            raise SettingsError(f"KB_COSMOS_KEY or KB_COSMOS_ENDPOINT is malformed: {one_line(str(exc))}") from None
        return client

    async def _identity(self) -> "DefaultAzureCredential":
        from azure.identity.aio import DefaultAzureCredential

        return await self._open.enter_async_context(DefaultAzureCredential())

    def _refused(self, exc: HttpResponseError) -> KnowledgeBaseError:
        status, where = exc.status_code, self._where()
        if status in (401, 403):
            return self._unauthorised(f"status {status}")
        if status == 404:
            return SettingsError(
                f"conversations cannot be kept in {where} (404): there is no such database or container; check "
                "KB_COSMOS_DATABASE and KB_COSMOS_CONTAINER"
            )
        if status in _BUSY:
            wait = retry_after(getattr(exc.response, "headers", {}))
            return TransientError(f"Azure Cosmos DB is busy ({status}); try again", wait)
        if status == 413:
            return StorageError(
                "this is too long to be kept (Azure Cosmos DB takes 2 MB at once); ask something shorter"
            )
        return StorageError(f"conversations cannot be kept in {where}: {one_line(str(exc))}")

    def _unauthorised(self, why: str) -> SettingsError:
        return SettingsError(
            f"conversations may not be kept in {self._where()} ({why}): check KB_COSMOS_KEY, or without a key give "
            "the service's identity the role Cosmos DB Built-in Data Contributor and create the database and the "
            f"container, partitioned by {PARTITION_KEY}, yourself"
        )

    def _where(self) -> str:
        names = self._settings
        return f"{names.cosmos_endpoint}, database {names.cosmos_database}, container {names.cosmos_container}"
