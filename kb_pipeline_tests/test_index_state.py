"""The index as it is, against what was built and what is staged."""

import shutil
from pathlib import Path

import pytest

from kb_pipeline.index_state import IndexState, compare_index
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import Workspace
from kb_pipeline_tests.conftest import Article, Build


@pytest.fixture
def two(article: Article, build: Build) -> None:
    for name in ("one", "two"):
        article(name, f"<body><h1>{name}</h1><p>Some text about {name}.</p></body>")
    build()


def state(settings: Settings) -> IndexState:
    return compare_index(Workspace(settings))


def test_after_a_build_all_is_good(two: None, settings: Settings) -> None:
    assert state(settings).is_good
    assert state(settings).summary()["articles"] == 2


def test_what_is_gone_from_the_index_is_missing(two: None, settings: Settings) -> None:
    Workspace(settings).index.remove(["one"])
    assert state(settings).missing == ("one",)


def test_what_was_chunked_again_and_not_published_is_stale(
    two: None, article: Article, build: Build, settings: Settings
) -> None:
    article("one", "<body><h1>one</h1><p>Some new text.</p></body>")
    build("one", layers=("staged_article", "converted_markdown", "image_descriptions", "serving_article", "chunks"))
    assert state(settings).stale == ("one",)


def test_what_is_gone_from_staging_is_named(two: None, settings: Settings) -> None:
    shutil.rmtree(Path(settings.staging) / "two")
    assert state(settings).unstaged == ("two",)
    assert not state(settings).is_good


def test_what_was_never_made_here_is_orphaned(two: None, settings: Settings) -> None:
    (Path(settings.home) / "state" / "two.json").unlink()
    assert state(settings).orphaned == ("two",)
