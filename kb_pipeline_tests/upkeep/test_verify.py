"""Verifying: what fingerprints cannot see is found and named, and nothing is paid or written for it."""

import tempfile
from pathlib import Path

import pytest

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.flow.access_binding import observe
from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.steps.html import convert_html
from kb_pipeline.store.state import load_state
from kb_pipeline.upkeep.reconcile import repair
from kb_pipeline.upkeep.verify import Verification, sample, verify
from kb_pipeline.upkeep.versions import pin
from kb_pipeline_tests.building import AT, build_here, forbid_models, listing, made_once, page, stage, unstage
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot

FIGURES = '<p><img src="form.image" alt="The form"></p></body>'


@pytest.fixture(autouse=True)
def published(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    made_once(publish_one, settings)
    forbid_models(monkeypatch)


def publish_one(settings: Settings) -> None:
    stage(settings, "one", page("one").replace("</body>", FIGURES), {"form.image": screenshot("New ticket", "Save")})
    assert build_here(settings)["one"].error is None


@pytest.fixture
def home(settings: Settings) -> Path:
    return Path(settings.home)


@pytest.fixture
def version(settings: Settings, home: Path) -> Path:
    """Folder of the published version."""
    return home / "versions" / "one" / load_state(Workspace(settings).layout, "one").version


def problem(settings: Settings) -> str:
    """The only problem there is."""
    result = verify(open_workspace(settings), "one")
    assert result.skipped == ""
    assert len(result.problems) == 1
    return result.problems[0]


def test_a_good_article_has_no_problems(settings: Settings) -> None:
    assert verify(open_workspace(settings), "one") == Verification("one")


class TestAccessLists:
    """A change of lists is no damage, whichever run made the rest of what is published."""

    LISTS = ('{"access_control_list": ["hr"]}', '{"access_control_list": ["hr", "it"]}', "{}", None, '{"x": 1}')
    """Tightened, loosened a little, to everybody, by removing the file, and with another key alone."""

    def change(self, path: Path, content: str | None) -> None:
        if content is None:
            path.unlink()
        else:
            path.write_text(content)

    @pytest.mark.slow("builds a whole knowledge base")
    def test_a_list_that_was_changed_and_ingested(self, settings: Settings) -> None:
        path = Path(settings.staging) / "one" / "metadata.json"
        for number, content in enumerate((*self.LISTS, *self.LISTS)):
            self.change(path, content)
            assert build_here(settings, run_id=f"run-{number + 2}")["one"].error is None
            assert verify(open_workspace(settings), "one") == Verification("one")

    def test_a_list_beside_a_document(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        staging = Path(settings.staging)
        (staging / "Pay.md").write_text("# Pay\n\nThe director is paid in gold coins.\n")
        build_here(settings, "Pay.md")
        for number, content in enumerate(self.LISTS):
            self.change(staging / "Pay.md.metadata.json", content)
            assert build_here(settings, "Pay.md", run_id=f"run-{number + 2}")["Pay.md"].error is None
            assert verify(open_workspace(settings), "Pay.md") == Verification("Pay.md")

    def test_a_list_that_was_seen_and_not_ingested_yet(self, settings: Settings) -> None:
        (Path(settings.staging) / "one" / "metadata.json").write_text(self.LISTS[0])
        observe(open_workspace(settings), "one")
        result = verify(open_workspace(settings), "one")
        assert result == Verification("one", skipped="its source was changed since")
        assert not open_workspace(settings).access.pending()

    def test_a_link_that_leads_to_an_article_now(
        self, settings: Settings, article: Article, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its version is another one, and no word of it is."""
        monkeypatch.undo()
        article("from", page("from").replace("</body>", '<p><a href="../to/index.html">to</a></p></body>'))
        assert build_here(settings, "from")["from"].error is None
        article("to", page("to"))
        build_here(settings, run_id="run-2")
        assert verify(open_workspace(settings), "from") == Verification("from")

    def test_entries_that_carry_another_list_are_found(self, settings: Settings) -> None:
        Workspace(settings).index.set_readers({"one": ["somebody"]})
        assert "entries in the index are not what was published" in problem(settings)
        repair(Workspace(settings))
        assert verify(open_workspace(settings), "one") == Verification("one")


def test_verifying_pays_nothing_and_writes_nothing(settings: Settings, home: Path) -> None:
    before = listing(home)
    verify(open_workspace(settings), "one")
    assert {key: data for key, data in listing(home).items() if not key.startswith("locks/")} == {
        key: data for key, data in before.items() if not key.startswith("locks/")
    }
    assert not list(Path(tempfile.gettempdir()).glob("kb-verify-*/state/one.json"))


def test_text_that_was_changed_in_the_serving_folder_is_found(settings: Settings, home: Path) -> None:
    (home / "serving" / "one" / "article.md").write_text("rubbish")
    assert "serving/one/article.md is not what was published" in problem(settings)
    repair(Workspace(settings))
    assert verify(open_workspace(settings), "one") == Verification("one")


@pytest.mark.parametrize("also_its_other_link", [False, True])
def test_an_image_that_was_changed_is_found_and_can_be_mended(
    settings: Settings, home: Path, also_its_other_link: bool
) -> None:
    path = home / "serving" / "one" / "images" / "form.png"
    if not also_its_other_link:
        path.unlink()
    path.write_bytes(b"rubbish")
    problems = verify(open_workspace(settings), "one").problems
    assert "images/form.png is not the image that was published" in problems[0]
    assert "kb reconcile --article one" in problems[0]
    assert len(problems) == 1 + also_its_other_link
    build_here(settings, *repair(Workspace(settings), ["one"]).to_build or ["one"])
    assert verify(open_workspace(settings), "one") == Verification("one")


@pytest.mark.parametrize("lost", ["article.md", "manifest.json", "images/form.png"])
def test_a_serving_file_that_is_gone_is_found(settings: Settings, home: Path, lost: str) -> None:
    (home / "serving" / "one" / lost).unlink()
    assert f"serving/one/{lost} is not" in problem(settings)


@pytest.mark.parametrize(
    "values", [{"content": "rubbish"}, {"access_control_list": ["everybody"]}, {"run_id": "another"}, {"title": ""}]
)
def test_an_entry_that_was_changed_under_the_same_hash_is_found(settings: Settings, values: dict[str, object]) -> None:
    table = Workspace(settings).index._store.open()  # type: ignore[attr-defined]
    table.update(where="chunk_index = 0", values=values)
    assert "1 of its entries in the index are not what was published" in problem(settings)
    repair(Workspace(settings), ["one"])
    assert verify(open_workspace(settings), "one") == Verification("one")


def test_entries_that_are_missing_or_strange_are_found(settings: Settings) -> None:
    table = Workspace(settings).index._store.open()  # type: ignore[attr-defined]
    table.update(where="chunk_index = 0", values={"id": "another"})
    assert "2 of its entries in the index" in problem(settings)


@pytest.mark.parametrize("file", ["article.md", "manifest.json"])
def test_a_version_that_was_damaged_is_found_and_can_be_mended(settings: Settings, version: Path, file: str) -> None:
    (version / file).write_text("rubbish")
    assert f"its published version {version.name} is not as it was made" in problem(settings)
    build_here(settings, *repair(Workspace(settings)).to_build)
    assert verify(open_workspace(settings), "one") == Verification("one")


@pytest.mark.parametrize("damage", ["removed", "torn", "shortened"])
def test_chunks_that_were_damaged_are_found(settings: Settings, version: Path, damage: str) -> None:
    path = version / "chunks.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("{torn" if damage == "torn" else lines[0])
    if damage == "removed":
        path.unlink()
    problems = verify(open_workspace(settings), "one").problems
    assert "chunks" in problems[0]
    assert "kb reconcile" in problems[0]


@pytest.mark.parametrize("damage", ["removed", "torn"])
def test_vectors_that_were_damaged_are_found(settings: Settings, version: Path, damage: str) -> None:
    (path,) = version.glob("vectors-*.parquet")
    path.write_bytes(b"torn")
    if damage == "removed":
        path.unlink()
    assert "chunks or vectors of its published version are not as they were made" in problem(settings)


def test_code_that_gives_another_result_under_the_same_version_is_found(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def otherwise(_self: LocalAnalyzer, *arguments: object) -> object:
        converted = convert_html(*arguments)  # type: ignore[arg-type]
        return converted.model_copy(update={"markdown": converted.markdown.replace("plain", "plainest")})

    monkeypatch.setattr(LocalAnalyzer, "convert", otherwise)
    found = problem(settings)
    assert found == "converted_markdown comes out different from the same source; run: kb ingest --article one"


def test_code_that_fails_today_is_found(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a new library")

    monkeypatch.setattr(LocalAnalyzer, "convert", fail)
    assert "it cannot be made again: one: unexpected RuntimeError: a new library" in problem(settings)


class TestSkipping:
    """The source is only compared where it should give what readers see; what they see is looked at all the same."""

    def skipped(self, settings: Settings) -> str:
        result = verify(open_workspace(settings), "one")
        assert result.problems == ()
        (Path(settings.home) / "serving" / "one" / "article.md").write_text("rubbish")
        assert "is not what was published" in verify(open_workspace(settings), "one").problems[0]
        return result.skipped

    def test_what_is_not_published(self, settings: Settings) -> None:
        assert verify(open_workspace(settings), "never") == Verification("never", skipped="it is not published")

    def test_what_was_put_back(self, settings: Settings, article: Article, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        article("one", page("one", "worse words"))
        build_here(settings)
        pin(Workspace(settings), "one", None, Run("r", AT))
        build_here(settings)
        assert self.skipped(settings) == "an earlier version was put back"

    def test_what_changed_since(self, settings: Settings, article: Article) -> None:
        article("one", page("one", "new words"))
        assert self.skipped(settings) == "its source was changed since"

    def test_what_is_gone_from_staging(self, settings: Settings) -> None:
        unstage(settings, "one")
        assert self.skipped(settings) == "its source was changed since"

    def test_what_fails(self, settings: Settings, article: Article) -> None:
        article("one", "<body></body>")
        build_here(settings)
        assert self.skipped(settings) == "its newest version is not published"

    def test_what_is_of_other_code_than_todays(self, settings: Settings) -> None:
        other = settings.model_copy(update={"analyzer": "kb_pipeline_tests.doubles:RenamedAnalyzer"})
        assert "converted_markdown is of other code" in self.skipped(other)

    def test_what_the_next_generation_does_not_hold_yet(self, settings: Settings) -> None:
        other = settings.model_copy(update={"embedder": "kb_pipeline_tests.doubles:OtherEmbedder"})
        assert "chunks is of other code" in self.skipped(other)

    @pytest.mark.parametrize("damage", ["removed", "torn"])
    def test_what_would_have_to_be_described_again(self, settings: Settings, home: Path, damage: str) -> None:
        for folder in (home / "descriptions" / "by-content", home / "copies" / "descriptions"):
            (cached,) = folder.rglob("*.json")
            cached.write_text("{torn")
            if damage == "removed":
                cached.unlink()
        assert self.skipped(settings) == "the description of form.image is not cached any more"


def test_all_samples_together_are_all_articles() -> None:
    ids = [f"article-{number}" for number in range(500)]
    samples = [sample(ids, week, 12) for week in range(12)]
    assert sorted(key for part in samples for key in part) == sorted(ids)
    assert max(map(len, samples)) < 2 * min(map(len, samples))
    assert sample(ids, 12, 12) == samples[0]
