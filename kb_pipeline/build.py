"""Builds articles: the layers of one article in order, the articles of a batch on all cores.

Knows no Dagster. One article's failure, even one that takes its worker process down, is that
article's result and touches no other.
"""

import time
import traceback
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace

from loky import get_reusable_executor
from loky.process_executor import BrokenProcessPool

from kb_pipeline.errors import DamagedLayerError, KnowledgeBaseError
from kb_pipeline.layers import ARTICLE_LAYERS, LAYER_NAMES, Layer, Made, Run, SearchIndexLayer
from kb_pipeline.layers.base import outputs_of
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
    """One layer of one article after a build; ``reused`` when nothing had to be computed.

    ``inputs`` are the output hashes it was made from, by layer; ``run_id`` is the run that made it.
    """

    name: str
    output_hash: str
    report: Report
    seconds: float
    reused: bool
    run_id: str
    code_version: str
    inputs: Mapping[str, str]


@dataclass(frozen=True)
class ArticleResult:
    """One article after a build: the layers that are good now, and why the next one is not, if so."""

    article_id: str
    layers: tuple[LayerResult, ...]
    failed_layer: str | None = None
    error: str | None = None


Running = dict["Future[ArticleResult]", str]


def build_articles(
    settings: Settings, article_ids: Iterable[str], wanted: Collection[str], run: Run
) -> Iterator[ArticleResult]:
    """Build the ``wanted`` layers of each article, all cores busy; results come as they are done.

    Raises:
        KnowledgeBaseError: nothing can be built: a model cannot be loaded, or the index is another model's.
    """
    _check_backends(settings, wanted)
    waiting = deque(dict.fromkeys(article_ids))
    running: Running = {}
    try:
        while waiting or running:
            try:
                _submit(settings, waiting, running, wanted, run)
                yield from _finished(running, wanted)
            except BrokenProcessPool:
                # one of those that were running killed its process: each alone, to know which
                suspects = list(running.values())
                running.clear()
                for article_id in suspects:
                    yield _build_alone(settings, article_id, wanted, run)
    finally:
        for future in running:
            future.cancel()


def _submit(settings: Settings, waiting: deque[str], running: Running, wanted: Collection[str], run: Run) -> None:
    """Keep every worker busy, and as many articles again waiting for one."""
    executor = _executor(settings.worker_count)
    while waiting and len(running) < 2 * settings.worker_count:
        running[executor.submit(build_article, settings, waiting[0], wanted, run)] = waiting[0]
        waiting.popleft()


def _finished(running: Running, wanted: Collection[str]) -> Iterator[ArticleResult]:
    """Wait for the next results and take them out of ``running``; raise if a worker died."""
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        try:
            result = future.result()
        except BrokenProcessPool:
            raise
        except Exception as exc:  # the result could not travel
            result = ArticleResult(running[future], (), next(iter(wanted)), _explain(running[future], exc))
        del running[future]
        yield result


def _build_alone(settings: Settings, article_id: str, wanted: Collection[str], run: Run) -> ArticleResult:
    try:
        result: ArticleResult = _executor(1).submit(build_article, settings, article_id, wanted, run).result()
        return result
    except BrokenProcessPool:
        error = f"{article_id}: the process that built it died (out of memory, or a crash in a native library)"
        return ArticleResult(article_id, (), next(iter(wanted)), error)


def _check_backends(settings: Settings, wanted: Collection[str]) -> None:
    """Find out what would fail for every article before the first is built."""
    if SearchIndexLayer.name in wanted:
        open_workspace(settings).index.count()
    if ChunkEmbeddingsLayer.name in wanted:
        _executor(settings.worker_count).submit(_prepare_models, settings).result()


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
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as exc:  # a panic in a Rust library is no Exception
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
    except DamagedLayerError as exc:
        state = state.without_layer(exc.layer)  # the next build makes it anew
        raise
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
        return _result(layer, known, inputs, started, reused=True), state
    made = layer.make(state.article_id, inputs, run)
    if known and layer.observes and (known.fingerprint, known.output_hash) == (made_from, made.output_hash):
        return _result(layer, known, inputs, started, reused=True), state
    new = _layer_state(made_from, made, run, time.perf_counter() - started)
    return _result(layer, new, inputs, started, reused=False), state.with_layer(layer.name, new)


def _layer_state(made_from: str, made: Made, run: Run, seconds: float) -> LayerState:
    return LayerState(
        fingerprint=made_from,
        output_hash=made.output_hash,
        run_id=run.id,
        made_at=run.started_at,
        seconds=round(seconds, 4),
        report=dict(made.report),
    )


def _result(
    layer: Layer | SearchIndexLayer, state: LayerState, inputs: Mapping[str, str], started: float, *, reused: bool
) -> LayerResult:
    return LayerResult(
        name=layer.name,
        output_hash=state.output_hash,
        report=state.report,
        seconds=time.perf_counter() - started,
        reused=reused,
        run_id=state.run_id,
        code_version=layer.code_version(),
        inputs=inputs,
    )


def _explain(article_id: str, exc: BaseException) -> str:
    if isinstance(exc, KnowledgeBaseError):
        message = str(exc)
        return message if message.startswith(f"{article_id}:") else f"{article_id}: {message}"
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
        return [*_publish(open_workspace(settings), good, run), *bad]
    except Exception as exc:
        if len(good) == 1:
            return [_unpublished(settings, good[0], exc), *bad]
    # one of them is the reason: each alone, so that it does not keep the others out
    return [alone for result in good for alone in publish(settings, [result], wanted, run)] + bad


def _publish(workspace: Workspace, results: Sequence[ArticleResult], run: Run) -> list[ArticleResult]:
    started = time.perf_counter()
    layer = SearchIndexLayer(workspace)
    published = layer.publish([result.article_id for result in results])
    seconds = (time.perf_counter() - started) / len(results)
    return [_published(layer, result, *published[result.article_id], seconds, run) for result in results]


def _published(
    layer: SearchIndexLayer, result: ArticleResult, made: Made, unchanged: bool, seconds: float, run: Run
) -> ArticleResult:
    """Remember which run published the article; whether it is published is always asked of the index."""
    state = load_state(layer.layout, result.article_id)
    inputs = outputs_of(layer.upstream, state, wanted_by=layer.name)
    known = state.layers.get(layer.name)
    if not (unchanged and known and known.output_hash == made.output_hash):
        known = _layer_state(fingerprint(layer.code_version(), inputs), made, run, seconds)
        save_state(layer.layout, state.with_layer(layer.name, known))
    made_layer = _result(layer, known, inputs, time.perf_counter() - seconds, reused=unchanged)
    return replace(result, layers=(*result.layers, made_layer))


def _unpublished(settings: Settings, result: ArticleResult, exc: Exception) -> ArticleResult:
    if isinstance(exc, DamagedLayerError):
        layout = open_workspace(settings).layout
        save_state(
            layout, load_state(layout, result.article_id).without_layer(exc.layer)
        )  # made anew by the next build
    return replace(result, failed_layer=SearchIndexLayer.name, error=_explain(result.article_id, exc))
