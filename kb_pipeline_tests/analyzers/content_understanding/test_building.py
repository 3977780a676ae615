"""A build with the service: what fails for it is healed by the next run, what was paid for is not paid for again."""

import pytest

from kb_pipeline_tests.analyzers.content_understanding.material import MENU, PAGE, POST
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.content_understanding_service import ContentUnderstandingService, refusal
from kb_pipeline_tests.served import article_text, state_of


@pytest.fixture(autouse=True)
def _staged(article: Article) -> None:
    article("passwords", PAGE, {"menu.image": MENU})


@pytest.mark.slow("builds a whole knowledge base")
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


@pytest.mark.slow("builds a whole knowledge base")
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


def test_an_article_of_which_the_service_lost_every_place_is_not_published(
    service: ContentUnderstandingService, build_here: Build
) -> None:
    other_words = "# Secrets\n\nVisit that page of yours at once, please, where a new word may be typed in twice."
    service.spoil = lambda last: (
        last["result"]["contents"] and last["result"]["contents"][0].update(markdown=other_words)
    )
    error = build_here(**service.changes())["passwords"].error
    assert error is not None
    assert "1 image of 1 without a place: 'menu.image' below 'Passwords'" in error
    assert "1 link of 1 without a place: 'your profile -> profile.html' below 'Passwords'" in error
    assert "KB_ANALYZER=local loses no place" in error
