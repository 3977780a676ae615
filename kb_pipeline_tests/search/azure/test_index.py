"""The index on Azure AI Search keeps every promise of a search index."""

from functools import partial

import pytest

from kb_pipeline_tests.contracts.search_concurrency import SearchConcurrencyContract
from kb_pipeline_tests.contracts.search_contract import Opener, SearchIndexContract
from kb_pipeline_tests.search_service.fixtures import open_generation, search_settings
from kb_pipeline_tests.search_service.running import RunningService


@pytest.fixture
def opened(fake: RunningService) -> Opener:
    return partial(open_generation, search_settings(fake.url))


@pytest.mark.rare("the contract once more, without a check of what goes over the wire")
class TestAzureSearchIndex(SearchIndexContract):
    pass


@pytest.mark.slow("many requests to the search's double")
class TestThroughTheContract(SearchIndexContract):
    """Every request and every answer is checked by the contract proxy."""

    @pytest.fixture
    def opened(self, fake: RunningService, checked_url: str) -> Opener:
        return partial(open_generation, search_settings(checked_url))


@pytest.mark.rare("the contract once more, of many processes")
class TestAzureSearchConcurrency(SearchConcurrencyContract):
    pass
