"""Builds articles: the layers of one article in order, the articles of a batch on all cores.

Knows no Dagster. One article's failure, even one that takes its worker process down, is that
article's result and touches no other.
"""

import time
import traceback
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace

from loky import get_reusable_executor
from loky.process_executor import BrokenProcessPool

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.layers import ARTICLE_LAYERS, LAYER_NAMES, Layer, Made, Run, SearchIndexLayer
from kb_pipeline.layers.chunk_embeddings import ChunkEmbeddingsLayer
from kb_pipeline.report import Report
from kb_pipeline.settings import Settings
from kb_pipeline.state import ArticleState, LayerState, load_state, save_state
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.workspace import Workspace, open_workspace

IDLE_SECONDS = 60
"""Workers keep their models warm for this long between batches."""


@dataclass(frozen=True)
class LayerResult:
    """One layer of one article after a build; ``reused`` when nothing had to be computed."""

    name: str
    output_hash: str
    report: Report
    seconds: float
    reused: bool
    run_id: str


@dataclass(frozen=True)
class ArticleResult:
    """One article after a build: the layers that are good now, and why the next one is not, if so."""

    article_id: str
    layers: tuple[LayerResult, ...]
    failed_layer: str | None = None
    error: str | None = None


def build_articles(
    settings: Settings, article_ids: Sequence[str], wanted: Collection[str], run: Run
) -> Iterator[ArticleResult]:
    """Build the ``wanted`` layers of each article, all cores busy; results come as they are done."""
    finished: set[str] = set()
    try:
        for result in _build_in_parallel(settings, article_ids, wanted, run):
            finished.add(result.article_id)
            yield result
    except BrokenProcessPool:
        # Which article killed its worker is not known: the unfinished ones go on one at a time.
        for article_id in article_ids:
            if article_id not in finished:
                yield _build_alone(settings, article_id, wanted, run)


def _build_in_parallel(
    settings: Settings, article_ids: Sequence[str], wanted: Collection[str], run: Run
) -> Iterator[ArticleResult]:
    executor = _executor(min(settings.worker_count, len(article_ids)) or 1)
    if ChunkEmbeddingsLayer.name in wanted:
        executor.submit(_prepare_models, settings).result()
    pending = {executor.submit(build_article, settings, article_id, wanted, run) for article_id in article_ids}
    try:
        for future in as_completed(pending):
            pending.discard(future)
            yield future.result()
    finally:
        for future in pending:
            future.cancel()


def _build_alone(settings: Settings, article_id: str, wanted: Collection[str], run: Run) -> ArticleResult:
    try:
        result: ArticleResult = _executor(1).submit(build_article, settings, article_id, wanted, run).result()
        return result
    except BrokenProcessPool:
        error = f"{article_id}: the process that built it died (out of memory, or a crash in a native library)"
        return ArticleResult(article_id, (), next(iter(wanted)), error)


def _executor(workers: int) -> Executor:
    # loky would take the models of a worker that has just loaded them for a memory leak
    environment = {"LOKY_MAX_MEMORY_LEAK_SIZE": "2e9"}
    executor: Executor = get_reusable_executor(max_workers=workers, timeout=IDLE_SECONDS, env=environment)
    return executor


def _prepare_models(settings: Settings) -> None:
    open_workspace(settings).embedder.prepare()


def build_article(settings: Settings, article_id: str, wanted: Collection[str], run: Run) -> ArticleResult:
    """Build the ``wanted`` layers of one article, in the order of the flow, up to the first that fails."""
    made: list[LayerResult] = []
    try:
        _build_layers(open_workspace(settings), article_id, wanted, run, made)
    except Exception as exc:
        failed = next((name for name in LAYER_NAMES if name in wanted and name not in {m.name for m in made}), "")
        return ArticleResult(article_id, tuple(made), failed, _explain(article_id, exc))
    return ArticleResult(article_id, tuple(made))


def _build_layers(
    workspace: Workspace, article_id: str, wanted: Collection[str], run: Run, made: list[LayerResult]
) -> None:
    state = before = load_state(workspace.layout, article_id)
    try:
        for layer in (kind(workspace) for kind in ARTICLE_LAYERS if kind.name in wanted):
            result, state = build_layer(layer, state, run)
            made.append(result)
    finally:
        # also after a failure: what was made before it need not be made again
        if state != before:
            save_state(workspace.layout, state)


def build_layer(layer: Layer, state: ArticleState, run: Run) -> tuple[LayerResult, ArticleState]:
    """Make one layer, unless the same code made it from the same inputs and it is still there."""
    started = time.perf_counter()
    inputs = layer.inputs(state, run)
    made_from = fingerprint(layer.version, layer.backend(), inputs)
    known = state.layers.get(layer.name)
    if known and known.fingerprint == made_from and layer.exists(state.article_id):
        return _result(layer.name, known, started, reused=True), state
    made = layer.make(state.article_id, inputs, run)
    if known and layer.observes and (known.fingerprint, known.output_hash) == (made_from, made.output_hash):
        return _result(layer.name, known, started, reused=True), state
    new = LayerState(
        fingerprint=made_from,
        output_hash=made.output_hash,
        run_id=run.id,
        made_at=run.started_at,
        seconds=round(time.perf_counter() - started, 4),
        report=dict(made.report),
    )
    return _result(layer.name, new, started, reused=False), state.with_layer(layer.name, new)


def _result(name: str, state: LayerState, started: float, *, reused: bool) -> LayerResult:
    return LayerResult(name, state.output_hash, state.report, time.perf_counter() - started, reused, state.run_id)


def _explain(article_id: str, exc: Exception) -> str:
    if isinstance(exc, KnowledgeBaseError):
        return str(exc)
    trace = "".join(traceback.format_exception(exc))
    return f"{article_id}: unexpected {type(exc).__name__}: {exc}; this is a defect, please report it\n{trace}"


def publish(
    settings: Settings, results: Sequence[ArticleResult], wanted: Collection[str], run: Run
) -> list[ArticleResult]:
    """Publish the articles that were built without failure, in one commit; the results say how it went."""
    good = [result for result in results if result.error is None]
    if SearchIndexLayer.name not in wanted or not good:
        return list(results)
    bad = [result for result in results if result.error is not None]
    try:
        return [*_publish(settings, good, run), *bad]
    except KnowledgeBaseError as exc:
        if len(good) == 1:
            return [_unpublished(good[0], exc), *bad]
    # one of them is the reason: each alone, so that it does not keep the others out
    return [alone for result in good for alone in publish(settings, [result], wanted, run)] + bad


def _publish(settings: Settings, results: Sequence[ArticleResult], run: Run) -> list[ArticleResult]:
    started = time.perf_counter()
    published = SearchIndexLayer(open_workspace(settings)).publish([result.article_id for result in results])
    seconds = (time.perf_counter() - started) / len(results)
    return [_published(result, *published[result.article_id], seconds, run) for result in results]


def _published(result: ArticleResult, made: Made, reused: bool, seconds: float, run: Run) -> ArticleResult:
    layer = LayerResult(SearchIndexLayer.name, made.output_hash, made.report, seconds, reused, run.id)
    return replace(result, layers=(*result.layers, layer))


def _unpublished(result: ArticleResult, exc: KnowledgeBaseError) -> ArticleResult:
    return replace(result, failed_layer=SearchIndexLayer.name, error=f"{result.article_id}: {exc}")
