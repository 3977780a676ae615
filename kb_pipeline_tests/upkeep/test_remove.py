"""Removing articles: nothing is left of them anywhere, however often it was interrupted."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.errors import StorageError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.settings import Settings
from kb_pipeline.store import kept
from kb_pipeline.store.state import known_articles, load_state
from kb_pipeline.upkeep import remove
from kb_pipeline.upkeep.reconcile import compare
from kb_pipeline.upkeep.remove import RemovedArticle, gone_from_staging, leftovers, remove_all
from kb_pipeline_tests.building import build_here, listing, made_once, page, stage, unstage
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot

FIGURE = '<p><img src="form.image" alt="The form"></p></body>'


@pytest.fixture(autouse=True)
def published(settings: Settings) -> None:
    made_once(publish_two_of_which_one_goes, settings)


def publish_two_of_which_one_goes(settings: Settings) -> None:
    for name in ("gone", "stays"):
        stage(settings, name, page(name).replace("</body>", FIGURE), {"form.image": screenshot(name)})
    build_here(settings)
    stage(settings, "gone", page("gone", "other words").replace("</body>", FIGURE))
    build_here(settings, "gone", run_id="run-2")
    unstage(settings, "gone")


@pytest.fixture
def home(settings: Settings) -> Path:
    return Path(settings.home)


def traces(home: Path, article_id: str) -> list[str]:
    """Files and folders that bear the article's name."""
    return [str(path) for path in home.rglob("*") if path.name in (article_id, f"{article_id}.json")]


def test_nothing_is_left_of_the_article_and_the_others_are_untouched(settings: Settings, home: Path) -> None:
    before = listing(home / "serving" / "stays")
    last = load_state(Workspace(settings).layout, "gone").version
    assert remove_all(Workspace(settings), ["gone"]) == [RemovedArticle("gone", 2, last)]
    assert traces(home, "gone") == []
    assert Workspace(settings).index.entries().keys() == {"stays"}
    assert listing(home / "serving" / "stays") == before
    assert compare(Workspace(settings)).is_good


def test_descriptions_that_were_paid_for_stay(settings: Settings, home: Path) -> None:
    before = listing(home / "descriptions" / "by-content")
    remove_all(Workspace(settings), ["gone"])
    assert listing(home / "descriptions" / "by-content") == before
    assert len(before) == 2


def test_the_article_goes_from_every_generation(settings: Settings) -> None:
    other = settings.model_copy(update={"chunk_max_tokens": 30})
    build_here(other, "stays")
    copied = Workspace(other)
    table = Workspace(settings).index._store.open()  # type: ignore[attr-defined]
    rows = table.search().where("article_id = 'gone'").to_arrow().to_pylist()
    copied.index._store.open().add(rows)  # type: ignore[attr-defined]
    remove_all(copied, ["gone"])
    for generation in copied.catalog.generations():
        assert copied.catalog.open(generation).entries().keys() == {"stays"}


def test_removing_again_or_what_never_was_is_no_error(settings: Settings) -> None:
    for _ in range(2):
        remove_all(Workspace(settings), ["gone"])
    assert remove_all(Workspace(settings), ["never"]) == [RemovedArticle("never", 0, "")]
    assert remove_all(Workspace(settings), []) == []


STEPS = 12
"""More than there are: three folders, five files, two copies, and what a killed run never came to."""
STEPS_OF = [(remove, "remove_from_serving"), (remove, "remove_folder"), (remove, "remove_file"), (kept, "remove_file")]


@pytest.mark.parametrize("survived", range(STEPS))
def test_an_interrupted_removal_is_completed_by_the_next(
    settings: Settings, home: Path, monkeypatch: pytest.MonkeyPatch, survived: int
) -> None:
    with monkeypatch.context() as patched:
        left = iter(range(survived))
        for module, name in STEPS_OF:
            patched.setattr(module, name, _failing_after(left, getattr(module, name)))
        try:
            remove_all(Workspace(settings), ["gone"])
            assert survived > 9
        except StorageError:
            assert "gone" in known_articles(Workspace(settings).layout), "its state goes last"
    remove_all(Workspace(settings), ["gone"])
    assert traces(home, "gone") == []
    assert compare(Workspace(settings)).is_good


def _failing_after(left: object, work: Callable[..., None]) -> Callable[..., None]:
    def step(*place: object) -> None:
        if next(left, None) is None:  # type: ignore[call-overload]
            raise StorageError("the disk is gone")
        work(*place)

    return step


def test_readers_lose_the_article_before_its_files_go(
    settings: Settings, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StorageError("the index is out of reach")

    before = listing(home)
    monkeypatch.setattr(LanceDBIndex, "remove", refuse)
    with pytest.raises(StorageError):
        remove_all(Workspace(settings), ["gone"])
    assert listing(home) == before


def test_many_articles_go_in_few_commits(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[int] = []
    monkeypatch.setattr(LanceDBIndex, "remove", lambda _self, article_ids: commits.append(len(article_ids)))
    remove_all(Workspace(settings), [f"article-{number}" for number in range(450)])
    assert commits == [200, 200, 50]


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("hostile", ["../stays", "..", "", "/etc", "_internal", "a/b", "' OR '1'='1", "x" * 300, "\0"])
def test_a_name_that_is_no_articles_harms_nothing_and_keeps_no_other_from_going(
    settings: Settings, home: Path, hostile: str
) -> None:
    before = listing(home / "serving" / "stays")
    assert remove_all(Workspace(settings), [hostile, "gone"])[0] == RemovedArticle(hostile, 0, "")
    assert traces(home, "gone") == []
    assert listing(home / "serving" / "stays") == before
    assert Workspace(settings).index.entries().keys() == {"stays"}


@pytest.mark.slow("builds a whole knowledge base")
def test_only_what_is_not_staged_is_gone(settings: Settings, article: Article) -> None:
    assert gone_from_staging(Workspace(settings), ["gone", "stays"]) == (["gone"], ["stays"])
    article("gone", page("gone", "words of a second life"))
    assert gone_from_staging(Workspace(settings), ["gone", "stays"]) == ([], ["gone", "stays"])


class TestLeftovers:
    @pytest.mark.slow("builds a whole knowledge base")
    def test_what_is_known_is_no_leftover(self, settings: Settings) -> None:
        assert leftovers(Workspace(settings), {"gone", "stays"}) == []

    @pytest.mark.slow("builds a whole knowledge base")
    def test_everything_that_bears_an_unknown_articles_name_is_found(self, settings: Settings) -> None:
        layout = Workspace(settings).layout
        places = [layout.serving, layout.versions, layout.converted, layout.descriptions, layout.staged, layout.reports]
        for number, place in enumerate(places):
            path = place(f"stray-{number}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}") if path.suffix else path.mkdir()
        found = leftovers(Workspace(settings), {"gone", "stays"})
        assert found == [f"stray-{number}" for number in range(len(places))]

    def test_other_peoples_files_are_none(self, settings: Settings, home: Path) -> None:
        for path in ("serving/robots.txt", "versions/notes.txt", "staged/.hidden.json", "converted/_own/notes.txt"):
            (home / path).parent.mkdir(exist_ok=True)
            (home / path).write_text("mine")
        assert leftovers(Workspace(settings), {"gone", "stays"}) == []
