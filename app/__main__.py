"""``python -m app``: the agent service, until it is told to end."""

import logging
import sys

import uvicorn

from app.settings import load_app_settings
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.settings import load_settings

_STOP_SECONDS = 10


def main() -> int:
    """Serve; what is wrong with the settings is said in a sentence."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # it warns of its own experimental parts when it is imported, and of every 404
    logging.getLogger("azure.ai.agentserver").setLevel(logging.ERROR)
    from app.api.server import create_app

    try:
        settings = load_app_settings()
        app = create_app(settings, load_settings())
    except KnowledgeBaseError as exc:
        sys.stderr.write(f"error: {exc}\n")
        return 2
    uvicorn.run(
        app,
        host=settings.app_host,
        port=settings.app_port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
