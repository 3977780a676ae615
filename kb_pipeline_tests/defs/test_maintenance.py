"""The jobs that look after what was published: remove, put back, compare, reconcile, verify."""

from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs import maintenance
from kb_pipeline.defs.partitions import add_articles
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import ArticleState, known_articles, save_state
from kb_pipeline_tests.building import forbid_models, made_once, stage, unstage
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import GOOD, ingest, ingest_three
from kb_pipeline_tests.defs.runs import execute, failed, logged, materialized, observed, reason, shown, touched, values
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.search.losing import lose
from kb_pipeline_tests.served import article_text, assert_consistent, serving_files, state_of

pytestmark = pytest.mark.slow("a run of Dagster")


def partitions(instance: dg.DagsterInstance) -> set[str]:
    return set(instance.get_dynamic_partitions("articles"))


# --- remove --------------------------------------------------------------------------------------


def test_a_removed_article_is_gone_everywhere_and_leaves_a_trace(
    instance: dg.DagsterInstance, ingested: list[str], settings: Settings
) -> None:
    version = state_of(settings, "beta").published_version
    unstage(settings, "beta")
    assert execute(instance, "remove_articles").success
    workspace = Workspace(settings)
    assert set(workspace.index.entries()) == {"alpha", "gamma"} == partitions(instance)
    assert not list(Path(settings.home).rglob("*beta*"))
    told = shown(instance, "removed_articles")
    assert (told["removed"], told["articles"]) == (1, [{"article": "beta", "versions": 1}])
    observation = observed(instance, "search_index")[0]
    assert observation.partition == "beta"
    assert values(observation.metadata) == {"removed": True, "versions": 1, "last_version": version}
    assert shown(instance, "index_state")["good"] is True


def test_an_article_that_is_staged_stays_though_its_removal_was_asked_for(
    instance: dg.DagsterInstance, ingested: list[str], settings: Settings
) -> None:
    unstage(settings, "beta")
    result = execute(instance, "remove_articles", articles=["alpha", "beta"])
    assert result.success
    assert partitions(instance) == {"alpha", "gamma"}
    assert "1 article is in staging and stays: alpha" in logged(instance, result)
    assert_consistent(settings, "alpha")


def test_a_removed_article_that_comes_back_is_an_article_again(
    instance: dg.DagsterInstance, ingested: list[str], settings: Settings, article: Article
) -> None:
    unstage(settings, "beta")
    execute(instance, "remove_articles")
    article("beta", GOOD, {"a.image": screenshot("beta")})
    assert execute(instance, "refresh_stale_articles").success
    assert partitions(instance) == set(ingested)
    assert_consistent(settings, "beta")


def test_an_interrupted_removal_is_finished_by_the_next(
    instance: dg.DagsterInstance, ingested: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    unstage(settings, "beta")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(maintenance, "record_removals", interrupted)
        assert not execute(instance, "remove_articles").success
    assert partitions(instance) == set(ingested)
    assert execute(instance, "remove_articles").success
    assert partitions(instance) == {"alpha", "gamma"}
    assert shown(instance, "removed_articles")["removed"] == 1


def test_many_articles_are_only_removed_when_a_person_confirms_it(
    instance: dg.DagsterInstance, settings: Settings
) -> None:
    names = [f"article-{number}" for number in range(12)]
    layout = Workspace(settings).layout
    for name in names:
        save_state(layout, ArticleState(article_id=name))
    add_articles(instance, names)
    refused = execute(instance, "remove_articles")
    assert "12 of 12 articles are gone" in reason(refused)
    assert "confirm_mass_removal" in reason(refused)
    assert partitions(instance) == set(names) == set(known_articles(layout))
    assert execute(instance, "remove_articles", confirm_mass_removal=True).success
    assert not partitions(instance)
    assert not known_articles(layout)


# --- versions ------------------------------------------------------------------------------------


@pytest.fixture
def changed(settings: Settings, instance: dg.DagsterInstance) -> None:
    """There are two versions of alpha."""
    made_once(change_alpha, settings)


def change_alpha(settings: Settings) -> None:
    ingest_three(settings)
    stage(settings, "alpha", GOOD.replace("tickets", "queues"))
    assert ingest(settings, articles=["alpha"]).success


def test_a_version_put_back_stays_until_it_is_released(
    instance: dg.DagsterInstance, changed: None, settings: Settings
) -> None:
    assert "queues" in article_text(settings, "alpha")
    assert execute(instance, "rollback_article", article="alpha").success
    assert "tickets" in article_text(settings, "alpha")
    assert_consistent(settings, "alpha")
    assert shown(instance, "failing_articles")["put_back"] == 1
    assert execute(instance, "ingest_articles").success
    assert "tickets" in article_text(settings, "alpha")
    assert execute(instance, "rollback_article", article="alpha", release=True).success
    assert "queues" in article_text(settings, "alpha")
    assert_consistent(settings, "alpha")


def test_a_version_that_is_not_there_fails_with_the_ones_that_are(
    instance: dg.DagsterInstance, changed: None, settings: Settings
) -> None:
    result = execute(instance, "rollback_article", article="alpha", version="ffff")
    assert "'ffff' is not a version; there are: " in reason(result)
    assert "queues" in article_text(settings, "alpha")


def test_two_versions_are_compared_in_the_history_of_the_article(
    instance: dg.DagsterInstance, changed: None, settings: Settings
) -> None:
    old, new = (version.id for version in state_of(settings, "alpha").published)
    assert execute(instance, "compare_article_versions", article="alpha", old=old[:8], new=new[:8]).success
    (observation,) = observed(instance, "serving_article")
    assert observation.partition == "alpha"
    difference = values(observation.metadata)["difference"]
    assert "-Some text about tickets." in difference
    assert "+Some text about queues." in difference


# --- reconcile -----------------------------------------------------------------------------------


def test_an_index_dropped_by_hand_is_filled_again_without_a_model(
    instance: dg.DagsterInstance, ingested: list[str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(Workspace(settings).index)
    forbid_models(monkeypatch)
    assert execute(instance, "reconcile").success
    for name in ingested:
        assert_consistent(settings, name)
    assert shown(instance, "index_state")["good"] is True


def test_what_was_wrong_and_what_was_done_is_in_the_history_of_index_state(
    instance: dg.DagsterInstance, ingested: list[str], settings: Settings
) -> None:
    Workspace(settings).index.remove(["beta"])
    assert execute(instance, "reconcile").success
    told = values(observed(instance, "index_state")[0].metadata)
    assert (told["missing"], told["published_again"], told["removed"]) == (1, ["beta"], [])


def test_an_article_whose_version_is_gone_is_built_again(
    instance: dg.DagsterInstance, ingested: list[str], settings: Settings
) -> None:
    layout = Workspace(settings).layout
    for folder in (layout.serving("beta"), layout.versions("beta")):
        folder.rename(layout.home / f"lost-{folder.parent.name}")
    result = execute(instance, "reconcile")
    assert result.success
    assert touched(instance, result, "search_index") == ["beta"]
    assert_consistent(settings, "beta")


def test_reconciling_what_is_right_changes_nothing(
    instance: dg.DagsterInstance, ingested: list[str], settings: Settings
) -> None:
    before = {name: serving_files(settings, name) for name in ingested}
    result = execute(instance, "reconcile")
    assert result.success
    assert touched(instance, result, "search_index") == []
    assert {name: serving_files(settings, name) for name in ingested} == before


# --- verify --------------------------------------------------------------------------------------


def test_a_damaged_image_is_found_and_mended(
    instance: dg.DagsterInstance, ingested: list[str], settings: Settings
) -> None:
    assert execute(instance, "verify_published", articles=ingested).success
    image = Path(Workspace(settings).layout.serving("beta")) / "images" / "a.png"
    image.unlink()
    image.write_bytes(screenshot("something else"))
    result = execute(instance, "verify_published", articles=ingested)
    assert "1 of 3 articles are not as they should be" in reason(result)
    assert "a.png is not the image that was published" in reason(result)
    verified = {found.partition: values(found.metadata) for found in observed(instance, "search_index")[:3]}
    assert verified["alpha"]["verified"] == "matches its source"
    assert "a.png" in verified["beta"]["problems"][0]


def test_all_parts_together_verify_every_article(instance: dg.DagsterInstance, ingested: list[str]) -> None:
    assert execute(instance, "verify_published", parts=1).success
    assert {found.partition for found in observed(instance, "search_index")} == set(ingested)
    assert failed(instance, "search_index") == set()
    assert materialized(instance, "search_index") == set(ingested)
