"""A managed identity on loopback: the endpoints by which App Service, Container Apps and virtual machines give tokens.

https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference
https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
"""

import base64
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from kb_pipeline.services.service import azure_credential

HEADER = "header-of-the-app-service"
_APP_SERVICE = "/msi/token"
_VIRTUAL_MACHINE = "/metadata/identity/oauth2/token"
_OF_AN_IDENTITY = ("AZURE_", "IDENTITY_", "MSI_")


class ManagedIdentity:
    """What was asked of it and given by it; ``lifetime`` and ``status`` say how it goes on.

    A token that lives less than 5 minutes is asked for again at every call; one of a negative ``lifetime`` is
    expired when it comes. A ``status`` other than 200 refuses: 400 means that there is no identity here.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.lifetime = 3600.0
        self.status = 200
        self.audiences: list[str] = []
        """What tokens were asked for, oldest first: ``https://search.azure.com``."""
        self.tokens: list[str] = []
        """Those that were given; no two are alike."""
        self.issue: Callable[[], str] | None = None
        """Who makes the tokens; without it they have no real signature."""

    def audience_of(self, token: str) -> str:
        """Whom one of these tokens is for."""
        return str(_claims(token)["aud"])

    def accepts(self, authorization: str | None, audience: str) -> bool:
        """Whether a service of this audience lets in who sends the ``Authorization`` header."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme != "Bearer" or token not in self.tokens:
            return False
        return self.audience_of(token) == audience and float(_claims(token)["exp"]) > time.time()

    def answer(self, target: str, headers: Any) -> tuple[int, dict[str, Any]]:
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        known = {_APP_SERVICE: headers["X-IDENTITY-HEADER"] == HEADER, _VIRTUAL_MACHINE: headers["Metadata"] == "true"}
        if not known.get(path) or "resource" not in query:
            return 400, {"error": "invalid_request", "error_description": "Required metadata header not specified"}
        self.audiences.append(query["resource"][0])
        if self.status != 200:
            refusal = {"statusCode": self.status, "message": "No identity"}
            return self.status, refusal | {"error": "invalid_request", "error_description": "Identity not found"}
        return 200, self._token(self.audiences[-1])

    def _token(self, audience: str) -> dict[str, Any]:
        issued, expires = int(time.time()) - 5, int(time.time() + self.lifetime)
        whose = {"aud": audience, "iss": "https://sts.windows.net/0-0-0-0-2/", "oid": "0-0-0-0-1", "tid": "0-0-0-0-2"}
        when = {"iat": issued, "nbf": issued, "exp": expires}
        self.tokens.append(self.issue() if self.issue else _jwt({**whose, **when, "jti": len(self.tokens)}))
        return {
            "access_token": self.tokens[-1],
            "expires_on": str(expires),
            "expires_in": str(int(self.lifetime)),
            "resource": audience,
            "token_type": "Bearer",
        }


def _jwt(claims: dict[str, Any]) -> str:
    parts = ({"alg": "RS256", "typ": "JWT"}, claims)
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, "c2lnbmF0dXJl"])


def _claims(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    return claims


class QuietServer(ThreadingHTTPServer):
    """Does not mind clients that go away."""

    def handle_error(self, *_: object) -> None:
        pass


@contextmanager
def identity_server() -> Iterator[ManagedIdentity]:
    """A running managed identity that nobody knows of yet."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body = identity.answer(self.path, self.headers)
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    with QuietServer(("127.0.0.1", 0), Handler) as server:
        identity = ManagedIdentity(f"http://127.0.0.1:{server.server_address[1]}")
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield identity
        finally:
            server.shutdown()


@contextmanager
def signed_in(monkeypatch: pytest.MonkeyPatch, *, virtual_machine: bool = False) -> Iterator[ManagedIdentity]:
    """Run as a managed identity, of an app (or a virtual machine): this process and those it starts."""
    for name in [name for name in os.environ if name.startswith(_OF_AN_IDENTITY)]:
        monkeypatch.delenv(name)
    with identity_server() as identity:
        monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
        if virtual_machine:
            monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", identity.url)
        else:
            monkeypatch.setenv("IDENTITY_ENDPOINT", f"{identity.url}{_APP_SERVICE}")
            monkeypatch.setenv("IDENTITY_HEADER", HEADER)
        azure_credential.cache_clear()
        try:
            yield identity
        finally:
            azure_credential.cache_clear()
