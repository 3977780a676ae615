"""``python -m app.page``: the chat page, until it is told to end."""

import argparse
import sys

import uvicorn

from app.page.server import create_page
from app.settings import load_app_settings
from kb_pipeline.errors import SettingsError

_STOP_SECONDS = 3


def main() -> int:
    """Serve; what is wrong with the settings is said in a sentence."""
    try:
        settings = load_app_settings()
    except SettingsError as exc:
        sys.stderr.write(f"error: {exc}\n")
        return 2
    options = argparse.ArgumentParser(prog="python -m app.page", description="Serve the chat page.")
    options.add_argument("--port", type=int, default=settings.page_port)
    options.add_argument("--host", default="127.0.0.1")
    where = options.parse_args()
    uvicorn.run(
        create_page(settings, where.host),
        host=where.host,
        port=where.port,
        ws="websockets-sansio",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
