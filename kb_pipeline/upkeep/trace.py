"""Traces a chunk back to its source file, and to the runs and models that made it."""

from dataclasses import dataclass

from kb_pipeline.contributions import open_queue
from kb_pipeline.contributions.tracing import TracedContribution, contributions_in
from kb_pipeline.errors import KnowledgeBaseError, SearchError
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Chunk, Manifest, PageInfo, Provenance
from kb_pipeline.search.catalog import Generation
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, PublishedVersion, load_state


@dataclass(frozen=True)
class LayerTrace:
    """Which run made a layer of the chunk's article, when, and with which result."""

    layer: str
    run_id: str
    made_at: str
    output_hash: str


@dataclass(frozen=True)
class Trace:
    """Where a chunk came from. ``layers`` is empty if a newer version than the published one was made since.

    ``source_is_unchanged``: the staging folder, when it was last read, was still the source of the chunk. ``pages`` are
    those of the document on which it stands, ``contributions`` those that a reviewer put into it.
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
    pages: tuple[PageInfo, ...] = ()
    contributions: tuple[TracedContribution, ...] = ()


def trace(workspace: Workspace, chunk_id: str) -> Trace:
    """Trace a chunk of the live index.

    Raises:
        SearchError: the live index has no such chunk, or its article was not published from this home folder.
        IndexMissingError: nothing was published yet.
    """
    reader = workspace.reader()
    entries = reader.index.find([chunk_id])
    if not entries:
        raise SearchError(f"there is no chunk {chunk_id!r} in the index; kb search --json shows chunk ids")
    chunk = entries[0].chunk
    state = load_state(workspace.layout, chunk.article_id)
    if not state.published:
        raise SearchError(f"{chunk.article_id} was not published from {workspace.settings.home}; set KB_HOME")
    published = _version_of(workspace.layout, state, chunk, reader.generation)
    manifest = load_manifest(workspace.layout.version(chunk.article_id, published.id))
    provenance = manifest.provenance
    staged = state.layers.get("staged_article")
    return Trace(
        chunk=chunk,
        embedding_model=entries[0].embedding_model,
        generation=reader.generation,
        version=published.id,
        published_at=published.published_at,
        published_by=published.run_id,
        provenance=provenance,
        source_path=str(workspace.staging.path(chunk.article_id, provenance.source_file)),
        source_is_unchanged=staged is not None and staged.output_hash == provenance.content_hash,
        layers=_layers(state) if state.version == published.id else (),
        pages=_pages_of(workspace.layout, manifest, published.id, chunk.id) if manifest.pages else (),
        contributions=_contributions_in(workspace, chunk),
    )


def _contributions_in(workspace: Workspace, chunk: Chunk) -> tuple[TracedContribution, ...]:
    try:
        return contributions_in(open_queue(workspace.settings), chunk)
    except KnowledgeBaseError:
        return ()  # the rest of the trace is still useful


def _pages_of(layout: Layout, manifest: Manifest, version: str, chunk_id: str) -> tuple[PageInfo, ...]:
    """The pages on which the chunk stands. They are read from its version, because an index may hold only the first."""
    try:
        chunks = load_chunks(layout, manifest.article_id, version)
    except KnowledgeBaseError:
        return ()  # the rest of the trace is still useful
    numbers = {number for chunk in chunks if chunk.id == chunk_id for number in chunk.pages}
    return tuple(page for page in manifest.pages if page.number in numbers)


def _version_of(layout: Layout, state: ArticleState, chunk: Chunk, live: Generation) -> PublishedVersion:
    """The published version that the chunk belongs to; in an older generation that may be an older version."""
    last = state.published[-1]
    if last.generation == live.id:
        return last
    newest_first = reversed(state.published)
    return next((one for one in newest_first if _run_that_made(layout, state, one) == chunk.run_id), last)


def _run_that_made(layout: Layout, state: ArticleState, version: PublishedVersion) -> str | None:
    try:
        return load_manifest(layout.version(state.article_id, version.id)).provenance.run_id
    except KnowledgeBaseError:
        return None  # pruned in the meantime


def _layers(state: ArticleState) -> tuple[LayerTrace, ...]:
    made = [(name, state.layers[name]) for name in LAYER_NAMES if name in state.layers]
    return tuple(LayerTrace(name, layer.run_id, layer.made_at, layer.output_hash) for name, layer in made)
