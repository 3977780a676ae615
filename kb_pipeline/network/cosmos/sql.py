"""The containers of telemetry in an Azure Cosmos DB account for NoSQL: queries of readers, and rows of the loader."""

import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kb_pipeline.errors import MissingExtraError, QueryFailedError, SettingsError
from kb_pipeline.network.cosmos.sql_gate import VERSION
from kb_pipeline.services.service import Service, azure_credential, one_line
from kb_pipeline.services.urls import azure_url
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from azure.cosmos import ContainerProxy, CosmosClient

_THROTTLED_TRIES = 4
"""Fewer than the SDK's nine, because somebody waits."""
_THROTTLED_SECONDS = 10
"""The longest that all of them wait; the SDK's default is 30."""
_PAGE = 1000
"""Rows of an answer of the service, which has 4 MB at most."""
_BATCH = 100
_BATCH_BYTES = 1_500_000
"""Azure takes 100 operations and 2 MB in one batch."""
_CONNECT_SECONDS = 10
"""Seconds to connect; an account that takes longer is down."""
_INDEXING: dict[str, Any] = {"includedPaths": [{"path": "/*"}], "excludedPaths": [{"path": '/"_etag"/?'}]}


class TelemetryService:
    """The database that KB_TELEMETRY_* name. Nothing is sent before it is used."""

    def __init__(self, settings: Settings, throttled_tries: int = _THROTTLED_TRIES) -> None:
        """See above.

        Raises:
            MissingExtraError: the SDK is not installed.
            SettingsError: the address is none.
        """
        try:
            import azure.cosmos  # noqa: F401
        except ImportError as exc:
            raise MissingExtraError("KB_NETWORK=cosmosdb", "cosmos,gremlin") from exc
        self._endpoint = settings.telemetry_endpoint and azure_url("KB_TELEMETRY_ENDPOINT", settings.telemetry_endpoint)
        self._key, self._database = settings.telemetry_key, settings.telemetry_database
        self._tries = throttled_tries
        self.service = Service(
            *("Azure Cosmos DB for NoSQL", self._endpoint or "", "KB_TELEMETRY_ENDPOINT", "KB_TELEMETRY_KEY"),
            role="Cosmos DB Built-in Data Reader (its loader: Data Contributor)",
            key=self._key,
        )
        self._lock = threading.Lock()
        self._client: CosmosClient | None = None

    def rows(self, container: str, query: str, parameters: Iterable[tuple[str, str]], seconds: float) -> Iterator[Any]:
        """The results of a query, page by page.

        Raises:
            QueryFailedError: the query is wrong, or took too long.
            TransientError: the service is busy, or cannot be reached.
            ServiceRefusedError: it refused our credentials, or has no such container.
        """
        from azure.cosmos.exceptions import CosmosClientTimeoutError, CosmosHttpResponseError

        deadline = time.monotonic() + seconds
        try:
            with self.service.translated_errors():
                try:
                    results = self._opened(container).query_items(
                        query,
                        parameters=[{"name": name, "value": value} for name, value in parameters],
                        enable_cross_partition_query=True,
                        max_item_count=_PAGE,
                        timeout=seconds,
                        read_timeout=seconds,
                    )
                    for result in results:
                        if time.monotonic() > deadline:
                            raise TimeoutError
                        yield result
                except CosmosHttpResponseError as exc:
                    if exc.status_code != 400:
                        raise
                    raise QueryFailedError(f"{_reason(exc.message)}; check the query and ask again"[:2000]) from exc
                except CosmosClientTimeoutError as exc:
                    raise TimeoutError from exc
        except TimeoutError as exc:
            raise QueryFailedError(
                f"the query took longer than {seconds:g} seconds; ask for fewer rows or a shorter time"
            ) from exc

    def ensure(self, container: str, partition_key: str, time_column: str) -> None:
        """Create a container if it is missing.

        Raises:
            SettingsError: it has another partition key, or may not be created.
        """
        from azure.cosmos import PartitionKey
        from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceNotFoundError

        with self.service.translated_errors():
            try:
                paths = self._opened(container).read()["partitionKey"]["paths"]
            except CosmosResourceNotFoundError:
                by_time = [{"path": f"/{name}", "order": "ascending"} for name in (partition_key, time_column)]
                indexing = {**_INDEXING, "compositeIndexes": [by_time]}
                try:
                    database = self._account().create_database_if_not_exists(self._database)
                    database.create_container_if_not_exists(
                        container, PartitionKey(path=f"/{partition_key}"), indexing_policy=indexing
                    )
                except CosmosHttpResponseError as exc:
                    if exc.status_code not in (401, 403):
                        raise
                    raise SettingsError(
                        f"{self.service.place} has no container {container} in the database {self._database}, and this "
                        f"identity may not create it; create it, partitioned by /{partition_key}"
                    ) from self.service.safe_cause(exc)
                return
        if paths != [f"/{partition_key}"]:
            raise SettingsError(
                f"the container {container} is partitioned by {', '.join(paths)}, not by /{partition_key}; name that "
                "in partition_key of the scenario's manifest, or another database in KB_TELEMETRY_DATABASE"
            )

    def write(self, container: str, partition: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert or replace the rows of one partition, each by its id."""
        with self.service.translated_errors():
            proxy = self._opened(container)
            for batch in _batches(rows):
                proxy.execute_item_batch([("upsert", (row,)) for row in batch], partition_key=partition)

    def delete(self, container: str, partition: str, ids: Sequence[str]) -> None:
        """Delete rows of one partition that are there."""
        with self.service.translated_errors():
            proxy = self._opened(container)
            for start in range(0, len(ids), _BATCH):
                operations = [("delete", (each,)) for each in ids[start : start + _BATCH]]
                proxy.execute_item_batch(operations, partition_key=partition)

    def count(self, container: str, version: str, seconds: float) -> int:
        """How many rows a version has."""
        query = f"SELECT VALUE COUNT(1) FROM c WHERE c.{VERSION} = @v"  # noqa: S608
        return sum(self.rows(container, query, [("@v", version)], seconds))

    def close(self) -> None:
        """Close the client; a later query opens a new one."""
        with self._lock:
            client, self._client = self._client, None
        if client:
            client.close()

    def _opened(self, container: str) -> "ContainerProxy":
        return self._account().get_database_client(self._database).get_container_client(container)

    def _account(self) -> "CosmosClient":
        from azure.cosmos import CosmosClient

        if not self._endpoint:
            raise SettingsError("KB_NETWORK is cosmosdb, and the scenario has telemetry; set KB_TELEMETRY_ENDPOINT")
        with self._lock:
            if self._client is None:
                try:
                    self._client = CosmosClient(
                        self._endpoint,
                        credential=self._key.get_secret_value() if self._key else azure_credential(),
                        retry_throttle_total=self._tries,
                        retry_throttle_backoff_max=_THROTTLED_SECONDS,
                        connection_timeout=_CONNECT_SECONDS,
                    )
                except ValueError as exc:  # a key that is not base64, before anything was sent
                    raise SettingsError(
                        f"KB_TELEMETRY_KEY or KB_TELEMETRY_ENDPOINT is malformed: {one_line(str(exc))}"
                    ) from None
            return self._client


def _batches(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    batch: list[Mapping[str, Any]] = []
    size = 0
    for row in rows:
        length = len(json.dumps(row))
        if batch and (len(batch) == _BATCH or size + length > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += length
    if batch:
        yield batch


def _reason(message: str) -> str:
    """What is wrong with a query: the service wraps it into JSON, with ids of the request."""
    line = one_line(message)
    start = line.find('"message":"')
    return line[start + 11 :].split('"', 1)[0] if start >= 0 else line
