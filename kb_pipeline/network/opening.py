"""Opens the store of the scenario that the settings name."""

from collections.abc import Callable, Mapping
from pathlib import Path

from kb_pipeline.network.base import NetworkLoader, NetworkStore, QueryLimits
from kb_pipeline.network.scenario import ScenarioFolder, open_scenario
from kb_pipeline.network.versions import current_version
from kb_pipeline.plugins import find_opener
from kb_pipeline.settings import Settings


def _local(settings: Settings, scenario: ScenarioFolder) -> NetworkStore:
    from kb_pipeline.network.local.store import LocalStore

    return LocalStore(settings.home_path, scenario.scenario.name)


def _mock(settings: Settings, scenario: ScenarioFolder) -> NetworkStore:
    from kb_pipeline.network.mock import MockStore

    return MockStore(scenario)


def _cosmosdb(settings: Settings, scenario: ScenarioFolder) -> NetworkStore:
    from kb_pipeline.network.cosmos.store import CosmosStore

    return CosmosStore(settings, scenario)


def _local_loader(settings: Settings, scenario: ScenarioFolder) -> NetworkLoader:
    from kb_pipeline.network.local.loader import LocalLoader

    return LocalLoader(settings.home_path, scenario.scenario.name)


def _cosmos_loader(settings: Settings, scenario: ScenarioFolder) -> NetworkLoader:
    from kb_pipeline.network.cosmos.loader import CosmosLoader

    return CosmosLoader(settings, scenario.scenario)


STORES: Mapping[str, Callable[[Settings, ScenarioFolder], NetworkStore]] = {
    "local": _local,
    "cosmosdb": _cosmosdb,
    "mock": _mock,
}
LOADERS: Mapping[str, Callable[[Settings, ScenarioFolder], NetworkLoader]] = {"cosmosdb": _cosmos_loader}


def configured_scenario(settings: Settings, name: str = "") -> ScenarioFolder:
    """The scenario of a name, or the one of KB_SCENARIO.

    Raises:
        ScenarioError: there is none, or several to choose from, or its manifest is not valid.
    """
    return open_scenario(Path(settings.scenarios), name or settings.scenario or "")


def open_store(settings: Settings, scenario: ScenarioFolder) -> NetworkStore:
    """The store that KB_NETWORK names. A backend of your own is opened with the settings and the scenario.

    Raises:
        SettingsError: there is no such backend.
    """
    opener = find_opener("KB_NETWORK", settings.network, STORES, NetworkStore)  # type: ignore[type-abstract]
    return opener(settings, scenario)


def open_loader(settings: Settings, scenario: ScenarioFolder) -> NetworkLoader:
    """What fills the store that KB_NETWORK names. Where that is filled by other means, the local store is filled.

    Raises:
        SettingsError: a setting of the backend is missing or malformed.
    """
    return LOADERS.get(settings.network, _local_loader)(settings, scenario)


def loaded_version(settings: Settings, name: str) -> str:
    """The version of a scenario that readers of KB_NETWORK get; empty if there is none.

    Raises:
        KnowledgeBaseError: the backend cannot be asked.
    """
    if settings.network not in LOADERS:
        return current_version(settings.home_path, name)
    loader = open_loader(settings, configured_scenario(settings, name))
    try:
        return loader.current()
    finally:
        loader.close()


def limits_of(settings: Settings) -> QueryLimits:
    """What a query may take."""
    return QueryLimits(settings.query_seconds, settings.query_rows, settings.query_bytes, settings.query_characters)
