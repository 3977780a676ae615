"""A network for the page: the sample scenario with hostile texts, and a store that a test can hold up or break."""

import asyncio
import shutil
from pathlib import Path

import pyarrow as pa

from kb_pipeline.errors import QueryFailedError
from kb_pipeline.network.base import QueryLimits, Rows, Subgraph, TopologyQuery
from kb_pipeline.network.loading import load
from kb_pipeline.network.local.store import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings

SAMPLE = Path(__file__).parents[3] / "samples" / "scenarios" / "telco"
STORM = (SAMPLE / "alert_storm.md").read_text()
EVIL = "<img src=x onerror=window.hacked=1> ![p](http://evil.example/p.png) [click](http://evil.example) $x$ :smile:"


def hostile_scenario(folder: Path) -> Path:
    """A folder of scenarios with the sample, in which a name, a message and a runbook are hostile."""
    scenario = Path(shutil.copytree(SAMPLE, folder / "scenarios" / "telco"))
    for file, before in {
        "network/services.csv": "VPN Acme Mining",
        "telemetry/alerts.csv": "loss of signal",
        "runbooks/fibre-cut.md": "Open a case with the fibre owner",
    }.items():
        text = (scenario / file).read_text()
        assert before in text
        (scenario / file).write_text(text.replace(before, EVIL))
    return scenario.parent


def load_scenario(scenarios: Path, home: str) -> None:
    """Load the scenario as its assets would."""
    load(ScenarioFolder(scenarios / "telco"), Path(home))


class HeldStore(LocalStore):
    """The local store. It answers no telemetry as long as there is a file ``hold`` in the home folder, refuses it while
    there is ``deaf``, and has no topology while there is ``blind``.
    """

    def __init__(self, settings: Settings, scenario: ScenarioFolder) -> None:
        super().__init__(settings.home_path, scenario.scenario.name)

    async def telemetry(self, query: str, limits: QueryLimits) -> Rows:
        await self._be_heard()
        return await super().telemetry(query, limits)

    async def table(self, query: str, limits: QueryLimits) -> tuple[pa.Table, bool]:
        await self._be_heard()
        return await super().table(query, limits)

    async def _be_heard(self) -> None:
        while (self.home / "hold").exists():
            await asyncio.sleep(0.05)
        if (self.home / "deaf").exists():
            raise QueryFailedError("the telemetry did not answer in time")

    async def topology(self, wanted: TopologyQuery) -> Subgraph:
        if (self.home / "blind").exists():
            raise QueryFailedError("the graph did not answer in time")
        return await super().topology(wanted)
