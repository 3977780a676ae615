"""Pages are sent as clean HTML; what the service loses of them comes from where it came from."""

from pathlib import Path

import pytest

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.errors import ArticleError
from kb_pipeline.records import Usage
from kb_pipeline.services.usage import metering
from kb_pipeline.steps.checks import check_conversion
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline.steps.markers import find_markers
from kb_pipeline_tests.analyzers.content_understanding.material import POST, convert
from kb_pipeline_tests.content_understanding_service import ContentUnderstandingService

SAMPLES = Path(__file__).parents[3] / "samples" / "staging"


def test_what_the_service_loses_comes_from_the_html(analyzer: Analyzer) -> None:
    article = convert(analyzer)
    assert article.converter == analyzer.converter
    assert [marker.file for marker in find_markers(article.markdown)] == ["menu.image"]
    assert "[your profile](profile.html)" in article.markdown
    assert "| Length | 12 characters |" in article.markdown
    assert "<table>" not in article.markdown
    before, after = article.markdown.split("[[IMG:")
    assert "your profile" in before and "Then choose" in after


@pytest.mark.parametrize("article_id", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
def test_sample_articles_pass_all_checks(analyzer: Analyzer, article_id: str) -> None:
    folder = SAMPLES / article_id
    images = {file.name: probe_image(file.name, file.read_bytes()) for file in folder.glob("*.image")}
    article = analyzer.convert(article_id, (folder / "index.html").read_bytes(), images)
    assert [check for check in check_conversion(article) if not check.passed] == []
    assert article.unplaced_images == 0


def test_the_main_content_is_sent_as_html_with_markers_and_without_images(
    service: ContentUnderstandingService, analyzer: Analyzer
) -> None:
    convert(analyzer)
    (request,) = service.asked("POST", POST)
    assert request.url.path.endswith("/prebuilt-documentSearch:analyzeBinary")
    assert request.headers["content-type"] == "text/html"
    page = service.bodies[0].decode()
    assert "[[IMG:menu.image]]" in page and "<img" not in page


def test_all_contents_count(service: ContentUnderstandingService, analyzer: Analyzer) -> None:
    service.spoil = lambda last: last["result"]["contents"].append(
        {**last["result"]["contents"][0], "markdown": "More."}
    )
    assert "More." in convert(analyzer).markdown


def test_pages_and_tokens_are_reported(analyzer: Analyzer) -> None:
    with metering() as used:
        convert(analyzer)
    assert used == [
        Usage(model="content-understanding-minimal", calls=1, pages=2),
        Usage(model="content-understanding-context", calls=1, input_tokens=1000),
        Usage(model="gpt-4.1-mini", calls=1, input_tokens=199, output_tokens=106),
        Usage(model="text-embedding-3-large", calls=1, input_tokens=50),
    ]


@pytest.mark.slow("builds a whole knowledge base")
def test_a_page_that_the_service_cannot_take_is_not_sent(
    service: ContentUnderstandingService, analyzer: Analyzer
) -> None:
    with pytest.raises(ArticleError, match=r"passwords: its main content has 1,\d+,\d+ bytes .* divide"):
        analyzer.convert("passwords", b"<body><h1>All</h1><p>" + b"many words " * 100_000, {})
    assert service.requests == []
