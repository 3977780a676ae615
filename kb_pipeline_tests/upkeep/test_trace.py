"""Tracing a chunk back to its source, and to everything that made it."""

from pathlib import Path

import pytest

from kb_pipeline.errors import IndexMissingError, SearchError
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.state import load_state, remove_state
from kb_pipeline.upkeep.trace import Trace, trace
from kb_pipeline.upkeep.versions import pin
from kb_pipeline_tests.building import AT, build_here, made_once, page, stage
from kb_pipeline_tests.conftest import Article


@pytest.fixture(autouse=True)
def published(settings: Settings) -> None:
    made_once(publish_one, settings)


def publish_one(settings: Settings) -> None:
    stage(settings, "one", page("one"))
    build_here(settings, run_id="first")


def traced(settings: Settings) -> Trace:
    """The trace of the first chunk that readers find."""
    workspace = Workspace(settings)
    ids = sorted(workspace.reader().index.entries(["one"])["one"])
    return trace(workspace, ids[0])


def version(settings: Settings) -> str | None:
    return load_state(Workspace(settings).layout, "one").published_version


def test_a_chunk_leads_to_its_source_and_its_makers(settings: Settings) -> None:
    found = traced(settings)
    source = Path(found.source_path)
    assert source == Path(settings.staging) / "one" / "index.html"
    assert found.provenance.source_sha256 == sha256(source.read_bytes())
    assert found.source_is_unchanged
    assert found.chunk.article_id == "one"
    assert found.chunk.content in page("one") or found.chunk.section_header in ("one", "More")
    assert (found.embedding_model, found.generation.embedder) == ("hashing-256", "hashing")
    assert found.provenance.converter.startswith("local-")
    assert found.provenance.image_model
    assert found.provenance.prompt_version
    assert (found.version, found.published_at, found.published_by) == (version(settings), AT, "first")


def test_every_layer_names_the_run_that_made_it(settings: Settings) -> None:
    build_here(settings, run_id="second")
    assert [(layer.layer, layer.run_id) for layer in traced(settings).layers] == [(n, "first") for n in LAYER_NAMES]


def test_a_new_source_that_was_not_published_does_not_change_the_trace(settings: Settings, article: Article) -> None:
    before = traced(settings)
    article("one", page("one", "new words"))
    build_here(settings, run_id="second", layers=LAYER_NAMES[:-1])
    after = traced(settings)
    assert not after.source_is_unchanged
    assert after.layers == (), "they are those of the newer version"
    assert (after.version, after.chunk, after.provenance) == (before.version, before.chunk, before.provenance)


def test_a_source_that_cannot_be_converted_any_more_is_told(settings: Settings, article: Article) -> None:
    article("one", "<body></body>")
    build_here(settings, run_id="second")
    assert not traced(settings).source_is_unchanged


def test_a_version_that_was_put_back_is_traced_to_its_own_source(settings: Settings, article: Article) -> None:
    before = traced(settings)
    article("one", page("one", "worse words"))
    build_here(settings, run_id="second")
    assert traced(settings).provenance.run_id == "second"
    pin(Workspace(settings), "one", None, Run("third", AT))
    build_here(settings, run_id="third")
    after = traced(settings)
    assert (after.version, after.provenance, after.chunk) == (before.version, before.provenance, before.chunk)
    assert after.published_by == "third"
    assert not after.source_is_unchanged


def test_readers_of_an_older_generation_are_told_of_the_version_that_they_see(
    settings: Settings, article: Article
) -> None:
    before = traced(settings)
    other = settings.model_copy(update={"embedder": "kb_pipeline_tests.doubles:OtherEmbedder"})
    build_here(other, run_id="moved")
    article("one", page("one", "new words"))
    build_here(other, run_id="second")
    after = traced(other)
    assert version(other) != before.version
    assert (after.version, after.provenance, after.chunk) == (before.version, before.provenance, before.chunk)
    assert after.generation == before.generation


@pytest.mark.parametrize("hostile", ["unknown", "", "' OR '1'='1", "../../etc/passwd", "\0", "\ud800", "x" * 10_000])
def test_an_id_that_is_no_chunks_says_where_to_find_one(settings: Settings, hostile: str) -> None:
    with pytest.raises(SearchError, match=r"no chunk .* kb search --json"):
        trace(Workspace(settings), hostile)


def test_a_chunk_that_was_published_from_elsewhere_says_so(settings: Settings) -> None:
    found = traced(settings)
    remove_state(Workspace(settings).layout, "one")
    with pytest.raises(SearchError, match="KB_HOME"):
        trace(Workspace(settings), found.chunk.id)


def test_before_anything_was_published_there_is_nothing_to_trace(settings: Settings, tmp_path: Path) -> None:
    empty = settings.model_copy(update={"home": str(tmp_path / "fresh")})
    with pytest.raises(IndexMissingError, match="kb ingest"):
        trace(Workspace(empty), "any")
