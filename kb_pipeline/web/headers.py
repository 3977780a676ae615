"""An ASGI middleware that adds headers to every response, including those of the application that it wraps."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


PRIVATE = {"referrer-policy": "no-referrer", "x-content-type-options": "nosniff"}
"""Browsers tell other sites nothing of where a reader was, and take nothing for another kind than it is sent as."""
_ENFORCED_TOGETHER = b"content-security-policy"


class AddedHeaders:
    """Adds headers that the application does not send itself.

    A security policy is always added: browsers enforce all of them.
    """

    def __init__(self, app: "ASGIApp", headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass the request on."""

        async def send_with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                sent = {name.lower() for name, _ in message["headers"]} - {_ENFORCED_TOGETHER}
                added = [(name, value) for name, value in self._headers if name not in sent]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._app(scope, receive, send_with_headers)
