"""``/mcp``: the tools by the Model Context Protocol over HTTP, behind the same gate as every other route.

The gate says who asks, and refuses foreign host names and pages. Each message is answered by itself, without sessions.
"""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Any

from starlette.types import Receive, Scope, Send

from app.api.gate import asking
from app.api.mcp_server import mcp_server
from app.api.problems import problem
from app.service import AgentService
from kb_pipeline.errors import SettingsError

if TYPE_CHECKING:
    from mcp.server import Server

PATH = "/mcp"


class McpEndpoint:
    """The ASGI application of the route. The SDK is imported at the first request, because it takes 25 MB."""

    def __init__(self, service: AgentService) -> None:
        self._service = service
        self._opening = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with self._opening:
                server = await asyncio.to_thread(lambda: self._server)
        except SettingsError as exc:
            await problem(501, "not_installed", str(exc))(scope, receive, send)
            return
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    @cached_property
    def _server(self) -> "Server[Any]":
        service = self._service
        server = mcp_server(service.offered_tools, asking.get, service.audit, "service", service.image_links)
        import mcp.server.streamable_http_manager  # noqa: F401  (here, in a thread: it takes a while)

        return server
