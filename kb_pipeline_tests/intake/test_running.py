"""A run writes only its own articles, can be killed at any moment, and removes nothing by accident."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from kb_pipeline.errors import IntakeError, SettingsError, TransientError
from kb_pipeline.intake import folders, running
from kb_pipeline.intake.base import Fetched, IntakeSource, Item, LeftOut, Refused
from kb_pipeline.intake.folders import ORIGIN
from kb_pipeline.intake.running import preview, run, state_path
from kb_pipeline.intake.state import IntakeState
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline.store.locks import Locks


class Listed(IntakeSource):
    """A source that a test fills: versions by item, and what fetching each does."""

    def __init__(self, name: str = "wiki") -> None:
        super().__init__(name, "listed-1")
        self.listing: dict[str, str] = {}
        self.readers: dict[str, tuple[str, ...] | None] = {}
        self.fetching: dict[str, Callable[[], Fetched | LeftOut]] = {}
        self.broken: dict[str, str] = {}
        self.fetched: list[str] = []

    def fill(self, count: int) -> "Listed":
        self.listing = {f"p{number:03}": "1" for number in range(count)}
        return self

    def items(self) -> Iterator[Item | Refused]:
        for name, version in self.listing.items():
            yield Item(id=name, version=version, readers=self.readers.get(name, ()))
        for name, reason in self.broken.items():
            yield Refused(id=name, reason=reason)

    def fetch(self, item: Item, article_of: object) -> Fetched | LeftOut:
        self.fetched.append(item.id)
        return self.fetching.get(item.id, lambda: _page(f"{item.id} {item.version}"))()


def _page(text: str) -> Fetched:
    return Fetched("index.html", {"index.html": f"<p>{text}</p>".encode(), "a.png": b"picture"})


def ids(staging: Path) -> list[str]:
    return sorted(path.name for path in staging.iterdir())


def readers_of(folder: Path) -> list[str]:
    return list(json.loads((folder / "metadata.json").read_text()).get("access_control_list", []))


@pytest.fixture
def wiki() -> Listed:
    return Listed().fill(3)


class Killed(BaseException):
    """The process ends here."""


def test_folders_of_others_are_never_touched(wiki: Listed, settings: Settings, staging: Path) -> None:
    theirs = staging / "wiki-p001"
    theirs.mkdir()
    (theirs / "index.html").write_text("theirs")
    taken = run(wiki, settings)
    assert len(taken.new) == 3
    assert (theirs / "index.html").read_text() == "theirs"
    own = next(name for name in taken.new if name.startswith("wiki-p001-"))
    wiki.listing.pop("p001")
    assert run(wiki, settings).gone == [own]
    assert theirs.is_dir()


def test_two_items_whose_names_differ_only_in_signs_have_two_articles_that_stay_theirs(
    settings: Settings, staging: Path
) -> None:
    wiki = Listed()
    wiki.listing = {"a_b": "1", "a-b": "1", "A b": "1", "ä/é": "1", "…": "1", "x" * 400: "1"}
    first = set(run(wiki, settings).new)
    assert len(first) == 6
    wiki.listing = dict(reversed(wiki.listing.items())) | {"a_b": "2"}
    assert (len(run(wiki, settings).changed), set(ids(staging))) == (1, first)


def test_an_item_that_comes_back_has_its_old_id(settings: Settings) -> None:
    wiki = Listed()
    wiki.listing = {"a b": "1", "a-b": "1"}
    (_, second) = run(wiki, settings).new
    wiki.listing = {}
    run(wiki, settings, confirmed=True)
    wiki.listing = {"a-b": "1"} if second != "wiki-a-b" else {"a b": "1"}
    assert run(wiki, settings).new == [second]


@pytest.mark.parametrize("moment", range(12))
def test_a_run_that_is_killed_at_any_moment_is_completed_by_the_next_one(
    moment: int, wiki: Listed, settings: Settings, staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(wiki, settings)
    wiki.listing = {"p000": "2", "p002": "1", "p003": "1"}
    left = iter(range(moment))

    def or_killed(function: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            if next(left, None) is None:
                raise Killed
            return function(*args, **kwargs)

        return call

    with monkeypatch.context() as patched:
        for module, name in ((folders, "write_bytes"), (folders, "remove_folder"), (running, "settle")):
            patched.setattr(module, name, or_killed(getattr(module, name)))
        patched.setattr(Path, "rename", or_killed(Path.rename))
        try:
            run(wiki, settings)
        except Killed:
            for article_id in ("wiki-p000", "wiki-p002"):  # nothing is half there meanwhile
                assert (staging / article_id / "index.html").read_text() in (
                    f"<p>{article_id[5:]} 1</p>", f"<p>{article_id[5:]} 2</p>"
                )  # fmt: skip
    run(wiki, settings)
    assert ids(staging) == ["wiki-p000", "wiki-p002", "wiki-p003"]
    assert (staging / "wiki-p000" / "index.html").read_text() == "<p>p000 2</p>"
    assert all((staging / name / "a.png").exists() for name in ids(staging))
    again = run(wiki, settings)
    assert (again.new, again.changed, again.gone, again.unchanged) == ([], [], [], 3)


def test_a_lost_home_is_made_anew_from_what_is_staged(wiki: Listed, settings: Settings, staging: Path) -> None:
    wiki.listing |= {"p 000": "1"}
    before = set(run(wiki, settings).new)
    shutil.rmtree(settings.home)
    wiki.listing.pop("p001")
    taken = run(wiki, settings)
    assert (taken.new, taken.changed, taken.gone) == ([], [], ["wiki-p001"])
    assert set(ids(staging)) == before - {"wiki-p001"}


def test_an_article_that_somebody_removed_from_staging_comes_back(
    wiki: Listed, settings: Settings, staging: Path
) -> None:
    run(wiki, settings)
    shutil.rmtree(staging / "wiki-p001")
    assert run(wiki, settings).new == ["wiki-p001"]


def test_a_source_that_cannot_be_listed_changes_nothing(wiki: Listed, settings: Settings, staging: Path) -> None:
    run(wiki, settings)

    def half() -> Iterator[Item]:
        yield Item(id="p000", version="2")
        raise IntakeError("the disk is gone")

    wiki.items = half  # type: ignore[method-assign]
    with pytest.raises(IntakeError, match="the disk is gone"):
        run(wiki, settings)
    assert (staging / "wiki-p000" / "index.html").read_text() == "<p>p000 1</p>"
    assert len(ids(staging)) == 3


@pytest.mark.parametrize(("before", "after"), [(30, 15), (11, 0), (1, 0)])
def test_many_that_are_missing_stay_until_that_is_confirmed(
    before: int, after: int, settings: Settings, staging: Path
) -> None:
    wiki = Listed().fill(before)
    run(wiki, settings)
    wiki.fill(after)
    taken = run(wiki, settings)
    assert (taken.gone, len(ids(staging)), taken.needs_attention) == ([], before, True)
    assert f"{before - after} of {before} articles are missing from the source wiki" in taken.guard
    assert "kb intake run wiki --confirm-mass-removal" in taken.guard
    assert preview(wiki, settings).guard == taken.guard
    assert len(run(wiki, settings, confirmed=True).gone) == before - after
    assert len(ids(staging)) == after


def test_a_few_that_are_missing_are_removed(settings: Settings) -> None:
    wiki = Listed().fill(12)
    run(wiki, settings)
    assert len(run(wiki.fill(2), settings).gone) == 10


def test_every_version_changed_and_no_content_changes_no_article(
    wiki: Listed, settings: Settings, staging: Path
) -> None:
    wiki.fetching = {name: lambda: _page("the same") for name in wiki.listing}
    run(wiki, settings)
    before = {path: path.stat().st_mtime_ns for path in staging.rglob("*")}
    wiki.listing = dict.fromkeys(wiki.listing, "2")
    taken = run(wiki, settings)
    assert (taken.changed, taken.unchanged, len(wiki.fetched)) == ([], 3, 6)
    assert {path: path.stat().st_mtime_ns for path in staging.rglob("*")} == before


def test_an_item_that_fails_keeps_its_article_and_is_tried_again(
    wiki: Listed, settings: Settings, staging: Path
) -> None:
    run(wiki, settings)

    def fail() -> Fetched:
        raise IntakeError("p001 is locked")

    def defect() -> Fetched:
        raise ZeroDivisionError

    wiki.listing |= {"p001": "2", "p002": "2"}
    wiki.fetching = {"p001": fail, "p002": defect}
    taken = run(wiki, settings)
    assert taken.refused == {"p001": "p001 is locked", "p002": "p002: ZeroDivisionError: "}
    assert (staging / "wiki-p001" / "index.html").read_text() == "<p>p001 1</p>"
    with closing(IntakeState(state_path(settings, "wiki"))) as state:
        assert [(row.item.id, row.note) for row in state.in_trouble()] == list(taken.refused.items())
    wiki.fetching = {}
    assert run(wiki, settings).changed == ["wiki-p001", "wiki-p002"]


def test_errors_that_pass_are_tried_again_at_once(wiki: Listed, settings: Settings) -> None:
    answers = iter([TransientError("busy", retry_after=0), TransientError("busy", retry_after=0)])

    def sometimes() -> Fetched:
        if error := next(answers, None):
            raise error
        return _page("at last")

    wiki.fetching = {"p001": sometimes}
    assert run(wiki, settings).refused == {}


def test_what_cannot_be_listed_stays_as_it_is(settings: Settings, staging: Path) -> None:
    wiki = Listed()
    wiki.listing = {"space/a": "1", "space/b": "1", "other/c": "1"}
    run(wiki, settings)
    wiki.listing, wiki.broken = {}, {"space/": "space/ cannot be listed: 403"}
    wiki.listing = {"other/d": "1"}
    taken = run(wiki, settings)
    assert (taken.gone, taken.refused) == (["wiki-other-c"], {"space/": "space/ cannot be listed: 403"})
    assert ids(staging) == ["wiki-other-d", "wiki-space-a", "wiki-space-b"]


def test_an_item_that_failed_and_is_gone_is_in_trouble_no_more(wiki: Listed, settings: Settings) -> None:
    def fail() -> Fetched:
        raise IntakeError("p001 is locked")

    wiki.fetching, wiki.broken = {"p001": fail}, {"x.doc": "x.doc is an old Word document"}
    run(wiki, settings)
    wiki.listing.pop("p001")
    run(wiki, settings)
    with closing(IntakeState(state_path(settings, "wiki"))) as state:
        assert (list(state.in_trouble()), state.counts().refused) == ([], 0)


def test_what_is_gone_beside_an_item_that_is_refused_is_removed(wiki: Listed, settings: Settings) -> None:
    wiki.listing = {"a.doc": "1", "a.docx": "1", "b": "1"}
    run(wiki, settings)
    wiki.listing, wiki.broken = {"b": "1"}, {"a.doc": "a.doc is an old Word document"}
    taken = run(wiki, settings)
    assert (len(taken.gone), list(taken.refused)) == (1, ["a.doc"])


def test_a_page_that_became_an_index_is_no_article_any_more(wiki: Listed, settings: Settings, staging: Path) -> None:
    run(wiki, settings)
    wiki.listing["p001"] = "2"
    wiki.fetching = {"p001": lambda: LeftOut("it only leads to other pages")}
    taken = run(wiki, settings)
    assert (taken.left_out, taken.gone) == (1, ["wiki-p001"])  # readers lose it as well
    assert ids(staging) == ["wiki-p000", "wiki-p002"]
    wiki.fetched.clear()
    assert (run(wiki, settings).left_out, wiki.fetched) == (1, [])


def test_what_is_left_out_only_for_now_is_asked_for_again(wiki: Listed, settings: Settings) -> None:
    wiki.fetching = {"p001": lambda: LeftOut("you may not read it", for_now=True)}
    for _ in range(2):
        taken = run(wiki, settings)
        assert [(each.reason, each.count) for each in taken.why_left_out] == [("you may not read it", 1)]
    wiki.fetching = {}
    assert run(wiki, settings).new == ["wiki-p001"]


def test_many_that_became_indexes_at_once_stay_until_that_is_confirmed(settings: Settings, staging: Path) -> None:
    wiki = Listed().fill(30)
    run(wiki, settings)
    wiki.listing = dict.fromkeys(wiki.listing, "2")
    wiki.fetching = {f"p{number:03}": lambda: LeftOut("it is empty") for number in range(15)}
    for _ in range(2):
        taken = run(wiki, settings)
        assert (taken.gone, taken.left_out, len(ids(staging))) == ([], 0, 30)
        assert "15 of 30 articles are missing" in taken.guard
    taken = run(wiki, settings, confirmed=True)
    assert (len(taken.gone), taken.left_out, len(ids(staging))) == (15, 15, 15)
    assert run(wiki, settings).left_out == 15


def test_only_the_readers_of_an_item_read_its_article_also_while_it_cannot_be_fetched(
    wiki: Listed, settings: Settings, staging: Path
) -> None:
    wiki.readers = {"p000": ("ann", "bob"), "p001": ()}
    run(wiki, settings)
    assert (readers_of(staging / "wiki-p000"), readers_of(staging / "wiki-p001")) == (["ann", "bob"], [])

    def fail() -> Fetched:
        raise IntakeError("busy")

    wiki.fetching = {"p000": fail, "p001": fail}
    wiki.readers = {"p000": ("bob", "eve"), "p001": ("ann",)}
    run(wiki, settings)
    # the old version is not for eve
    assert (readers_of(staging / "wiki-p000"), readers_of(staging / "wiki-p001")) == (["bob"], ["ann"])
    wiki.fetching = {}
    run(wiki, settings)
    assert readers_of(staging / "wiki-p000") == ["bob", "eve"]


def test_nobody_reads_an_item_whose_readers_cannot_be_read(wiki: Listed, settings: Settings, staging: Path) -> None:
    wiki.readers = {"p000": None}
    run(wiki, settings)
    assert readers_of(staging / "wiki-p000") == [HIDDEN]


def test_other_code_makes_all_articles_again(wiki: Listed, settings: Settings) -> None:
    run(wiki, settings)
    wiki.fetched.clear()
    wiki.made_by = "listed-2"
    assert (run(wiki, settings).unchanged, len(wiki.fetched)) == (3, 3)


def test_a_folder_that_lost_its_mark_is_not_written_to(wiki: Listed, settings: Settings, staging: Path) -> None:
    run(wiki, settings)
    (staging / "wiki-p000" / ORIGIN).unlink()
    wiki.listing["p000"] = "2"
    assert "was not taken in from wiki" in run(wiki, settings).refused["p000"]
    assert "p000 1" in (staging / "wiki-p000" / "index.html").read_text()


def test_a_remote_staging_folder_is_refused(wiki: Listed, settings: Settings) -> None:
    remote = settings.model_copy(update={"staging": "abfs://container/articles"})
    with pytest.raises(SettingsError, match="local staging folder"):
        run(wiki, remote)


def test_a_preview_changes_nothing(wiki: Listed, settings: Settings, staging: Path) -> None:
    assert preview(wiki, settings).new == ["wiki-p000", "wiki-p001", "wiki-p002"]
    assert ids(staging) == []
    assert wiki.fetched == []
    assert len(run(wiki, settings).new) == 3


def test_a_second_run_at_the_same_time_waits(wiki: Listed, settings: Settings) -> None:
    with Locks(settings.home_path / "locks" / "intake").hold(["intake"]):
        other = Thread(target=run, args=(wiki, settings))
        other.start()
        assert wiki.fetched == []
    other.join()
    assert len(wiki.fetched) == 3


def test_files_appear_with_the_page_and_leave_with_it(wiki: Listed, settings: Settings, staging: Path) -> None:
    run(wiki, settings)
    wiki.listing["p000"] = "2"
    wiki.fetching = {"p000": lambda: Fetched("index.html", {"index.html": b"<p>new</p>", "b.png": b"other"})}
    run(wiki, settings)
    names = sorted(path.name for path in (staging / "wiki-p000").iterdir())
    assert names == [ORIGIN, "b.png", "index.html", "metadata.json"]
