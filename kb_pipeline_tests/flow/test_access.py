"""An author's newest list of readers holds at once: in every generation and version, whatever else fails."""

import errno
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from kb_pipeline.errors import SearchError, StorageError
from kb_pipeline.flow import access
from kb_pipeline.flow.access import Access, AccessLists
from kb_pipeline.flow.access_binding import observe, observe_changed
from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.records import HIDDEN
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import load_state
from kb_pipeline.upkeep.check import check_connections
from kb_pipeline.upkeep.generations import switch_to
from kb_pipeline.upkeep.reconcile import compare, repair
from kb_pipeline.upkeep.remove import remove_all
from kb_pipeline.upkeep.status import read_status
from kb_pipeline.upkeep.verify import verify
from kb_pipeline.upkeep.versions import pin
from kb_pipeline_tests import building
from kb_pipeline_tests.building import made_once, stage
from kb_pipeline_tests.conftest import Article, Build

PAGE = "<html><body><main><h1>Pay</h1><p>The director is paid {amount} gold coins a year.</p></main></body></html>"
RUN = Run("run-2", "2026-01-02T00:00:00+00:00")
HR = {"metadata.json": b'{"access_control_list": ["hr"]}'}
PUBLIC = {"metadata.json": b"{}"}


def found(settings: Settings, *names: str, workspace: Workspace | None = None) -> set[str]:
    """Articles that a reader with these names finds, which are those whose chunks the filter lets them read."""
    workspace = workspace or Workspace(settings)
    filters, reader = workspace.access.search_filter(names), workspace.reader()
    hits = reader.search("director gold coins", top=50, filters=filters)
    articles = {hit.chunk.article_id for hit in hits}
    chunks = reader.index.find([chunk_id for ids in reader.index.entries().values() for chunk_id in ids])
    assert articles == {each.chunk.article_id for each in chunks if filters.lets_read(each.chunk)}
    return articles


def indexed_readers(settings: Settings) -> dict[str, set[tuple[str, ...]]]:
    """The lists that entries carry, by generation: what programs that read the index themselves go by."""
    catalog = Workspace(settings).catalog
    lists = {}
    for generation in catalog.generations():
        index = catalog.open(generation)
        ids = [chunk_id for chunks in index.entries().values() for chunk_id in chunks]
        lists[generation.id] = {each.chunk.access_control_list for each in index.find(ids)}
    return lists


def served_readers(settings: Settings, article_id: str) -> tuple[str, ...]:
    return load_manifest(Workspace(settings).layout.serving(article_id)).access_control_list


def is_consistent(settings: Settings) -> bool:
    """Whether nothing is left to do or to repair."""
    workspace = Workspace(settings)
    return not workspace.access.pending() and compare(workspace).is_good


@pytest.fixture
def published(settings: Settings) -> None:
    made_once(publish_two, settings)


def publish_two(settings: Settings) -> None:
    stage(settings, "pay", PAGE.format(amount=100))
    stage(settings, "lunch", PAGE.format(amount=200))
    assert all(result.error is None for result in building.build_here(settings).values())


@pytest.mark.usefixtures("published")
class TestTightened:
    @pytest.mark.slow("asks every route")
    def test_with_its_text(self, settings: Settings, article: Article, build: Build) -> None:
        article("pay", PAGE.format(amount=101), HR)
        assert build()["pay"].error is None
        assert found(settings) == {"lunch"}
        assert found(settings, "hr") == {"lunch", "pay"}
        assert served_readers(settings, "pay") == ("hr",)
        assert is_consistent(settings)

    @pytest.mark.parametrize("broken", [b"%PDF-1.7", b"", b"<html><body></body></html>"])
    def test_in_the_same_edit_as_a_body_that_cannot_be_read(
        self, settings: Settings, article: Article, build: Build, broken: bytes
    ) -> None:
        article("pay", broken, HR)
        assert build()["pay"].error is not None
        assert found(settings) == {"lunch"}
        assert found(settings, "hr") == {"lunch", "pay"}  # the last good text, for the new readers
        assert served_readers(settings, "pay") == ("hr",)
        assert [*indexed_readers(settings).values()] == [{(), ("hr",)}]
        assert is_consistent(settings)

    @pytest.mark.slow("asks every route")
    @pytest.mark.parametrize(
        "metadata",
        [
            b'{"access_control_list": "hr"}',
            b'{"Access_Control_List": ["hr"]}',
            b'{"access_control_list": [], "access_control_list": ["hr"]}',
            b'{"access_control_list": ["hr"]',
            b"\xff\xfe",
            b"[" * 100_000,
        ],
    )
    def test_in_a_way_that_cannot_be_read_hides_the_article_until_it_is_mended(
        self, settings: Settings, article: Article, build: Build, metadata: bytes
    ) -> None:
        article("pay", PAGE.format(amount=101), {"metadata.json": metadata})
        error = build()["pay"].error
        assert error is not None
        assert "the article is hidden from everybody until it is mended" in error
        assert found(settings, "hr", "everyone", HIDDEN) == {"lunch"}
        assert served_readers(settings, "pay") == (HIDDEN,)
        assert is_consistent(settings)
        article("pay", PAGE.format(amount=101), PUBLIC)
        assert build()["pay"].error is None
        assert found(settings) == {"lunch", "pay"}
        assert is_consistent(settings)

    @pytest.mark.parametrize("name", ["Metadata.json", "metadata.json.txt", "meta-data.json"])
    def test_in_a_file_of_another_name_hides_the_article(
        self, settings: Settings, article: Article, build: Build, name: str
    ) -> None:
        article("pay", PAGE.format(amount=101), {name: HR["metadata.json"]})
        assert build()["pay"].error is not None
        assert found(settings, "hr") == {"lunch"}

    def test_in_a_file_whose_name_is_no_text_hides_the_article(
        self, settings: Settings, article: Article, build: Build
    ) -> None:
        folder = article("pay", PAGE.format(amount=101))
        (folder / os.fsdecode(b"metadata\xff.json")).write_bytes(HR["metadata.json"])
        assert "metadata\\udcff.json" in str(build()["pay"].error)
        assert found(settings, "hr") == {"lunch"}

    @pytest.mark.slow("asks every route")
    def test_in_a_link_or_a_folder_hides_the_article(
        self, settings: Settings, article: Article, build: Build, tmp_path: Path
    ) -> None:
        folder = article("pay", PAGE.format(amount=101))
        (tmp_path / "elsewhere.json").write_bytes(HR["metadata.json"])
        (folder / "metadata.json").symlink_to(tmp_path / "elsewhere.json")
        build()
        assert found(settings, "hr") == {"lunch"}
        (folder / "metadata.json").unlink()
        (folder / "metadata.json").mkdir()
        build()
        assert found(settings, "hr") == {"lunch"}

    @pytest.mark.parametrize("lost", ["state damaged", "state missing", "home missing"])
    def test_of_an_article_that_is_only_known_to_the_index_any_more(
        self, settings: Settings, article: Article, build: Build, lost: str
    ) -> None:
        state = Workspace(settings).layout.state("pay")
        if lost == "state damaged":
            state.write_bytes(b"{")
        elif lost == "state missing":
            state.unlink()
        else:
            for folder in Path(settings.home).iterdir():
                if folder.name != "index":
                    shutil.rmtree(folder)
        article("pay", b"", HR)
        assert build()["pay"].error is not None
        assert found(settings) == {"lunch"}
        assert [*indexed_readers(settings).values()] == [{(), ("hr",)}]

    def test_while_its_newest_text_is_being_published_holds_and_fails_nothing(
        self, settings: Settings, article: Article, build_here: Build, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def published_late(index: LanceDBIndex, articles: Mapping[str, Sequence[IndexEntry]]) -> None:
            article("pay", PAGE.format(amount=101), HR)
            observe(Workspace(settings), "pay")
            replace(index, articles)

        article("pay", PAGE.format(amount=101))
        replace = LanceDBIndex._replace
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(LanceDBIndex, "_replace", published_late)
            assert build_here("pay")["pay"].error is None
        assert found(settings) == {"lunch"}
        assert build_here("pay")["pay"].error is None
        assert is_consistent(settings)

    def test_of_an_article_that_only_the_index_knows_is_written_by_a_reconciliation(
        self, settings: Settings, article: Article
    ) -> None:
        workspace = Workspace(settings)
        workspace.layout.state("pay").write_bytes(b"{")
        workspace.access.record("pay", Access(readers=("hr",)), pending=False)
        article("pay", b"", HR)
        repair(workspace)
        assert found(settings) == {"lunch"}

    def test_while_a_missing_metadata_file_may_still_be_arriving_stays_so(
        self, settings: Settings, article: Article, build: Build
    ) -> None:
        folder = article("pay", PAGE.format(amount=101), HR)
        build()
        (folder / "metadata.json").unlink()
        workspace = Workspace(settings)
        observe_changed(workspace, workspace.staging.scan().signatures)  # in the middle of copying the folder anew
        assert found(settings) == {"lunch"}
        build()
        assert found(settings) == {"lunch", "pay"}

    def test_before_it_is_built_as_soon_as_it_is_seen(self, settings: Settings, article: Article) -> None:
        article("pay", PAGE.format(amount=101), HR)
        workspace = Workspace(settings)
        observe_changed(workspace, workspace.staging.scan().signatures)
        assert [*indexed_readers(settings).values()] == [{()}]
        assert found(settings) == {"lunch"}
        assert found(settings, "hr") == {"lunch", "pay"}
        assert set(workspace.access.pending()) == {"pay"}

    def test_before_any_other_article_of_its_run_is_built(
        self, settings: Settings, article: Article, build_here: Build
    ) -> None:
        from kb_pipeline.flow import build as module

        article("pay", PAGE.format(amount=101), HR)
        article("lunch", PAGE.format(amount=201))
        building = module.build_articles(open_workspace(settings), ["lunch", "pay"], ("staged_article",), RUN)
        next(building)
        assert "pay" in AccessLists(Workspace(settings).layout).pending()
        list(building)

    def test_while_only_some_layers_are_made(self, settings: Settings, article: Article, build: Build) -> None:
        article("pay", PAGE.format(amount=101), HR)
        build("pay", layers=("staged_article",))
        assert found(settings) == {"lunch"}
        assert served_readers(settings, "pay") == ("hr",)

    def test_holds_for_readers_while_the_index_cannot_be_written_and_is_written_later(
        self, settings: Settings, article: Article, build_here: Build, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise SearchError("the index is away; try again")

        article("pay", PAGE.format(amount=101), HR)
        with monkeypatch.context() as away:
            away.setattr(LanceDBIndex, "_set_readers", refuse)
            assert "the index is away" in str(build_here()["pay"].error)
        assert found(settings) == {"lunch"}
        repair(Workspace(settings))
        assert not Workspace(settings).access.pending()
        assert [*indexed_readers(settings).values()] == [{(), ("hr",)}]

    def test_holds_although_its_folder_is_deleted_afterwards(
        self, settings: Settings, article: Article, build: Build
    ) -> None:
        folder = article("pay", PAGE.format(amount=101), HR)
        build()
        (folder / "metadata.json").unlink()
        (folder / "index.html").unlink()  # half deleted, or half copied: no word of the author
        assert build()["pay"].error is not None
        assert found(settings) == {"lunch"}
        shutil.rmtree(folder)
        build("pay")
        assert found(settings) == {"lunch"}
        repair(Workspace(settings))
        assert found(settings) == {"lunch"}

    def test_and_loosened_again_with_a_broken_body(self, settings: Settings, article: Article, build: Build) -> None:
        article("pay", PAGE.format(amount=101), HR)
        build()
        article("pay", b"", PUBLIC)
        assert build()["pay"].error is not None
        assert found(settings) == {"lunch", "pay"}
        assert [*indexed_readers(settings).values()] == [{()}]
        assert is_consistent(settings)


@pytest.mark.usefixtures("published")
class TestGenerations:
    """Another chunk size makes another generation, which is filled while readers use the first."""

    @pytest.fixture
    def other(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"chunk_max_tokens": 100})

    def test_what_readers_use_while_another_is_filled_follows(
        self, settings: Settings, other: Settings, article: Article, build_here: Build
    ) -> None:
        article("pay", PAGE.format(amount=101), HR)
        assert build_here("pay", chunk_max_tokens=100)["pay"].error is None
        assert len(indexed_readers(other)) == 2
        assert found(other) == {"lunch"}
        assert found(settings) == {"lunch"}
        live = Workspace(other).catalog.live()
        assert live is not None
        assert live.generation.id == Workspace(settings).generation.id
        assert ("hr",) in indexed_readers(other)[live.generation.id]

    def test_one_that_is_switched_back_to_follows(
        self, settings: Settings, other: Settings, article: Article, build_here: Build
    ) -> None:
        build_here(chunk_max_tokens=100)
        workspace, first = Workspace(other), Workspace(settings).generation.id
        switch_to(workspace, workspace.generation.id, "2026-01-02T00:00:00+00:00")
        article("pay", PAGE.format(amount=101), HR)
        build_here(chunk_max_tokens=100)
        switch_to(workspace, first, "2026-01-03T00:00:00+00:00")
        assert found(other) == {"lunch"}
        assert found(other, "hr") == {"lunch", "pay"}
        assert all(lists == {(), ("hr",)} for lists in indexed_readers(other).values())

    def test_one_that_readers_use_since_before_lists_were_recorded_follows_with_the_next_run(
        self, settings: Settings, other: Settings, article: Article, build_here: Build
    ) -> None:
        article("pay", PAGE.format(amount=101), HR)
        build_here("pay", chunk_max_tokens=100)
        first = Workspace(settings).generation
        Workspace(other).catalog.open(first).set_readers({"pay": ()})  # as it was left behind by an older version
        shutil.rmtree(Path(settings.home) / "access")
        build_here("pay", chunk_max_tokens=100)
        assert found(settings) == {"lunch"}
        assert ("hr",) in indexed_readers(other)[first.id]

    def test_one_that_was_filled_before_lists_were_recorded_follows_when_it_is_switched_to(
        self, settings: Settings, other: Settings, article: Article, build_here: Build
    ) -> None:
        article("pay", PAGE.format(amount=101), HR)
        build_here(chunk_max_tokens=100)
        workspace, first = Workspace(other), Workspace(settings).generation
        workspace.catalog.open(first).set_readers({"pay": ()})  # as it was left behind by an older version
        shutil.rmtree(Path(settings.home) / "access")
        switch_to(workspace, workspace.generation.id, "2026-01-02T00:00:00+00:00")
        switch_to(workspace, first.id, "2026-01-03T00:00:00+00:00")
        assert found(other) == {"lunch"}


@pytest.mark.usefixtures("published")
class TestVersions:
    def put_back(self, settings: Settings, build: Build) -> None:
        pin(Workspace(settings), "pay", None, RUN)
        assert build("pay")["pay"].error is None

    def test_one_from_before_the_restriction_is_put_back_for_the_newest_readers(
        self, settings: Settings, article: Article, build: Build
    ) -> None:
        first = load_state(Workspace(settings).layout, "pay").version
        article("pay", PAGE.format(amount=101), HR)
        build()
        self.put_back(settings, build)
        assert load_state(Workspace(settings).layout, "pay").published_version == first
        assert found(settings) == {"lunch"}
        assert found(settings, "hr") == {"lunch", "pay"}
        assert served_readers(settings, "pay") == ("hr",)
        assert is_consistent(settings)
        assert verify(open_workspace(settings), "pay").problems == ()

    def test_one_that_was_put_back_follows_a_later_restriction(
        self, settings: Settings, article: Article, build: Build
    ) -> None:
        article("pay", PAGE.format(amount=101))
        build()
        self.put_back(settings, build)
        workspace = Workspace(settings)
        article("pay", PAGE.format(amount=101), HR)
        assert observe(workspace, "pay") == Access(readers=("hr",))
        assert found(settings) == {"lunch"}

    def test_one_that_is_put_back_although_the_metadata_cannot_be_read_stays_hidden(
        self, settings: Settings, article: Article, build: Build
    ) -> None:
        article("pay", PAGE.format(amount=101))
        build()
        article("pay", PAGE.format(amount=101), {"metadata.json": b'{"acl": ["hr"]}'})
        build()
        pin(Workspace(settings), "pay", None, RUN)
        assert build("pay")["pay"].error is not None
        assert found(settings, "hr") == {"lunch"}

    def test_a_home_from_before_lists_were_recorded_is_no_way_around(
        self, settings: Settings, article: Article, build: Build
    ) -> None:
        article("pay", PAGE.format(amount=101), HR)
        build()
        shutil.rmtree(Path(settings.home) / "access")
        self.put_back(settings, build)
        assert found(settings) == {"lunch"}


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("before", "after", "meanwhile"),
    [
        ((), ("hr",), (HIDDEN,)),
        (("hr",), ("it",), (HIDDEN,)),
        (("hr", "it"), ("hr",), (HIDDEN,)),
        (("hr",), ("hr", "it"), ("hr",)),
        (("hr",), (), ("hr",)),
    ],
)
def test_a_list_that_a_full_disk_does_not_hold_lets_nobody_in_who_may_not_any_more(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    before: tuple[str, ...],
    after: tuple[str, ...],
    meanwhile: tuple[str, ...],
) -> None:
    lists = Workspace(settings).access
    if before:
        lists.record("pay", Access(readers=before), pending=False)
    with monkeypatch.context() as full:

        def refuse(*_: object) -> None:
            raise StorageError("its disk is full")

        full.setattr(access, "write_bytes", refuse)
        with pytest.raises(StorageError, match="its disk is full"):
            lists.record("pay", Access(readers=after), pending=True)
    now = lists.get("pay")
    assert now
    assert now.readers == meanwhile
    assert lists.search_filter(["hr"]).denied_articles == (("pay",) if meanwhile == (HIDDEN,) else ())
    lists.record("pay", Access(readers=after), pending=True)
    assert lists.get("pay") == Access(readers=after)


def test_a_public_article_needs_no_file(settings: Settings) -> None:
    assert not (Path(settings.home) / "access").exists()


@pytest.mark.usefixtures("published")
def test_a_damaged_list_hides_the_article_until_it_is_read_again(
    settings: Settings, article: Article, build: Build
) -> None:
    article("pay", PAGE.format(amount=101), HR)
    build()
    layout = Workspace(settings).layout
    for damage in (b"", b"{", b'{"readers": "hr"}'):
        layout.access("pay").write_bytes(damage)
        damaged = AccessLists(layout).get("pay")
        assert damaged is not None
        assert damaged.readers == (HIDDEN,)
    build()
    assert found(settings) == {"lunch"}
    assert found(settings, "hr") == {"lunch", "pay"}
    assert is_consistent(settings)


@pytest.mark.parametrize("kind", ["a folder", "unreadable"])
@pytest.mark.parametrize("pending", [False, True])
def test_a_list_that_cannot_be_read_hides_its_article_alone_and_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, kind: str, pending: bool
) -> None:
    workspace = Workspace(settings)
    lists, layout = workspace.access, workspace.layout
    for name in ("pay", "plans"):
        lists.record(name, Access(readers=("hr",)), pending=pending)
    path = Path(str((layout.pending_access if pending else layout.access)("pay")))
    with monkeypatch.context() as now:
        if kind == "a folder":
            path.rename(path.with_name("aside"))
            path.mkdir()
        else:
            readable = Path.read_bytes
            now.setattr(Path, "read_bytes", lambda file: refuse(file) if file.name == path.name else readable(file))
        newest = AccessLists(layout).get("pay")
        assert newest is not None
        assert newest.readers == (HIDDEN,)
        assert set(lists.problems()) == {"pay"}
        assert f"its list of readers {path} cannot be read" in lists.problems()["pay"]
        hidden = lists.search_filter(["hr"])
        assert hidden.granted_articles == (("plans",) if pending else ())
        assert hidden.denied_articles == (("pay",) if pending else ())
        assert "pay is hidden: its list" in next(
            each.problem for each in check_connections(workspace) if each.role == "access lists"
        )
        assert read_status(workspace).attention() == {"1 article is hidden from everybody": "kb reconcile"}
    if kind == "a folder":
        path.rmdir()
        path.with_name("aside").rename(path)
    assert lists.all()["pay"] == Access(readers=("hr",))


def refuse(path: Path) -> bytes:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def test_a_file_in_the_place_of_the_lists_is_no_sign_that_there_are_none(settings: Settings) -> None:
    workspace = Workspace(settings)
    workspace.access.record("pay", Access(readers=("hr",)), pending=True)
    folder = settings.home_path / "access"
    folder.rename(folder.with_name("aside"))
    folder.write_text("a backup")
    with pytest.raises(StorageError, match=f"cannot list {folder}.*a file stands where a folder is needed"):
        workspace.access.search_filter(["hr"])


@pytest.mark.usefixtures("published")
def test_what_restricted_a_removed_article_is_remembered_for_answers_that_quote_it(
    settings: Settings, article: Article, build: Build
) -> None:
    folder = article("pay", PAGE.format(amount=101), HR)
    build()
    shutil.rmtree(folder)
    workspace = open_workspace(settings)
    remove_all(workspace, ["pay", "lunch"])
    assert workspace.access.get("pay") == Access(readers=("hr",))
    assert workspace.access.get("lunch") is None
    article("pay", PAGE.format(amount=102))  # another article, and public
    build("pay")
    assert found(settings) == {"pay"}


@pytest.mark.usefixtures("published")
def test_chunks_and_manifest_name_the_newest_readers_and_are_what_the_index_holds(
    settings: Settings, article: Article, build: Build
) -> None:
    article("pay", b"", HR)
    build()
    workspace = Workspace(settings)
    version = load_state(workspace.layout, "pay").published_version
    assert version is not None
    chunks = load_chunks(workspace.layout, "pay", version)
    assert {chunk.access_control_list for chunk in chunks} == {("hr",)}
    assert workspace.index.entries(["pay"])["pay"] == {chunk.id: chunk.content_hash for chunk in chunks}
    assert verify(open_workspace(settings), "pay").problems == ()


@pytest.mark.slow("asks every route")
@pytest.mark.usefixtures("published")
def test_who_is_killed_while_a_list_is_recorded_or_bound_loses_none(
    settings: Settings, article: Article, build_here: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before each write and each move that tightening does; the run after it ends what was begun."""
    from kb_pipeline.store import files

    def killed_at(step: int) -> None:
        steps = iter(range(step + 1))

        def die_or(write: Callable[..., None]) -> Callable[..., None]:
            def either(*given: object) -> None:
                if next(steps, None) in (step, None):
                    raise KeyboardInterrupt
                write(*given)

            return either

        with monkeypatch.context() as dying:
            dying.setattr(files, "_replace_locally", die_or(files._replace_locally))
            dying.setattr(LanceDBIndex, "_set_readers", die_or(LanceDBIndex._set_readers))
            dying.setattr(access, "move_file", die_or(access.move_file))
            with pytest.raises(KeyboardInterrupt):
                build_here("pay")

    for step in range(5):
        article("pay", PAGE.format(amount=100), PUBLIC)
        assert build_here("pay")["pay"].error is None
        assert found(settings) == {"lunch", "pay"}
        article("pay", b"", HR)
        killed_at(step)
        workspace = Workspace(settings)
        is_recorded = workspace.access.get("pay") == Access(readers=("hr",))
        assert is_recorded == (step > 0)
        assert found(settings) == ({"lunch"} if is_recorded else {"lunch", "pay"})
        build_here("pay")
        assert AccessLists(workspace.layout).get("pay") == Access(readers=("hr",))
        assert found(settings) == {"lunch"}
        assert is_consistent(settings)


def test_reading_all_lists_notices_each_replacement(settings: Settings) -> None:
    lists = AccessLists(Workspace(settings).layout)
    assert lists.all() == {}
    for number in range(200):
        lists.record("pay", Access(readers=(f"group-{number % 10}",)), pending=number % 2 == 0)
        assert lists.all()["pay"].readers == (f"group-{number % 10}",)
        lists.settle("pay")
    assert json.loads(Workspace(settings).layout.access("pay").read_text()) == {"readers": ["group-9"]}
