"""The home of the release before is taken over as it is."""

from pathlib import Path

import pytest

from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.reconcile import repair
from kb_pipeline.upkeep.verify import verify
from kb_pipeline.upkeep.versions import list_versions, pin
from kb_pipeline_tests import kept_homes
from kb_pipeline_tests.building import build_here

RELEASES = sorted(path.name.removesuffix(".tar.xz") for path in kept_homes.HOMES.iterdir())


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
