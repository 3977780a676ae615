"""Builds articles: the layers of one article in order, the articles of a batch by all workers.

Knows no Dagster and publishes nothing. One article's failure, even one that takes its worker down, is that
article's result and touches no other.
"""

import time
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from kb_pipeline.errors import (
    DamagedLayerError,
    InvalidArticleIdError,
    KnowledgeBaseError,
    QualityError,
    SearchError,
    ServiceRefusedError,
    SettingsError,
    StorageError,
    TransientError,
)
from kb_pipeline.layers import ARTICLE_LAYERS, FLOW, LAYER_NAMES, Layer, Made, Run, SearchIndexLayer
from kb_pipeline.layers.chunk_embeddings import ChunkEmbeddingsLayer
from kb_pipeline.metering import metering, priced
from kb_pipeline.records import Usage
from kb_pipeline.report import Report
from kb_pipeline.settings import Settings
from kb_pipeline.state import (
    ArticleState,
    Failure,
    LayerState,
    load_reports,
    load_state,
    save_reports,
    save_state,
)
from kb_pipeline.steps.checks import CHECKS
from kb_pipeline.workers import open_workers
from kb_pipeline.workspace import Workspace, open_workspace

_LONGEST_WAIT = 60.0
_PASSING = (TransientError, StorageError, SearchError, ServiceRefusedError, DamagedLayerError)
"""Failures that may be gone with the next run, though nothing of the article or the code has changed."""


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
    usage: tuple[Usage, ...] = ()


@dataclass(frozen=True)
class ArticleResult:
    """One article after a build: the layers that are good now, and why the next one is not, if so.

    ``signature`` is the staging folder's when the build began.
    """

    article_id: str
    layers: tuple[LayerResult, ...]
    failed_layer: str | None = None
    error: str | None = None
    transient: bool = False
    signature: str = ""


def build_articles(
    settings: Settings, article_ids: Iterable[str], wanted: Collection[str], run: Run
) -> Iterator[ArticleResult]:
    """Build the ``wanted`` layers of each article, all workers busy; results come as they are done.

    Raises:
        KnowledgeBaseError: nothing can be built: a model cannot be loaded, or the index is another program's.
    """
    _check_settings(settings)
    workspace, workers = open_workspace(settings), open_workers(settings)
    build = partial(build_article, settings, wanted=tuple(wanted), run=run)
    with ThreadPoolExecutor(1) as aside:
        # the index's library takes more than a second to load: beside the first articles, none of which waits for it
        opened = aside.submit(_open_index, workspace, wanted)
        if ChunkEmbeddingsLayer.name in wanted:
            workers.call(partial(_prepare, settings))
        for article_id, outcome in workers.map_unordered(build, article_ids):
            if opened.done():
                opened.result()  # what is wrong with it would fail for every article
            if isinstance(outcome, Exception):
                yield fail(settings, ArticleResult(article_id, ()), next(iter(wanted)), outcome, run)
            else:
                yield outcome
        opened.result()


def _check_settings(settings: Settings) -> None:
    if unknown := sorted(set(settings.advisory_checks) - CHECKS.keys()):
        raise SettingsError(f"KB_ADVISORY_CHECKS names {unknown[0]!r}; the checks are: {', '.join(sorted(CHECKS))}")


def _open_index(workspace: Workspace, wanted: Collection[str]) -> None:
    if SearchIndexLayer.name in wanted:
        workspace.index.count()


def warm_up(settings: Settings) -> None:
    """Let a worker load its models while this process does something else; what fails will fail again and be told."""
    open_workers(settings).warm_up(partial(_load, settings))


def _load(settings: Settings) -> None:
    _prepare(settings)
    _ = open_workspace(settings).analyzer


def _prepare(settings: Settings) -> None:
    open_workspace(settings).embedder.prepare()


def build_article(settings: Settings, article_id: str, wanted: Collection[str], run: Run) -> ArticleResult:
    """Build the ``wanted`` layers of one article, in the order of the flow, up to the first that fails.

    Nobody else builds or publishes the article meanwhile. Transient failures are tried again after a pause.
    """
    done, layer = ArticleResult(article_id, ()), next((name for name in LAYER_NAMES if name in wanted), "")
    try:
        workspace = open_workspace(settings)
        done = ArticleResult(article_id, (), signature=workspace.staging.signature(article_id))
        with workspace.locks.hold([article_id]):
            for attempt in tries(settings.attempts):
                with attempt:
                    build = _Build(workspace, load_state(workspace.layout, article_id), run)
                    try:
                        build.make(wanted)
                    finally:
                        done, layer = replace(done, layers=_combined(done.layers, build.results)), build.layer
        return done
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as exc:  # a panic in a Rust library is no Exception
        return fail(settings, done, layer, exc, run)


def _combined(before: Sequence[LayerResult], after: Sequence[LayerResult]) -> tuple[LayerResult, ...]:
    """What this try has, told as the try that made it told it."""
    made = {layer.name: layer for layer in before if not layer.reused}
    return tuple(made.get(layer.name, layer) if layer.reused else layer for layer in after)


def tries(attempts: int) -> Retrying:
    """Attempts at what a service may be too busy for, with the pauses that it asks for in between."""
    return Retrying(
        retry=retry_if_exception_type(TransientError),
        stop=stop_after_attempt(attempts),
        wait=_pause,
        reraise=True,
    )


def _pause(tried: RetryCallState) -> float:
    """What the service asked for, else a random pause from a range that doubles."""
    failure = tried.outcome.exception() if tried.outcome else None
    asked = failure.retry_after if isinstance(failure, TransientError) else None
    return min(asked if asked is not None else wait_random_exponential(multiplier=1)(tried), _LONGEST_WAIT)


@dataclass
class _Build:
    """One article being built: its state is written even when a layer fails, so nothing is made twice."""

    workspace: Workspace
    state: ArticleState
    run: Run
    results: list[LayerResult] = field(default_factory=list)
    layer: str = ""

    def make(self, wanted: Collection[str]) -> None:
        before = self.state
        reports = dict(load_reports(self.workspace.layout, self.state.article_id))
        try:
            for layer in [kind(self.workspace) for kind in ARTICLE_LAYERS if kind.name in wanted]:
                self.layer = layer.name
                if layer.is_needed(self.state):
                    result = self._layer(layer, reports.get(layer.name, {}))
                    reports[layer.name] = dict(result.report)
                    require_good(self.state, layer.name, self.workspace.settings)
                    self.results.append(result)
        finally:
            if self.state != before:
                save_reports(self.workspace.layout, self.state.article_id, reports)
                save_state(self.workspace.layout, self.state)

    def _layer(self, layer: Layer, known_report: Report) -> LayerResult:
        """Make one layer, unless the same code made it from the same inputs and it is still there."""
        started = time.perf_counter()
        inputs = layer.inputs(self.state, self.run)
        made_from = layer.made_from(inputs)
        known = self.state.layers.get(layer.name)
        if known and known.fingerprint == made_from and layer.exists(self.state):
            return result_of(layer, known, known_report, inputs, started, reused=True)
        made, usage = self._metered(layer, inputs)
        if known and layer.observes and (known.fingerprint, known.output_hash) == (made_from, made.output_hash):
            return result_of(layer, known, made.shown(), inputs, started, reused=True)
        new = layer_state(made_from, made, self.run, time.perf_counter() - started, usage)
        self.state = self.state.with_layer(layer.name, new)
        return result_of(layer, new, made.shown(), inputs, started, reused=False)

    def _metered(self, layer: Layer, inputs: Mapping[str, str]) -> tuple[Made, tuple[Usage, ...]]:
        """Make the layer; what it used is counted even when it fails half-way."""
        usage: tuple[Usage, ...] = ()
        with metering() as used:
            try:
                made = layer.make(self.state, inputs, self.run)
            finally:
                usage = priced(used, self.workspace.settings.prices)
                self.state = self.state.with_spent(layer.name, usage)
        return made, usage


def require_good(state: ArticleState, layer: str, settings: Settings) -> None:
    """Stop here unless the layer passed its blocking checks.

    Raises:
        QualityError: it did not.
    """
    known = state.layers.get(layer)
    failed = [check for check in known.failed_checks if is_blocking(check.name, settings)] if known else []
    if failed:
        reasons = "; ".join(f"{check.name}: {check.message}" for check in failed)
        kept = "; its last good version stays published" if state.published else ""
        raise QualityError(f"{state.article_id}: not published, because {reasons}{kept}")


def is_blocking(check: str, settings: Settings) -> bool:
    """Whether an article that fails the check is not published."""
    known = CHECKS.get(check)  # a state may tell of a check that is no more
    return known is not None and known.blocking and check not in settings.advisory_checks


def layer_state(made_from: str, made: Made, run: Run, seconds: float, usage: tuple[Usage, ...] = ()) -> LayerState:
    """What is remembered of a layer that was just made."""
    return LayerState(
        fingerprint=made_from,
        output_hash=made.output_hash,
        run_id=run.id,
        made_at=run.started_at,
        seconds=round(seconds, 4),
        failed_checks=tuple(check for check in made.checks if not check.passed),
        usage=usage,
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
    """What is told of a layer; ``started`` is a reading of the performance counter."""
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


def fail(settings: Settings, result: ArticleResult, layer: str, exc: BaseException, run: Run) -> ArticleResult:
    """The result of an article whose ``layer`` failed; the failure is remembered with the article."""
    error = explain(result.article_id, exc)
    # what is damaged is forgotten, so that the next try makes it anew
    transient = isinstance(exc, _PASSING)
    failed = replace(result, failed_layer=layer, error=error, transient=transient)
    try:
        _remember(open_workspace(settings), failed, exc, run)
    except KnowledgeBaseError as unwritable:  # an id that is no article, or a full disk: the run still says it
        return replace(failed, error=f"{error} (not remembered: {unwritable})")
    return failed


def _remember(workspace: Workspace, result: ArticleResult, exc: BaseException, run: Run) -> None:
    with workspace.locks.hold([result.article_id]):
        state = load_state(workspace.layout, result.article_id)
        if isinstance(exc, DamagedLayerError):
            state = state.without_layer(exc.layer)
        failure = Failure(
            layer=result.failed_layer or "",
            error=result.error or "",
            transient=result.transient,
            attempts=1 + (state.failure.attempts if state.failure else 0),
            first_at=state.failure.first_at if state.failure else run.started_at,
            last_at=run.started_at,
            run_id=run.id,
            code_version=_code_version(workspace, result.failed_layer),
        )
        save_state(workspace.layout, state.model_copy(update={"failure": failure, "signature": result.signature}))


def _code_version(workspace: Workspace, layer: str | None) -> str:
    try:
        return next((kind(workspace).code_version() for kind in FLOW if kind.name == layer), "")
    except KnowledgeBaseError:
        return ""  # its backend cannot be opened, which is why it failed


def explain(article_id: str, exc: BaseException) -> str:
    """The failure for a person; what we did not foresee comes with its stack trace."""
    if isinstance(exc, InvalidArticleIdError):
        return str(exc)  # the id is fit for no message either
    if isinstance(exc, KnowledgeBaseError):
        message = str(exc)
        return message if message.startswith(f"{article_id}:") else f"{article_id}: {message}"
    trace = "".join(traceback.format_exception(exc))
    return f"{article_id}: unexpected {type(exc).__name__}: {exc}; this is a defect, please report it\n{trace}"
