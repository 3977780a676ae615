"""``kb-webserver``: Dagster's webserver, with all its options, behind our request guard.

``kb serve`` and the deployments start this one, because Dagster's own accepts GraphQL mutations in the URL of a GET and
from forms, under any host name.
"""

import sys
from typing import TYPE_CHECKING, Any

from dagster_webserver import cli
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.datastructures import Headers

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import load_settings
from kb_pipeline.web.guard import RequestGuard, send_problem
from kb_pipeline.web.headers import PRIVATE, AddedHeaders
from kb_pipeline.web.server import run_server

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from kb_pipeline.defs.dagster_internals import IWorkspaceProcessContext

_HEALTH_PATHS = frozenset({"/server_info"})
_DEFAULT_PORT = 3000  # Dagster's own
_STOP_SECONDS = 3
"""Seconds for requests under way; open pages ask again by themselves."""
_HEADERS = {**PRIVATE, "content-security-policy": "frame-ancestors 'self'; base-uri 'none'; object-src 'none'"}
"""Dagster's page has a policy for its scripts itself. Other sites may not embed the UI in a frame, where they could
trick users into clicking (clickjacking)."""


class GraphQLByPost:
    """Refuses GraphQL in the URL of a GET, mutations included, but lets browsers load the GraphQL editor."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"].endswith("/graphql")
        # Dagster tells its editor from a query by the same header
        if reads and "text/html" not in Headers(scope=scope).get("accept", ""):
            advice = "send GraphQL by POST, as JSON: any page could hide the URL of a GET in an image"
            await send_problem(send, 405, "method_not_allowed", advice)
        else:
            await self._app(scope, receive, send)


def guarded(app: "ASGIApp", host: str) -> RequestGuard:
    """Dagster's application with all guards, for serving it on ``host``."""
    return RequestGuard(
        AddedHeaders(GraphQLByPost(app), _HEADERS),
        bound_to=host,
        allowed_hosts=load_settings().allowed_hosts,
        health_paths=_HEALTH_PATHS,
        json_only=True,
    )


def _serve(
    workspace_process_context: "IWorkspaceProcessContext[Any]",
    host: str | None,
    port: int | None,
    path_prefix: str,
    log_level: str,
    live_data_poll_rate: int | None = None,
) -> None:
    """The last step of Dagster's command, with the guard, and without the thread that uploads telemetry."""
    app = create_app_from_workspace_process_context(
        workspace_process_context, path_prefix, live_data_poll_rate, lifespan=cli._lifespan
    )
    host = host or "127.0.0.1"
    run_server(guarded(app, host), host, port or _DEFAULT_PORT, stop_seconds=_STOP_SECONDS, log_level=log_level)


def main() -> None:
    """Run the command line of ``dagster-webserver``, after a check of our settings."""
    try:
        load_settings()
    except SettingsError as exc:
        sys.stderr.write(f"error: {exc}\n")
        sys.exit(2)
    # the only place where Dagster lets us wrap the application
    cli.host_dagster_ui_with_workspace_process_context = _serve
    cli.main()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
