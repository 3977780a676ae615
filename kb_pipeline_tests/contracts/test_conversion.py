"""What every analyzer's conversion keeps its word on, tried on the sample articles."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_pipeline.analyzers import ANALYZERS, Analyzer, open_analyzer
from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.settings import Settings
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline.steps.markers import find_markers
from kb_pipeline_tests.contracts.services import services_of

SAMPLES = Path(__file__).parents[2] / "samples" / "staging"
ARTICLES = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir())
READ_BY_SERVICES = ("rest-api", "users-and-permissions", "webhooks")
"""In every run: code, tables, and pictures in steps."""


def case(analyzer: str, article_id: str) -> object:
    is_rare = analyzer != "local" and article_id not in READ_BY_SERVICES
    return pytest.param(analyzer, article_id, marks=[pytest.mark.rare("as three others")] if is_rare else [])


each_article = pytest.mark.parametrize(
    ("analyzer", "article_id"),
    [case(analyzer, article_id) for analyzer in sorted(ANALYZERS) for article_id in ARTICLES],
    indirect=True,
)


@pytest.fixture(scope="module", params=sorted(ANALYZERS))
def analyzer(request: pytest.FixtureRequest) -> Iterator[Analyzer]:
    with services_of(request.param) as settings:
        yield open_analyzer(Settings(**{"analyzer": request.param} | settings))


def images_of(article_id: str) -> dict[str, ImageInfo]:
    return {file.name: probe_image(file.name, file.read_bytes()) for file in (SAMPLES / article_id).glob("*.image")}


@pytest.fixture(scope="module")
def article_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def converted(analyzer: Analyzer, article_id: str) -> ConvertedArticle:
    return convert(analyzer, article_id)


def convert(analyzer: Analyzer, article_id: str) -> ConvertedArticle:
    html = (SAMPLES / article_id / "index.html").read_bytes()
    return analyzer.convert(article_id, html, images_of(article_id))


@each_article
@pytest.mark.slow("prints pages with a browser")
def test_every_image_is_listed_once_and_stands_in_the_text(converted: ConvertedArticle, article_id: str) -> None:
    files = [image.file for image in converted.images]
    assert len(files) == len(set(files))
    assert {marker.file for marker in find_markers(converted.markdown)} == set(files)
    assert set(files) <= images_of(article_id).keys()
    assert len({image.stem.casefold() for image in converted.images}) == len(files)
    assert all(image.sha256 == images_of(article_id)[image.file].sha256 for image in converted.images)


@each_article
def test_title_source_language_and_provenance_are_known(
    analyzer: Analyzer, converted: ConvertedArticle, article_id: str
) -> None:
    assert converted.article_id == article_id
    assert converted.title
    assert converted.title in converted.markdown
    assert converted.language in ("en", None)  # one says it in metadata.json, one not at all
    assert converted.converter == analyzer.converter


@each_article
def test_the_pages_furniture_stays_outside(converted: ConvertedArticle) -> None:
    text = converted.markdown.lower()
    for furniture in (
        "was this article helpful",
        "was this page helpful",
        "skip to main content",
        "all rights reserved",
    ):
        assert furniture not in text
    assert "logo.image" not in text


@pytest.mark.slow("builds a whole knowledge base")
def test_the_same_page_gives_the_same_markdown(analyzer: Analyzer) -> None:
    assert convert(analyzer, ARTICLES[0]) == convert(analyzer, ARTICLES[0])


@pytest.mark.parametrize(
    ("html", "error"),
    [(b"%PDF-1.7 binary", UnreadableArticleError), (b"<body><nav>Menu</nav></body>", EmptyArticleError)],
)
def test_what_is_no_article_is_refused(
    analyzer: Analyzer, html: bytes, error: type[UnreadableArticleError | EmptyArticleError]
) -> None:
    with pytest.raises(error):
        analyzer.convert("page", html, {})
