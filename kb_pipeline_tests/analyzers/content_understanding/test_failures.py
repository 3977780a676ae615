"""A service that is busy, refuses, fails, is silent, finds nothing or answers nonsense is never an empty article."""

import time
from typing import Any

import pytest
from starlette.responses import PlainTextResponse, Response

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.analyzers.content_understanding.analyzer import ANALYZER_ID
from kb_pipeline.errors import ServiceError, ServiceRefusedError, TransientError
from kb_pipeline.services.usage import metering
from kb_pipeline_tests.analyzers.content_understanding.material import (
    POST,
    RESULT,
    WHITE,
    analyzer_of,
    convert,
    failing,
)
from kb_pipeline_tests.content_understanding_service import ContentUnderstandingService, refusal
from kb_pipeline_tests.ports import free_port


@pytest.mark.parametrize(
    ("code", "message", "kind", "advice"),
    [
        (
            "ResourceError",
            "needs a 'completion' model deployment, but none was resolved",
            ServiceRefusedError,
            "setup",
        ),
        ("ResourceError", "The Azure OpenAI deployment or resource was not found.", ServiceRefusedError, "setup"),
        ("ResourceError", "(RateLimit, 429, Rate limit exceeded)", TransientError, "try again"),
        ("ResourceError", "Requests have exceeded the token rate limit of your tier.", TransientError, "try again"),
        ("InternalServerError", "An unexpected error occurred.", TransientError, "try again"),
        (
            "InvalidContent",
            "The file is corrupted.",
            ServiceError,
            "InvalidRequest: Invalid request.; InvalidContent",
        ),
    ],
)
def test_a_failed_analysis_is_an_error_that_says_who_can_mend_it(
    service: ContentUnderstandingService, analyzer: Analyzer, code, message, kind, advice
) -> None:
    service.spoil = failing(code, message)
    with pytest.raises(kind, match=f"Content Understanding at .*{advice}") as failed:
        convert(analyzer)
    assert type(failed.value) is kind


@pytest.mark.parametrize("status", ["Failed", "Canceled", "Mysterious"])
def test_a_status_without_reason_is_named(
    service: ContentUnderstandingService, analyzer: Analyzer, status: str
) -> None:
    service.spoil = lambda last: last.update(status=status)
    with pytest.raises(ServiceError, match=status):
        convert(analyzer)


@pytest.mark.parametrize("missing", ["gpt-4.1-mini", "text-embedding-3-large", "prebuilt-analyzer-completion-mini"])
def test_a_missing_model_default_is_no_empty_article(
    service: ContentUnderstandingService, analyzer: Analyzer, missing: str
) -> None:
    del service.defaults[missing]
    with pytest.raises(ServiceRefusedError, match="kb analyzers setup"):
        convert(analyzer)


@pytest.mark.parametrize(
    "result", [{"contents": []}, {"contents": [{"kind": "document"}]}, {"contents": [{"markdown": " \n"}]}, None]
)
def test_nothing_found_is_an_error(service: ContentUnderstandingService, analyzer: Analyzer, result: Any) -> None:
    service.spoil = lambda last: last.update(result=result)
    for analyse in (lambda: convert(analyzer), lambda: analyzer.describe(WHITE)):
        with pytest.raises(ServiceRefusedError, match="kb analyzers status"):
            analyse()


@pytest.mark.parametrize(
    "nonsense", [{"status": 5}, {"result": "text"}, {"result": {"contents": [{"markdown": ["a"]}]}}, {"usage": []}]
)
def test_what_is_not_documented_is_an_error(
    service: ContentUnderstandingService, analyzer: Analyzer, nonsense: dict[str, Any]
) -> None:
    service.spoil = lambda last: last.update(nonsense)
    with pytest.raises(ServiceError, match="does not document"):
        convert(analyzer)


@pytest.mark.parametrize("answer", ["", "<html>Bad gateway</html>", '{"status": "Succ'])
def test_what_is_no_json_may_be_a_gateways(
    service: ContentUnderstandingService, analyzer: Analyzer, answer: str
) -> None:
    service.answer_next("GET", RESULT, PlainTextResponse(answer))
    with pytest.raises(TransientError, match="not JSON"):
        convert(analyzer)


def test_an_analysis_without_address_of_its_result_is_an_error(
    service: ContentUnderstandingService, analyzer: Analyzer
) -> None:
    service.answer_next("POST", POST, Response(status_code=202))
    with pytest.raises(ServiceError, match="where its result will be"):
        convert(analyzer)


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_name_key_and_role(
    service: ContentUnderstandingService, analyzer: Analyzer, status: int
) -> None:
    service.answer_next("POST", POST, refusal(status, str(status), "Access denied."))
    with pytest.raises(ServiceRefusedError, match=r"KB_CONTENT_UNDERSTANDING_API_KEY.*Cognitive Services User"):
        convert(analyzer)


def test_a_missing_analyzer_names_the_command_that_makes_it(
    service: ContentUnderstandingService, analyzer: Analyzer
) -> None:
    service.analyzers.clear()
    with pytest.raises(ServiceRefusedError, match=rf"no analyzer {ANALYZER_ID} \(404\); run: kb analyzers deploy"):
        analyzer.describe(WHITE)


def test_a_resource_without_the_service_names_the_endpoint(
    service: ContentUnderstandingService, analyzer: Analyzer
) -> None:
    service.answer_next("POST", POST, refusal(404, "404", "Resource not found"))
    with pytest.raises(ServiceRefusedError, match="KB_CONTENT_UNDERSTANDING_ENDPOINT is a Foundry resource"):
        convert(analyzer)


@pytest.mark.parametrize("path", [POST, RESULT])
def test_a_short_pause_that_the_service_asks_for_is_made_here(
    service: ContentUnderstandingService, analyzer: Analyzer, path: str
) -> None:
    busy = refusal(429, "429", "Too many requests.", retry_after_ms="5", Retry_After="0")
    service.answer_next("POST" if path == POST else "GET", path, busy, busy)
    assert convert(analyzer).markdown


def test_a_long_one_is_left_to_the_build(service: ContentUnderstandingService, analyzer: Analyzer) -> None:
    service.answer_next("POST", POST, refusal(429, "429", "Too many requests.", Retry_After="90"))
    started = time.monotonic()
    with pytest.raises(TransientError, match=r"busy \(429\)") as busy:
        convert(analyzer)
    assert busy.value.retry_after == 90
    assert time.monotonic() - started < 60


@pytest.mark.slow("waits for a silent or slow service")
@pytest.mark.parametrize(("method", "path"), [("POST", POST), ("GET", RESULT)])
def test_a_service_that_stays_broken_is_tried_a_few_times(
    service: ContentUnderstandingService, analyzer: Analyzer, method: str, path: str
) -> None:
    service.answer_next(method, path, *[refusal(500, "InternalServerError", "Sorry.")] * 9)
    with pytest.raises(TransientError, match=r"busy \(500\)"):
        convert(analyzer)
    assert len(service.asked(method, path)) == 3


def test_an_analysis_without_end_is_given_up_in_time(service: ContentUnderstandingService) -> None:
    service.looks = 10**9
    with pytest.raises(TransientError, match=r"did not answer within 0\.3 s.*KB_SERVICE_TIMEOUT_SECONDS"):
        convert(analyzer_of(service, service_timeout_seconds=0.3))


@pytest.mark.slow("waits for a silent or slow service")
def test_a_service_that_asks_for_no_pause_is_not_asked_without_one(
    service: ContentUnderstandingService, analyzer: Analyzer
) -> None:
    service.looks = 4
    begun = time.monotonic()
    convert(analyzer)
    assert time.monotonic() - begun > 0.05 + 0.1 + 0.2 + 0.4


@pytest.mark.slow("waits for a silent or slow service")
def test_an_answer_that_does_not_come_is_given_up_in_time(service: ContentUnderstandingService) -> None:
    service.spoil = lambda _last: time.sleep(2)
    with pytest.raises(TransientError, match=r"did not answer within 0\.3 s"):
        convert(analyzer_of(service, service_timeout_seconds=0.3))


def test_nobody_there_names_the_endpoint() -> None:
    nobody = ContentUnderstandingService(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(TransientError, match=r"cannot be reached .* KB_CONTENT_UNDERSTANDING_ENDPOINT"):
        convert(analyzer_of(nobody))


def test_what_a_failed_analysis_cost_is_reported(service: ContentUnderstandingService, analyzer: Analyzer) -> None:
    service.spoil = lambda last: last.update(status="Failed")
    with metering() as used, pytest.raises(ServiceError):
        convert(analyzer)
    assert used
