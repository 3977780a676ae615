"""Documents with pages on their way to readers: pages in every layer, and the original file beside the article."""

import json
from pathlib import Path

import pytest

from app.callers.principal import Principal
from app.library.articles import Articles
from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.stale import stale_articles
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Chunk, Manifest, sections
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.state import load_reports, load_state
from kb_pipeline.upkeep.reconcile import compare, repair
from kb_pipeline.upkeep.remove import remove_all
from kb_pipeline.upkeep.trace import trace
from kb_pipeline.upkeep.verify import verify
from kb_pipeline.upkeep.versions import list_versions, pin
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.sources.decks import presentation, slide


def deck(clock: str) -> bytes:
    lines = [f"The clock of a ticket {clock} while it waits, and nobody is told about it in time {i}" for i in range(4)]
    return presentation(
        lambda made: slide(made, 1, "Tickets", *lines),
        lambda made: slide(made, 6),
        lambda made: slide(made, 1, "Invoices", *[line.replace("ticket", "invoice") for line in lines]),
    )


@pytest.fixture
def folder(settings: Settings) -> Path:
    (Path(settings.staging) / "deck").mkdir()
    return Path(settings.staging) / "deck"


@pytest.fixture
def published(folder: Path, build_here: Build) -> bytes:
    data = deck("stops")
    (folder / "Help desk.pptx").write_bytes(data)
    assert build_here()["deck"].error is None
    return data


@pytest.fixture
def served(settings: Settings) -> Path:
    return Path(settings.home) / "serving" / "deck"


@pytest.fixture
def workspace(settings: Settings) -> Workspace:
    return Workspace(settings)


def manifest(workspace: Workspace) -> Manifest:
    return load_manifest(workspace.layout.serving("deck"))


def chunks(workspace: Workspace) -> list[Chunk]:
    return sections(load_chunks(workspace.layout, "deck", load_state(workspace.layout, "deck").published_version or ""))


def originals(workspace: Workspace) -> list[str]:
    return sorted(path.name for path in (Path(str(workspace.layout.versions("deck"))) / "documents").iterdir())


@pytest.mark.slow("builds a whole knowledge base")
def test_the_article_says_where_pages_begin_and_its_manifest_what_they_are(
    published: bytes, served: Path, workspace: Workspace
) -> None:
    text = (served / "article.md").read_text()
    assert text.startswith("<!-- page 1 -->\n\n# Tickets\n\n")
    assert "\n\n<!-- page 2 --> <!-- page 3 -->\n\n# Invoices\n" in text
    assert [page.number for page in manifest(workspace).pages] == [1, 2, 3]


def test_chunks_know_their_pages_and_the_file(published: bytes, workspace: Workspace) -> None:
    assert [(chunk.section_header, chunk.filename, chunk.pages) for chunk in chunks(workspace)] == [
        ("Tickets", "Help desk.pptx", (1,)),
        ("Invoices", "Help desk.pptx", (3,)),
    ]
    assert not any("<!--" in chunk.content or "[[PAGE" in chunk.content for chunk in chunks(workspace))


def test_the_original_lies_beside_the_article(published: bytes, served: Path, workspace: Workspace) -> None:
    assert (served / "document" / "Help desk.pptx").read_bytes() == published
    document = manifest(workspace).document
    assert document
    assert document.model_dump() == {
        "path": "document/Help desk.pptx",
        "sha256": sha256(published),
        "size": len(published),
        "media_type": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    }
    assert compare(workspace).is_good
    assert verify(workspace, "deck").problems == ()


def test_readers_of_the_article_do_not_see_where_pages_begin(published: bytes, workspace: Workspace) -> None:
    assert Articles(workspace.layout).open("deck", Principal(), []).markdown.startswith("# Tickets\n\n- The clock")
    assert "<!--" not in Articles(workspace.layout).open("deck", Principal(), []).markdown


def test_an_html_article_has_neither(article: Article, build_here: Build, settings: Settings) -> None:
    article("page", "<h1>Page</h1><p>Text.</p>")
    build_here()
    served = Path(settings.home) / "serving" / "page"
    assert sorted(path.name for path in served.iterdir()) == ["article.md", "manifest.json"]
    assert not {"document", "pages", "facts"} & json.loads((served / "manifest.json").read_text()).keys()
    assert [name for name in load_reports(Workspace(settings).layout, "page") or {} if "pages" in name] == []


def test_reports_say_how_many_pages_there_are_and_how_they_were_read(published: bytes, workspace: Workspace) -> None:
    reports = load_reports(workspace.layout, "deck") or {}
    for layer in ("converted_markdown", "serving_article"):
        assert reports[layer]["pages"] == 3
        assert "text: 2" in str(reports[layer]["pages_read_by"])
    assert reports["serving_article"]["document"] == "document/Help desk.pptx"


def test_a_trace_names_the_pages_and_how_they_were_read(published: bytes, workspace: Workspace) -> None:
    last = chunks(workspace)[-1]
    found = trace(workspace, last.id)
    assert [page.number for page in found.pages] == list(last.pages)
    assert found.pages[-1].read_by == "text"


def test_versions_of_the_same_file_share_its_original(
    published: bytes, folder: Path, build_here: Build, workspace: Workspace
) -> None:
    (folder / "metadata.json").write_text('{"title": "Another title"}')
    assert build_here()["deck"].error is None
    assert len(list_versions(workspace, "deck")) == 2
    assert originals(workspace) == [sha256(published)]


def test_a_rollback_puts_the_original_back(
    published: bytes, folder: Path, served: Path, build_here: Build, workspace: Workspace
) -> None:
    (folder / "Help desk.pptx").rename(folder / "New name.pptx")
    (folder / "New name.pptx").write_bytes(deck("rests"))
    assert build_here()["deck"].error is None
    assert [path.name for path in (served / "document").iterdir()] == ["New name.pptx"]
    assert len(originals(workspace)) == 2
    pin(workspace, "deck", None, Run("rollback", "2026-01-02T00:00:00+00:00"))
    assert build_here()["deck"].error is None
    assert [path.name for path in (served / "document").iterdir()] == ["Help desk.pptx"]
    assert (served / "document" / "Help desk.pptx").read_bytes() == published


@pytest.mark.slow("builds a whole knowledge base")
def test_an_original_that_no_version_needs_is_forgotten(
    published: bytes, folder: Path, build_here: Build, workspace: Workspace
) -> None:
    for clock in ("rests", "runs"):
        (folder / "Help desk.pptx").write_bytes(deck(clock))
        assert build_here(keep_versions=1)["deck"].error is None
    assert len(originals(workspace)) == 2
    assert sha256(published) not in originals(workspace)


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("place", ["serving", "versions"])
def test_a_damaged_original_is_found_and_put_right(
    published: bytes, served: Path, workspace: Workspace, place: str
) -> None:
    made = Path(str(workspace.layout.version_document("deck", sha256(published))))
    damaged = served / "document" / "Help desk.pptx" if place == "serving" else made
    damaged.unlink()
    damaged.write_bytes(b"damaged")
    assert f"{damaged} is not the document that was published" in verify(workspace, "deck").problems[0]
    assert repair(workspace).restored == ("deck",)
    assert (served / "document" / "Help desk.pptx").read_bytes() == made.read_bytes() == published
    assert verify(workspace, "deck").problems == ()


def test_a_damaged_original_keeps_a_version_from_being_published(
    published: bytes, build_here: Build, workspace: Workspace
) -> None:
    Path(str(workspace.layout.version_document("deck", sha256(published)))).unlink()
    assert [stale.layer for stale in stale_articles(workspace)] in ([], ["serving_article"])
    made = {layer.name: layer.reused for layer in build_here()["deck"].layers}
    assert not made["serving_article"]
    assert originals(workspace) == [sha256(published)]


def test_a_removed_document_is_gone_everywhere(published: bytes, served: Path, workspace: Workspace) -> None:
    remove_all(workspace, ["deck"])
    assert not served.exists()
    assert not Path(str(workspace.layout.versions("deck"))).exists()


def test_a_document_of_an_earlier_release_gets_its_original(
    published: bytes, served: Path, build_here: Build, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kb_pipeline.flow.layers.serving_article._ORIGINAL_VERSION", "2")
    assert [(stale.article_id, stale.layer) for stale in stale_articles(workspace)] == [("deck", "serving_article")]
