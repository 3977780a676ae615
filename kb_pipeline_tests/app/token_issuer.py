"""An issuer of access tokens for tests: ``oauth2-mock-server``, with real keys, discovery and signatures.

Its tokens hold the claims that Entra ID's hold, as its documentation describes them:
https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from app.callers.access_tokens import FOR_OTHERS, ROLE, SCOPE
from kb_pipeline_tests.app.cosmos_server import NODE_FOLDER
from kb_pipeline_tests.app.model_servers import NODE

AUDIENCE = "11111111-2222-3333-4444-555555555555"


@dataclass(frozen=True)
class TokenIssuer:
    """A running issuer. A claim of ``None`` is left out of a token."""

    url: str

    def token(self, **claims: Any) -> str:
        form = {"grant_type": "client_credentials", "claims": json.dumps({"aud": AUDIENCE, **claims})}
        reply = httpx.post(f"{self.url}/token", data=form).raise_for_status()
        return str(reply.json()["access_token"])

    def of_person(self, user: str, *groups: str, **claims: Any) -> dict[str, str]:
        """The header by which a program calls for a person who signed in to it."""
        whose = {"sub": f"pairwise-{user}", "oid": user, "preferred_username": f"{user}@example.com"}
        return bearer(self.token(**{**whose, "groups": list(groups), "scp": f"openid {SCOPE}", **claims}))

    def of_program(self, program: str, **claims: Any) -> dict[str, str]:
        """The header by which a program calls for itself."""
        return bearer(self.token(**{"sub": program, "oid": program, "roles": [ROLE], **claims}))

    def of_page(self) -> str:
        """The token of the page's identity."""
        return self.token(sub="page", oid="page", roles=[FOR_OTHERS])


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def running_issuer() -> Iterator[TokenIssuer]:
    command = [str(NODE), "token_issuer.mjs"]
    with subprocess.Popen(
        command, cwd=NODE_FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        try:
            yield TokenIssuer(process.stdout.readline().strip())
        finally:
            process.stdin.close()  # ends it, as our own death would
            process.wait(60)


@pytest.fixture(scope="session")
def token_issuer() -> Iterator[TokenIssuer]:
    with running_issuer() as issuer:
        yield issuer
