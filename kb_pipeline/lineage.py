"""Lineage to the sentence: from a chunk back to the source file, and to everything that made it."""

from dataclasses import dataclass

from kb_pipeline.errors import KnowledgeBaseError, SearchError
from kb_pipeline.layers import LAYER_NAMES
from kb_pipeline.layers.serving_article import load_manifest
from kb_pipeline.layout import Layout
from kb_pipeline.records import Chunk, Provenance
from kb_pipeline.search.catalog import Generation
from kb_pipeline.state import ArticleState, PublishedVersion, load_state
from kb_pipeline.workspace import Workspace


@dataclass(frozen=True)
class LayerTrace:
    """Which run made a layer of the chunk's article, when, and with what."""

    layer: str
    run_id: str
    made_at: str
    output_hash: str


@dataclass(frozen=True)
class Trace:
    """Where a chunk came from. ``layers`` is empty when a newer version than the published one was made since.

    ``source_is_unchanged`` says whether the article's folder, as it was read last, is still the chunk's source.
    """

    chunk: Chunk
    embedding_model: str
    generation: Generation
    version: str
    published_at: str
    published_by: str
    provenance: Provenance
    source_path: str
    source_is_unchanged: bool
    layers: tuple[LayerTrace, ...]


def trace(workspace: Workspace, chunk_id: str) -> Trace:
    """Everything that is known about how the chunk came to be in the index that readers use.

    Raises:
        SearchError: the live index has no such chunk, or its article was never published from here.
        IndexMissingError: nothing was ever published.
    """
    reader = workspace.reader()
    found = reader.index.find([chunk_id])
    if not found:
        raise SearchError(f"there is no chunk {chunk_id!r} in the index; kb search --json shows chunk ids")
    chunk = found[0].chunk
    state = load_state(workspace.layout, chunk.article_id)
    if not state.published:
        raise SearchError(f"{chunk.article_id} was not published from {workspace.settings.home}; set KB_HOME")
    published = _version_of(workspace.layout, state, chunk, reader.generation)
    provenance = load_manifest(workspace.layout.version(chunk.article_id, published.id)).provenance
    return Trace(
        chunk=chunk,
        embedding_model=found[0].embedding_model,
        generation=reader.generation,
        version=published.id,
        published_at=published.published_at,
        published_by=published.run_id,
        provenance=provenance,
        source_path=str(workspace.staging.root / chunk.article_id / provenance.source_file),
        source_is_unchanged=_is_source(state, provenance),
        layers=_layers(state) if state.version == published.id else (),
    )


def _version_of(layout: Layout, state: ArticleState, chunk: Chunk, live: Generation) -> PublishedVersion:
    """The published version that the chunk is of; an older generation still shows an older one."""
    last = state.published[-1]
    if last.generation == live.id:
        return last
    made_by_run = (known for known in reversed(state.published) if _run_that_made(layout, state, known) == chunk.run_id)
    return next(made_by_run, last)


def _run_that_made(layout: Layout, state: ArticleState, version: PublishedVersion) -> str | None:
    try:
        return load_manifest(layout.version(state.article_id, version.id)).provenance.run_id
    except KnowledgeBaseError:
        return None  # forgotten meanwhile


def _is_source(state: ArticleState, provenance: Provenance) -> bool:
    staged = state.layers.get("staged_article")
    return staged is not None and staged.output_hash == provenance.content_hash


def _layers(state: ArticleState) -> tuple[LayerTrace, ...]:
    made = [(name, state.layers[name]) for name in LAYER_NAMES if name in state.layers]
    return tuple(LayerTrace(name, layer.run_id, layer.made_at, layer.output_hash) for name, layer in made)
