"""What is missing is said when the analyzer is opened, before anything is sent."""

import pickle

import pytest

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.analyzers.content_understanding.analyzer import ANALYZER_ID
from kb_pipeline.errors import MissingExtraError, ServiceRefusedError, SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline_tests.analyzers.content_understanding.material import POST, analyzer_of, convert
from kb_pipeline_tests.content_understanding_service import ContentUnderstandingService


def test_an_endpoint_is_needed() -> None:
    with pytest.raises(SettingsError, match="KB_CONTENT_UNDERSTANDING_ENDPOINT is not set"):
        open_analyzer(Settings(analyzer="content-understanding"))


@pytest.mark.parametrize("endpoint", ["http://kb.services.ai.azure.com", "kb.services.ai.azure.com", "ftp://kb"])
def test_a_key_is_sent_to_an_encrypted_endpoint_only(endpoint: str) -> None:
    with pytest.raises(SettingsError, match=r"KB_CONTENT_UNDERSTANDING_ENDPOINT is .* must begin with https://"):
        analyzer_of(ContentUnderstandingService(endpoint))


def test_missing_packages_are_named(service: ContentUnderstandingService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb_pipeline.analyzers.content_understanding.client.find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"kb-pipeline\[azure\]"):
        analyzer_of(service)


def test_one_that_was_used_travels_to_another_process(analyzer: Analyzer) -> None:
    convert(analyzer)
    assert convert(pickle.loads(pickle.dumps(analyzer))) == convert(analyzer)


def test_a_check_has_a_page_and_an_image_analysed(service: ContentUnderstandingService, analyzer: Analyzer) -> None:
    assert ANALYZER_ID in analyzer.check()
    assert len(service.asked("POST", POST)) == 2
    del service.defaults["gpt-4.1"]
    with pytest.raises(ServiceRefusedError, match="kb analyzers setup"):
        analyzer.check()
