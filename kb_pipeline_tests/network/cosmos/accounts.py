"""Accounts of Azure Cosmos DB for tests: a graph, and telemetry in ``@vercel/cosmosdb-server``.

The graph is the stand-in of this folder; with KB_TEST_GREMLIN_URL it is a real Gremlin server, such as
``scripts/gremlin_server.sh`` starts, which must be empty.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

from kb_pipeline.network.cosmos.loader import CosmosLoader
from kb_pipeline.network.cosmos.versions import COSMOS, TINKERPOP
from kb_pipeline.network.loading import load
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.network.cosmos.gremlin_server import KEY, GremlinServer, running_gremlin_server

REAL_SERVER = os.environ.get("KB_TEST_GREMLIN_URL", "")
DIALECT = TINKERPOP if REAL_SERVER else COSMOS


def account_settings(endpoint: str, telemetry: CosmosServer, **given: object) -> Settings:
    """Settings of a graph and of a database of telemetry that nobody else uses."""
    named = {
        "network": "cosmosdb",
        "gremlin_endpoint": endpoint,
        "gremlin_key": KEY,
        "telemetry_endpoint": telemetry.endpoint,
        "telemetry_key": telemetry.key,
        "telemetry_database": f"t{uuid4().hex}",
    }
    return Settings.model_validate(named | given)


def variables(settings: Settings) -> dict[str, str]:
    """The settings as variables of another process."""
    secrets = {"KB_GREMLIN_KEY": settings.gremlin_key, "KB_TELEMETRY_KEY": settings.telemetry_key}
    return {
        "KB_NETWORK": settings.network,
        "KB_GREMLIN_ENDPOINT": settings.gremlin_endpoint or "",
        "KB_TELEMETRY_ENDPOINT": settings.telemetry_endpoint or "",
        "KB_TELEMETRY_DATABASE": settings.telemetry_database,
        **{name: secret.get_secret_value() for name, secret in secrets.items() if secret},
    }


@contextmanager
def loaded_accounts(
    folder: Path, telemetry: CosmosServer, home: Path, beside: Path | None = None
) -> Iterator[tuple[Settings, GremlinServer]]:
    """Accounts that a scenario is loaded into, and maybe another beside it, and the stand-in."""
    with running_gremlin_server() as server:
        settings = account_settings(REAL_SERVER or server.endpoint, telemetry)
        with ExitStack() as loaded:
            for scenario in map(ScenarioFolder, (folder, *([beside] if beside else []))):
                loader = CosmosLoader(settings, scenario.scenario, DIALECT)
                loaded.callback(loader.close)
                loaded.callback(loader.forget)
                load(scenario, home, loader)
            yield settings, server


__all__ = ["GremlinServer", "account_settings", "loaded_accounts", "running_gremlin_server", "variables"]
