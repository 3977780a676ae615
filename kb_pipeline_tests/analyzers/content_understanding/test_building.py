"""A build with the service: what fails for it is healed by the next run, what was paid for is not paid for again."""

import pytest

from kb_pipeline_tests.analyzers.content_understanding.material import MENU, PAGE, POST
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.content_understanding_service import ContentUnderstandingService, refusal
from kb_pipeline_tests.served import article_text, state_of


@pytest.fixture(autouse=True)
def _staged(article: Article) -> None:
    article("passwords", PAGE, {"menu.image": MENU})


def test_an_article_is_served_and_its_cost_known(
    service: ContentUnderstandingService, build_here: Build, settings
) -> None:
    result = build_here(**service.changes())["passwords"]
    assert result.error is None
    text = article_text(settings, "passwords")
    assert "**[Image: menu](images/menu.png)**" in text
    assert "UI elements: Profile, Reset password" in text
    used = {usage.model for layer in result.layers for usage in layer.usage}
    assert {"content-understanding-minimal", "gpt-4.1-mini", "gpt-4.1"} <= used


def test_a_busy_service_is_asked_again_within_the_run(service: ContentUnderstandingService, build_here: Build) -> None:
    service.answer_next("POST", POST, *[refusal(429, "429", "Too many requests.", Retry_After="0")] * 4)
    assert build_here(**service.changes())["passwords"].error is None


def test_a_resource_that_is_not_ready_is_healed_by_the_next_run(
    service: ContentUnderstandingService, build_here: Build, settings
) -> None:
    analyzers, service.analyzers = service.analyzers, {}
    failed = build_here(**service.changes())["passwords"]
    assert (failed.failed_layer, failed.transient) == ("image_descriptions", True)
    assert failed.error is not None
    assert "run: kb analyzers deploy" in failed.error
    service.analyzers = analyzers
    assert build_here(**service.changes(), run_id="run-2")["passwords"].error is None
    assert state_of(settings, "passwords").failure is None
    pages = [one for one in service.asked("POST", POST) if "prebuilt-documentSearch" in one.url.path]
    assert len(pages) == 1
