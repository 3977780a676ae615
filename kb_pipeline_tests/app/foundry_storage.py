"""A fake of the store in which the Foundry platform keeps the responses of its hosted agents.

It is written from the requests of Microsoft's own client, ``azure.ai.agentserver.responses.store``: paths, bodies, and
that each request has a token for https://ai.azure.com. A user's data are found by the call id, which the platform gives
to each request of a user. It listens by TLS, because the client sends tokens to nothing else.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kb_pipeline_tests.certificates import new_certificate
from kb_pipeline_tests.managed_identity import ManagedIdentity

AUDIENCE = "https://ai.azure.com"
PROJECT = "/api/projects/kb"


@dataclass
class FoundryStorage:
    """What is kept, by user; ``users`` says whose call each id is."""

    identity: ManagedIdentity
    users: dict[str, str]
    certificate: Path = Path()
    url: str = ""
    responses: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    items: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)

    def user_of(self, request: Request) -> str | None:
        """Whose request it is; ``None`` if it may not come in."""
        if not self.identity.accepts(request.headers.get("authorization"), AUDIENCE):
            return None
        return self.users.get(request.headers.get("x-agent-foundry-call-id", ""))

    async def create(self, request: Request) -> Response:
        if (user := self.user_of(request)) is None:
            return _refused()
        body = await request.json()
        key = (user, body["response"]["id"])
        self.responses[key], self.items[key] = body["response"], body["input_items"]
        return JSONResponse(body["response"], 201)

    async def one(self, request: Request) -> Response:
        if (user := self.user_of(request)) is None:
            return _refused()
        key = (user, request.path_params["response_id"])
        if key not in self.responses:
            return JSONResponse({"error": {"code": "not_found", "message": "there is no such response"}}, 404)
        if request.method == "POST":
            self.responses[key] = await request.json()
        if request.method == "DELETE":
            del self.items[key]
            return JSONResponse(self.responses.pop(key))
        return JSONResponse(self.responses[key])

    async def input_items(self, request: Request) -> Response:
        if (user := self.user_of(request)) is None:
            return _refused()
        return JSONResponse({"data": self.items.get((user, request.path_params["response_id"]), [])})

    async def history(self, request: Request) -> Response:
        """The ids of the items of a response and of all that it follows, oldest first."""
        if (user := self.user_of(request)) is None:
            return _refused()
        ids: list[str] = []
        before: str | None = request.query_params.get("previous_response_id")
        while before and (found := self.responses.get((user, before))):
            ids = [item["id"] for item in [*self.items[user, before], *found["output"]]] + ids
            before = found.get("previous_response_id")
        return JSONResponse(ids)

    async def retrieve(self, request: Request) -> Response:
        if (user := self.user_of(request)) is None:
            return _refused()
        known = {
            item["id"]: item
            for (owner, response_id), response in self.responses.items()
            if owner == user
            for item in [*self.items[owner, response_id], *response["output"]]
        }
        return JSONResponse([known.get(each) for each in (await request.json())["item_ids"]])


def _refused() -> Response:
    return JSONResponse({"error": {"code": "forbidden", "message": "this call is not known"}}, 403)


@contextmanager
def foundry_storage(folder: Path, identity: ManagedIdentity, users: dict[str, str]) -> Iterator[FoundryStorage]:
    certificate, key = new_certificate(folder)
    storage = FoundryStorage(identity, users, certificate)
    at = f"{PROJECT}/storage"
    app = Starlette(
        routes=[
            Route(f"{at}/responses", storage.create, methods=["POST"]),
            Route(f"{at}/responses/{{response_id}}", storage.one, methods=["GET", "POST", "DELETE"]),
            Route(f"{at}/responses/{{response_id}}/input_items", storage.input_items),
            Route(f"{at}/history/item_ids", storage.history),
            Route(f"{at}/items/batch/retrieve", storage.retrieve, methods=["POST"]),
        ]
    )
    config = uvicorn.Config(app, port=0, log_level="error", ssl_certfile=certificate, ssl_keyfile=key)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        assert thread.is_alive()
    storage.url = f"https://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}{PROJECT}"
    try:
        yield storage
    finally:
        server.should_exit = True
        thread.join(20)
