"""deploy/azure/dagster.yaml on a real PostgreSQL that knows the identity by its token instead of a password."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import psycopg2
import pytest
import yaml

from kb_pipeline_tests.deploy.files import DEPLOY
from kb_pipeline_tests.managed_identity import ManagedIdentity
from kb_pipeline_tests.postgres import Server

TOKEN = "token-of-the-identity"


@pytest.fixture
def instance(
    postgres: Server, managed_identity: ManagedIdentity, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[dg.DagsterInstance]:
    url, identity = postgres.new_database(), f"kb-pipeline-{secrets.token_hex(4)}"
    with psycopg2.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"""CREATE ROLE "{identity}" SUPERUSER LOGIN PASSWORD '{TOKEN}'""")
    given = managed_identity._token

    def the_password(audience: str) -> dict[str, object]:
        return {**given(audience), "access_token": TOKEN}

    monkeypatch.setattr(managed_identity, "_token", the_password)
    config = yaml.safe_load((DEPLOY / "azure/dagster.yaml").read_text())
    database = config["storage"]["postgres"]["postgres_db"]
    assert database.pop("params") == {"sslmode": "require"}  # which this server does not offer
    database["port"] = postgres.port
    (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(config))
    variables = {
        "DAGSTER_HOME": str(tmp_path),
        "DAGSTER_PG_HOST": "127.0.0.1",
        "DAGSTER_PG_USERNAME": identity,
        "DAGSTER_PG_DB": url.rpartition("/")[2],
        "DAGSTER_LOGS_ACCOUNT": "kbserving",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with dg.DagsterInstance.get() as opened:
        yield opened


@pytest.mark.slow("starts the program")
def test_history_is_kept_by_identity_alone(instance: dg.DagsterInstance, managed_identity: ManagedIdentity) -> None:
    assert instance.get_runs_count() == 0
    instance.add_dynamic_partitions("articles", ["a"])
    assert instance.get_dynamic_partitions("articles") == ["a"]
    assert set(managed_identity.audiences) == {"https://ossrdbms-aad.database.windows.net"}


def test_logs_of_runs_go_to_blob_storage_by_identity(instance: dg.DagsterInstance) -> None:
    logs = instance.compute_log_manager
    assert type(logs).__name__ == "AzureBlobComputeLogManager"
    assert logs.inst_data
    config = logs.inst_data.config_dict
    assert (config["container"], config["default_azure_credential"]) == ("logs", {})
    assert not {"secret_credential", "access_key_or_sas_token"} & set(config)


def test_the_rest_is_as_on_postgresql_elsewhere() -> None:
    azure, elsewhere = (
        yaml.safe_load((DEPLOY / f"{place}/dagster.yaml").read_text()) for place in ("azure", "postgres")
    )
    different = {"storage", "compute_logs"}
    assert {k: v for k, v in azure.items() if k not in different} == {
        k: v for k, v in elsewhere.items() if k not in different
    }
