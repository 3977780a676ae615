"""Opens the store of the scenario that the settings name."""

from collections.abc import Callable, Mapping
from pathlib import Path

from kb_pipeline.network.base import Limits, NetworkStore
from kb_pipeline.network.scenario import ScenarioFolder, open_scenario
from kb_pipeline.plugins import find_opener
from kb_pipeline.settings import Settings


def _local(settings: Settings, scenario: ScenarioFolder) -> NetworkStore:
    from kb_pipeline.network.local import LocalStore

    return LocalStore(settings.home_path, scenario.scenario.name)


def _mock(settings: Settings, scenario: ScenarioFolder) -> NetworkStore:
    from kb_pipeline.network.mock import MockStore

    return MockStore(scenario)


STORES: Mapping[str, Callable[[Settings, ScenarioFolder], NetworkStore]] = {"local": _local, "mock": _mock}


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


def limits_of(settings: Settings) -> Limits:
    """What a query may take."""
    return Limits(settings.query_seconds, settings.query_rows, settings.query_bytes, settings.query_characters)
