"""Logging of the service and the page, to stderr, without secrets and without ids of responses and of links to them.

An id of a response is sensitive because it helps to read the response; that of a link lets others read it.
"""

import copy
import logging
import re

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.secrets import without_secrets

_RESPONSE_ID = re.compile(r"\b(caresp)_\w+|\b(share)_[\w-]{20,}")


def hidden(text: str) -> str:
    """The text without secrets and without ids of responses."""
    return _RESPONSE_ID.sub(lambda match: f"{match[1] or match[2]}_...", without_secrets(text))


class RedactingFormatter(logging.Formatter):
    """Hides secrets and ids in whole entries and tracebacks, because libraries log addresses and responses.

    An error that we raised on purpose says what is wrong and where, so libraries that log it get no traceback.
    """

    def format(self, record: logging.LogRecord) -> str:
        if record.exc_info and (raised := _raised_on_purpose(record.exc_info[1])):
            record = copy.copy(record)
            record.msg, record.args = f"{record.getMessage()} ({raised})", None
            record.exc_info = record.exc_text = None
        return hidden(super().format(record))


def _raised_on_purpose(error: BaseException | None) -> KnowledgeBaseError | None:
    """Return our error, if this is one, or was raised because of one."""
    while error is not None and not isinstance(error, KnowledgeBaseError):
        error = error.__cause__
    return error


def configure_logging() -> None:
    """Log warnings and errors of all libraries; uvicorn's too, if it has no log configuration of its own."""
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    # it logs a warning about experimental features on import, and one for every 404
    logging.getLogger("azure.ai.agentserver").setLevel(logging.ERROR)
