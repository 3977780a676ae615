"""Runs our web servers with Uvicorn, protected against clients that are slow, silent or send too much.

There are time limits for the headers and the body of a request, and for reading the response. The size of headers and
of WebSocket messages, and the number of connections, are limited. The application limits the size of bodies.
"""

import asyncio
import gc
from typing import Any, Literal

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

HEADER_BYTES = 64 * 1024
"""Largest headers of a request; the groups in headers of Easy Auth fill many kilobytes."""
HEADER_SECONDS = 10.0
"""Seconds to send a head, and to be silent between requests."""
BODY_SECONDS = 30.0
"""Seconds to send a body: a picture over a slow line."""
UNREAD_SECONDS = 60.0
"""How long a client may take to read what is sent to it."""
MOST_CONNECTIONS = 500
"""Concurrent connections; half of the files that a process may usually open."""
WEBSOCKET_BYTES = 1024 * 1024
"""Largest WebSocket message; those of the page hold a question and the state of its widgets."""


class GuardedProtocol(H11Protocol):
    """HTTP/1.1 with a deadline for everything that the server waits for.

    h11 limits the size of headers, chunk headers and trailers, by ``h11_max_incomplete_event_size``.
    """

    _deadline: asyncio.TimerHandle | None = None
    _unread_deadline: asyncio.TimerHandle | None = None
    _awaited: object = None
    """The part of a request that is awaited, as h11's state of the client."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self.logger.warning("a connection was refused: there are %d already", MOST_CONNECTIONS)
            transport.abort()
            return
        self._await_client()

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._deadline, self._unread_deadline)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        self._await_client()

    def on_response_complete(self) -> None:
        self._awaited = None
        super().on_response_complete()
        self._await_client()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        _cancel(self._deadline)  # the WebSocket protocol notices by itself when a client is gone
        super().handle_websocket_upgrade(event)
        self._awaited = h11.SWITCHED_PROTOCOL

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_deadline = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        _cancel(self._unread_deadline)
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _await_client(self) -> None:
        """Set the deadline for the part of the request that is awaited now, unless it is set already."""
        state = self.conn.their_state
        if state is self._awaited or self._awaited is h11.SWITCHED_PROTOCOL:
            return
        _cancel(self._deadline)
        self._awaited = state
        seconds = {h11.IDLE: HEADER_SECONDS, h11.SEND_BODY: BODY_SECONDS}.get(state)
        if seconds is not None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(seconds, self._refuse, 408, "The request took too long.")

    def _refuse(self, status: int, words: str) -> None:
        """Send an error, unless a response has begun, and close the connection."""
        if self.transport.is_closing():
            return
        if self.cycle and not self.cycle.response_complete:
            self.cycle.disconnected = True  # whatever the application sends from now on is dropped
            self.cycle.message_event.set()
        silent = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE) and not silent:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
            response = h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES[status])
            for event in (response, h11.Data(data=words.encode()), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def _cancel(*deadlines: asyncio.TimerHandle | None) -> None:
    for deadline in deadlines:
        if deadline:
            deadline.cancel()


def run_server(
    app: ASGIApp,
    host: str,
    port: int,
    *,
    stop_seconds: int,
    ws: Literal["auto", "websockets-sansio"] = "auto",
    log_level: str = "warning",
    **options: Any,
) -> None:
    """Serve until the process is told to end; ``options`` are further options of ``uvicorn.run``."""
    uvicorn.run(
        app,
        host=host,
        port=port,
        http=GuardedProtocol,
        h11_max_incomplete_event_size=HEADER_BYTES,
        ws=ws,
        ws_max_size=WEBSOCKET_BYTES,
        log_level=log_level,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=stop_seconds,
        **options,
    )


def pass_over_what_is_loaded() -> None:
    """Leave what is loaded by now, which stays, out of all later collections of garbage: each would look through it.

    That holds up all requests of the service. Of the chat page, after whose every run Streamlit collects, it took more
    than the run: of 0.17 seconds of a core for a visit 0.05 are left, of 0.41 for a question 0.14.
    """
    gc.collect()
    gc.freeze()
