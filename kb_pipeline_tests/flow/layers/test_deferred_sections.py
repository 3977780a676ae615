"""What the layers make of sections that are left for later, and what they make again when the setting changes."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.stale import stale_articles
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.records import Chunk, sections
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.backlog import backlog
from kb_pipeline.upkeep.reconcile import compare
from kb_pipeline_tests.conftest import Build
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.served import index_rows, serving_files, state_of

SERVICE = """# Cosmos DB

Cosmos DB keeps the orders of all shops in one container for each region.

## Patterns

Point reads cost one unit, so that orders are read by their id.

![the metrics](metrics.png)

## Production Backlog Items

Geo replication across zebra regions comes after the pilot, which is the most important work on orders.

- Add a zebra region
- Rotate the zebra keys

![the zebra console](console.png)
"""
OTHER = "# Key Vault\n\nKey Vault keeps the secrets of all shops.\n\n## Rotation\n\nKeys rotate each quarter.\n"


@pytest.fixture
def staged(settings: Settings) -> Settings:
    for name, text in (("cosmos-db", SERVICE), ("key-vault", OTHER)):
        folder = Path(settings.staging) / name
        folder.mkdir()
        (folder / "index.md").write_text(text)
    for name in ("metrics", "console"):
        (Path(settings.staging) / "cosmos-db" / f"{name}.png").write_bytes(screenshot(name))
    return settings


def rows(settings: Settings, article_id: str) -> list[Chunk]:
    index = Workspace(settings).index
    return [row.chunk for row in index.find(index.entries([article_id])[article_id])]


def stored(settings: Settings, article_id: str) -> dict[str, tuple[str, bytes]]:
    """The rows of an article with their vectors, byte for byte."""
    entries = Workspace(settings).index.stored([article_id])
    return {each.chunk.id: (each.chunk.model_dump_json(), each.passages[0].vector.tobytes()) for each in entries}


def counting(embed: Callable[..., object], texts: list[str]) -> Callable[..., object]:
    """The same function, which notes what it is given."""

    def noting(self: HashingEmbedder, given: Sequence[str]) -> object:
        texts.extend(given)
        return embed(self, given)

    return noting


def test_the_section_and_its_picture_are_marked_and_the_summary_leaves_them_out(
    staged: Settings, build_here: Build
) -> None:
    assert build_here()["cosmos-db"].error is None
    made = rows(staged, "cosmos-db")
    marked = [(row.block_type, "zebra" in row.content.lower()) for row in made if row.deferred]
    assert ("text", True) in marked and [kind for kind, _ in marked].count("image") == 1
    assert not any("zebra" in row.model_dump_json().lower() for row in made if not row.deferred)
    (about,) = [row for row in made if row.document]
    assert about.document and [each.text for each in about.document.headings] == ["Patterns"]


def test_searches_find_it_unless_they_leave_it_out(staged: Settings, build_here: Build) -> None:
    build_here()
    reader = open_workspace(staged).reader()
    every_kind = ("text", "image", "document")
    everything = reader.search("zebra regions", filters=SearchFilter(block_type=every_kind))
    assert any("zebra" in hit.chunk.content.lower() for hit in everything)
    now = reader.search("zebra regions", filters=SearchFilter(block_type=every_kind, deferred=False))
    assert now and not any("zebra" in hit.chunk.content.lower() for hit in now)
    assert not any(hit.chunk.deferred for hit in reader.search("zebra regions")), "poc is the mode of these settings"


def test_a_new_title_makes_only_the_articles_again_that_have_it(
    staged: Settings, build_here: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_here(deferred_sections=())
    before = rows(staged, "cosmos-db")
    untouched = serving_files(staged, "key-vault"), stored(staged, "key-vault")
    stale = stale_articles(open_workspace(staged), Run("run-2", "2026-01-02T00:00:00+00:00"))
    assert [each.article_id for each in stale] == ["cosmos-db"]
    embedded: list[str] = []
    monkeypatch.setattr(HashingEmbedder, "embed_passages", counting(HashingEmbedder.embed_passages, embedded))
    again = build_here(run_id="run-2")
    made = {layer.name for layer in again["cosmos-db"].layers if not layer.reused}
    assert made.isdisjoint({"staged_article", "converted_markdown", "image_descriptions", "serving_article"})
    assert all(layer.reused for layer in again["key-vault"].layers)
    assert (serving_files(staged, "key-vault"), stored(staged, "key-vault")) == untouched
    assert len(embedded) == 1, "only the summary, which said what is left for later"
    after = {row.id: row for row in rows(staged, "cosmos-db")}
    assert {row.id for row in before} == after.keys()
    kept = [row for row in sections(before) if not after[row.id].deferred]
    assert kept and all(after[row.id].content_hash == row.content_hash for row in kept)
    assert compare(open_workspace(staged)).is_good


def test_until_then_a_new_title_already_hides_its_sections(staged: Settings, build_here: Build) -> None:
    build_here(deferred_sections=())
    reader = open_workspace(staged).reader()
    assert not any("zebra" in hit.chunk.content.lower() for hit in reader.search("zebra regions", top=5))


@pytest.mark.slow("builds a whole knowledge base")
def test_without_such_a_section_nothing_differs(staged: Settings, build_here: Build, tmp_path: Path) -> None:
    (Path(staged.staging) / "cosmos-db" / "index.md").write_text(SERVICE.replace("Production Backlog Items", "Later"))
    build_here()
    made = index_rows(staged)
    assert "deferred" not in made[0], "the table has no such column"
    without = staged.model_copy(update={"home": str(tmp_path / "other"), "deferred_sections": ()})
    build_here(home=without.home, deferred_sections=())
    assert index_rows(without) == made
    for article_id in ("cosmos-db", "key-vault"):
        one, other = state_of(staged, article_id), state_of(without, article_id)
        assert {name: layer.fingerprint for name, layer in one.layers.items()} == {
            name: layer.fingerprint for name, layer in other.layers.items()
        }


def test_the_backlog_lists_the_bullets(staged: Settings, build_here: Build) -> None:
    build_here()
    (found,) = backlog(open_workspace(staged))
    assert (found.article_id, found.title) == ("cosmos-db", "Cosmos DB")
    assert found.items == ("Add a zebra region", "Rotate the zebra keys")
    assert list(backlog(open_workspace(staged), "key-vault")) == []
