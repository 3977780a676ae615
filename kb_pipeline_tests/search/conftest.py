"""The stand-in for Azure AI Search, started once for all tests that need it."""

from kb_pipeline_tests.search_service.fixtures import checked_url, fake, running_search  # noqa: F401
