"""A service on loopback that refuses everything and quotes what it was sent, credentials and all."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from kb_pipeline_tests.managed_identity import QuietServer

SECRET = "UExBTlRFRC1TRUNSRVQ9PT1QTEFOVEVELVNFQ1JFVA=="
"""To be planted wherever a secret can be set; valid base64, because account keys are."""


@contextmanager
def quoting_server(status: int) -> Iterator[str]:
    """The address of a running one."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def refuse(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            said = f"not with {dict(self.headers)} at {self.path}"
            body = json.dumps({"error": {"code": "Refused", "message": said}, "message": said}).encode()
            self.send_response(status)
            for name, value in (
                ("Content-Type", "application/json"),
                ("Content-Length", len(body)),
                ("Retry-After", 0),
            ):
                self.send_header(name, str(value))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = refuse

        def log_message(self, *_: object) -> None:
            pass

    with QuietServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
