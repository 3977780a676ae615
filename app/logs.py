"""Logging of the service and the page, to stderr, without secrets and without ids of responses.

An id of a response is sensitive because it helps to read the response.
"""

import logging
import re

from kb_pipeline.secrets import without_secrets

_RESPONSE_ID = re.compile(r"\bcaresp_\w+")


def hidden(text: str) -> str:
    """The text without secrets and without ids of responses."""
    return _RESPONSE_ID.sub("caresp_...", without_secrets(text))


class RedactingFormatter(logging.Formatter):
    """Hides secrets and ids in whole entries and tracebacks, because libraries log addresses and responses."""

    def format(self, record: logging.LogRecord) -> str:
        return hidden(super().format(record))


def configure_logging() -> None:
    """Log warnings and errors of all libraries; uvicorn's too, if it has no log configuration of its own."""
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    # it logs a warning about experimental features on import, and one for every 404
    logging.getLogger("azure.ai.agentserver").setLevel(logging.ERROR)
