"""Shared by all tests: a staging folder to fill, settings without a big model, a build to run."""

import gc
import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest
from PIL import Image

from kb_pipeline.analyzers import local
from kb_pipeline.flow.build import ArticleResult, build_article, build_articles
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.models import minilm
from kb_pipeline.models.minilm import cached_model
from kb_pipeline.network.local import query_processes
from kb_pipeline.settings import Settings
from kb_pipeline.steps.describe import OcrLine
from kb_pipeline_tests.building import stage
from kb_pipeline_tests.certificates import new_certificate
from kb_pipeline_tests.evaluation.known import publish_things
from kb_pipeline_tests.managed_identity import ManagedIdentity, signed_in

pytest_plugins = [
    "kb_pipeline_tests.in_memory",
    "kb_pipeline_tests.speeds",
    # servers, here once for all: where several modules import such a fixture, each starts one of its own
    "kb_pipeline_tests.app.cosmos_server",
    "kb_pipeline_tests.app.token_issuer",
    "kb_pipeline_tests.azurite",
    "kb_pipeline_tests.postgres",
    "kb_pipeline_tests.search_service.fixtures",
]

hypothesis.settings.register_profile("suite", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("suite")  # how long an example takes says how busy the machine is

Article = Callable[..., Path]
Build = Callable[..., dict[str, ArticleResult]]
Ledger = Callable[[], list[str]]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Look for garbage neither while all is imported, nor ever again in what stays to the end.

    The collector took a quarter of the time of collecting tests; and Streamlit calls it after each run of a page, which
    took half a second.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """No test blocks or ignores SIGTERM for those after it, whose child processes inherit that and never end."""
    yield
    status = Path("/proc/thread-self/status")  # what C libraries did, too
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines()) if status.exists() else {}
    wrong = [kind for kind in ("SigBlk", "SigIgn") if int(lines.get(kind, "0"), 16) >> (signal.SIGTERM - 1) & 1]
    if wrong:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise RuntimeError(f"SIGTERM was blocked or ignored when this test had ended: {wrong}")


@pytest.fixture(scope="session", autouse=True)
def _environment_of_nobody() -> Iterator[None]:
    """No setting, identity, Dagster home or ``.env`` file of the developer reaches what tests share."""
    with pytest.MonkeyPatch.context() as patched:
        _forget_settings(patched)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Programs here ask nobody beyond this machine, so that they need not read all authorities of the Internet.

    Each client of HTTP would do so when it is made, which takes 20 ms of a core and is done thousands of times.
    """
    certificate, _ = new_certificate(tmp_path_factory.mktemp("certificate"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SSL_CERT_FILE", str(certificate))
        yield


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does any of another test reach the next one."""
    _forget_settings(monkeypatch)


def _forget_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(
            ("KB_", "DAGSTER_", "AZURE_", "OPENAI_", "OTEL_", "APPLICATIONINSIGHTS_", "COSMOS_", "GRAPH_")
        ):
            monkeypatch.delenv(name)
    monkeypatch.setitem(Settings.model_config, "env_file", None)


@pytest.fixture(scope="session", autouse=True)
def _pictures_read_once() -> Iterator[None]:
    """Hundreds of tests build articles with the same few pictures, whose text takes longer to read than all the rest.

    Tests of reading call it by its name, which is the real one.
    """
    read, known = local.recognise, dict[tuple[tuple[int, int], bytes], list[OcrLine]]()

    def once(image: Image.Image) -> list[OcrLine]:
        key = image.size, image.tobytes()
        if key not in known:
            known[key] = read(image)
        return list(known[key])

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(local, "recognise", once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_graph_of_minilm() -> Iterator[None]:
    """Each new home would have the default embedder's graph made anew, which takes 1.6 seconds of a core."""
    known = dict[str, bytes]()

    def once(cache_dir: Path, name: str, build: Callable[[], bytes]) -> Path:
        return cached_model(cache_dir, name, lambda: known.get(name) or known.setdefault(name, build()))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(minilm, "cached_model", once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_query_process() -> Iterator[None]:
    """Each store of a network would start two more processes, for when queries end theirs; each computes for 0.3 s."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(query_processes, "READY", 1)
        yield


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose folders are the test's own, with the model-free embedder."""
    (tmp_path / "staging").mkdir()
    return Settings(
        staging=str(tmp_path / "staging"),
        home=str(tmp_path / "home"),
        embedder="hashing",
        workers=2,
        chunk_min_tokens=4,
    )


@pytest.fixture
def article(settings: Settings) -> Article:
    """Stage an article: ``article("id", html, {"file": bytes})``."""
    return partial(stage, settings)


@pytest.fixture
def build(settings: Settings) -> Build:
    """Build and publish what is staged (or the named articles); returns the results by article id."""
    return partial(_build, settings.model_copy(update={"engine": "kb_pipeline_tests.doubles:WorkersHere"}))


@pytest.fixture
def build_in_processes(settings: Settings) -> Build:
    """Like ``build``, in worker processes, as a real run does."""
    return partial(_build, settings)


def _build(
    settings: Settings, *article_ids: str, layers: tuple[str, ...] = LAYER_NAMES, run_id: str = "run-1"
) -> dict[str, ArticleResult]:
    ids = article_ids or tuple(sorted(folder.name for folder in Path(settings.staging).iterdir()))
    this = Run(run_id, "2026-01-01T00:00:00+00:00")
    results = publish(
        open_workspace(settings), list(build_articles(open_workspace(settings), ids, layers, this)), layers, this
    )
    return {result.article_id: result for result in results}


@pytest.fixture
def build_here(settings: Settings) -> Build:
    """Like ``build``, without workers; ``build_here(analyzer=...)`` changes settings."""

    def run(
        *article_ids: str, layers: tuple[str, ...] = LAYER_NAMES, run_id: str = "run-1", **changed: object
    ) -> dict[str, ArticleResult]:
        ids = article_ids or tuple(sorted(folder.name for folder in Path(settings.staging).iterdir()))
        these, this = settings.model_copy(update=changed), Run(run_id, "2026-01-01T00:00:00+00:00")
        results = publish(open_workspace(these), [build_article(these, key, layers, this) for key in ids], layers, this)
        return {result.article_id: result for result in results}

    return run


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """The calls that ``PaidAnalyzer`` delivered so far in this test."""
    path = tmp_path / "ledger"
    monkeypatch.setenv("PAID_LEDGER", str(path))
    return lambda: path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks again does so at once."""
    monkeypatch.setattr("tenacity.nap.time", SimpleNamespace(sleep=lambda _: None))
    monkeypatch.setattr("azure.core.pipeline.transport.HttpTransport.sleep", lambda _transport, _seconds: None)


@pytest.fixture
def managed_identity(monkeypatch: pytest.MonkeyPatch) -> Iterator[ManagedIdentity]:
    """Without keys, Azure's services are asked as this identity; it tells which audiences tokens were asked for."""
    with signed_in(monkeypatch) as identity:
        yield identity


@pytest.fixture
def things_published(settings: Settings) -> None:
    """The knowledge base that questions with known answers are asked of."""
    publish_things(settings)
