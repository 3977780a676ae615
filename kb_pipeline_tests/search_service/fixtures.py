"""Fixtures for tests against the fake, with and without the contract proxy in between."""

from collections.abc import Iterator

import pytest

from kb_pipeline.search.azure.catalog import AzureSearchCatalog
from kb_pipeline.search.base import SearchIndex
from kb_pipeline.settings import Settings
from kb_pipeline_tests.contracts.search_samples import generation
from kb_pipeline_tests.prism import SEARCH_SPEC, prism_proxy
from kb_pipeline_tests.search_service.app import ADMIN_KEY
from kb_pipeline_tests.search_service.running import RunningService, running_service


def search_settings(url: str, **fields: object) -> Settings:
    known = {"index": "azure-ai-search", "search_endpoint": url, "search_api_key": ADMIN_KEY}
    return Settings.model_validate(known | fields)


def open_generation(settings: Settings, **fields: object) -> SearchIndex:
    return AzureSearchCatalog(settings).open(generation(**fields))


@pytest.fixture(scope="session")
def running_search() -> Iterator[RunningService]:
    with running_service() as running:
        yield running


@pytest.fixture
def fake(running_search: RunningService) -> RunningService:
    """A service that knows nothing yet."""
    running_search.clear()
    return running_search


@pytest.fixture(scope="session")
def checked_url(running_search: RunningService) -> Iterator[str]:
    """The fake behind the contract proxy."""
    with prism_proxy(SEARCH_SPEC, running_search.url) as url:
        yield url
