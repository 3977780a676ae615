"""Which articles readers see as they are, which fail, wait for the next ingest, or are withheld from all."""

import json
import shutil
from pathlib import Path

import pytest

from app.callers.principal import Principal
from app.library import standings as module
from app.library.articles import Articles
from app.library.standings import STATUSES, Standings
from app.schema.articles import ArticleStatus
from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings

LOCAL = Principal()
ANN = Principal("ann", ("ann",))
BROKEN = '<h1>Layers</h1><p>They lie on each other.</p><p><img src="gone.png"></p>'


@pytest.fixture
def own(own: Settings, tmp_path: Path) -> Settings:
    """A knowledge base whose staging folder may be written to as well."""
    shutil.copytree(own.staging, tmp_path / "staging")
    return own.model_copy(update={"staging": str(tmp_path / "staging")})


@pytest.fixture(autouse=True)
def _looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FRESH_SECONDS", 0.0)
    monkeypatch.setattr("app.library.articles._FRESH_SECONDS", 0.0)


def ids(settings: Settings, status: ArticleStatus, who: Principal = LOCAL) -> list[str]:
    workspace = open_workspace(settings)
    summaries = Standings(workspace, Articles(workspace.layout)).summaries(who, status)
    assert all(bool(each.error) == bool(each.remedy) == (status != "published") for each in summaries)
    return sorted(summary.article_id for summary in summaries)


def stage(settings: Settings, article_id: str, html: str, metadata: str = "") -> None:
    folder = Path(settings.staging) / article_id
    folder.mkdir(exist_ok=True)
    (folder / "index.html").write_text(html)
    if metadata:
        (folder / "metadata.json").write_text(metadata)


def ingest(settings: Settings, article_id: str) -> None:
    run = Run("run-2", "2026-02-01T00:00:00+00:00")
    publish(open_workspace(settings), [build_article(settings, article_id, LAYER_NAMES, run)], LAYER_NAMES, run)


def test_at_rest_all_are_published(own: Settings) -> None:
    assert ids(own, "published") == ["hostile", "layers", "printing"]
    assert not any(ids(own, status) for status in STATUSES if status != "published")


def test_one_that_fails_is_failing_whether_readers_see_an_older_version_or_none(own: Settings) -> None:
    stage(own, "layers", BROKEN)
    stage(own, "new", BROKEN)
    for article_id in ("layers", "new"):
        ingest(own, article_id)
    assert ids(own, "failing") == ["layers", "new"]
    assert ids(own, "failing", ANN) == ["layers"], "others know nothing of what was never published"
    assert ids(own, "published") == ["hostile", "printing"]


def test_one_that_is_new_or_changed_waits_until_it_is_ingested(own: Settings) -> None:
    stage(own, "printing", "<h1>Printing</h1><p>Another text that says how to print on both sides.</p>")
    stage(own, "new", "<h1>New</h1><p>A text that says something about what is new here.</p>")
    assert ids(own, "waiting") == ["new", "printing"]
    assert ids(own, "waiting", ANN) == ["printing"]
    ingest(own, "printing")
    assert ids(own, "waiting") == ["new"]


def test_a_change_of_an_article_that_somebody_may_not_read_is_not_told(own: Settings) -> None:
    stage(own, "secret", "<h1>Salaries</h1><p>The salary of the director is another one now.</p>")
    assert ids(own, "waiting") == []
    assert ids(own, "waiting", Principal("hr", ("group-hr",))) == ["secret"]


@pytest.mark.parametrize("metadata", ['{"acl": ["hr"]}', "{", json.dumps({"access_control_list": "hr"})])
def test_one_whose_readers_nobody_knows_is_withheld_and_told_to_the_local_user_alone(
    metadata: str, own: Settings
) -> None:
    stage(own, "printing", "<h1>Printing</h1><p>Another text that says how to print.</p>", metadata)
    ingest(own, "printing")
    assert ids(own, "withheld") == ["printing"]
    assert ids(own, "withheld", ANN) == []
    assert "printing" not in ids(own, "published")
