"""``python -m app``: serve the agent service, and with ``KB_ONE_PORT`` the chat page, until a signal stops it.

As a hosted agent it listens where the Foundry platform says, by ``PORT``.
"""

import sys

from azure.ai.agentserver.core import AgentConfig
from fastapi import FastAPI
from starlette.types import ASGIApp

from app.logs.redacting import configure_logging
from app.settings import AppSettings, load_app_settings
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.settings import load_settings
from kb_pipeline.web.server import pass_over_what_is_loaded, run_server

_STOP_SECONDS = 10
"""Seconds for answers that are being written; Kubernetes kills after 30."""
_EVERYWHERE = "0.0.0.0"  # noqa: S104  (Foundry reaches the containers of its hosted agents, and nobody else does)


def main() -> int:
    """Serve the service; return 2 with a message if it cannot be opened with these settings."""
    configure_logging()
    from app.api.server import create_app

    hosted = AgentConfig.from_env()
    try:
        settings = load_app_settings()
        service = create_app(settings, load_settings(), when_warm=pass_over_what_is_loaded)
        app = _with_page(service, settings) if settings.one_port and not hosted.is_hosted else service
    except KnowledgeBaseError as exc:
        sys.stderr.write(f"error: {exc}\n")
        return 2
    host, port = (_EVERYWHERE, hosted.port) if hosted.is_hosted else (settings.app_host, settings.app_port)
    run_server(app, host, port, stop_seconds=_STOP_SECONDS, ws="websockets-sansio", log_config=None)
    return 0


def _with_page(service: FastAPI, settings: AppSettings) -> ASGIApp:
    from app.one_port import OnePort  # with Streamlit
    from app.page.server import create_page

    return OnePort(service, create_page(settings, settings.app_host))


if __name__ == "__main__":
    sys.exit(main())
