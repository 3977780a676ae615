"""Defaults and analyzer are made, replaced, looked at and removed; all of it may be repeated, and interrupted."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kb_pipeline.analyzers.content_understanding import deploy as lifecycle_module
from kb_pipeline.analyzers.content_understanding.analyzer import ANALYZER_ID, DEFINITION
from kb_pipeline.analyzers.content_understanding.deploy import ALIASES, MODELS, AnalyzerLifecycle
from kb_pipeline.errors import ServiceError, ServiceRefusedError, TransientError
from kb_pipeline.settings import Settings
from kb_pipeline_tests.analyzers.content_understanding.material import WHITE, analyzer_of, failing
from kb_pipeline_tests.content_understanding_service import (
    ContentUnderstandingService,
    content_understanding_service,
    refusal,
)

FORMER = [f"kb_image_analyzer_{digit * 12}" for digit in "123"]


@pytest.fixture
def service() -> Iterator[ContentUnderstandingService]:
    with content_understanding_service(ready=False) as bare:
        yield bare


@pytest.fixture
def lifecycle(service: ContentUnderstandingService, monkeypatch: pytest.MonkeyPatch) -> AnalyzerLifecycle:
    monkeypatch.setattr(lifecycle_module, "_PAUSE", 0.01)
    return lifecycle_of(service)


def lifecycle_of(service: ContentUnderstandingService, **more: object) -> AnalyzerLifecycle:
    return AnalyzerLifecycle(Settings(**service.settings(**more)))


def there(service: ContentUnderstandingService, analyzer_id: str, status: str = "ready", **more: Any) -> None:
    service.analyzers[analyzer_id] = service.new_analyzer(analyzer_id, DEFINITION | more) | {"status": status}


def test_setup_registers_models_and_the_aliases_of_prebuilt_analyzers(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle
) -> None:
    lifecycle.setup()
    assert service.defaults == {model: model for model in MODELS} | ALIASES


def test_deployments_of_other_names_are_registered(service: ContentUnderstandingService) -> None:
    lifecycle_of(service, openai_deployments={"gpt-4.1": "my-vision"}).setup()
    assert service.defaults["gpt-4.1"] == service.defaults["prebuilt-analyzer-completion"] == "my-vision"
    assert service.defaults["gpt-4.1-mini"] == "gpt-4.1-mini"


def test_setup_changes_only_what_differs_and_removes_what_is_stale(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle
) -> None:
    lifecycle.setup()
    service.defaults |= {"gpt-4o": "old", "gpt-4.1": "elsewhere"}
    service.bodies.clear()
    changed = lifecycle.setup()
    patch = next(json.loads(body) for body in service.bodies if body)
    assert patch == {"modelDeployments": {"gpt-4.1": "gpt-4.1", "gpt-4o": None}}
    assert (changed.registered, changed.removed) == ({"gpt-4.1": "gpt-4.1"}, {"gpt-4o": "old"})
    assert service.defaults == {model: model for model in MODELS} | ALIASES


def test_a_second_setup_sends_nothing(service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle) -> None:
    lifecycle.setup()
    again = lifecycle.setup()
    assert again.registered == again.removed == {}
    assert len(service.asked("PATCH", "/defaults")) == 1


def test_defaults_that_do_not_stay_are_an_error(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle
) -> None:
    service.answer_next("PATCH", "/defaults", refusal(200, "", ""))
    with pytest.raises(ServiceError, match="KB_OPENAI_DEPLOYMENTS"):
        lifecycle.setup()


def test_a_deployed_analyzer_describes_images(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle
) -> None:
    service.looks = 2
    deployed = lifecycle.deploy()
    assert (deployed.analyzer_id, deployed.created, deployed.removed) == (ANALYZER_ID, True, ())
    assert service.analyzers[ANALYZER_ID]["fieldSchema"] == DEFINITION["fieldSchema"]
    assert analyzer_of(service).describe(WHITE).description


def test_a_second_deployment_makes_nothing(service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle) -> None:
    lifecycle.deploy()
    assert not lifecycle.deploy().created
    assert len(service.asked("PUT", "/analyzers/")) == 1


def test_former_versions_go_but_for_the_newest_and_others_stay(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle
) -> None:
    for analyzer_id in ("kb_image_analyzer", "kb_image_analyzer_of_somebody", *FORMER):
        there(service, analyzer_id)
    assert lifecycle.deploy().removed == (FORMER[1], FORMER[0])
    assert list(service.analyzers) == ["kb_image_analyzer", "kb_image_analyzer_of_somebody", FORMER[2], ANALYZER_ID]


@pytest.mark.parametrize("message", ["The model is not supported.", "(RateLimit, 429, Rate limit exceeded)"])
def test_a_failed_creation_leaves_the_one_in_use(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle, message: str
) -> None:
    for analyzer_id in FORMER:
        there(service, analyzer_id)
    service.spoil = failing("ResourceError", message)
    with pytest.raises((ServiceRefusedError, TransientError), match="ResourceError"):
        lifecycle.deploy()
    assert all(service.analyzers[analyzer_id]["status"] == "ready" for analyzer_id in FORMER)
    assert lifecycle.status().analyzer == "failed"
    service.spoil = lambda _last: None
    assert lifecycle.deploy().created
    assert lifecycle.status().problems == {}


def test_a_refused_definition_says_why(service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle) -> None:
    service.answer_next("PUT", "/analyzers/", refusal(400, "InvalidRequest", "Unsupported completion model."))
    with pytest.raises(ServiceError, match=r"rejected the request \(400\).*Unsupported completion model"):
        lifecycle.deploy()


def test_an_analyzer_that_somebody_changed_is_made_anew(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle
) -> None:
    there(service, ANALYZER_ID, models={"completion": "gpt-4o"})
    assert lifecycle.status().analyzer == "another than defined"
    assert lifecycle.deploy().created
    assert service.analyzers[ANALYZER_ID]["models"] == DEFINITION["models"]


def test_what_somebody_else_is_making_is_waited_for(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle
) -> None:
    there(service, ANALYZER_ID, "creating")
    service.on_get = lambda analyzer: analyzer.update(status="ready")
    assert not lifecycle.deploy().created


def test_what_never_gets_ready_is_given_up(service: ContentUnderstandingService) -> None:
    there(service, ANALYZER_ID, "creating")
    with pytest.raises(TransientError, match=r"still creating .* kb analyzers delete"):
        lifecycle_of(service, service_timeout_seconds=0.2).deploy()


def test_status_names_what_is_missing_and_the_command_for_it(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle
) -> None:
    service.defaults["gpt-4.1"] = "elsewhere"
    problems = lifecycle.status().problems
    assert problems[f"analyzer {ANALYZER_ID} is missing"] == "kb analyzers deploy"
    assert problems["model gpt-4.1 is registered as deployment elsewhere, not gpt-4.1"] == "kb analyzers setup"
    assert problems["model text-embedding-3-large is not registered"] == "kb analyzers setup"
    lifecycle.deploy()
    assert lifecycle.status().problems == {}


def test_delete_removes_all_versions_and_then_nothing(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle
) -> None:
    there(service, "kb_image_analyzer")
    there(service, FORMER[0])
    lifecycle.deploy()
    assert set(lifecycle.delete()) == {ANALYZER_ID, FORMER[0]}
    assert lifecycle.delete() == ()
    assert list(service.analyzers) == ["kb_image_analyzer"]


def test_one_that_somebody_else_deletes_meanwhile_is_no_error(
    service: ContentUnderstandingService, lifecycle: AnalyzerLifecycle
) -> None:
    there(service, ANALYZER_ID)
    service.answer_next("DELETE", ANALYZER_ID, refusal(404, "NotFound", "Resource not found."))
    assert lifecycle.delete() == ()
