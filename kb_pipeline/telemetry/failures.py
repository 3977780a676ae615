"""Sends failures of the pipeline as log records, with what a person needs to find them again."""

import logging
import time
from functools import cache
from typing import TYPE_CHECKING

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.secrets import without_secrets
from kb_pipeline.telemetry.destinations import read_destinations

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider

SERVICE = "kb-pipeline"
_log = logging.getLogger(__name__)


def report_failure(message: str, **where: str) -> None:
    """Send a failure as an error, if logs have a destination; ``where`` are its attributes, such as ``run_id``.

    Nothing waits until it has arrived, and a destination that cannot be used is only logged.
    """
    provider = _provider()
    if provider is None:
        return
    from opentelemetry._logs import LogRecord, SeverityNumber

    attributes = {f"kb.{name}": value for name, value in where.items() if value}
    provider.get_logger(SERVICE).emit(
        LogRecord(
            timestamp=time.time_ns(),
            severity_text="ERROR",
            severity_number=SeverityNumber.ERROR,
            body=message,
            attributes={**attributes},
        )
    )


@cache
def _provider() -> "LoggerProvider | None":
    """The provider of this process, opened at its first failure."""
    try:
        destinations = read_destinations()
        if not destinations.of("logs"):
            return None
        from kb_pipeline.telemetry.providers import logger_provider, send_the_rest_at_the_end

        provider = logger_provider(destinations, SERVICE, without_secrets)
    except KnowledgeBaseError as exc:
        _log.warning("failures are not reported: %s", exc)
        return None
    send_the_rest_at_the_end([provider])
    return provider
