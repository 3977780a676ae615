"""Going back: an earlier version is put before readers again, without paying for anything."""

from pathlib import Path

import pytest

from kb_pipeline.errors import MissingLayerError, UnknownVersionError
from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import save_state
from kb_pipeline.upkeep.versions import compare_versions, list_versions, pin, release
from kb_pipeline_tests import building
from kb_pipeline_tests.building import made_once
from kb_pipeline_tests.conftest import Article, Build, Ledger
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.served import article_text, assert_consistent, before_readers, state_of

PAID = "kb_pipeline_tests.doubles:PaidAnalyzer"
PAGE = "<body><h1>Clock</h1><p>Version {} of the words.</p><p><img src='clock.image' alt='The clock'></p></body>"
ROLLBACK = Run("rollback", "2026-02-01T00:00:00+00:00")


def stage(article: Article, number: int) -> None:
    article("page", PAGE.format(number), {"clock.image": screenshot(str(number))})


@pytest.fixture
def three(settings: Settings, ledger: Ledger) -> None:
    """Three versions were published, each with words and a picture of its own; none of it stands in the ledger."""
    made_once(publish_three, settings)


def publish_three(settings: Settings) -> None:
    paid = settings.model_copy(update={"analyzer": PAID})
    for number in (1, 2, 3):
        building.stage(settings, "page", PAGE.format(number), {"clock.image": screenshot(str(number))})
        assert building.build_here(paid, run_id=f"run-{number}")["page"].error is None


@pytest.fixture
def workspace(settings: Settings) -> Workspace:
    return Workspace(settings)


def shown(settings: Settings) -> int:
    """Number of the version that readers see."""
    assert_consistent(settings, "page")
    return next(number for number in range(9) if f"Version {number}" in article_text(settings, "page"))


def ids(workspace: Workspace) -> list[str]:
    return [entry.version.id for entry in list_versions(workspace, "page")]


def versions_there(settings: Settings) -> set[str]:
    return {path.name for path in Path(Layout.of(settings).versions("page")).iterdir()} - {"images"}


def images_there(settings: Settings) -> int:
    return len(list(Path(Layout.of(settings).versions("page") / "images").iterdir()))


def test_versions_are_listed_newest_first(three: None, workspace: Workspace) -> None:
    entries = list_versions(workspace, "page")
    assert [entry.version.run_id for entry in entries] == ["run-3", "run-2", "run-1"]
    assert [(entry.in_place, entry.pinned) for entry in entries] == [(True, False), (False, False), (False, False)]
    assert all(entry.manifest.provenance.content_hash == entry.version.source_hash for entry in entries)


def test_a_rollback_puts_serving_and_index_back_and_pays_for_nothing(
    article: Article, build_here: Build, settings: Settings, ledger: Ledger, workspace: Workspace
) -> None:
    stage(article, 1)
    build_here(analyzer=PAID)
    before = before_readers(settings, "page")
    stage(article, 2)
    build_here(analyzer=PAID)
    assert pin(workspace, "page", None, ROLLBACK) == ids(workspace)[1]
    result = build_here(analyzer=PAID, run_id="rollback")["page"]
    assert result.error is None
    assert before_readers(settings, "page") == before
    assert len(ledger()) == 2
    assert state_of(settings, "page").spent.keys() >= {"image_descriptions", "chunk_embeddings"}
    embedded = [usage.calls for usage in state_of(settings, "page").spent["chunk_embeddings"]]
    assert embedded == [6], "a section, a picture and the article as a whole for each version"
    first = list_versions(workspace, "page")[0]
    assert (first.in_place, first.pinned, first.version.run_id) == (True, True, "rollback")


def test_a_version_that_was_put_back_stays_until_its_source_changes(
    three: None, article: Article, build_here: Build, settings: Settings, workspace: Workspace
) -> None:
    pin(workspace, "page", ids(workspace)[2], ROLLBACK)
    for _ in range(2):
        assert build_here(analyzer=PAID)["page"].error is None
        assert shown(settings) == 1
    assert all(layer.reused for layer in build_here(analyzer=PAID)["page"].layers)
    stage(article, 4)
    build_here(analyzer=PAID)
    assert shown(settings) == 4


def test_a_released_version_gives_way_to_the_source_again(
    three: None, build_here: Build, settings: Settings, workspace: Workspace, ledger: Ledger
) -> None:
    bought = ledger()
    pin(workspace, "page", None, ROLLBACK)
    build_here(analyzer=PAID)
    assert shown(settings) == 2
    assert release(workspace, "page")
    assert not release(workspace, "page")
    build_here(analyzer=PAID)
    assert shown(settings) == 3
    assert ledger() == bought


TABLE = "<table><tr><th>State</th><th>Clock</th></tr><tr><td>open</td><td>runs</td></tr></table>"


@pytest.mark.parametrize("source", ["", PAGE.format(4).replace("<p>", f"{TABLE}<p>")], ids=["empty", "lost table"])
def test_a_source_that_cannot_be_published_keeps_nobody_from_going_back(
    three: None, article: Article, build_here: Build, settings: Settings, workspace: Workspace, source: str
) -> None:
    lossy = "kb_pipeline_tests.doubles:LossyAnalyzer"
    article("page", source)
    assert build_here(analyzer=lossy)["page"].error is not None
    assert shown(settings) == 3
    pin(workspace, "page", ids(workspace)[1], ROLLBACK)
    assert build_here(analyzer=lossy)["page"].error is None
    assert shown(settings) == 2
    assert state_of(settings, "page").failure is None


def test_without_a_version_it_is_what_readers_saw_before_a_version_that_never_reached_them(
    three: None, article: Article, build_here: Build, workspace: Workspace, settings: Settings
) -> None:
    stage(article, 4)
    build_here(analyzer=PAID, layers=("staged_article", "converted_markdown", "image_descriptions", "serving_article"))
    pin(workspace, "page", None, ROLLBACK)
    build_here(analyzer=PAID)
    assert shown(settings) == 3


def test_a_rollback_while_the_index_is_of_another_generation_embeds_with_its_model(
    three: None, build_here: Build, settings: Settings, workspace: Workspace, ledger: Ledger
) -> None:
    bought = ledger()
    other = {"analyzer": PAID, "embedder": "kb_pipeline_tests.doubles:OtherEmbedder"}
    pin(workspace, "page", ids(workspace)[2], ROLLBACK)
    assert build_here(**other)["page"].error is None
    assert "Version 1" in article_text(settings, "page")
    assert ledger() == bought


# --- what is kept --------------------------------------------------------------------------------


def test_old_versions_and_the_images_that_only_they_show_are_forgotten(
    three: None, article: Article, build_here: Build, settings: Settings, workspace: Workspace
) -> None:
    assert (len(versions_there(settings)), images_there(settings)) == (3, 3)
    stage(article, 4)
    build_here(analyzer=PAID, keep_versions=1)
    narrow = Workspace(settings.model_copy(update={"keep_versions": 1}))
    assert set(ids(narrow)) == versions_there(settings)
    assert (len(versions_there(settings)), images_there(settings)) == (2, 2)
    pin(narrow, "page", None, ROLLBACK)
    build_here(analyzer=PAID, keep_versions=1)
    assert shown(settings) == 3


def test_a_pinned_version_is_never_forgotten(
    three: None, article: Article, build_here: Build, settings: Settings, workspace: Workspace
) -> None:
    oldest = ids(workspace)[2]
    pin(workspace, "page", oldest, ROLLBACK)
    build_here(analyzer=PAID, keep_versions=1)
    assert oldest in versions_there(settings)
    assert shown(settings) == 1


def test_an_old_version_damaged_by_hand_cannot_be_put_back_and_harms_nothing_else(
    three: None, article: Article, build_here: Build, settings: Settings, workspace: Workspace
) -> None:
    newest, damaged, _oldest = ids(workspace)
    (Layout.of(settings).version("page", damaged) / "manifest.json").write_text("{ torn")
    stage(article, 4)
    assert build_here(analyzer=PAID, keep_versions=2)["page"].error is None
    assert build_here(analyzer=PAID, keep_versions=2)["page"].error is None
    assert ids(workspace)[1:] == [newest]
    with pytest.raises(UnknownVersionError):
        pin(workspace, "page", damaged, ROLLBACK)


def test_a_version_that_vanished_after_it_was_chosen_is_named(
    three: None, build_here: Build, settings: Settings, workspace: Workspace
) -> None:
    chosen = pin(workspace, "page", None, ROLLBACK)
    (Layout.of(settings).version("page", chosen) / "article.md").unlink()
    result = build_here(analyzer=PAID)["page"]
    assert result.failed_layer == "serving_article"
    assert f"version {chosen} is gone" in (result.error or "")
    assert shown(settings) == 3


# --- what there is not ---------------------------------------------------------------------------


def test_two_versions_are_compared_line_by_line(three: None, workspace: Workspace) -> None:
    newest, middle, oldest = ids(workspace)
    lines = compare_versions(workspace, "page", oldest[:6], newest[:6]).splitlines()
    assert lines[:2] == [f"--- {oldest}", f"+++ {newest}"]
    assert "-Version 1 of the words." in lines
    assert "+Version 3 of the words." in lines
    images = [line for line in lines if "images/clock.png 120 x 60" in line]
    assert [line[0] for line in images] == ["-", "+"]
    assert compare_versions(workspace, "page", middle, middle) == ""


@pytest.mark.parametrize("version", ["ffff", "0" * 16, "../../state", "images", "/etc", "..", "%2e%2e", "\0", "a\n"])
def test_what_is_no_version_is_refused_and_never_becomes_a_path(
    three: None, workspace: Workspace, version: str
) -> None:
    with pytest.raises(UnknownVersionError, match=r"^page: .* is not a version; there are: [0-9a-f]{16}, "):
        pin(workspace, "page", version, ROLLBACK)
    with pytest.raises(UnknownVersionError, match=r"^page: "):
        compare_versions(workspace, "page", version, version)
    if len(version) != 16:
        with pytest.raises(UnknownVersionError, match="is not a version; kb versions page lists them"):
            workspace.layout.version("page", version)


def test_a_beginning_that_several_versions_share_is_refused(three: None, workspace: Workspace) -> None:
    with pytest.raises(UnknownVersionError, match="is more than one version"):
        pin(workspace, "page", "", ROLLBACK)


def test_an_article_that_was_never_published_has_no_versions(workspace: Workspace) -> None:
    with pytest.raises(UnknownVersionError, match="nothing was published yet; run: kb ingest --article page"):
        list_versions(workspace, "page")
    with pytest.raises(UnknownVersionError):
        pin(workspace, "page", None, ROLLBACK)
    assert not release(workspace, "page")


def test_there_is_nothing_before_the_first_version(
    article: Article, build_here: Build, ledger: Ledger, workspace: Workspace
) -> None:
    stage(article, 1)
    build_here(analyzer=PAID)
    with pytest.raises(UnknownVersionError, match="no version before"):
        pin(workspace, "page", None, ROLLBACK)


def test_a_rollback_needs_to_know_the_source_it_undoes(three: None, settings: Settings, workspace: Workspace) -> None:
    save_state(workspace.layout, state_of(settings, "page").without_layer("staged_article"))
    with pytest.raises(MissingLayerError, match="staged_article, not made yet"):
        pin(workspace, "page", None, ROLLBACK)
