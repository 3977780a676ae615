"""An article that takes too long or too much memory fails alone, with the reason; the others are published."""

import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.errors import LimitExceededError
from kb_pipeline.flow.build import ArticleResult, build_articles
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.stale import stale_articles
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.limited import activity, doing, progressed
from kb_pipeline.limited.process import LimitedProcess, ProcessLimits, _Watch, activities
from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import load_state
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.hostile import drawings, pages, pictures
from kb_pipeline_tests.measuring import peak_of_children
from kb_pipeline_tests.pictures import screenshot

GOOD = "<html><body><h1>Good article</h1><p>Reset the password in the profile menu.</p></body></html>"
RUN = Run("run-1", "2026-01-01T00:00:00+00:00")
_BETWEEN_LOOKS_MB = 1_500


class EndlessAnalyzer(LocalAnalyzer):
    """Never comes to the end of an article named so, nor lets any other thread of its process run."""

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        if article_id == "endless":
            re.match("(a*)*b", "a" * 60)
        return super().convert(article_id, html, images)


@pytest.fixture
def tight(settings: Settings) -> Settings:
    endless = "kb_pipeline_tests.limited.test_process:EndlessAnalyzer"
    return settings.model_copy(update={"analyzer": endless, "article_seconds": 4.0, "image_seconds": 1.0})


def built(settings: Settings) -> dict[str, ArticleResult]:
    ids = sorted(folder.name for folder in Path(settings.staging).iterdir())
    results = publish(
        open_workspace(settings),
        list(build_articles(open_workspace(settings), ids, LAYER_NAMES, RUN)),
        LAYER_NAMES,
        RUN,
    )
    return {result.article_id: result for result in results}


def published(settings: Settings) -> set[str]:
    return set(Workspace(settings).index.entries())


def stale(settings: Settings) -> dict[str, str]:
    return {found.article_id: found.reason for found in stale_articles(Workspace(settings), RUN)}


@pytest.mark.rare("hostile articles that run into their limits")
def test_an_article_that_never_ends_fails_alone_and_says_where_it_was(tight: Settings, article: Article) -> None:
    for name in ("endless", "one", "two", "three"):
        article(name, GOOD)
    results = built(tight.model_copy(update={"article_seconds": 15.0}))  # time enough for the others on a busy machine
    assert results["endless"].error == (
        "endless: took longer than 15 s while converting index.html; raise KB_ARTICLE_SECONDS or KB_ARTICLE_MEMORY_MB, "
        "or make the article or that file smaller"
    )
    assert not results["endless"].transient
    assert published(tight) == {"one", "two", "three"}


@pytest.mark.slow("starts processes and kills them")
def test_it_is_not_tried_again_before_its_content_the_code_or_the_limits_change(
    tight: Settings, article: Article
) -> None:
    tight = tight.model_copy(update={"article_seconds": 2.0})
    article("endless", GOOD)
    built(tight)
    assert stale(tight) == {}
    killed = {"endless": "its process was killed under other limits or other code"}
    assert stale(tight.model_copy(update={"article_seconds": 5.0})) == killed
    assert stale(tight.model_copy(update={"article_memory_mb": 4000})) == killed
    assert stale(tight.model_copy(update={"analyzer": "kb_pipeline_tests.doubles:RenamedAnalyzer"})) == killed
    assert stale(tight.model_copy(update={"chunk_max_tokens": 100})) == killed
    article("endless", GOOD + "<p>More.</p>")
    assert stale(tight) == {"endless": "changed in staging"}


@pytest.mark.rare("hostile articles that run into their limits")
def test_an_article_that_could_be_built_after_all_leaves_no_failure(tight: Settings, article: Article) -> None:
    article("endless", GOOD)
    built(tight)
    usual = tight.model_copy(update={"analyzer": "local"})
    assert built(usual)["endless"].error is None
    assert load_state(Layout.of(usual), "endless").failure is None


@pytest.mark.slow("starts processes and kills them")
def test_an_image_that_never_ends_fails_its_article_until_it_may_take_longer(
    settings: Settings, article: Article
) -> None:
    hasty = settings.model_copy(update={"image_seconds": 1.0})
    article("page", "<h1>Page</h1><p>Text.<img src=a.svg alt='The save dialog of the editor'>", {
        "a.svg": drawings()["dashes"]
    })  # fmt: skip
    assert "a.svg: decoding or drawing it took longer than 1 s" in (built(hasty)["page"].error or "")
    assert published(hasty) == set()
    assert stale(settings).keys() == {"page"}


@pytest.mark.rare("hostile articles that run into their limits")
@pytest.mark.timeout(1200)
def test_every_hostile_page_and_image_is_published_or_explained_within_limits(
    settings: Settings, article: Article
) -> None:
    """``benchmarks.fuzz`` has the pages in their whole size, which takes minutes for some."""
    limits = {"article_seconds": 60.0, "article_memory_mb": 1500, "image_seconds": 1.0, "image_memory_mb": 700}
    tight = settings.model_copy(update=limits)
    shot = screenshot("Save changes")
    images = [*{**drawings(), **pictures()}.items()][::6]  # all of them are read in flow/test_image_reader.py
    for number, (name, data) in enumerate(images):
        body = f"<h1>{name}</h1><p>What there is to say.<img src=a.image alt='The save dialog of the editor'>"
        article(f"image-{number}", body, {"a.image": data})
    for number, (name, body) in enumerate(pages(size=0.1)):
        article(f"page-{number}", f"<body><h1>{name}</h1>{body}", {"shot.image": shot})
    for number in range(10):
        article(f"good-{number}", GOOD)
    with peak_of_children() as peak:
        results = built(tight)
    assert results.keys() == {folder.name for folder in Path(settings.staging).iterdir()}
    for name, result in results.items():
        assert name in published(tight) if result.error is None else result.error.startswith(f"{name}: ")
        assert "unexpected" not in (result.error or "")
    assert {name for name, result in results.items() if name.startswith("good") and result.error} == set()
    assert peak.mb < limits["article_memory_mb"] + _BETWEEN_LOOKS_MB


@pytest.mark.slow("starts processes and kills them")
def test_a_page_of_many_images_is_built(article: Article, build_in_processes: Build) -> None:
    article("page", f"<h1>Many</h1>{'<p><img src=shot.image></p>' * 2_000}", {"shot.image": screenshot("Save")})
    assert build_in_processes()["page"].error is None


def test_each_part_of_the_work_that_is_done_starts_the_clock_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("kb_pipeline.limited.process.time.monotonic", lambda: now)
    told: list[str] = []
    monkeypatch.setattr(activity.reporter, "tell", told.append)
    progressed()
    watch = _Watch(psutil.Process(), ProcessLimits(seconds=10))
    for seconds in (0.0, 9.0, 18.0):
        now = seconds
        watch.check()
        watch.add_report(told[0], None)
    now = 28.5
    with pytest.raises(LimitExceededError, match="took longer than 10 s"):
        watch.check()


def _reads_until(file: Path) -> str:
    doing("reading a.png")
    while not file.exists():
        time.sleep(0.01)
    return "read"


@pytest.mark.slow("starts processes and kills them")
def test_what_a_process_does_is_known_until_it_is_done(tmp_path: Path) -> None:
    process, go_on = LimitedProcess(), tmp_path / "go-on"
    with ThreadPoolExecutor() as pool:
        result = pool.submit(process.call, _reads_until, go_on, name="guide")
        while not activities() and not result.done():
            time.sleep(0.01)
        assert activities() == ["guide: reading a.png"]
        go_on.touch()
        assert result.result() == "read"
    assert activities() == []
