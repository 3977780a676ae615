"""The service as a fake on loopback, ready for use, and the analyzer that asks it."""

from collections.abc import Iterator

import pytest

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.settings import Settings
from kb_pipeline_tests.content_understanding_service import ContentUnderstandingService, content_understanding_service


@pytest.fixture
def service() -> Iterator[ContentUnderstandingService]:
    with content_understanding_service() as running:
        yield running


@pytest.fixture
def analyzer(service: ContentUnderstandingService) -> Analyzer:
    return open_analyzer(Settings(**service.settings()))
