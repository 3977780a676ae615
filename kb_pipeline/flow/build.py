"""Builds articles: all layers of one article in order, and the articles of a batch on all workers.

Nothing here publishes (see :mod:`kb_pipeline.flow.publish`) or depends on Dagster. An article that fails, even by
crashing its worker process, gets a failed result and does not affect the others.
"""

import logging
import time
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from kb_pipeline.errors import (
    DamagedLayerError,
    InvalidArticleIdError,
    KnowledgeBaseError,
    LimitExceededError,
    MissingLayerError,
    QualityError,
    SearchError,
    ServiceRefusedError,
    SettingsError,
    StorageError,
    TransientError,
    UnreadableArticleError,
    VanishedArticleError,
    WorkerLostError,
)
from kb_pipeline.flow.access_binding import observe, observe_all
from kb_pipeline.flow.layers import ARTICLE_LAYERS, FLOW, LAYER_NAMES, Layer, LayerOutput, Run, SearchIndexLayer
from kb_pipeline.flow.layers.chunk_embeddings import ChunkEmbeddingsLayer
from kb_pipeline.flow.recovery import recovered_state
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.limited import doing, leave_note
from kb_pipeline.records import Report, Usage
from kb_pipeline.services.retry import after_transient_errors
from kb_pipeline.services.usage import metering, priced
from kb_pipeline.settings import Settings
from kb_pipeline.steps.checks import CHECKS
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.store.state import (
    ArticleState,
    BuildFailure,
    LayerState,
    load_reports,
    load_state,
    save_reports,
    save_state,
)
from kb_pipeline.workers import open_workers

_log = logging.getLogger(__name__)
LONGEST_PAUSE = 60.0
"""Seconds: services give their limits by the minute."""
_PATIENCE_SECONDS = 1.0
"""Seconds after which what is done so far is handed on."""
_TRANSIENT = (
    TransientError,
    StorageError,
    SearchError,
    ServiceRefusedError,
    DamagedLayerError,
    VanishedArticleError,
)
"""Errors that may be gone in the next run although neither the article nor the code has changed."""

_LOST_PROCESSES = 2
"""How often an article may lose its process before that counts as its own fault. Where somebody kills a worker every 25
seconds while a loaded machine builds 200 articles, no article was hit three times."""


@dataclass(frozen=True)
class LayerResult:
    """One layer of one article after a build; ``reused`` if nothing had to be computed.

    ``inputs`` are the output hashes, by layer, that it was made from; ``run_id`` is the run that made it.
    """

    name: str
    output_hash: str
    report: Report
    seconds: float
    reused: bool
    run_id: str
    code_version: str
    inputs: Mapping[str, str]
    usage: tuple[Usage, ...] = ()


@dataclass(frozen=True)
class ArticleResult:
    """One article after a build: the layers that succeeded and, if one failed, which and why.

    ``signature`` is the signature of the staging folder when the build began.
    """

    article_id: str
    layers: tuple[LayerResult, ...]
    failed_layer: str | None = None
    error: str | None = None
    transient: bool = False
    signature: str = ""


def build_articles(
    workspace: Workspace, article_ids: Iterable[str], layers: Collection[str], run: Run
) -> Iterator[ArticleResult]:
    """As :func:`build_as_they_come`, one result at a time."""
    for results in build_as_they_come(workspace, article_ids, layers, run):
        yield from results


def build_as_they_come(
    workspace: Workspace, article_ids: Iterable[str], layers: Collection[str], run: Run
) -> Iterator[list[ArticleResult]]:
    """Build these layers of each article on all workers, and yield results as they arrive.

    After a second without a result an empty list is yielded, so that the caller can publish what it has.

    Raises:
        KnowledgeBaseError: nothing can be built: a model cannot be loaded, or the index belongs to another program.
    """
    settings = workspace.settings
    check_names(settings)
    workers = open_workers(settings)
    article_ids = list(article_ids)
    if len(article_ids) > 1:  # the last of many articles may wait long before it is built
        try:
            observe_all(workspace, article_ids)
        except KnowledgeBaseError as exc:  # each build observes its article again, and fails with this reason
            _log.warning("changed restrictions apply to an article only once it is built: %s", exc)
    build = partial(build_article, settings, layers=tuple(layers), run=run)
    with ThreadPoolExecutor(1) as pool:
        # loading the index's library takes more than a second, and the first articles do not need it
        opened = pool.submit(lambda: workspace.index.count()) if SearchIndexLayer.name in layers else None
        if ChunkEmbeddingsLayer.name in layers:
            workers.call(partial(_prepare, settings))
        for outcomes in workers.arrivals(build, article_ids, _PATIENCE_SECONDS):
            if opened and opened.done():
                opened.result()  # raises if the index cannot be opened, which would fail every article
            yield [_result(workspace, article_id, outcome, next(iter(layers)), run) for article_id, outcome in outcomes]
        if opened:
            opened.result()


def check_names(settings: Settings) -> None:
    """Check that the settings name checks that exist.

    Raises:
        SettingsError: one does not.
    """
    if unknown := sorted(set(settings.advisory_checks) - CHECKS.keys()):
        raise SettingsError(f"KB_ADVISORY_CHECKS names {unknown[0]!r}; the checks are: {', '.join(sorted(CHECKS))}")


def _result(
    workspace: Workspace, article_id: str, outcome: ArticleResult | Exception, layer: str, run: Run
) -> ArticleResult:
    """The result that a worker returned; a failure in ``layer`` if the worker's process is gone."""
    if not isinstance(outcome, Exception):
        return outcome
    # the note that build_article left: what was staged when it began
    signature = outcome.note if isinstance(outcome, LimitExceededError | WorkerLostError) else ""
    return fail(workspace, ArticleResult(article_id, (), signature=signature), layer, outcome, run)


def warm_up(settings: Settings) -> None:
    """Start loading the models in a worker, without waiting. An error is ignored here: the build will raise it."""
    open_workers(settings).warm_up(partial(_load, settings))


def _load(settings: Settings) -> None:
    _prepare(settings)
    _ = open_workspace(settings).analyzer


def _prepare(settings: Settings) -> None:
    open_workspace(settings).embedder.prepare()


def build_article(settings: Settings, article_id: str, layers: Collection[str], run: Run) -> ArticleResult:
    """Build these layers of one article, in the order of the flow, up to the first that fails.

    The article is locked, so nobody else builds or publishes it meanwhile. Transient failures are retried.
    """
    workspace = open_workspace(settings)
    result = ArticleResult(article_id, ())
    layer = next((name for name in LAYER_NAMES if name in layers), "")
    try:
        result = replace(result, signature=workspace.staging.signature(article_id))
        leave_note(result.signature)
        access = observe(workspace, article_id)  # first, so that a restriction applies even if the build fails
        if access and access.problem:
            raise UnreadableArticleError(access.problem)
        with workspace.locks.hold([article_id]):
            for attempt in after_transient_errors(settings.attempts, LONGEST_PAUSE):
                with attempt:
                    build = _Build(workspace, recovered_state(workspace, article_id), run)
                    try:
                        build.make(layers)
                    finally:
                        layer = build.layer
                        result = replace(result, layers=_merged(result.layers, build.results))
        return result
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as exc:  # a panic in a Rust library is not an Exception
        return fail(workspace, result, layer, exc, run)


def _merged(before: Sequence[LayerResult], after: Sequence[LayerResult]) -> tuple[LayerResult, ...]:
    """The results of the newest attempt. A layer that an earlier attempt made counts as made, not as reused."""
    made = {layer.name: layer for layer in before if not layer.reused}
    return tuple(made.get(layer.name, layer) if layer.reused else layer for layer in after)


@dataclass
class _Build:
    """One attempt at one article. Its state is saved even when a layer fails, so that nothing is made twice."""

    workspace: Workspace
    state: ArticleState
    run: Run
    results: list[LayerResult] = field(default_factory=list)
    layer: str = ""

    def make(self, layers: Collection[str]) -> None:
        before = self.state
        saved = load_reports(self.workspace.layout, self.state.article_id)
        reports = dict(saved or {})
        if not self.state.arrived_at:  # new, or its state was lost
            self.state = self.state.model_copy(update={"arrived_at": self.state.earliest or self.run.started_at})
        try:
            for layer in [kind(self.workspace) for kind in ARTICLE_LAYERS if kind.name in layers]:
                self.layer = layer.name
                if layer.is_needed(self.state):
                    result = self._make_layer(layer, reports.get(layer.name, {}))
                    reports[layer.name] = dict(result.report)
                    require_good(self.state, layer.name, self.workspace.settings)
                    self.results.append(result)
        finally:
            if self.state != before or saved is None:
                save_reports(self.workspace.layout, self.state.article_id, reports)
                save_state(self.workspace.layout, self.state)

    def _make_layer(self, layer: Layer, saved_report: Report) -> LayerResult:
        """Make one layer, unless the same code made it from the same inputs and its files are intact."""
        started = time.perf_counter()
        inputs = layer.inputs(self.state, self.run)
        made_from = layer.made_from(inputs)
        last = self.state.layers.get(layer.name)
        if last and last.fingerprint == made_from and not layer.observes and self._is_intact(layer, last):
            return result_of(layer, last, saved_report or layer.report(self.state), inputs, started, reused=True)
        doing(f"making {layer.name}")
        made, usage = self._metered(layer, inputs)
        if last and layer.observes and (last.fingerprint, last.output_hash) == (made_from, made.output_hash):
            stated = {"files": dict(made.files), "format": made.format, "text_hash": made.text_hash}
            self.state = self.state.with_layer(layer.name, last.model_copy(update=stated))
            return result_of(layer, last, made.report_with_checks(), inputs, started, reused=True)
        new = layer_state(made_from, made, self.run, time.perf_counter() - started, usage)
        self.state = self.state.with_layer(layer.name, new)
        return result_of(layer, new, made.report_with_checks(), inputs, started, reused=False)

    def _is_intact(self, layer: Layer, last: LayerState) -> bool:
        """Whether the layer's files are as they were written."""
        if damaged := layer.damaged_file(self.state):
            _log.warning("%s: %s is damaged or gone; %s is made again", self.state.article_id, damaged, layer.name)
            return False
        return True

    def _metered(self, layer: Layer, inputs: Mapping[str, str]) -> tuple[LayerOutput, tuple[Usage, ...]]:
        """Make the layer, and record what it used even if it fails."""
        usage: tuple[Usage, ...] = ()
        with metering() as calls:
            try:
                made = layer.make(self.state, inputs, self.run)
            finally:
                usage = priced(calls, self.workspace.settings.prices)
                self.state = self.state.with_spent(layer.name, usage)
        return made, usage


def require_good(state: ArticleState, layer: str, settings: Settings) -> None:
    """Check that the layer passed all of its blocking checks.

    Raises:
        QualityError: it failed one.
    """
    made = state.layers.get(layer)
    failed = [check for check in made.failed_checks if is_blocking(check.name, settings)] if made else []
    if failed:
        reasons = "; ".join(f"{check.name}: {check.message.rstrip('.')}" for check in failed)
        kept = "; its last good version stays published" if state.published else ""
        raise QualityError(f"{state.article_id}: not published, because {reasons}{kept}")


def is_blocking(check: str, settings: Settings) -> bool:
    """Whether an article that fails this check is not published."""
    spec = CHECKS.get(check)  # a state may name a check that no longer exists
    return spec is not None and spec.blocking and check not in settings.advisory_checks


def layer_state(
    made_from: str, made: LayerOutput, run: Run, seconds: float, usage: tuple[Usage, ...] = ()
) -> LayerState:
    """The state to save for a layer that was just made."""
    return LayerState(
        fingerprint=made_from,
        output_hash=made.output_hash,
        run_id=run.id,
        made_at=run.started_at,
        seconds=round(seconds, 4),
        failed_checks=tuple(check for check in made.checks if not check.passed),
        usage=usage,
        files=dict(made.files),
        format=made.format,
        text_hash=made.text_hash,
    )


def result_of(
    layer: Layer | SearchIndexLayer,
    state: LayerState,
    report: Report,
    inputs: Mapping[str, str],
    started: float,
    *,
    reused: bool,
) -> LayerResult:
    """The result of a layer; ``started`` is a reading of ``time.perf_counter``."""
    return LayerResult(
        name=layer.name,
        output_hash=state.output_hash,
        report=report,
        seconds=time.perf_counter() - started,
        reused=reused,
        run_id=state.run_id,
        code_version=layer.code_version(),
        inputs=inputs,
        usage=() if reused else state.usage,
    )


def fail(workspace: Workspace, result: ArticleResult, layer: str, exc: BaseException, run: Run) -> ArticleResult:
    """The result of an article whose ``layer`` failed. The failure is saved in the article's state.

    If the layer lacks one that failed before, that failure stays the reason: it is what has to be mended.
    """
    error = _explain(result.article_id, exc)
    failed = replace(result, failed_layer=layer, error=error, transient=isinstance(exc, _TRANSIENT))
    try:
        if isinstance(exc, WorkerLostError):
            failed = replace(failed, transient=_may_have_been_killed(workspace, failed))
        if isinstance(exc, MissingLayerError) and (cause := _cause(workspace, failed)):
            return replace(failed, error=cause.error)
        _save_failure(workspace, failed, exc, run)
    except KnowledgeBaseError as unsaved:  # an invalid article id, or a full disk: the result still has the error
        return replace(failed, error=f"{error} (not remembered: {unsaved})")
    return failed


def _may_have_been_killed(workspace: Workspace, failed: ArticleResult) -> bool:
    """Whether somebody else may have killed the process that built the article; further attempts show which it was."""
    state = load_state(workspace.layout, failed.article_id)
    before = state.failure if state.signature == failed.signature else None
    return not (before and before.limits and before.attempts >= _LOST_PROCESSES)


def _cause(workspace: Workspace, failed: ArticleResult) -> BuildFailure | None:
    """The failure of an earlier layer with the same source, which is why the layer before this one is missing."""
    state = load_state(workspace.layout, failed.article_id)
    if state.failure is None or state.signature != failed.signature or failed.failed_layer not in LAYER_NAMES:
        return None
    layers_before = LAYER_NAMES[: LAYER_NAMES.index(failed.failed_layer)]
    return state.failure if state.failure.layer in layers_before else None


def _explain(article_id: str, exc: BaseException) -> str:
    """The error message for a person; an unexpected exception comes with its stack trace."""
    if isinstance(exc, InvalidArticleIdError):
        return str(exc)  # such an id must not be repeated in a message
    if isinstance(exc, KnowledgeBaseError):
        message = str(exc)
        return message if message.startswith(f"{article_id}:") else f"{article_id}: {message}"
    trace = "".join(traceback.format_exception(exc))
    place = traceback.extract_tb(exc.__traceback__)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}"
    defect = f"{article_id}: unexpected {type(exc).__name__}: {exc} ({where}); this is a defect, please report it"
    return f"{defect}\n{trace}"


def _save_failure(workspace: Workspace, result: ArticleResult, exc: BaseException, run: Run) -> None:
    with workspace.locks.hold([result.article_id]):
        state = recovered_state(workspace, result.article_id)
        if isinstance(exc, DamagedLayerError):
            state = state.without_layer(exc.layer)  # so that the next attempt makes it again
        failure = BuildFailure(
            layer=result.failed_layer or "",
            error=result.error or "",
            transient=result.transient,
            attempts=1 + (state.failure.attempts if state.failure else 0),
            first_at=state.failure.first_at if state.failure else run.started_at,
            last_at=run.started_at,
            run_id=run.id,
            code_version=_code_version(workspace, result.failed_layer),
            limits=limits_and_code(workspace) if isinstance(exc, LimitExceededError | WorkerLostError) else "",
            defect=not isinstance(exc, KnowledgeBaseError),
        )
        save_state(workspace.layout, state.model_copy(update={"failure": failure, "signature": result.signature}))


def _code_version(workspace: Workspace, layer: str | None) -> str:
    try:
        return next((kind(workspace).code_version() for kind in FLOW if kind.name == layer), "")
    except KnowledgeBaseError:
        return ""  # its backend cannot be opened, which is why the layer failed


def limits_and_code(workspace: Workspace) -> str:
    """Fingerprint of the limits and of all code: while it stays the same, a process that was killed would be again."""
    try:
        limits = (workspace.settings.article_seconds, workspace.settings.article_memory_mb)
        return fingerprint(*limits, [kind(workspace).code_version() for kind in FLOW])
    except KnowledgeBaseError:
        return ""  # a backend cannot be opened
