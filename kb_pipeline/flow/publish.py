"""Publishes built articles: puts their serving files in place and their entries in the index.

Readers see nothing of a new version before this. A version that failed a blocking check is never published.
"""

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from upath import UPath

from kb_pipeline.errors import (
    DamagedLayerError,
    KnowledgeBaseError,
    MissingLayerError,
    SearchError,
    ServiceRefusedError,
    TransientError,
)
from kb_pipeline.flow.access_binding import bind
from kb_pipeline.flow.build import LONGEST_PAUSE, ArticleResult, fail, layer_state, require_good, result_of
from kb_pipeline.flow.layers import ARTICLE_LAYERS, LayerOutput, Run, SearchIndexLayer
from kb_pipeline.flow.layers.base import outputs_of
from kb_pipeline.flow.layers.chunk_embeddings import ChunkEmbeddingsLayer
from kb_pipeline.flow.layers.chunks import ChunksLayer
from kb_pipeline.flow.layers.serving_article import ServingArticleLayer
from kb_pipeline.flow.serving_versions import prune, readers_files
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.services.retry import after_transient_errors
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.store.files import settle
from kb_pipeline.store.state import ArticleState, PublishedVersion, load_state, save_state

_LONGEST_HISTORY = 100
"""Publications that are remembered of an article."""


def publish(
    workspace: Workspace, results: Sequence[ArticleResult], layers: Collection[str], run: Run
) -> list[ArticleResult]:
    """Publish the articles that were built without a failure, in one commit; returns the results of all articles.

    Nothing is published unless ``search_index`` is one of ``layers``. Transient errors are retried after the pause that
    the index asks for. If the commit fails because of one article, each article is published in a commit of its own.
    """
    results = _bind_readers(workspace, results, run)
    good = [result for result in results if result.error is None]
    bad = [result for result in results if result.error is not None]
    if SearchIndexLayer.name not in layers or not good:
        return results
    try:
        for attempt in after_transient_errors(workspace.settings.attempts, LONGEST_PAUSE):
            with attempt:
                published = _publish_together(workspace, good, run)
        return [*published, *bad]
    except Exception as exc:
        # the index is busy or refuses us: publishing each article alone would only send it more requests
        concerns_all = isinstance(exc, ServiceRefusedError) or (
            isinstance(exc, SearchError) and isinstance(exc, TransientError)
        )
        if len(good) == 1 or concerns_all:
            return [*(fail(workspace, result, SearchIndexLayer.name, exc, run) for result in good), *bad]
    # one article is the reason, and must not keep the others from being published
    return [alone for result in good for alone in publish(workspace, [result], layers, run)] + bad


def _bind_readers(workspace: Workspace, results: Sequence[ArticleResult], run: Run) -> list[ArticleResult]:
    """Apply the newest access lists, also to articles that cannot be published."""
    pending, recorded = workspace.access.pending(), workspace.access.all()
    # the index may hold entries of a failed article that its state does not mention
    restricted = [
        result.article_id
        for result in results
        if result.article_id in pending or (result.error is not None and result.article_id in recorded)
    ]
    if not restricted:
        return list(results)
    try:
        with workspace.locks.hold(restricted):
            bind(workspace, restricted)
    except KnowledgeBaseError as exc:  # searches filter by the newest lists until it succeeds
        return [
            fail(workspace, result, SearchIndexLayer.name, exc, run)
            if result.article_id in pending and result.error is None
            else result
            for result in results
        ]
    return list(results)


def _publish_together(workspace: Workspace, results: Sequence[ArticleResult], run: Run) -> list[ArticleResult]:
    started = time.perf_counter()
    layer = SearchIndexLayer(workspace)
    with workspace.locks.hold(result.article_id for result in results):
        states = {result.article_id: _publishable(layer, result.article_id, run) for result in results}
        made = layer.publish(
            {key: state.version for key, state in states.items()},
            {key: state.published_version for key, state in states.items()},
        )
        if workspace.catalog.live() is None:
            workspace.catalog.switch(workspace.generation, at=run.started_at)
        seconds = (time.perf_counter() - started) / len(results)
        # the states below say that the version is published, so its files must survive a power failure
        settle(path for result in results for path in _new_files(layer, result, states[result.article_id]))
        published = [
            _save_published(
                layer, result, states[result.article_id], *made[result.article_id], seconds=seconds, run=run
            )
            for result in results
        ]
        changed = [result for result in published if not all(one.reused for one in result.layers)]
        settle(layer.layout.state(result.article_id) for result in changed)
        return published


def _publishable(index: SearchIndexLayer, article_id: str, run: Run) -> ArticleState:
    """The state of an article whose layers are good, intact and made from one another.

    Raises:
        QualityError: a blocking check failed.
        MissingLayerError: a layer was not made yet, or was made from an older version of the article.
        DamagedLayerError: a file is not as it was written.
    """
    state = load_state(index.layout, article_id)
    outputs_of(index.upstream, state, needed_by=index.name)
    for layer in [kind(index.workspace) for kind in ARTICLE_LAYERS]:
        if layer.is_needed(state):
            require_good(state, layer.name, index.workspace.settings)
    for layer in [kind(index.workspace) for kind in (ChunksLayer, ChunkEmbeddingsLayer)]:
        if state.layers[layer.name].fingerprint != layer.made_from(layer.inputs(state, run)):
            raise MissingLayerError(
                f"{article_id}: {layer.name} is of an older version of the article; materialize {layer.name} first"
            )
    for layer in [kind(index.workspace) for kind in (ServingArticleLayer, ChunksLayer, ChunkEmbeddingsLayer)]:
        if damaged := layer.damaged_file(state):
            raise DamagedLayerError(layer.name, damaged)
    return state


def _new_files(index: SearchIndexLayer, result: ArticleResult, state: ArticleState) -> Iterator[UPath]:
    """The files of an article that this run wrote, including those that readers see."""
    new = {made.name for made in result.layers if not made.reused}
    for layer in [kind(index.workspace) for kind in ARTICLE_LAYERS if kind.name in new]:
        yield from layer.files(state).values()
    if ServingArticleLayer.name in new:
        yield from readers_files(index.layout, state.article_id, state.version)


def _save_published(
    index: SearchIndexLayer,
    result: ArticleResult,
    state: ArticleState,
    made: LayerOutput,
    unchanged: bool,
    *,
    seconds: float,
    run: Run,
) -> ArticleResult:
    """Save which run published the article. Whether it is published is always read from the index, never from here."""
    inputs = outputs_of(index.upstream, state, needed_by=index.name)
    indexed = state.layers.get(index.name)
    reused = unchanged and indexed is not None and indexed.output_hash == made.output_hash
    if indexed is None or not reused:
        indexed = layer_state(fingerprint(index.code_version(), inputs), made, run, seconds)
    files = {name: digest for upstream in index.upstream for name, digest in state.layers[upstream].files.items()}
    indexed = indexed.model_copy(update={"files": files})
    after = state.with_layer(index.name, indexed).model_copy(
        update={
            "published": _history(state, index.workspace.generation.id, run),
            "failure": None,
            "signature": result.signature or state.signature,
        }
    )
    if after != state:
        save_state(index.layout, after)
        prune(index.layout, after, index.workspace.settings.keep_versions)
    layer = result_of(index, indexed, made.report_with_checks(), inputs, time.perf_counter() - seconds, reused=reused)
    return replace(result, layers=(*result.layers, layer))


def _history(state: ArticleState, generation: str, run: Run) -> tuple[PublishedVersion, ...]:
    """The published versions of the article, the current one last."""
    last = state.published[-1] if state.published else None
    if last and (last.id, last.generation) == (state.version, generation):
        return state.published
    source = state.layers["staged_article"].output_hash if "staged_article" in state.layers else ""
    new = PublishedVersion(
        id=state.version, published_at=run.started_at, run_id=run.id, source_hash=source, generation=generation
    )
    # a version that was only published to another generation of the index is still the same version
    before = state.published[:-1] if last and last.id == new.id else state.published
    return (*before[-_LONGEST_HISTORY:], new)
