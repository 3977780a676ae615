"""Asks an Azure Cosmos DB account for Gremlin, or another Gremlin server, in the calling thread.

A connection answers one query at a time and is used again. One that was cut, or fell silent, is thrown away.
"""

import asyncio
import logging
import re
import threading
import time
from collections.abc import Mapping
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from kb_pipeline.errors import KnowledgeBaseError, MissingExtraError, QueryFailedError, SettingsError, TransientError
from kb_pipeline.secrets import without_sign_in
from kb_pipeline.services.service import Service
from kb_pipeline.services.urls import LOOPBACK
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from gremlin_python.driver.aiohttp.transport import AiohttpTransport
    from gremlin_python.driver.protocol import GremlinServerError

Bindings = Mapping[str, str | int | float | bool]
RETRIES = 3
"""How often a request is repeated that was refused because the account is busy."""
MOST_BYTES = 64 * 1024 * 1024
"""Most bytes of an answer that are read, whatever a query may have."""
_LONGEST_PAUSE = 10.0
"""Seconds, also if the account asks for more: somebody waits."""
_KEPT = 8
"""Connections that are kept open for the next queries."""
_BUSY = frozenset({408, 409, 412, 429, 449, 503})
"""Statuses of Cosmos DB: throttled, in conflict, or out of time for now."""
_TOO_LONG = frozenset({598, 1004})  # a query that needs more time than it may take: Gremlin Server's and Cosmos DB's
_BACKOFF = wait_random_exponential(multiplier=0.5)
"""Seconds at random, up to twice as many each time, so that callers do not come back together."""
_SPAN = re.compile(r"(?:(?P<hours>\d+):)?(?:(?P<minutes>\d+):)?(?P<seconds>\d+(?:\.\d+)?)")


class GremlinService:
    """The graph that KB_GREMLIN_* name. Nothing is sent before the first query."""

    def __init__(self, settings: Settings, retries: int = RETRIES) -> None:
        """See above.

        Raises:
            MissingExtraError: the package of the driver is not installed.
            SettingsError: there is no address, or it is none to which a key may be sent.
        """
        try:
            import gremlin_python.driver.client  # noqa: F401
        except ImportError as exc:
            raise MissingExtraError("KB_NETWORK=cosmosdb", "cosmos,gremlin") from exc
        logging.getLogger("gremlinpython").setLevel(logging.CRITICAL)  # it repeats what its exceptions say
        self._url = _address(settings.gremlin_endpoint or "")
        self._user = f"/dbs/{settings.gremlin_database}/colls/{settings.gremlin_graph}"
        self._key = settings.gremlin_key.get_secret_value() if settings.gremlin_key else ""
        self._retries = retries
        self.service = Service(
            "Azure Cosmos DB for Gremlin", self._url, "KB_GREMLIN_ENDPOINT", "KB_GREMLIN_KEY", "", settings.gremlin_key
        )
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []
        self._is_closed = False

    def ask(
        self, query: str, bindings: Bindings | None = None, *, seconds: float, most_bytes: int = MOST_BYTES
    ) -> list[Any]:
        """All results of a query. A busy service is asked again, at most three times, after the pause it asks for.

        Raises:
            QueryFailedError: the query is wrong, took too long, or has too large an answer.
            TransientError: the service is busy, or cannot be reached.
            ServiceRefusedError: it refused the key, or has no such graph.
        """
        deadline = time.monotonic() + seconds
        tries = Retrying(
            retry=retry_if_exception_type(TransientError),
            stop=stop_after_attempt(self._retries + 1) | stop_before_delay(seconds),
            wait=_pause,
            reraise=True,
        )
        return tries(self._once, query, bindings, deadline, seconds, most_bytes)

    def close(self) -> None:
        """Close all connections; a query that is under way, or asked later, closes its own."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._is_closed = True
        for connection in idle:
            connection.close()

    def _once(
        self, query: str, bindings: Bindings | None, deadline: float, seconds: float, most_bytes: int
    ) -> list[Any]:
        from gremlin_python.driver.protocol import GremlinServerError

        with self._lock:
            connection = self._idle.pop() if self._idle else _Connection(self._url, self._user, self._key)
        try:
            results = connection.ask(query, bindings, deadline, most_bytes)
        except GremlinServerError as exc:  # the connection is as good as before
            self._keep(connection)
            raise self._failure(exc, seconds) from self.service.safe_cause(exc)
        except Exception as exc:
            connection.close()
            raise self._broken(exc, seconds) from self.service.safe_cause(exc)
        self._keep(connection)
        return results

    def _keep(self, connection: "_Connection") -> None:
        with self._lock:
            if len(self._idle) < _KEPT and not self._is_closed:  # or nobody would close it
                self._idle.append(connection)
                return
        connection.close()

    def _failure(self, error: "GremlinServerError", seconds: float) -> KnowledgeBaseError:
        """The error for an answer with a status. Azure tells the status that it means among the attributes."""
        attributes = error.status_attributes if isinstance(error.status_attributes, Mapping) else {}
        status = int(attributes.get("x-ms-status-code") or error.status_code)
        words = self.service.words(_message(str(error.status_message)))
        if status in _BUSY:
            return TransientError(
                f"{self.service.place} is busy ({status}): {words}; ask again, or for less",
                _seconds(attributes.get("x-ms-retry-after-ms")),
            )
        if status in _TOO_LONG:
            return _too_long(seconds)
        if status in (401, 403, 404):
            return self.service.refused(status, words)
        return QueryFailedError(f"the graph cannot answer this ({status}): {words}; check the steps and names"[:2000])

    def _broken(self, error: Exception, seconds: float) -> KnowledgeBaseError:
        """The error for a connection that did not open, was cut, or fell silent."""
        import aiohttp
        from gremlin_python.driver.protocol import ConfigurationError

        if isinstance(error, KnowledgeBaseError):
            return error
        if isinstance(error, ConfigurationError):  # it was asked for a key, and there is none
            return self.service.refused(401)
        if isinstance(error, TimeoutError | FutureTimeoutError):
            return _too_long(seconds)
        status = error.status if isinstance(error, aiohttp.ClientResponseError) else 0
        if status in (401, 403, 404):
            return self.service.refused(status, str(error))
        return self.service.unreachable(f"{type(error).__name__}: {error}")


class _Connection:
    """One connection of the driver, with a limit of time and bytes for each query."""

    def __init__(self, url: str, user: str, key: str) -> None:
        from gremlin_python.driver.client import Client
        from gremlin_python.driver.serializer import GraphSONSerializersV2d0

        self._limit = _Limit()
        self._transports: list[AiohttpTransport] = []
        self._client: Client = Client(
            url,
            "g",
            transport_factory=self._transport,
            message_serializer=GraphSONSerializersV2d0(),
            username=user,
            password=key,
            pool_size=1,
            max_workers=1,
        )

    def ask(self, query: str, bindings: Bindings | None, deadline: float, most_bytes: int) -> list[Any]:
        self._limit.deadline, self._limit.bytes = deadline, most_bytes
        results = self._client.submit_async(query, dict(bindings or {})).result(self._limit.left())
        return list(results.all().result(self._limit.left() + 1))  # the transport gives up first

    def close(self) -> None:
        with suppress(Exception):  # it may be broken already
            self._client.close()
        # the driver forgets a connection on which a query was still under way
        for transport in self._transports:
            transport.close()

    def _transport(self) -> "AiohttpTransport":
        transport = _limited_transport(self._limit)
        self._transports.append(transport)
        return transport


class _Limit:
    """What the query under way may take."""

    deadline = 0.0
    bytes = MOST_BYTES

    def left(self) -> float:
        """The seconds that are left."""
        return max(self.deadline - time.monotonic(), 0.001)


def _limited_transport(limit: _Limit) -> "AiohttpTransport":
    """The driver's transport, which by itself would wait forever and read anything."""
    import aiohttp
    from gremlin_python.driver.aiohttp.transport import AiohttpTransport

    class Transport(AiohttpTransport):  # type: ignore[misc]
        _is_given_up = False

        def connect(self, url: str, headers: Mapping[str, str] | None = None) -> None:
            async def opened() -> None:
                self._client_session = aiohttp.ClientSession()
                self._websocket = await self._client_session.ws_connect(
                    url, headers=headers, max_msg_size=MOST_BYTES, timeout=aiohttp.ClientWSTimeout(ws_close=0.5)
                )

            try:
                self._loop.run_until_complete(asyncio.wait_for(opened(), limit.left()))
            except BaseException:
                self.close()
                raise

        def read(self) -> bytes:
            self._read_timeout = limit.left()
            try:
                data = super().read()
            finally:
                if self._is_given_up:
                    self.close()
            if not isinstance(data, bytes):
                raise ConnectionResetError("the server closed the connection")
            limit.bytes -= len(data)
            if limit.bytes < 0:
                raise QueryFailedError("the answer is too large; ask for fewer elements or properties, or count them")
            return data

        def close(self) -> None:
            self._is_given_up = True
            if self._loop.is_running():  # the driver's thread reads, and closes it when that has ended
                return
            # a broken connection raises when it is closed, and only the second time the rest is closed as well
            for _ in range(2):
                with suppress(Exception):
                    super().close()

    return Transport()


def _address(endpoint: str) -> str:
    """The address of a server, which Azure also shows without a scheme, or with that of a browser.

    Raises:
        SettingsError: there is none, or a key would be sent to it without encryption.
    """
    if not endpoint:
        raise SettingsError("KB_NETWORK is cosmosdb, which needs a graph; set KB_GREMLIN_ENDPOINT and KB_GREMLIN_KEY")
    address = endpoint.strip() if "://" in endpoint else f"wss://{endpoint.strip()}"
    address = re.sub(r"^http(s?)://", r"ws\1://", address)
    try:
        parts = urlsplit(address)
        usable = parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        usable, parts = "", urlsplit("")
    if not usable or parts.scheme not in ("wss", "ws") or (parts.scheme == "ws" and parts.hostname not in LOOPBACK):
        raise SettingsError(
            f"KB_GREMLIN_ENDPOINT is {without_sign_in(endpoint)!r}; it must be like "
            "wss://NAME.gremlin.cosmos.azure.com, because a key is sent to encrypted addresses only"
        )
    return parts._replace(path=parts.path or "/").geturl()


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    pause = error.retry_after if isinstance(error, TransientError) else None
    return min(_BACKOFF(state) if pause is None else pause, _LONGEST_PAUSE)


def _seconds(asked: object) -> float | None:
    """The seconds to wait: Azure writes milliseconds as a number, or a span like 00:00:01.5000000."""
    if isinstance(asked, int | float):
        return max(float(asked), 0.0) / 1000
    match = _SPAN.fullmatch(str(asked or "").strip())
    if not match:
        return None
    if ":" not in match.group():
        return float(match["seconds"]) / 1000
    return int(match["hours"]) * 3600 + int(match["minutes"] or 0) * 60 + float(match["seconds"])


def _message(text: str) -> str:
    """What a person needs of a message: Azure wraps it into a report with the type and source of the exception."""
    match = re.search(
        r"ExceptionMessage\s*:\s*(.+?)(?:\r?\n\s*(?:Source|Context|Scope|GraphInterOp\w*|HResult)\b|\Z)", text, re.S
    )
    return match[1] if match else text


def _too_long(seconds: float) -> QueryFailedError:
    return QueryFailedError(f"the query took longer than {seconds:g} seconds; ask for fewer elements or less depth")
