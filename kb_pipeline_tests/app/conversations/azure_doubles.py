"""A server on loopback that plays what of Azure no ready one plays: refusals of Cosmos DB."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, Any]]


class RefusingCosmos:
    """An account whose containers are there and empty while ``status`` is 200, and which else refuses."""

    endpoint = ""
    status = 200

    def answer(self, path: str) -> Answer:
        if path == "/":
            here = [{"name": "here", "databaseAccountEndpoint": self.endpoint}]
            return 200, {"id": "account", "writableLocations": here, "readableLocations": here}
        if self.status != 200:
            return self.status, {"code": "Refused", "message": "the words of the service"}
        if path.endswith("/docs/"):
            return 200, {"Documents": [], "_count": 0}
        if path.endswith("/pkranges/"):
            whole = {"id": "0", "minInclusive": "", "maxExclusive": "FF"}
            return 200, {"PartitionKeyRanges": [whole], "_count": 1}
        return 200, {"id": "conversations", "_self": "x", "_rid": "x", "partitionKey": {"paths": ["/userId"]}}


@contextmanager
def refusing_cosmos() -> Iterator[RefusingCosmos]:
    account = RefusingCosmos()
    with _serving(account.answer) as account.endpoint:
        yield account


@contextmanager
def _serving(answer: Callable[[str], Answer]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            status, body = answer(self.path)
            text = json.dumps(body).encode()
            self.send_response(status)
            for name, value in (("content-type", "application/json"), ("content-length", str(len(text)))):
                self.send_header(name, value)
            self.send_header("x-ms-retry-after-ms", "20")
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
