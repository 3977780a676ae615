"""By key or by identity, to the endpoint of the settings and nowhere else, and nobody else ever sees it."""

import logging

import pytest
from starlette.responses import RedirectResponse, Response

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.errors import KnowledgeBaseError, ServiceError, ServiceRefusedError
from kb_pipeline_tests.analyzers.content_understanding.material import POST, RESULT, analyzer_of, convert, failing
from kb_pipeline_tests.content_understanding_service import (
    AUDIENCE,
    KEY,
    OTHER_HOST,
    ContentUnderstandingService,
    content_understanding_service,
    refusal,
)
from kb_pipeline_tests.managed_identity import signed_in


def test_by_key(service: ContentUnderstandingService, analyzer: Analyzer) -> None:
    convert(analyzer)
    assert all(request.headers["ocp-apim-subscription-key"] == KEY for request in service.requests)


def test_by_identity(service: ContentUnderstandingService, monkeypatch: pytest.MonkeyPatch) -> None:
    with signed_in(monkeypatch) as service.identity:
        assert convert(analyzer_of(service)).markdown
        assert set(service.identity.audiences) == {AUDIENCE}
    assert not any("ocp-apim-subscription-key" in request.headers for request in service.requests)


def test_without_identity_a_person_is_told_what_to_do(
    service: ContentUnderstandingService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with signed_in(monkeypatch) as service.identity:
        service.identity.status = 400
        with pytest.raises(ServiceRefusedError, match="KB_CONTENT_UNDERSTANDING_API_KEY"):
            convert(analyzer_of(service))


def test_the_key_goes_nowhere_else(service: ContentUnderstandingService, analyzer: Analyzer) -> None:
    with content_understanding_service(ready=False) as thief:
        result = f"{thief.url}/contentunderstanding/analyzerResults/1"
        service.answer_next("POST", POST, Response(status_code=202, headers={"Operation-Location": result}))
        service.answer_next("GET", RESULT, RedirectResponse(result))
        with pytest.raises(ServiceError, match="307"):
            convert(analyzer)
        assert thief.requests == []
    assert OTHER_HOST not in service.url


@pytest.mark.slow("builds a whole knowledge base")
def test_no_message_log_or_repr_holds_the_key(
    service: ContentUnderstandingService, analyzer: Analyzer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.answer_next("POST", POST, refusal(400, "Bad", f"your key {KEY} is wrong"))
    with pytest.raises(KnowledgeBaseError) as refused:
        convert(analyzer)
    convert(analyzer)
    service.spoil = failing("Bad", f"your key {KEY} is wrong")
    with pytest.raises(ServiceError, match="is wrong") as failed:
        convert(analyzer)
    shown = f"{refused.getrepr()} {failed.getrepr()} {caplog.text} {analyzer!r} {vars(analyzer)}"
    assert KEY not in shown
