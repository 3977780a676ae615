"""An ASGI application on a real port of this process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from kb_pipeline.web.server import HEADER_BYTES, GuardedProtocol


@contextmanager
def serving_app(app: ASGIApp, port: int = 0) -> Iterator[str]:
    """Its URL, while it runs; ``port``: any that is free, unless one is named."""
    limits = {"http": GuardedProtocol, "h11_max_incomplete_event_size": HEADER_BYTES}
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=2, **limits))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        assert thread.is_alive()
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
