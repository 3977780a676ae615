"""The networks of this service: all scenarios of KB_SCENARIOS, who may see which, and which one an alert is of."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.callers.principal import Principal
from app.network.served import Network, ServedNetwork
from app.schema.network import NetworkHealth, ScenarioInfo
from kb_pipeline.errors import KnowledgeBaseError, ScenarioError
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from kb_pipeline.network.base import QueryLimits

_MANIFEST = "scenario.yaml"


class NetworkNotFoundError(KnowledgeBaseError):
    """There is no network here that the caller may see, or none of this name."""

    def __init__(self, name: str = "", known: Sequence[str] = ()) -> None:
        there = f"there is no network {name[:80]!r} here; there are: {', '.join(known)}"
        nothing = "no network is served here; set KB_SCENARIOS and KB_SCENARIO, or sign in as somebody else"
        super().__init__(there if known else nothing)


class Networks:
    """Opens each scenario when somebody first asks for it, and keeps it open.

    Who names none gets the one of KB_SCENARIO, or the first by name, of those that they may see.
    """

    def __init__(self, knowledge_base: Settings) -> None:
        self.settings = knowledge_base
        self._served: dict[Path, ServedNetwork] = {}

    @property
    def limits(self) -> "QueryLimits":
        """What one query may take."""
        from kb_pipeline.network.opening import limits_of

        return limits_of(self.settings)

    def all(self) -> list[ServedNetwork]:
        """Those whose manifests are there, whoever may see them; the default is the first."""
        manifests = sorted(Path(self.settings.scenarios).glob(f"*/{_MANIFEST}"))
        for manifest in manifests:
            if manifest not in self._served:
                self._served[manifest] = ServedNetwork(self.settings, manifest)
        return sorted((self._served[each] for each in manifests), key=lambda each: each.name != self.settings.scenario)

    async def seen_by(self, who: Principal | None) -> list[ServedNetwork]:
        """Those that a person may see; ``None`` sees all. Manifests that cannot be read are left out."""
        return [each for each in self.all() if await self._is_seen(each, who)]

    async def find(self, who: Principal | None, name: str = "") -> ServedNetwork:
        """The network of a name, or the default.

        Raises:
            NetworkNotFoundError: there is none that this person may see.
            ScenarioError: its manifest cannot be read, so that nobody knows who may see it.
        """
        there, wanted = self.all(), name or self.settings.scenario or ""
        named = [each for each in there if each.name == wanted]
        for each in named or (there if len(there) == 1 and not wanted else []):
            await each.folder()
        seen = await self.seen_by(who)
        found = next((each for each in seen if not name or each.name == name), None)
        if found is None or (wanted and not named):
            raise NetworkNotFoundError(wanted, [each.name for each in seen])
        return found

    async def open(self, who: Principal | None, name: str = "") -> Network:
        """Scenario and store of a name, or of the default.

        Raises:
            NetworkNotFoundError: there is none that this person may see.
            KnowledgeBaseError: one of them cannot be opened.
        """
        return await (await self.find(who, name)).open()

    async def open_for(self, alert: str, who: Principal | None, name: str = "") -> Network:
        """The network of a name; without one, the one of which an alert names most elements, or the default.

        Raises:
            NetworkNotFoundError: there is none that this person may see.
            KnowledgeBaseError: it cannot be opened.
        """
        seen = await self.seen_by(who)
        if name or len(seen) < 2:
            return await self.open(who, name)
        counts = await asyncio.gather(*(_elements_named(each, alert) for each in seen))
        if not any(counts):
            return await self.open(who)
        most = counts.index(max(counts))
        others = [each for number, each in enumerate(seen) if counts[number] and number != most]
        titles = tuple([(await each.folder()).scenario.title for each in others])
        return replace(await seen[most].open(), also_named=titles)

    async def offered_to(self, who: Principal) -> list[Network]:
        """Those that are loaded and that this person may see."""
        seen = await self.seen_by(who)
        if self.settings.network == "local" and seen:
            from kb_pipeline.network.versions import current_version

            home = self.settings.home_path
            seen = [each for each in seen if await asyncio.to_thread(current_version, home, each.name)]
        return list(await asyncio.gather(*(each.open() for each in seen)))

    async def may_see(self, scenario: str, readers: Sequence[str], who: Principal) -> bool:
        """Whether this person may see what is kept of a scenario. ``readers``: its access control list at that time."""
        now = next((each for each in self.all() if each.name == scenario), None)
        return who.may_read(readers) and (now is None or await self._is_seen(now, who))

    async def health(self, who: Principal, name: str = "") -> NetworkHealth | None:
        """The state of a store; ``None`` if no scenario is configured.

        People who may not see the scenario are told no more than the backend.
        """
        if not self.all():
            return None
        try:
            return await (await self.find(who, name)).health()
        except (NetworkNotFoundError, ScenarioError):
            return NetworkHealth(backend=self.settings.network)

    async def scenarios(self, who: Principal) -> tuple[ScenarioInfo, ...]:
        """The scenarios that this person may see, the default first."""
        return tuple(await asyncio.gather(*(each.described() for each in await self.seen_by(who))))

    async def close(self) -> None:
        """Release files and connections."""
        await asyncio.gather(*(each.close() for each in self._served.values()))

    @staticmethod
    async def _is_seen(network: ServedNetwork, who: Principal | None) -> bool:
        try:
            folder = await network.folder()
        except ScenarioError:
            return False
        return who is None or who.may_read(folder.scenario.access_control_list)


async def _elements_named(served: ServedNetwork, alert: str) -> int:
    """How many elements of a network an alert names; 0 if it cannot be read now."""
    from app.network.pasted import read_pasted
    from app.network.reading import read_network

    try:
        network = await served.open()
        scenario = network.folder.scenario
        topology = await read_network(network.store, scenario)
    except KnowledgeBaseError:
        return 0
    return len((await asyncio.to_thread(read_pasted, alert, topology, scenario.symptoms, 0.0)).entities)
