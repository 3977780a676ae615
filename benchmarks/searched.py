"""The targets of ``queries.py``: an index directly, through the service, by LanceDB itself, and while it changes."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import httpx

from benchmarks.listening import wait_for
from benchmarks.synthetic_index import entries, load_material
from kb_pipeline.flow.workspace import Reader
from kb_pipeline.models import open_embedder
from kb_pipeline.search.base import SearchFilter, Vector, query_words
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.search.lance.query import PROBES
from kb_pipeline.search.lance.table import CHUNK_COLUMNS, VECTOR, where
from kb_pipeline.settings import load_settings
from kb_pipeline_tests.ports import free_port

_CHANGED = 700
"""The number of chunks that are republished again and again while searches are measured."""


def open_reader(home: Path, folder: Path) -> Reader:
    """Open a reader of the index in ``folder`` with the models of ``home``."""
    catalog = LanceDBCatalog(str(folder / "index"))
    live = catalog.live()
    assert live is not None
    return Reader(live.generation, catalog.open(live.generation), open_embedder(load_settings(home=str(home))))


def own_hybrid(reader: Reader, question: str, vector: Vector, top: int, filters: SearchFilter | None) -> object:
    """Search with LanceDB's own hybrid search and its default fusion."""
    assert isinstance(reader.index, LanceDBIndex)
    table = reader.index._store.open()
    assert table is not None
    search: Any = table.search(query_type="hybrid", vector_column_name=VECTOR, fts_columns="search_text")
    search = search.vector(vector).text(query_words(question)).distance_type("cosine").nprobes(PROBES)
    condition = where(filters or SearchFilter())
    return (search.where(condition) if condition else search).select(CHUNK_COLUMNS).limit(top).to_list()


@dataclass(frozen=True)
class Service:
    """The agent service in a process of its own, and a client of it."""

    client: httpx.Client
    pid: int

    def cpu_seconds(self) -> float:
        """CPU time of the process so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(own: Path, home: Path, folder: Path, clients: int) -> Iterator[Service]:
    """Run the service on this index alone for the block."""
    (own / "models").symlink_to((home / "models").absolute())
    port = free_port()
    clean = {key: value for key, value in os.environ.items() if not key.startswith("KB_")}
    index = {"KB_HOME": str(own), "KB_APP_PORT": str(port), "KB_INDEX_URI": str(folder.absolute() / "index")}
    process = subprocess.Popen([sys.executable, "-m", "app"], env=clean | index)
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    try:
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, limits=limits)
        wait_for(client, "/health", process)
        yield Service(client, process.pid)
    finally:
        process.terminate()
        process.wait(30)


class Writing:
    """A process that publishes ten articles at a time, and sometimes optimises, during the block."""

    def __init__(self, home: Path, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._started, self._stopped = context.Event(), context.Event()
        self._process = context.Process(target=_write, args=(home, folder, self._started, self._stopped))

    def __enter__(self) -> None:
        self._process.start()
        if not self._started.wait(120):
            raise SystemExit("the process that should publish did not begin")

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._process.join(120)


def _write(home: Path, folder: Path, started: Event, stopped: Event) -> None:
    material = load_material(home / "index")
    catalog = LanceDBCatalog(str(folder / "index"))
    live = catalog.live()
    assert live is not None
    index = catalog.open(live.generation)
    articles: dict[str, list[Any]] = {}
    for entry in entries(material, _CHANGED, seed=1):
        articles.setdefault(entry.chunk.article_id, []).append(entry)
    started.set()
    while not stopped.is_set():
        for start in range(0, len(articles), 10):
            index.publish(dict(list(articles.items())[start : start + 10]))
            if stopped.wait(0.5):
                break
        index.optimise()
    index.remove(articles)
    index.optimise()
