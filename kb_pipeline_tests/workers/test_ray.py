"""Articles on a real Ray cluster of up to three nodes, each a raylet with processes of its own on this machine."""

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from kb_pipeline.errors import MissingExtraError, SettingsError, WorkerLostError
from kb_pipeline.flow.build import build_articles
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.limited.process import ProcessLimits
from kb_pipeline.models.base import Vectors
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.settings import Settings
from kb_pipeline.workers import open_workers
from kb_pipeline.workers.ray import RayWorkers
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.contracts.workers_contract import LETTERS, WorkersContract
from kb_pipeline_tests.pictures import screenshot

pytestmark = pytest.mark.slow("starts a cluster")
cluster_utils = pytest.importorskip("ray.cluster_utils")

CLIENT_PORT = 25_731
RUN = Run("run-1", "2026-01-01T00:00:00+00:00")


class RecordingEmbedder(HashingEmbedder):
    """Leaves a file for each time it is opened, and one while it embeds, which takes as long as a service would."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.marks = settings.home_path / "models"
        self._mark("opened")

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        mark = self._mark("embedding")
        time.sleep(0.3)
        mark.rename(mark.with_suffix(".embedded"))
        return super().embed_batch(texts)

    def _mark(self, what: str) -> Path:
        node = os.environ.get("RAY_RAYLET_PID", "none")  # articles are built below Ray's own processes
        mark = self.marks / f"{node}-{os.getpid()}-{time.time_ns()}.{what}"
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        return mark


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    head = {"num_cpus": 1, "include_dashboard": False, "ray_client_server_port": CLIENT_PORT}
    nodes = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture(scope="module")
def second(cluster) -> None:
    """A node that stays."""
    cluster.add_node(num_cpus=1)


@pytest.fixture
def spare(cluster, second) -> Iterator[object]:
    """A third node, which a test may take down."""
    node = cluster.add_node(num_cpus=1)
    yield node
    if node in cluster.worker_nodes:
        cluster.remove_node(node, allow_graceful=False)


@pytest.fixture
def workers(cluster) -> RayWorkers:
    return RayWorkers(cluster.address)


@pytest.fixture
def on_ray(settings: Settings, cluster) -> Settings:
    embedder = "kb_pipeline_tests.workers.test_ray:RecordingEmbedder"
    return settings.model_copy(update={"engine": "ray", "ray_address": cluster.address, "embedder": embedder})


@pytest.mark.rare("the contract once more, on a cluster")
@pytest.mark.usefixtures("second")
class TestRayWorkers(WorkersContract):
    @pytest.fixture
    def limited(self, cluster) -> Callable[[ProcessLimits], RayWorkers]:
        return partial(RayWorkers, cluster.address, 1)


def stage(article: Article, count: int) -> list[str]:
    for number in range(count):
        article(f"page-{number}", f"<body><h1>Page {number}</h1><p>What there is to say about {number}.</p></body>")
    return [f"page-{number}" for number in range(count)]


def marks(settings: Settings, what: str) -> list[Path]:
    return list((settings.home_path / "models").glob(f"*.{what}"))


def killed_at_work(settings: Settings, node: str) -> bool:
    """Kill the process of a node if it is in the middle of an article: a machine goes with all of its processes."""
    for mark in marks(settings, "embedding"):
        if mark.name.startswith(f"{node}-"):
            pid = int(mark.name.split("-")[1])
            os.kill(pid, signal.SIGSTOP)
            at_work = mark.exists()
            os.kill(pid, signal.SIGKILL if at_work else signal.SIGCONT)
            return at_work
    return False


def process(_item: str) -> int:
    time.sleep(0.05)
    return os.getpid()


def processes(workers: RayWorkers, count: int) -> set[object]:
    """Keep the cluster busy until so many processes work."""
    found: set[object] = set()
    outcomes = workers.map_unordered(process, map(str, range(3000)))
    while len(found) < count:
        found.add(next(outcomes)[1])
    return found


def die_at(victim: str, marks: Path, item: str) -> str:
    (marks / f"{item}-{time.time_ns()}").touch()
    if item == victim:
        os.kill(os.getpid(), signal.SIGKILL)
    return item.upper()


def slow_but_for_one(item: str) -> str:
    time.sleep(0 if item == "quick" else 60)
    return item


def refuse(item: str) -> str:
    raise LookupError(f"no {item}")


@pytest.mark.rare("nodes that come and go")
@pytest.mark.usefixtures("second")
def test_an_item_whose_worker_dies_each_time_is_given_up_and_no_other(workers: RayWorkers, tmp_path: Path) -> None:
    outcomes = dict(workers.map_unordered(partial(die_at, "c", tmp_path), "abcdef"))
    assert isinstance(outcomes.pop("c"), WorkerLostError)
    assert outcomes == {item: item.upper() for item in "abdef"}
    assert Counter(mark.name[0] for mark in tmp_path.iterdir()) == Counter("abcccdef")


def test_closing_early_interrupts_what_runs(workers: RayWorkers) -> None:
    outcomes = workers.map_unordered(slow_but_for_one, ["quick", "slow", "slower", "slowest"])
    assert next(outcomes) == ("quick", "quick")
    outcomes.close()  # type: ignore[attr-defined]
    started = time.monotonic()
    workers.call(os.getpid)
    assert time.monotonic() - started < 30


def test_an_exception_is_no_reason_to_try_again(workers: RayWorkers) -> None:
    ((_, outcome),) = workers.map_unordered(refuse, ["page"])
    assert type(outcome) is LookupError
    assert "in refuse" in "".join(outcome.__notes__), "the traceback of the worker"


@pytest.mark.rare("nodes that come and go")
@pytest.mark.usefixtures("second")
def test_every_node_works_and_processes_are_kept(workers: RayWorkers) -> None:
    assert len(processes(workers, 2)) == 2
    seen = {pid for _ in range(3) for _, pid in workers.map_unordered(process, LETTERS)}
    assert len(seen) <= 4, "of 30 items; Ray may start another process in place of one that it thinks lost"


@pytest.mark.rare("nodes that come and go")
@pytest.mark.usefixtures("second")
def test_a_node_that_joins_in_the_middle_gets_its_share(workers: RayWorkers, request: pytest.FixtureRequest) -> None:
    outcomes = workers.map_unordered(process, map(str, range(3000)))
    before = {pid for _, pid in islice(outcomes, 20)}
    request.getfixturevalue("spare")
    assert any(pid not in before for _, pid in islice(outcomes, 100, None))


@pytest.mark.slow("starts a cluster")
def test_articles_are_built_and_models_loaded_once_in_a_process(on_ray: Settings, article: Article) -> None:
    article("picture", '<body><h1>Form</h1><p><img src="a.image"></p></body>', {"a.image": screenshot("Save")})
    ids = [*stage(article, 8), "picture"]
    results = publish(
        open_workspace(on_ray), list(build_articles(open_workspace(on_ray), ids, LAYER_NAMES, RUN)), LAYER_NAMES, RUN
    )
    assert {result.article_id: result.error for result in results} == dict.fromkeys(ids)
    assert set(Workspace(on_ray).index.entries()) == set(ids)
    loads = Counter(mark.name.split("-")[1] for mark in marks(on_ray, "opened"))
    del loads[str(os.getpid())]
    assert set(loads.values()) == {1}, "models are kept from article to article"
    assert len(loads) <= 4, "two CPUs at most; Ray may start another process in place of one that it thinks lost"


@pytest.mark.rare("nodes that come and go")
def test_a_node_killed_in_the_middle_loses_and_doubles_nothing(
    on_ray: Settings, article: Article, cluster, spare, workers: RayWorkers
) -> None:
    ids = stage(article, 36)
    processes(workers, 3)
    raylet = str(spare.all_processes["raylet"][0].process.pid)
    results = []
    for result in build_articles(open_workspace(on_ray), ids, LAYER_NAMES, RUN):
        results.append(result)
        if len(results) >= 9 and spare in cluster.worker_nodes and killed_at_work(on_ray, raylet):
            cluster.remove_node(spare, allow_graceful=False)
    assert len(marks(on_ray, "embedding")) == 1, "an article was interrupted"
    assert Counter(result.article_id for result in results) == Counter(ids)
    published = publish(open_workspace(on_ray), results, LAYER_NAMES, RUN)
    assert [result.error for result in published] == [None] * len(ids)
    index = Workspace(on_ray).index
    assert index.entries().keys() == set(ids)
    assert index.count() == sum(map(len, index.entries().values()))


@pytest.mark.slow("starts a cluster")
def test_the_processs_own_answer_to_sigterm_stays(cluster) -> None:
    import ray

    ray.shutdown()
    before = signal.getsignal(signal.SIGTERM)
    assert RayWorkers(cluster.address).call(os.getpid) != os.getpid()
    assert signal.getsignal(signal.SIGTERM) is before


def test_many_workers_are_one_connection(workers: RayWorkers, on_ray: Settings) -> None:
    import ray

    workers.call(os.getpid)
    job = ray.get_runtime_context().get_job_id()
    open_workers(on_ray).call(os.getpid)
    assert ray.get_runtime_context().get_job_id() == job


@pytest.mark.rare("nodes that come and go")
def test_a_machine_that_is_no_node_is_a_client(cluster, tmp_path: Path) -> None:
    import ray

    ray.shutdown()
    client = RayWorkers(f"ray://127.0.0.1:{CLIENT_PORT}")
    deadline = time.monotonic() + 120
    while not ray.is_initialized() and time.monotonic() < deadline:
        with suppress(SettingsError):  # a busy machine takes longer to start a server for it than Ray waits
            assert client.call(os.getpid) != os.getpid()
    outcomes = dict(client.map_unordered(partial(die_at, "b", tmp_path), "abc"))
    assert isinstance(outcomes.pop("b"), WorkerLostError)
    assert outcomes == {"a": "A", "c": "C"}
    ray.shutdown()


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "nonsense", "local"])
def test_an_address_where_no_cluster_is_fails_soon(address: str) -> None:
    import ray

    ray.shutdown()
    with pytest.raises(SettingsError, match="KB_RAY_ADDRESS"):
        RayWorkers(address).call(os.getpid)


@pytest.mark.slow("starts a cluster")
def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"kb-pipeline\[ray\]"):
        RayWorkers().call(os.getpid)
