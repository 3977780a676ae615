"""One network of this service: its scenario and its store.

Everything is opened on first use: the rooms of networks and their database are not imported before.
"""

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.errors import without_places
from app.logs.lines import FOR_NOBODY, log_tail
from app.schema.network import NetworkHealth, ScenarioInfo, ScenarioType
from kb_pipeline.errors import KnowledgeBaseError, ScenarioError
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from kb_pipeline.network.base import NetworkStore, NetworkStoreHealth
    from kb_pipeline.network.scenario import ScenarioFolder

_log = logging.getLogger(__name__)
_HEALTH_SECONDS = 15.0
"""How long what was found out about the store is told again; a problem may be solved sooner."""
_PROBLEM_SECONDS = 2.0
"""Seconds for which an unreachable store is not asked again; short, so that its return shows at once."""
_HEALTH_WAIT = 0.2
"""How long the first who asks waits; others are told what was known before."""
_SAMPLE = "alert_storm.md"
_SAMPLE_CHARACTERS = 20_000
"""Characters of a sample alert that the page offers: a storm of dozens of lines."""


@dataclass(frozen=True)
class Network:
    """What a request about the network uses. ``also_named``: titles of others whose elements an alert names as well."""

    folder: "ScenarioFolder"
    store: "NetworkStore"
    also_named: tuple[str, ...] = ()


class ServedNetwork:
    """Opens the scenario of a manifest and its store, and follows the manifest when it changes."""

    def __init__(self, settings: Settings, manifest: Path) -> None:
        self.name = manifest.parent.name
        self._settings, self._manifest = settings, manifest
        self._opening = asyncio.Lock()
        self._state: tuple[int, ...] = ()
        self._folder: ScenarioFolder | None = None
        self._store: NetworkStore | None = None
        self._health: NetworkHealth | None = None
        self._looked_at = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def folder(self) -> "ScenarioFolder":
        """The scenario as it is now; read again only if the manifest changed.

        Raises:
            ScenarioError: its manifest cannot be read, so that nobody knows who may see it.
        """
        try:
            stat = self._manifest.stat()
        except OSError as exc:
            raise self._unreadable() from exc
        state = (stat.st_ino, stat.st_ctime_ns, stat.st_mtime_ns, stat.st_size)
        async with self._opening:
            if state != self._state:
                self._folder = await asyncio.to_thread(_scenario, self._manifest.parent)
                self._state = state
        if self._folder is None:
            raise self._unreadable()
        log_tail().concern(self.name, tuple(self._folder.scenario.access_control_list))
        return self._folder

    def _unreadable(self) -> ScenarioError:
        if self._store:  # it was told of, so lines may be about it
            log_tail().concern(self.name, (HIDDEN,))
        return ScenarioError("the scenario cannot be read; the service's log says why")

    async def open(self) -> Network:
        """Scenario and store; what this request logs from now on is about them.

        Raises:
            KnowledgeBaseError: one of them cannot be opened.
        """
        folder = await self.folder()
        log_tail().tell_about(self.name)
        async with self._opening:
            if self._store is None:
                self._store = await asyncio.to_thread(self._open_store, folder)
        return Network(folder, self._store)

    async def health(self) -> NetworkHealth:
        """The state of the store, which is looked at in the background."""
        health, now = self._health, asyncio.get_running_loop().time()
        fresh = _HEALTH_SECONDS if health and health.reachable else _PROBLEM_SECONDS
        if self._looking is None and (health is None or now - self._looked_at > fresh):
            self._looking = asyncio.create_task(self._look())
        if self._looking and health is None:
            await asyncio.wait((self._looking,), timeout=_HEALTH_WAIT)
            health = self._health
        return health or NetworkHealth(backend=self._settings.network)

    async def described(self) -> ScenarioInfo:
        """What pages need to know of it.

        Raises:
            ScenarioError: its manifest cannot be read.
        """
        folder = await self.folder()
        info = await asyncio.to_thread(_described, folder, self._settings)
        health = await self.health()
        return info.model_copy(
            update={
                "loaded": bool(health.reachable),
                **health.model_dump(include={"vertices", "edges", "telemetry_until", "problem"}),
            }
        )

    async def close(self) -> None:
        """Release files and connections."""
        if self._looking:
            self._looking.cancel()
            await asyncio.wait((self._looking,))
        if self._store:
            await self._store.close()

    def _open_store(self, folder: "ScenarioFolder") -> "NetworkStore":
        from kb_pipeline.network.opening import open_store

        return open_store(self._settings, folder)

    async def _look(self) -> None:
        try:
            self._health = told(await (await self.open()).store.health())
        except Exception as exc:
            if not isinstance(exc, KnowledgeBaseError):
                _log.warning("the network could not be looked at", exc_info=exc)
            problem = without_places(str(exc)) or type(exc).__name__
            self._health = NetworkHealth(backend=self._settings.network, reachable=False, problem=problem)
        finally:
            self._looked_at = asyncio.get_running_loop().time()
            self._looking = None


def told(health: "NetworkStoreHealth") -> NetworkHealth:
    """The state of a store that answered, as clients get it."""
    return NetworkHealth(
        backend=health.backend,
        scenario=health.scenario,
        vertices=health.vertices,
        edges=health.edges,
        telemetry_until=health.telemetry_until or None,
        reachable=True,
    )


def _scenario(folder: Path) -> "ScenarioFolder | None":
    from kb_pipeline.network.scenario import ScenarioFolder

    try:
        return ScenarioFolder(folder)
    except ScenarioError as exc:
        _log.warning("a scenario cannot be read: %s", exc, extra=FOR_NOBODY)
        return None


def _described(folder: "ScenarioFolder", settings: Settings) -> ScenarioInfo:
    from kb_pipeline.network.versions import type_counts

    scenario = folder.scenario
    counts = type_counts(settings.home_path, scenario.name)
    types = tuple(
        ScenarioType(name=name, kind=each.kind, color=each.color, size=each.size, count=counts.get(name))
        for name, each in scenario.vertices.items()
    )
    return ScenarioInfo(name=scenario.name, title=scenario.title, types=types, sample_alert=_sample(folder))


def _sample(folder: "ScenarioFolder") -> str:
    """The example of an alert that lies in a scenario's folder, if there is one."""
    try:
        with folder.path(_SAMPLE).open(encoding="utf-8", errors="replace") as file:
            return file.read(_SAMPLE_CHARACTERS)
    except (OSError, ScenarioError):
        return ""
