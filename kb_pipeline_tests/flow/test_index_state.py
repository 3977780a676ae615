"""The index as it is, against what was published and what is staged."""

from pathlib import Path

import pytest

from kb_pipeline.flow.index_state import IndexState
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import remove_state
from kb_pipeline.upkeep.reconcile import compare
from kb_pipeline_tests.building import build_here, made_once, page, stage, unstage
from kb_pipeline_tests.conftest import Article


@pytest.fixture(autouse=True)
def two(settings: Settings) -> None:
    made_once(publish_two, settings)


def publish_two(settings: Settings) -> None:
    for name in ("one", "two"):
        stage(settings, name, page(name))
    build_here(settings)


def state(settings: Settings) -> IndexState:
    return compare(Workspace(settings))


def test_after_a_build_all_is_good(settings: Settings) -> None:
    found = state(settings)
    assert found.is_good
    assert found.is_complete
    assert (found.articles, found.entries, found.live_generation) == (2, 4, found.generation)


def test_what_is_gone_from_the_index_is_missing(settings: Settings) -> None:
    Workspace(settings).index.remove(["one"])
    assert state(settings).missing == ("one",)
    assert not state(settings).is_complete


def test_what_somebody_else_indexed_otherwise_is_stale(settings: Settings) -> None:
    index = Workspace(settings).index
    index._store.open().update(where="article_id = 'one'", values={"content_hash": "another"})  # type: ignore[attr-defined]
    assert state(settings).stale == ("one",)


def test_a_new_version_that_is_not_published_yet_is_not_missed(article: Article, settings: Settings) -> None:
    article("one", page("one", "new words"))
    build_here(settings, "one", layers=("staged_article", "converted_markdown", "image_descriptions"))
    build_here(settings, "one", layers=("serving_article", "chunks", "chunk_embeddings"))
    assert state(settings).is_good


def test_an_article_without_any_chunk_is_not_missing(article: Article, settings: Settings) -> None:
    article("empty", "<body><h1>Empty</h1></body>")
    build_here(settings)
    assert state(settings).is_good


def test_what_is_gone_from_staging_is_named(settings: Settings) -> None:
    unstage(settings, "two")
    assert state(settings).unstaged == ("two",)
    assert not state(settings).is_good


@pytest.mark.parametrize("gone", ["index", "serving"])
def test_what_is_indexed_or_served_and_known_to_nobody_is_orphaned(settings: Settings, gone: str) -> None:
    workspace = Workspace(settings)
    remove_state(workspace.layout, "two")
    if gone == "index":
        workspace.index.remove(["two"])
    else:
        (Path(settings.home) / "serving" / "two").rename(Path(settings.home) / "elsewhere")
    assert state(settings).orphaned == ("two",)


def test_a_serving_folder_may_hold_other_things(settings: Settings) -> None:
    serving = Path(settings.home) / "serving"
    (serving / "robots.txt").write_text("")
    (serving / ".cache").mkdir()
    (serving / "shop" / "images").mkdir(parents=True)
    (serving / "shop" / "index.php").write_text("")
    assert state(settings).is_good


def test_what_is_not_served_is_named(settings: Settings) -> None:
    (Path(settings.home) / "serving" / "two").rename(Path(settings.home) / "elsewhere")
    assert state(settings).unserved == ("two",)


def test_doubled_entries_are_counted(settings: Settings) -> None:
    table = Workspace(settings).index._store.open()  # type: ignore[attr-defined]
    table.add(table.search().where("article_id = 'one'").to_arrow())
    assert state(settings).doubled_entries == 3
    assert not state(settings).is_complete


def test_articles_of_another_generation_are_pending(settings: Settings) -> None:
    other = settings.model_copy(update={"chunk_max_tokens": 30})
    found = state(other)
    assert found.pending == ("one", "two")
    assert not found.missing
    assert found.live_generation != found.generation


def test_an_index_that_no_reader_is_led_to_is_not_good(settings: Settings) -> None:
    import lancedb

    lancedb.connect(Path(settings.home) / "index").drop_table("kb-articles-live")
    assert not state(settings).is_good


def test_the_summary_counts_and_names(settings: Settings) -> None:
    Workspace(settings).index.remove(["one"])
    summary = state(settings).summary()
    assert (summary["missing"], summary["missing_articles"], summary["good"]) == (1, "one", False)
    assert "stale_articles" not in summary
