"""A service whose knowledge base has a network: the sample scenario, loaded, and maybe not for everybody."""

import atexit
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx

from app.api.server import create_app
from app.settings import AppSettings
from kb_pipeline.network.loading import load
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.serving import serving_app

SAMPLE = Path(__file__).parents[3] / "samples" / "scenarios" / "telco"
STORM = (SAMPLE / "alert_storm.md").read_text()
FOR_NOC = "access_control_list: [group-noc]"


def with_network(folder: Path, readers: str = "", **changed: Any) -> Settings:
    """Settings of a knowledge base with a scenario of its own that is loaded; ``readers`` is a line of its manifest.

    It is loaded once in a process and copied from then on.
    """
    shutil.copytree(_loaded(readers), folder, dirs_exist_ok=True)
    scenarios, home, staging = (str(folder / name) for name in ("scenarios", "home", "staging"))
    return Settings(home=home, staging=staging, embedder="hashing", scenarios=scenarios, **changed)


@cache
def _loaded(readers: str) -> Path:
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "staging").mkdir()
    shutil.copytree(SAMPLE, folder / "scenarios" / "telco")
    manifest = folder / "scenarios" / "telco" / "scenario.yaml"
    if readers:
        manifest.write_text(manifest.read_text().replace("access_control_list: []", readers))
    load(ScenarioFolder(manifest.parent), folder / "home")
    return folder


@contextmanager
def client_of(knowledge_base: Settings, **settings: Any) -> Iterator[httpx.Client]:
    """A client of the service."""
    with (
        serving_app(create_app(AppSettings(**settings), knowledge_base)) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        yield client
