"""Reconciling: readers find exactly what was published, and nothing is described or embedded for it."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import load_state, remove_state
from kb_pipeline.upkeep.reconcile import Repairs, compare, repair
from kb_pipeline_tests.building import build_here, forbid_models, listing, made_once, page, stage, unstage
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.search.losing import lose

FIGURE = '<p><img src="form.image" alt="The form"></p></body>'
Rows = list[tuple[object, ...]]


@pytest.fixture(autouse=True)
def published(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    made_once(publish_three, settings)
    forbid_models(monkeypatch)


def publish_three(settings: Settings) -> None:
    for name in ("one", "two"):
        stage(settings, name, page(name))
    figure = page("shown").replace("</body>", FIGURE)
    stage(settings, "shown", figure, {"form.image": screenshot("New ticket", "Save")})
    assert all(result.error is None for result in build_here(settings).values())


@pytest.fixture
def home(settings: Settings) -> Path:
    return Path(settings.home)


def rows(settings: Settings) -> Rows:
    """What the index holds, vectors included."""
    table = Workspace(settings).index._store.open()  # type: ignore[attr-defined]
    return sorted(tuple(map(str, row.values())) for row in table.to_arrow().to_pylist())


def reconciled(settings: Settings) -> Repairs:
    """Reconcile; afterwards all is good, and a second time nothing is to be done."""
    repairs = repair(Workspace(settings))
    assert compare(Workspace(settings)).is_good
    again = repair(Workspace(settings))
    assert (again.restored, again.removed, again.to_build) == ((), (), ())
    return repairs


def test_what_is_right_is_left_alone(settings: Settings, home: Path) -> None:
    before = listing(home)
    repairs = reconciled(settings)
    assert (repairs.restored, repairs.removed, repairs.to_build) == ((), (), ())
    assert listing(home) == before


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("lost", ["table", "everything"])
def test_a_dropped_index_comes_back_as_it_was(settings: Settings, home: Path, lost: str) -> None:
    before, served = rows(settings), listing(home / "serving")
    if lost == "table":
        lose(Workspace(settings).index)
    else:
        shutil.rmtree(home / "index")
    assert reconciled(settings).restored == ("one", "shown", "two")
    assert rows(settings) == before
    assert listing(home / "serving") == served
    assert Workspace(settings).reader().index.count() == len(before)


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("pattern", ["_indices/*/part_0_docs.lance", "_indices/*/metadata.lance", "data/*.lance"])
def test_a_damaged_index_is_told_and_built_anew_at_the_first_try(settings: Settings, home: Path, pattern: str) -> None:
    # the first row has no words of its own to search then
    Workspace(settings).index.remove(["one", "two"])
    assert repair(Workspace(settings)).restored == ("one", "two")
    before = rows(settings)
    served = listing(home / "serving")
    for path in home.glob(f"index/kb-articles-*/{pattern}"):
        path.unlink()
    state = compare(Workspace(settings))
    assert not state.is_good
    assert "is damaged" in state.problem
    assert reconciled(settings).mended
    assert rows(settings) == before
    assert listing(home / "serving") == served


def test_one_article_that_is_gone_comes_back_alone(settings: Settings) -> None:
    before = rows(settings)
    Workspace(settings).index.remove(["one"])
    assert reconciled(settings).restored == ("one",)
    assert rows(settings) == before


@pytest.mark.slow("builds a whole knowledge base")
def test_entries_that_somebody_changed_are_published_again(settings: Settings) -> None:
    before = rows(settings)
    table = Workspace(settings).index._store.open()  # type: ignore[attr-defined]
    table.update(where="article_id = 'one'", values={"content": "rubbish", "content_hash": "other"})
    assert reconciled(settings).restored == ("one",)
    assert rows(settings) == before


@pytest.mark.slow("builds a whole knowledge base")
def test_doubled_entries_become_one_again(settings: Settings) -> None:
    before = rows(settings)
    table = Workspace(settings).index._store.open()  # type: ignore[attr-defined]
    table.add(table.search().where("article_id IN ('one', 'shown')").to_arrow())
    assert reconciled(settings).restored == ("one", "shown")
    assert rows(settings) == before


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("stranger", ["gone", "../outside", "_internal", "it's"])
def test_entries_of_articles_that_nobody_knows_are_removed(settings: Settings, stranger: str) -> None:
    before = rows(settings)
    table = Workspace(settings).index._store.open()  # type: ignore[attr-defined]
    foreign = table.search().where("article_id = 'one'").to_arrow().to_pylist()
    table.add([{**row, "article_id": stranger, "id": f"x{row['id']}"} for row in foreign])
    assert reconciled(settings).removed == (stranger,)
    assert rows(settings) == before


def test_folders_of_articles_that_nobody_knows_are_removed(settings: Settings, home: Path) -> None:
    shutil.copytree(home, home.parent / "before")
    for place in ("serving", "versions", "converted"):
        shutil.copytree(home / place / "one", home / place / f"stray-{place}")
    (home / "staged" / "stray-file.json").write_text("{}")
    removed = reconciled(settings).removed
    assert removed == ("stray-converted", "stray-file", "stray-serving", "stray-versions")
    for place in ("serving", "versions", "converted", "staged"):
        assert listing(home / place) == listing(home.parent / "before" / place)


@pytest.mark.slow("builds a whole knowledge base")
def test_what_lies_beside_the_served_articles_is_not_ours_to_remove(settings: Settings, home: Path) -> None:
    (home / "serving" / "robots.txt").write_text("all")
    (home / "serving" / "shop").mkdir()
    (home / "serving" / "shop" / "index.php").write_text("buy")
    assert reconciled(settings).removed == ()
    assert (home / "serving" / "robots.txt").read_text() == "all"
    assert (home / "serving" / "shop" / "index.php").read_text() == "buy"


@pytest.mark.parametrize("lost", ["", "images", "images/form.png", "article.md", "manifest.json"])
def test_serving_files_that_are_gone_come_back(settings: Settings, home: Path, lost: str) -> None:
    before = listing(home / "serving")
    path = home / "serving" / "shown" / lost
    path.unlink() if path.is_file() else shutil.rmtree(path)
    assert reconciled(settings).restored == ("shown",)
    assert listing(home / "serving") == before


def test_serving_text_that_was_changed_is_put_back(settings: Settings, home: Path) -> None:
    before = listing(home / "serving")
    (home / "serving" / "one" / "article.md").write_text("rubbish")
    assert reconciled(settings).restored == ("one",)
    assert listing(home / "serving") == before


def test_a_version_that_is_damaged_is_mended_from_what_readers_see(settings: Settings, home: Path) -> None:
    before = listing(home / "serving")
    version = load_state(Workspace(settings).layout, "one").version
    (home / "versions" / "one" / version / "article.md").write_text("rubbish")
    assert reconciled(settings).restored == ("one",)
    assert listing(home / "serving") == before


def test_a_version_that_is_damaged_like_what_readers_see_is_made_again(settings: Settings, home: Path) -> None:
    before = listing(home / "serving")
    version = load_state(Workspace(settings).layout, "one").version
    for folder in (home / "versions" / "one" / version, home / "serving" / "one"):
        (folder / "article.md").write_text("rubbish")
    repairs = repair(Workspace(settings))
    assert (repairs.restored, repairs.to_build) == ((), ("one",))
    assert build_here(settings, *repairs.to_build)["one"].error is None
    reconciled(settings)
    assert listing(home / "serving" / "one").keys() == {
        name.removeprefix("one/") for name in before if name.startswith("one/")
    }


@pytest.mark.slow("builds a whole knowledge base")
def test_the_published_version_is_restored_never_a_newer_one_that_a_check_blocked(
    settings: Settings, home: Path, article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, served = rows(settings), listing(home / "serving")
    block(monkeypatch, "one")
    article("one", page("one", "worse words"))
    assert "not published" in (build_here(settings)["one"].error or "")
    lose(Workspace(settings).index)
    shutil.rmtree(home / "serving" / "one")
    assert set(reconciled(settings).restored) == {"one", "two", "shown"}
    assert rows(settings) == before
    assert listing(home / "serving") == served


@pytest.mark.slow("builds a whole knowledge base")
def test_a_damaged_state_file_costs_no_reader_the_article(settings: Settings, home: Path) -> None:
    before, served = rows(settings), listing(home / "serving")
    for path in (home / "state" / "one.json", home / "copies" / "state" / "one.json"):
        path.write_text("{ torn")
    repairs = repair(Workspace(settings))
    assert (repairs.removed, repairs.to_build) == ((), ("one",))
    assert "state/one.json is damaged, and its copy" in repairs.lost[0]
    assert (rows(settings), listing(home / "serving")) == (before, served)
    build_here(settings, *repairs.to_build)
    reconciled(settings)


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("damage", ["torn", "gone", "the copy is torn", "the copy is gone"])
def test_a_state_file_or_its_copy_is_put_back_from_the_other(settings: Settings, home: Path, damage: str) -> None:
    before = {**listing(home / "state"), **listing(home / "copies")}
    path = home / ("copies/state" if "copy" in damage else "state") / "one.json"
    path.write_text("{ torn") if "torn" in damage else path.unlink()
    repairs = reconciled(settings)
    assert (repairs.restored, repairs.removed, repairs.to_build) == ((), (), ())
    assert "state/one.json" in repairs.mended[0]
    assert {**listing(home / "state"), **listing(home / "copies")} == before


def test_a_state_file_that_is_gone_costs_no_reader_an_article_that_is_staged(settings: Settings, home: Path) -> None:
    before = rows(settings)
    remove_state(Workspace(settings).layout, "one")
    repairs = repair(Workspace(settings))
    assert (repairs.removed, repairs.to_build) == ((), ("one",))
    assert rows(settings) == before


def test_an_article_that_nobody_knows_and_that_is_not_staged_goes(settings: Settings, home: Path) -> None:
    remove_state(Workspace(settings).layout, "one")
    unstage(settings, "one")
    assert reconciled(settings).removed == ("one",)
    assert Workspace(settings).index.entries().keys() == {"two", "shown"}


def test_an_article_whose_vectors_are_gone_is_to_be_built_and_keeps_no_other_out(
    settings: Settings, home: Path
) -> None:
    lose(Workspace(settings).index)
    for vectors in (home / "versions" / "one").rglob("vectors-*.parquet"):
        vectors.unlink()
    repairs = repair(Workspace(settings))
    assert (repairs.restored, repairs.to_build) == (("shown", "two"), ("one",))


def test_chunks_that_are_not_those_that_were_published_are_not_published(settings: Settings, home: Path) -> None:
    (chunks,) = (home / "versions" / "one").rglob("chunks.jsonl")
    chunks.write_text(chunks.read_text().splitlines()[0] + "\n")
    Workspace(settings).index.remove(["one"])
    repairs = repair(Workspace(settings))
    assert (repairs.restored, repairs.to_build) == ((), ("one",))


def test_articles_of_another_generation_are_served_again_and_wait(settings: Settings, home: Path) -> None:
    before = listing(home / "serving")
    shutil.rmtree(home / "serving" / "one")
    other = settings.model_copy(update={"chunk_max_tokens": 30})
    repairs = repair(Workspace(other))
    assert (repairs.restored, repairs.to_build, len(repairs.before.pending)) == ((), (), 3)
    assert listing(home / "serving") == before
    assert Workspace(other).index.count() == 0


def test_a_list_that_cannot_be_written_is_said_and_keeps_nothing_else_from_repair(
    settings: Settings, home: Path
) -> None:
    (home / "access" / "one.json").mkdir(parents=True)
    repairs = repair(Workspace(settings))
    (said,) = repairs.kept_out
    assert said.startswith("access lists, by which searches are filtered all the same: cannot move ")
    assert said.endswith("a folder stands where a file is needed: move it away, then run this again")


def test_many_articles_are_restored_in_batches(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(settings.model_copy(update={"publish_every": 2}))
    lose(workspace.index)
    commits: list[set[str]] = []
    publish = LanceDBIndex.publish

    def counted(self: LanceDBIndex, articles: Mapping[str, object]) -> None:
        commits.append(set(articles))
        publish(self, articles)  # type: ignore[arg-type]

    monkeypatch.setattr(LanceDBIndex, "publish", counted)
    repair(workspace)
    assert [batch for batch in commits if batch] == [{"one", "shown"}, {"two"}]


class TestSuspects:
    """What only a verification finds, because names and hashes are right."""

    def test_entries_are_written_anew(self, settings: Settings) -> None:
        before = rows(settings)
        table = Workspace(settings).index._store.open()  # type: ignore[attr-defined]
        table.update(where="article_id = 'one'", values={"content": "rubbish"})
        assert repair(Workspace(settings)).restored == ("one",)
        assert rows(settings) == before
        assert repair(Workspace(settings), ["one", "../never", "unknown"]).restored == ("one",)
        assert rows(settings) == before

    def test_an_image_that_was_replaced_is_put_back(self, settings: Settings, home: Path) -> None:
        before = listing(home / "serving")
        path = home / "serving" / "shown" / "images" / "form.png"
        path.unlink()
        path.write_bytes(b"rubbish")
        assert repair(Workspace(settings), ["shown"]).restored == ("shown",)
        assert listing(home / "serving") == before

    def test_an_image_that_was_damaged_for_good_is_made_again(self, settings: Settings, home: Path) -> None:
        before = listing(home / "serving")
        (home / "serving" / "shown" / "images" / "form.png").write_bytes(b"rubbish")  # and so its other link
        repairs = repair(Workspace(settings), ["shown"])
        assert repairs.to_build == ("shown",)
        build_here(settings, "shown")
        assert listing(home / "serving") == before
        reconciled(settings)


def block(monkeypatch: pytest.MonkeyPatch, article_id: str) -> None:
    """A blocking check finds something in every new version of the article."""
    from kb_pipeline.flow.layers import chunks as module
    from kb_pipeline.records import CheckResult, Chunk

    found = module.check_chunks

    def failing(markdown: str, chunks: list[Chunk], **options: object) -> tuple[CheckResult, ...]:
        if chunks and chunks[0].article_id == article_id:
            return (CheckResult(name="chunks_cover_the_article", passed=False, message="a word is lost"),)
        return found(markdown, chunks, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "check_chunks", failing)
