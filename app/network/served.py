"""The network that this service answers about: its scenario, its store, and who may see it.

Everything is opened on first use: the rooms of networks and their database are not imported before.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.callers.principal import Principal
from app.errors import without_places
from app.logs.lines import FOR_NOBODY, log_tail
from app.schema.network import NetworkHealth, ScenarioInfo, ScenarioType
from kb_pipeline.errors import KnowledgeBaseError, ScenarioError
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from kb_pipeline.network.base import NetworkStore, NetworkStoreHealth, QueryLimits
    from kb_pipeline.network.scenario import ScenarioFolder

_log = logging.getLogger(__name__)
_MANIFEST = "scenario.yaml"
_HEALTH_SECONDS = 15.0
"""How long what was found out about the store is told again; a problem may be solved sooner."""
_PROBLEM_SECONDS = 2.0
"""Seconds for which an unreachable store is not asked again; short, so that its return shows at once."""
_HEALTH_WAIT = 0.2
"""How long the first who asks waits; others are told what was known before."""
_SAMPLE = "alert_storm.md"
_SAMPLE_CHARACTERS = 20_000
"""Characters of a sample alert that the page offers: a storm of dozens of lines."""


class NetworkNotFoundError(KnowledgeBaseError):
    """There is no network here that the caller may see."""

    def __init__(self) -> None:
        super().__init__("no network is served here; set KB_SCENARIOS and KB_SCENARIO, or sign in as somebody else")


@dataclass(frozen=True)
class Network:
    """What a request about the network uses."""

    folder: "ScenarioFolder"
    store: "NetworkStore"


class ServedNetwork:
    """Opens scenario and store of the settings, and follows the manifest when it changes."""

    def __init__(self, knowledge_base: Settings) -> None:
        self.settings = knowledge_base
        self._opening = asyncio.Lock()
        self._read_so_far: dict[Path, tuple[tuple[int, ...], ScenarioFolder | None]] = {}
        self._store: NetworkStore | None = None
        self._store_of = ""
        self._health: NetworkHealth | None = None
        self._looked_at = 0.0
        self._looking: asyncio.Task[None] | None = None

    @property
    def limits(self) -> "QueryLimits":
        """What one query may take."""
        from kb_pipeline.network.opening import limits_of

        return limits_of(self.settings)

    def manifest(self) -> Path | None:
        """The manifest of the scenario that is served; ``None`` if there is none, or nobody said which of several."""
        root = Path(self.settings.scenarios)
        if self.settings.scenario:
            named = root / self.settings.scenario / _MANIFEST
            return named if named.is_file() else None
        manifests = sorted(root.glob(f"*/{_MANIFEST}")) if root.is_dir() else []
        return manifests[0] if len(manifests) == 1 else None

    async def folder(self, who: Principal) -> "ScenarioFolder":
        """The scenario.

        Raises:
            NetworkNotFoundError: there is none, or this person may not see it.
            ScenarioError: its manifest cannot be read, so that nobody knows who may see it.
        """
        manifest = self.manifest()
        if manifest is None:
            raise NetworkNotFoundError
        folder = await self._read_served(manifest)
        if not who.may_read(folder.scenario.access_control_list):
            raise NetworkNotFoundError
        return folder

    async def open(self, who: Principal) -> Network:
        """Scenario and store.

        Raises:
            NetworkNotFoundError: there is none, or this person may not see it.
            KnowledgeBaseError: one of them cannot be opened.
        """
        return await self._opened(await self.folder(who))

    async def _opened(self, folder: "ScenarioFolder") -> Network:
        async with self._opening:
            if self._store and self._store_of != folder.scenario.name:
                await self._store.close()
                self._store = None
            if self._store is None:
                self._store = await asyncio.to_thread(self._open_store, folder)
                self._store_of = folder.scenario.name
            return Network(folder, self._store)

    async def is_offered_to(self, who: Principal) -> bool:
        """Whether there is a network that is loaded and that this person may see."""
        try:
            folder = await self.folder(who)
        except (NetworkNotFoundError, ScenarioError):
            return False
        if self.settings.network != "local":
            return True
        from kb_pipeline.network.versions import current_version

        return bool(await asyncio.to_thread(current_version, self.settings.home_path, folder.scenario.name))

    async def may_see(self, scenario: str, readers: Sequence[str], who: Principal) -> bool:
        """Whether this person may see what is kept of a scenario. ``readers``: its access control list at that time."""
        if not who.may_read(readers):
            return False
        manifest = Path(self.settings.scenarios) / scenario / _MANIFEST
        if not manifest.is_file():
            return True
        try:
            return who.may_read((await self._read(manifest)).scenario.access_control_list)
        except ScenarioError:
            return False

    async def health(self, who: Principal) -> NetworkHealth | None:
        """The state of the store, which is looked at in the background; ``None`` if no scenario is configured.

        People who may not see the scenario are told no more than the backend.
        """
        if self.manifest() is None:
            return None
        health, now = self._health, asyncio.get_running_loop().time()
        fresh = _HEALTH_SECONDS if health and health.reachable else _PROBLEM_SECONDS
        if self._looking is None and (health is None or now - self._looked_at > fresh):
            self._looking = asyncio.create_task(self._look())
        if self._looking and health is None:
            await asyncio.wait((self._looking,), timeout=_HEALTH_WAIT)
            health = self._health
        health = health or NetworkHealth(backend=self.settings.network)
        return health if await self._may_see_served(who) else NetworkHealth(backend=health.backend)

    async def scenarios(self, who: Principal) -> tuple[ScenarioInfo, ...]:
        """The scenarios below KB_SCENARIOS that this person may see; those that cannot be read are left out."""
        served = self.manifest()
        described = await asyncio.to_thread(_described, Path(self.settings.scenarios), self.settings, who)
        health = await self.health(who)
        return tuple(
            info.model_copy(
                update={
                    "served": True,
                    "loaded": bool(health.reachable),
                    "vertices": health.vertices,
                    "edges": health.edges,
                    "telemetry_until": health.telemetry_until,
                    "problem": health.problem,
                }
            )
            if health and served and served.parent == folder
            else info
            for folder, info in described
        )

    async def close(self) -> None:
        """Release files and connections."""
        if self._looking:
            self._looking.cancel()
            await asyncio.wait((self._looking,))
        if self._store:
            await self._store.close()

    async def _read_served(self, manifest: Path) -> "ScenarioFolder":
        """The scenario that is served; from now on its readers may see the log."""
        try:
            folder = await self._read(manifest)
        except ScenarioError:
            log_tail().concern("", (HIDDEN,))
            raise
        log_tail().concern(folder.scenario.name, tuple(folder.scenario.access_control_list))
        return folder

    async def _read(self, manifest: Path) -> "ScenarioFolder":
        """The scenario of a manifest, as it is now; read again only if the file changed."""
        try:
            stat = manifest.stat()
        except OSError as exc:
            raise ScenarioError("the scenario cannot be read; the service's log says why") from exc
        state = (stat.st_ino, stat.st_ctime_ns, stat.st_mtime_ns, stat.st_size)
        async with self._opening:
            known, folder = self._read_so_far.get(manifest, ((), None))
            if known != state:
                folder = await asyncio.to_thread(_scenario, manifest.parent)
                self._read_so_far[manifest] = (state, folder)
        if folder is None:
            raise ScenarioError("the scenario cannot be read; the service's log says why")
        return folder

    def _open_store(self, folder: "ScenarioFolder") -> "NetworkStore":
        from kb_pipeline.network.opening import open_store

        return open_store(self.settings, folder)

    async def _look(self) -> None:
        try:
            manifest = self.manifest()
            if manifest is None:
                raise NetworkNotFoundError
            network = await self._opened(await self._read_served(manifest))
            self._health = told(await network.store.health())
        except Exception as exc:
            if not isinstance(exc, KnowledgeBaseError):
                _log.warning("the network could not be looked at", exc_info=exc)
            problem = without_places(str(exc)) or type(exc).__name__
            self._health = NetworkHealth(backend=self.settings.network, reachable=False, problem=problem)
        finally:
            self._looked_at = asyncio.get_running_loop().time()
            self._looking = None

    async def _may_see_served(self, who: Principal) -> bool:
        try:
            await self.folder(who)
        except (NetworkNotFoundError, ScenarioError):
            return False
        return True


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


def _described(root: Path, settings: Settings, who: Principal) -> list[tuple[Path, ScenarioInfo]]:
    from kb_pipeline.network.versions import current_version, type_counts

    found = []
    for manifest in sorted(root.glob(f"*/{_MANIFEST}")):
        folder = _scenario(manifest.parent)
        if folder is None:
            continue
        scenario = folder.scenario
        if not who.may_read(scenario.access_control_list):
            continue
        counts = type_counts(settings.home_path, scenario.name)
        types = tuple(
            ScenarioType(name=name, kind=each.kind, color=each.color, size=each.size, count=counts.get(name))
            for name, each in scenario.vertices.items()
        )
        loaded = bool(current_version(settings.home_path, scenario.name))
        info = ScenarioInfo(
            name=scenario.name,
            title=scenario.title,
            loaded=loaded,
            vertices=sum(counts.values()),
            types=types,
            sample_alert=_sample(folder),
        )
        found.append((manifest.parent, info))
    return found


def _sample(folder: "ScenarioFolder") -> str:
    """The example of an alert that lies in a scenario's folder, if there is one."""
    try:
        with folder.path(_SAMPLE).open(encoding="utf-8", errors="replace") as file:
            return file.read(_SAMPLE_CHARACTERS)
    except (OSError, ScenarioError):
        return ""
