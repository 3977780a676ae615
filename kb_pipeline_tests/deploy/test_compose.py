"""compose.yaml, as Docker Compose itself understands it."""

import json
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.settings import load_app_settings
from kb_pipeline_tests.deploy.files import DOCKERFILES, OF_DEPLOYING, ROOT, SECRET_SETTINGS, SETTINGS

OURS = ["code", "webserver", "daemon", "agent", "page"]


def compose(*arguments: str, env_file: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    own = Path(sys.executable).with_name("docker-compose")
    command = [str(own)] if own.exists() else ["docker", "compose"]
    if not own.exists() and not shutil.which("docker"):
        pytest.fail("there is no Docker Compose; scripts/compose.sh gets it")
    return subprocess.run(
        [*command, "--env-file", str(env_file), "-f", str(ROOT / "compose.yaml"), *arguments],
        env={"PATH": "/usr/bin:/bin", "HOME": str(env_file.parent), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@lru_cache
def project() -> dict[str, Any]:
    """The project as Compose would start it, from an empty ``.env``."""
    ran = compose(
        "config", "--format", "json", "--no-env-resolution", env_file=Path("/dev/null"), POSTGRES_PASSWORD="x"
    )
    assert ran.returncode == 0, ran.stderr
    loaded: dict[str, Any] = json.loads(ran.stdout)
    return loaded


def test_compose_finds_nothing_wrong_and_warns_of_nothing() -> None:
    ran = compose("config", "--quiet", env_file=Path("/dev/null"), POSTGRES_PASSWORD="x")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_nothing_starts_without_a_password_for_the_database() -> None:
    ran = compose("config", "--quiet", env_file=Path("/dev/null"))
    assert ran.returncode != 0
    assert "put POSTGRES_PASSWORD into .env" in ran.stderr


def test_there_is_all_of_it() -> None:
    assert sorted(project()["services"]) == sorted([*OURS, "postgres"])


def test_ports_are_published_on_loopback_only() -> None:
    published = {
        name: [(port["host_ip"], port["published"]) for port in service["ports"]]
        for name, service in project()["services"].items()
        if "ports" in service
    }
    assert published == {
        "webserver": [("127.0.0.1", "3000")],
        "agent": [("127.0.0.1", "8088")],
        "page": [("127.0.0.1", "8501")],
    }


@pytest.mark.parametrize("name", [*OURS, "postgres"])
def test_each_tells_its_health_and_waits_for_those_it_needs(name: str) -> None:
    service = project()["services"][name]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert {need["condition"] for need in service.get("depends_on", {}).values()} <= {"service_healthy"}
    needs = {"code": {"postgres"}, "webserver": {"postgres", "code"}, "daemon": {"postgres", "code"}, "page": {"agent"}}
    assert set(service.get("depends_on", {})) == needs.get(name, set())


@pytest.mark.parametrize("name", OURS)
def test_ours_have_no_privileges_and_our_images(name: str) -> None:
    service = project()["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert ROOT / service["build"]["dockerfile"] in DOCKERFILES
    assert ("pipeline" in service["image"]) == (name in ("code", "webserver", "daemon"))


@pytest.mark.parametrize("name", OURS)
def test_the_variables_it_sets_are_settings_and_no_secrets(name: str) -> None:
    given = set(project()["services"][name]["environment"])
    assert given <= SETTINGS | OF_DEPLOYING
    assert not given & SECRET_SETTINGS


def test_a_health_check_asks_where_its_process_listens() -> None:
    for name, service in project()["services"].items():
        if "ports" in service:
            port = str(service["ports"][0]["target"])
            asked = " ".join(service["healthcheck"]["test"])
            assert f"127.0.0.1:{port}/" in asked, name
            assert port in service["command"] or service["environment"].get("KB_APP_PORT") == port


def test_each_is_known_by_the_name_that_others_call_it() -> None:
    services = project()["services"]
    called = urlsplit(services["page"]["environment"]["KB_APP_URL"])
    assert load_app_settings(**_hosts(services["agent"])).allowed_hosts == (called.hostname,)
    assert called.port == services["agent"]["ports"][0]["target"]


def test_names_from_the_env_file_are_added(tmp_path: Path) -> None:
    env_file = tmp_path / "env"
    env_file.write_text("POSTGRES_PASSWORD=x\nKB_ALLOWED_HOSTS=kb.example.com\n")
    ran = compose("config", "--format", "json", env_file=env_file)
    agent = json.loads(ran.stdout)["services"]["agent"]
    assert load_app_settings(**_hosts(agent)).allowed_hosts == ("agent", "kb.example.com")


def _hosts(service: dict[str, Any]) -> dict[str, str]:
    return {"allowed_hosts": service["environment"]["KB_ALLOWED_HOSTS"]}


def test_what_must_last_is_in_volumes_and_sources_are_read_only() -> None:
    volumes = {
        volume["target"]: volume for service in project()["services"].values() for volume in service.get("volumes", [])
    }
    kept = {target for target, volume in volumes.items() if volume["type"] == "volume"}
    assert kept == {"/data", "/opt/dagster/dagster_home/storage", "/var/lib/postgresql/data"}
    assert volumes["/data/staging"]["read_only"] is True
    assert volumes["/data/staging"]["source"] == str(ROOT / "samples/staging")


def test_staging_may_be_a_container_in_the_cloud(tmp_path: Path) -> None:
    env_file = tmp_path / "env"
    env_file.write_text("POSTGRES_PASSWORD=x\nKB_STAGING=abfs://c@account.dfs.core.windows.net/articles\n")
    ran = compose("config", "--format", "json", env_file=env_file)
    environment = json.loads(ran.stdout)["services"]["code"]["environment"]
    assert environment["KB_STAGING"] == "abfs://c@account.dfs.core.windows.net/articles"
