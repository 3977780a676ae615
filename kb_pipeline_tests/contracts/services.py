"""The stand-ins of the services that a backend needs, so that its contract suite can run on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kb_pipeline_tests.content_understanding_service import content_understanding_service
from kb_pipeline_tests.mistral_service import mistral_service
from kb_pipeline_tests.openai_server import openai_server


@contextmanager
def services_of(backend: str) -> Iterator[dict[str, Any]]:
    """The settings with which the backend finds its services, while they run; none for one that needs none."""
    match backend:
        case "openai":
            with openai_server() as server:
                yield server.settings
        case "content-understanding":
            with content_understanding_service() as service:
                yield service.settings()
        case "mistral-doc-ai":
            with mistral_service() as settings:
                yield settings
        case _:
            yield {}
