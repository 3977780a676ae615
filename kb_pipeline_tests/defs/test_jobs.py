"""The jobs that ingest: exactly what is failing, or stale, and nothing else."""

import dagster as dg
import pytest

from kb_pipeline.errors import SearchError
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import unstage
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import GOOD
from kb_pipeline_tests.defs.runs import execute, failed, logged, materialized, shown, touched
from kb_pipeline_tests.pictures import screenshot

pytestmark = pytest.mark.slow("a run of Dagster")


def test_retry_touches_only_the_failing_articles(
    instance: dg.DagsterInstance, three: list[str], article: Article
) -> None:
    article("beta", b"")
    article("gamma", b"%PDF-1.7")
    execute(instance, "ingest_articles")
    article("beta", GOOD, {"a.image": screenshot("beta")})
    result = execute(instance, "retry_failing_articles")
    assert "1 of 2 articles failed" in logged(instance, result)
    assert touched(instance, result, "staged_article") == ["beta", "gamma"]
    assert materialized(instance, "search_index") == {"alpha", "beta"}
    assert failed(instance, "converted_markdown") == {"gamma"}
    assert [row["article"] for row in shown(instance, "failing_articles")["failures"]] == ["gamma"]


def test_retry_of_named_articles_leaves_the_others_and_what_does_not_fail_alone(
    instance: dg.DagsterInstance, three: list[str], article: Article
) -> None:
    for name in ("beta", "gamma"):
        article(name, b"")
    execute(instance, "ingest_articles")
    result = execute(instance, "retry_failing_articles", articles=["alpha", "beta"])
    assert touched(instance, result, "staged_article") == ["beta"]


def test_retry_with_nothing_failing_touches_nothing(instance: dg.DagsterInstance, ingested: list[str]) -> None:
    result = execute(instance, "retry_failing_articles")
    assert result.success
    assert touched(instance, result, "staged_article") == []


def test_refresh_makes_what_is_new_changed_or_of_another_converter(
    instance: dg.DagsterInstance, three: list[str], article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(instance, "ingest_articles", articles=["alpha", "beta"])
    article("beta", GOOD.replace("tickets", "queues"))
    result = execute(instance, "refresh_stale_articles")
    assert touched(instance, result, "search_index") == ["beta", "gamma"]
    assert "gamma: new" in logged(instance, result)
    assert touched(instance, execute(instance, "refresh_stale_articles"), "search_index") == []
    monkeypatch.setenv("KB_ANALYZER", "kb_pipeline_tests.doubles:RenamedAnalyzer")
    result = execute(instance, "refresh_stale_articles")
    assert touched(instance, result, "search_index") == three


def test_an_article_that_is_asked_for_and_not_staged_fails_with_the_reason_and_becomes_no_partition(
    instance: dg.DagsterInstance, three: list[str], settings: Settings
) -> None:
    result = execute(instance, "ingest_articles", articles=["alpha", "nowhere"])
    assert "nowhere: there is no folder" in logged(instance, result)
    assert materialized(instance, "search_index") == {"alpha"}
    assert set(instance.get_dynamic_partitions("articles")) == set(three)


def test_an_article_that_fails_and_is_gone_from_staging_does_not_stop_a_retry_of_the_others(
    instance: dg.DagsterInstance, three: list[str], article: Article, settings: Settings
) -> None:
    for name in ("beta", "gamma"):
        article(name, b"")
    execute(instance, "ingest_articles")
    unstage(settings, "beta")
    article("gamma", GOOD, {"a.image": screenshot("gamma")})
    result = execute(instance, "retry_failing_articles")
    assert "1 of 2 articles failed" in logged(instance, result)
    assert materialized(instance, "search_index") == {"alpha", "gamma"}


def test_a_long_run_keeps_the_index_quick_between_its_batches_or_warns(
    instance: dg.DagsterInstance, three: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def index_new_rows(_: LanceDBIndex) -> None:
        kept.append(1)
        raise SearchError("the disk is full")

    kept: list[int] = []
    monkeypatch.setenv("KB_PUBLISH_EVERY", "2")
    monkeypatch.setattr(LanceDBIndex, "index_new_rows", index_new_rows)
    result = execute(instance, "ingest_articles")
    assert result.success
    assert len(kept) == 1, "after the first batch; the second is the last"
    assert "the articles are published, but searches may be slower until the next run: the disk is full" in logged(
        instance, result
    )
