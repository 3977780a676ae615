"""``python -m app.page``: serve the chat page until a signal stops it."""

import argparse
import sys

from app.client.tracing import trace_calls
from app.logs.redacting import configure_logging
from app.page.server import create_page
from app.settings import load_app_settings
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.web.server import run_server

_STOP_SECONDS = 3
"""Seconds for requests under way; open pages reconnect by themselves."""


def main() -> int:
    """Serve the page; return 2 with a message if a setting is not valid."""
    configure_logging()
    try:
        settings = load_app_settings()
        options = argparse.ArgumentParser(prog="python -m app.page", description="Serve the chat page.")
        options.add_argument("--port", type=int, default=settings.page_port)
        options.add_argument("--host", default="127.0.0.1")
        arguments = options.parse_args()
        trace_calls("kb-app", record_content=settings.record_content)
        page = create_page(settings, arguments.host)
    except KnowledgeBaseError as exc:
        sys.stderr.write(f"error: {exc}\n")
        return 2
    run_server(
        page, arguments.host, arguments.port, stop_seconds=_STOP_SECONDS, ws="websockets-sansio", log_config=None
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
