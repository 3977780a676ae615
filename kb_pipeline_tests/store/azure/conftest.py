"""A storage account for tests, its requests counted, and one that answers as a test says."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from upath import UPath

from kb_pipeline.settings import Settings
from kb_pipeline.store.azure_retry import BoundedRetry
from kb_pipeline.store.place import remote_path
from kb_pipeline_tests.azurite import KEY, NAME, Containers

__all__ = ["requests", "root", "serving"]


@pytest.fixture
def root(containers: Containers, settings: Settings) -> UPath:
    """The staging folder, empty."""
    there = containers.settings(settings)
    return remote_path(there.staging, "staging", there)


@pytest.fixture
def serving(containers: Containers, settings: Settings) -> UPath:
    there = containers.settings(settings)
    return remote_path(there.serving or "", "serving", there)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Methods of the requests that are sent from now on, tries of the same one counted once."""
    seen: list[str] = []
    send = BoundedRetry.send

    def counted(policy: BoundedRetry, request):
        seen.append(request.http_request.method)
        return send(policy, request)

    monkeypatch.setattr(BoundedRetry, "send", counted)
    return seen


@dataclass
class Answers:
    """An account that answers every request with the next of ``statuses``, and the last for ever."""

    statuses: list[int]
    headers: dict[str, str] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    url: str = ""

    def settings(self, settings: Settings, **credentials: str) -> Settings:
        string = f"AccountName={NAME};AccountKey={KEY};BlobEndpoint={self.url};"
        given = credentials or {"staging_connection_string": string}
        return Settings(**settings.model_dump(exclude={"staging"}) | {"staging": "abfs://stage/articles", **given})


@contextmanager
def answering(*statuses: int, **headers: str) -> Iterator[Answers]:
    answers = Answers(list(statuses), headers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers.seen.append(self.path)
            status = answers.statuses.pop(0) if len(answers.statuses) > 1 else answers.statuses[0]
            self.send_response(status)
            for name, value in {**answers.headers, "Content-Length": "0"}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()

        do_HEAD = do_PUT = do_DELETE = do_GET

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    answers.url = f"http://127.0.0.1:{server.server_port}/{NAME}"
    try:
        yield answers
    finally:
        server.shutdown()
        server.server_close()
