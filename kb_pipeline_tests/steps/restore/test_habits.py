"""Whatever habits a service has: what is in the article again is in its place, and what is not fails a check."""

import pytest

from benchmarks.restoring import placed_rightly, read
from kb_pipeline.steps.checks import check_conversion
from kb_pipeline.steps.restore import restore_article, service_html
from kb_pipeline_tests.content_understanding_markdown import cu_markdown
from kb_pipeline_tests.service_habits import CONTENT_UNDERSTANDING
from kb_pipeline_tests.steps.restore.services import html_sample_names, sample, sample_page

REWORDED = "reworded, images lost"


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("name", html_sample_names())
@pytest.mark.parametrize("double", [double for double in CONTENT_UNDERSTANDING if double != REWORDED])
def test_every_image_and_link_is_in_its_place(double: str, name: str) -> None:
    local = sample(name)
    markdown = cu_markdown(service_html(name, *sample_page(name)), CONTENT_UNDERSTANDING[double])
    restored = restore_article(local, markdown, "a-service-1")
    truth = read(local.markdown)
    assert placed_rightly(truth, read(restored.markdown)) == (len(truth.images), len(truth.links))
    assert [check for check in check_conversion(restored) if not check.passed] == []


def test_a_service_that_says_it_in_other_words_fails_a_check_that_names_what_has_no_place() -> None:
    page = b"<h1>Passwords</h1><p>Open <a href='profile.html'>your profile</a>.</p><p>Choose another password.</p>"
    local = sample("webhooks")
    markdown = cu_markdown(page.decode(), CONTENT_UNDERSTANDING[REWORDED])
    results = check_conversion(restore_article(local, markdown, "a-service-1"))
    message = next(result.message for result in results if result.name == "positions_are_known")
    assert message.startswith("webhooks: ") and "without a place: " in message and " below " in message
    assert "a-service-1 gave other words" in message and "KB_ANALYZER=local" in message
