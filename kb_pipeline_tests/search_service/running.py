"""Runs the fake: in a thread of a test, or as a process of its own for a benchmark."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import uvicorn

from kb_pipeline_tests.search_service.app import SearchApp
from kb_pipeline_tests.search_service.service import FakeSearchService


class RunningService:
    """A fake on a loopback port, with what is needed to look into it."""

    def __init__(self, port: int, app: SearchApp) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.app = app
        self.service = app.service
        self.faults = app.faults

    def clear(self) -> None:
        """A new service at the same place, without faults."""
        self.app.service = self.service = FakeSearchService()
        self.app.faults = self.faults = type(self.faults)()
        self.app.identity = None
        self.app.counts.clear()
        self.app.most_busy = 0


@contextlib.contextmanager
def running_service() -> Iterator[RunningService]:
    """A fake that ends with the block."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = SearchApp(FakeSearchService())
    server = uvicorn.Server(uvicorn.Config(app.asgi, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield RunningService(listening.getsockname()[1], app)
    finally:
        server.should_exit = server.force_exit = True
        thread.join(10)
        listening.close()
