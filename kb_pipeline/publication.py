"""Publishes versions of articles: their serving files and their entries in the live index, for readers at once.

Nothing that readers see changes before. A version whose blocking checks failed is never published.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from kb_pipeline.build import ArticleResult, fail, layer_state, require_good, result_of, tries
from kb_pipeline.errors import MissingLayerError, SearchError, ServiceRefusedError, TransientError
from kb_pipeline.layers import ARTICLE_LAYERS, Made, Run, SearchIndexLayer
from kb_pipeline.layers.base import outputs_of
from kb_pipeline.layers.chunk_embeddings import ChunkEmbeddingsLayer
from kb_pipeline.layers.chunks import ChunksLayer
from kb_pipeline.layers.versions import prune
from kb_pipeline.settings import Settings
from kb_pipeline.state import ArticleState, PublishedVersion, load_state, save_state
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.workspace import Workspace, open_workspace

_REMEMBERED = 100
"""Publications of an article beyond which the oldest are forgotten."""


def publish(
    settings: Settings, results: Sequence[ArticleResult], wanted: Collection[str], run: Run
) -> list[ArticleResult]:
    """Publish the articles that were built without failure, in one commit; the results say how it went.

    An index that is busy is tried again after the pause that it asks for.
    """
    good = [result for result in results if result.error is None]
    bad = [result for result in results if result.error is not None]
    if SearchIndexLayer.name not in wanted or not good:
        return list(results)
    try:
        for attempt in tries(settings.attempts):
            with attempt:
                published = _publish(open_workspace(settings), good, run)
        return [*published, *bad]
    except Exception as exc:
        if len(good) == 1 or _concerns_all(exc):
            return [*(fail(settings, result, SearchIndexLayer.name, exc, run) for result in good), *bad]
    # one of them is the reason: each alone, so that it does not keep the others out
    return [alone for result in good for alone in publish(settings, [result], wanted, run)] + bad


def _concerns_all(exc: Exception) -> bool:
    """Whether it is the index that is busy or refuses us, so that each article alone would only ask it more often."""
    return isinstance(exc, ServiceRefusedError) or (isinstance(exc, SearchError) and isinstance(exc, TransientError))


def _publish(workspace: Workspace, results: Sequence[ArticleResult], run: Run) -> list[ArticleResult]:
    started = time.perf_counter()
    layer = SearchIndexLayer(workspace)
    with workspace.locks.hold(result.article_id for result in results):
        states = {result.article_id: _publishable(layer, result.article_id) for result in results}
        published = layer.publish(
            {key: state.version for key, state in states.items()},
            {key: state.published_version for key, state in states.items()},
        )
        if workspace.catalog.live() is None:
            workspace.catalog.switch(workspace.generation, at=run.started_at)
        seconds = (time.perf_counter() - started) / len(results)
        return [
            _published(layer, result, states[result.article_id], *published[result.article_id], seconds, run)
            for result in results
        ]


def _publishable(index: SearchIndexLayer, article_id: str) -> ArticleState:
    """The state of an article whose layers are good and belong together.

    Raises:
        QualityError: a blocking check failed.
        MissingLayerError: a layer was not made yet, or from an older version of the article.
    """
    state = load_state(index.layout, article_id)
    outputs_of(index.upstream, state, wanted_by=index.name)
    for layer in [kind(index.workspace) for kind in ARTICLE_LAYERS]:
        if layer.is_needed(state):
            require_good(state, layer.name, index.workspace.settings)
    for made in [kind(index.workspace) for kind in (ChunksLayer, ChunkEmbeddingsLayer)]:
        inputs = outputs_of(made.upstream, state, wanted_by=made.name)
        if state.layers[made.name].fingerprint != made.made_from(inputs):
            raise MissingLayerError(
                f"{article_id}: {made.name} is of an older version of the article; materialise {made.name} first"
            )
    return state


def _published(
    layer: SearchIndexLayer,
    result: ArticleResult,
    state: ArticleState,
    made: Made,
    unchanged: bool,
    seconds: float,
    run: Run,
) -> ArticleResult:
    """Remember which run published the article; whether it is published is always asked of the index."""
    inputs = outputs_of(layer.upstream, state, wanted_by=layer.name)
    known = state.layers.get(layer.name)
    made_from = fingerprint(layer.code_version(), inputs)
    reused = unchanged and known is not None and known.output_hash == made.output_hash
    if known is None or not reused:
        known = layer_state(made_from, made, run, seconds)
    after = state.with_layer(layer.name, known).model_copy(
        update={
            "published": _versions(state, layer.workspace, run),
            "failure": None,
            "signature": result.signature or state.signature,
        }
    )
    if after != state:
        save_state(layer.layout, after)
        prune(layer.layout, after, layer.workspace.settings.keep_versions)
    shown = result_of(layer, known, made.shown(), inputs, time.perf_counter() - seconds, reused=reused)
    return replace(result, layers=(*result.layers, shown))


def _versions(state: ArticleState, workspace: Workspace, run: Run) -> tuple[PublishedVersion, ...]:
    last = state.published[-1] if state.published else None
    generation = workspace.generation.id
    if last and (last.id, last.generation) == (state.version, generation):
        return state.published
    source = state.layers["staged_article"].output_hash if "staged_article" in state.layers else ""
    new = PublishedVersion(
        id=state.version, published_at=run.started_at, run_id=run.id, source_hash=source, generation=generation
    )
    # a version that only moved to another generation of the index is the same version
    before = state.published[:-1] if last and last.id == new.id else state.published
    return (*before[-_REMEMBERED:], new)
