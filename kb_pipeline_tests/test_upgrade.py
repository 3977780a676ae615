"""A home of an older version has no hashes of files and no copies: it is taken over, and nothing is made again."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import kept_state, load_state
from kb_pipeline.upkeep.reconcile import repair
from kb_pipeline.upkeep.verify import verify
from kb_pipeline.upkeep.versions import list_versions, pin
from kb_pipeline_tests import kept_homes
from kb_pipeline_tests.building import build_here, forbid_models, page
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot

RELEASES = sorted(path.name.removesuffix(".tar.xz") for path in kept_homes.HOMES.iterdir())
FIGURE = '<p><img src="form.image" alt="The form"></p></body>'


@pytest.fixture
def home(article: Article, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As an older version left it."""
    article("one", page("one").replace("</body>", FIGURE), {"form.image": screenshot("New ticket")})
    assert build_here(settings)["one"].error is None
    home = Path(settings.home)
    shutil.rmtree(home / "copies")
    for path in [*home.glob("state/*.json"), *home.glob("reports/*.json"), *home.rglob("by-content/*/*.json")]:
        record = json.loads(path.read_text())
        record.pop("sha256")
        for layer in record.get("layers", {}).values():
            layer.pop("files")
        path.write_text(json.dumps(record))
    for path in home.rglob("vectors-*.parquet"):
        table = pq.ParquetFile(path).read()
        pq.write_table(table.replace_schema_metadata(None), path, compression="none")
    for path in home.rglob(".hashes.json"):
        path.unlink()
    forbid_models(monkeypatch)
    return home


def test_nothing_is_made_again_and_from_now_on_damage_is_noticed(home: Path, settings: Settings) -> None:
    (result,) = build_here(settings).values()
    assert result.error is None
    assert all(layer.reused for layer in result.layers)
    state = load_state(Workspace(settings).layout, "one")
    assert all(layer.files for layer in state.layers.values())
    assert kept_state(Workspace(settings).layout, "one").is_whole()
    assert verify(open_workspace(settings), "one").problems == ()
    (manifest,) = home.glob("versions/one/*/manifest.json")
    manifest.write_text(manifest.read_text().replace("2026-01-01", "2020-01-01"))  # which no output hash covers
    assert "is not as it was made" in verify(open_workspace(settings), "one").problems[0]


@pytest.mark.slow("builds a whole knowledge base")
def test_reconcile_finds_nothing_to_do(home: Path, settings: Settings) -> None:
    repairs = repair(Workspace(settings))
    assert (repairs.restored, repairs.removed, repairs.to_build) == ((), (), ())
    assert (repairs.mended, repairs.lost) == ((), ())
    assert verify(open_workspace(settings), "one").problems == ()


@pytest.mark.parametrize("damage", ["a line is gone", "a word is another"])
def test_chunks_that_were_damaged_before_are_noticed_by_their_own_hashes(
    home: Path, settings: Settings, damage: str
) -> None:
    (path,) = home.glob("versions/one/*/chunks.jsonl")
    whole = path.read_text()
    path.write_text(whole.splitlines()[0] + "\n" if "line" in damage else whole.replace("plain", "plane", 1))
    (result,) = build_here(settings).values()
    assert [layer.name for layer in result.layers if not layer.reused] == ["chunks"]
    assert path.read_text() == whole


def found(settings: Settings, *readers: str) -> dict[str, str]:
    """The articles that these readers find, with a passage of each."""
    workspace = open_workspace(settings)
    hits = workspace.reader().search("words", top=20, filters=workspace.access.search_filter(readers))
    return {hit.chunk.article_id: hit.chunk.content for hit in hits}


@pytest.mark.parametrize("release", RELEASES)
class TestHomeOfARelease:
    """As that release made it, not as we imagine it."""

    def test_readers_find_at_once_what_they_found_and_nothing_else(self, release: str, tmp_path: Path) -> None:
        settings = kept_homes.unpack(release, tmp_path)
        assert found(settings).keys() == {"one"}
        assert found(settings, kept_homes.READERS).keys() == {"one", "two"}

    def test_nothing_has_to_be_repaired(self, release: str, tmp_path: Path) -> None:
        workspace = open_workspace(kept_homes.unpack(release, tmp_path))
        repairs = repair(workspace)
        assert (repairs.restored, repairs.removed, repairs.mended, repairs.lost) == ((), (), (), ())

    def test_the_next_ingest_takes_it_over(self, release: str, tmp_path: Path) -> None:
        settings = kept_homes.unpack(release, tmp_path)
        assert [result.error for result in build_here(settings).values()] == [None, None]
        assert [verify(open_workspace(settings), name).problems for name in ("one", "two")] == [(), ()]
        assert found(settings).keys() == {"one"}

    def test_a_version_that_it_kept_can_be_put_back(self, release: str, tmp_path: Path) -> None:
        settings = kept_homes.unpack(release, tmp_path)
        _, before = (entry.version.id for entry in list_versions(open_workspace(settings), "one"))
        assert pin(open_workspace(settings), "one", None, Run("run-3", "2026-01-03T00:00:00+00:00")) == before
        assert build_here(settings, "one", run_id="run-3")["one"].error is None
        assert "plain words" in found(settings)["one"]
