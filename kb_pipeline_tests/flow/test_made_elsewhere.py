"""Articles that another program made: taken as they are, never described or converted, and never touched."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.errors import SettingsError
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import sections
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import load_state
from kb_pipeline.upkeep.empty import parts_of
from kb_pipeline.upkeep.estimate import estimate
from kb_pipeline.upkeep.trace import trace
from kb_pipeline.upkeep.verify import verify
from kb_pipeline_tests.building import build_here, forbid_models, listing, page
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot

TEXT = """# Tickets

A ticket is a question of a customer that waits for an answer.

## Create

1. Click **New ticket**.

   ![The form of a new ticket](images/form.png)

2. Fill in the form with all that you know about the customer, and save it.
"""


@pytest.fixture
def elsewhere(settings: Settings, tmp_path: Path) -> Settings:
    (tmp_path / "foreign").mkdir()
    return settings.model_copy(update={"staging": str(tmp_path / "foreign"), "staging_holds": "serving"})


@pytest.fixture
def foreign(elsewhere: Settings) -> Callable[..., Path]:
    def make(article_id: str, text: str = TEXT, manifest: object = None) -> Path:
        folder = Path(elsewhere.staging) / article_id
        (folder / "images").mkdir(parents=True, exist_ok=True)
        (folder / "article.md").write_text(text)
        (folder / "images" / "form.png").write_bytes(screenshot("New ticket", "Subject", "Save"))
        if manifest:
            (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder

    return make


@pytest.fixture
def no_analyzer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the analyzer was called")

    for name in ("convert", "convert_document", "describe"):
        monkeypatch.setattr(LocalAnalyzer, name, refuse)


@pytest.mark.usefixtures("no_analyzer")
def test_an_article_is_published_with_its_image_and_its_origin(
    elsewhere: Settings, foreign: Callable[..., Path]
) -> None:
    before = listing(foreign("tickets"))
    result = build_here(elsewhere)["tickets"]
    assert result.error is None
    workspace = Workspace(elsewhere)
    served = workspace.layout.serving("tickets")
    assert (served / "images" / "form.png").read_bytes() == before["images/form.png"]
    assert (
        "   > **[Image: form](images/form.png)**\n   > The form of a new ticket\n"
        in (served / "article.md").read_text()
    )
    manifest = load_manifest(served)
    assert manifest.provenance.converter == manifest.provenance.image_model == "made elsewhere"
    assert manifest.provenance.source_file == "article.md"
    assert manifest.document is None
    hit = workspace.reader().search("How do I create a ticket?")[0].chunk
    assert (hit.heading_path[-1], hit.image_urls) == ("Create", ("tickets/images/form.png",))
    traced = trace(workspace, hit.id)
    assert traced.source_is_unchanged
    assert traced.source_path == str(Path(elsewhere.staging) / "tickets" / "article.md")
    assert verify(workspace, "tickets").problems == ()
    assert listing(Path(elsewhere.staging) / "tickets") == before


def test_our_own_serving_folder_gives_the_same_texts_and_sections(
    settings: Settings, elsewhere: Settings, article: Article
) -> None:
    html = page("Tickets").replace(
        "</p><h2>", '</p><table><tr><td>a</td><td><img src="form.png"></td></tr></table><h2>'
    )
    article("tickets", html, {"form.png": screenshot("New ticket", "Subject", "Save")})
    build_here(settings)
    made = Workspace(settings).layout
    shutil.copytree(str(made.serving("tickets")), Path(elsewhere.staging) / "tickets")
    other = elsewhere.model_copy(update={"home": f"{elsewhere.home}-2"})
    assert build_here(other)["tickets"].error is None
    again = Workspace(other).layout
    assert (again.serving("tickets") / "article.md").read_bytes() == (
        made.serving("tickets") / "article.md"
    ).read_bytes()

    def cut(layout: object, one: Settings) -> dict[str, str]:
        version = load_state(Workspace(one).layout, "tickets").version
        chunks = load_chunks(Workspace(one).layout, "tickets", version)
        return {chunk.id: chunk.content_hash for chunk in chunks if chunk.block_type != "document"}

    assert cut(again, other) == cut(made, settings)
    assert len(cut(again, other)) > 1


def test_only_what_changed_is_made_again(
    elsewhere: Settings, foreign: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign("tickets", manifest={"title": "Tickets", "provenance": {"run_id": "a"}})
    build_here(elsewhere)
    forbid_models(monkeypatch)
    assert all(layer.reused for layer in build_here(elsewhere)["tickets"].layers)
    foreign("tickets", manifest={"title": "Tickets", "provenance": {"run_id": "b"}})
    layers = {layer.name: layer.reused for layer in build_here(elsewhere)["tickets"].layers}
    assert (layers["staged_article"], layers["chunks"], layers["chunk_embeddings"]) == (False, True, True)


@pytest.mark.parametrize(
    ("text", "layer", "reason"),
    [
        ("# T\n\n![x](images/gone.png) Words.\n", "serving_article", "images/gone.png is not in the folder"),
        ("# T\n\n![x](images/broken.png) Words.\n", "serving_article", "images/broken.png"),
        ("# T\n\n![x](https://example.com/x.png)\n", "converted_markdown", "shows 'https://example.com/x.png'"),
        ("# T\n\n[x](javascript:alert(1))\n", "converted_markdown", "not safe to follow"),
        ("# T\n\n<script>alert(1)</script>\n", "converted_markdown", "no_markup_leaked"),
        ("", "converted_markdown", "article_is_not_empty"),
    ],
)
def test_what_cannot_be_served_fails_alone_and_by_name(
    elsewhere: Settings, foreign: Callable[..., Path], text: str, layer: str, reason: str
) -> None:
    foreign("good")
    (foreign("bad", text) / "images" / "broken.png").write_bytes(b"no image")
    results = build_here(elsewhere)
    assert results["good"].error is None
    assert results["bad"].failed_layer == layer
    assert reason in str(results["bad"].error)
    assert not (Workspace(elsewhere).layout.serving("bad")).exists()


def test_the_list_of_readers_of_the_manifest_holds(elsewhere: Settings, foreign: Callable[..., Path]) -> None:
    foreign("tickets", manifest={"access_control_list": ["support"]})
    build_here(elsewhere)
    workspace = Workspace(elsewhere)
    chunks = load_chunks(workspace.layout, "tickets", load_state(workspace.layout, "tickets").version)
    assert {chunk.access_control_list for chunk in sections(chunks)} == {("support",)}
    foreign("tickets", manifest={"acl": ["support"]})
    assert "hidden from everybody" in str(build_here(elsewhere)["tickets"].error)


def test_an_estimate_expects_no_conversion_and_no_image(elsewhere: Settings, foreign: Callable[..., Path]) -> None:
    foreign("tickets")
    expected = estimate(Workspace(elsewhere), None)
    assert (expected.articles, expected.images, expected.unreadable) == (1, 0, ())
    assert [use.layer for use in expected.models] == ["chunk_embeddings"]


def test_emptying_an_environment_leaves_the_foreign_folder(elsewhere: Settings, foreign: Callable[..., Path]) -> None:
    foreign("tickets")
    workspace = Workspace(elsewhere)
    with pytest.raises(SettingsError, match="never deleted"):
        parts_of(workspace, staging=True)
