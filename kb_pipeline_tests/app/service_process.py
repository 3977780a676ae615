"""The agent service as a process of its own, as it is started everywhere: ``python -m app``."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from kb_pipeline.settings import Settings
from kb_pipeline_tests.ports import free_port

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Served:
    """A running service: a client of it, its process, and what it has logged so far."""

    client: httpx.Client
    process: subprocess.Popen[bytes]
    port: int
    _log: Path

    def log(self) -> str:
        return self._log.read_text()


@contextmanager
def service_process(knowledge_base: Settings, log: Path, port: int | None = None, **settings: str) -> Iterator[Served]:
    """``port`` is where it is told to listen in another way than by KB_APP_PORT."""
    own_port = free_port()
    own = {"KB_HOME": knowledge_base.home, "KB_STAGING": knowledge_base.staging, "KB_APP_PORT": str(own_port)}
    environment = {**os.environ, **own, "KB_EMBEDDER": knowledge_base.embedder, **settings}
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-m", "app"], cwd=ROOT, env=environment, stderr=output)
    try:
        port = port or own_port
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            _wait_for(client, process)
            yield Served(client, process, port, log)
    finally:
        process.terminate()
        process.wait(60)


def _wait_for(client: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 180  # the machine may be busy
    while time.monotonic() < deadline and process.poll() is None:
        try:
            client.get("/readiness").raise_for_status()
            return
        except httpx.HTTPError:  # nobody listens, or it says that it is not ready yet
            time.sleep(0.1)
    raise AssertionError(f"the service did not start: {process.poll()}")
