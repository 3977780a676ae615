"""compose.yaml, as Docker Compose itself understands it."""

import json
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

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


@pytest.mark.parametrize("name", [*OURS, "postgres"])
def test_none_has_privileges_or_writes_but_where_it_must(name: str) -> None:
    service = project()["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert service["tmpfs"][0] == "/tmp"
    assert service["user"] == ("999:999" if name == "postgres" else "1000:1000")
    assert 0 < service["pids_limit"] <= 4096
    assert ("mem_limit" in service) == (name != "code")  # which takes what KB_WORKERS and its runs need


@pytest.mark.parametrize("name", OURS)
def test_ours_are_our_images(name: str) -> None:
    service = project()["services"][name]
    assert ROOT / service["build"]["dockerfile"] in DOCKERFILES
    assert ("pipeline" in service["image"]) == (name in ("code", "webserver", "daemon"))


@pytest.mark.parametrize("name", OURS)
def test_the_variables_it_sets_are_settings_and_no_secrets(name: str) -> None:
    given = {key for key, value in project()["services"][name]["environment"].items() if value is not None}
    assert given <= SETTINGS | OF_DEPLOYING
    assert not given & SECRET_SETTINGS


OF_CONVERTERS = {
    "KB_CONTENT_UNDERSTANDING_API_KEY", "KB_DOCUMENT_PASSWORDS", "KB_INTAKE_PASSWORDS", "KB_MISTRAL_API_KEY",
}  # fmt: skip
OF_PAGE = {"KB_AGENT_ENDPOINT", "KB_AGENT_SCOPE", "KB_APP_SCOPE", "KB_APP_URL", "KB_PAGE_PORT"}
OF_HOST = {"KB_APP_HOST", "KB_APP_PORT", "KB_DAGSTER_PORT", "KB_ONE_PORT"}
"""Where servers listen in containers does not come from the settings of the machine."""
SECRETS = {
    "postgres": {"POSTGRES_PASSWORD"},
    "code": {"POSTGRES_PASSWORD", "AZURE_CLIENT_SECRET", *SECRET_SETTINGS},
    "webserver": {"POSTGRES_PASSWORD"},
    "daemon": {"POSTGRES_PASSWORD"},
    "agent": {"AZURE_CLIENT_SECRET", *SECRET_SETTINGS} - OF_CONVERTERS,
    "page": set(),
}


def test_each_gets_its_own_secrets_and_no_others(tmp_path: Path) -> None:
    planted = {name: f"planted{number}" for number, name in enumerate(sorted(set.union(*SECRETS.values())))}
    env_file = tmp_path / "env"
    env_file.write_text("".join(f"{name}={value}\n" for name, value in {**planted, "UNNAMED": "planted"}.items()))
    ran = compose("config", "--format", "json", env_file=env_file)
    services = json.loads(ran.stdout)["services"]
    got = {
        name: {each for each, value in planted.items() if re.search(rf"{value}\b", json.dumps(service))}
        for name, service in services.items()
    }
    assert got == SECRETS
    assert not [name for name, service in services.items() if "UNNAMED" in service["environment"]]


def test_every_setting_is_given_to_those_that_read_it() -> None:
    given = {name: set(service["environment"]) for name, service in project()["services"].items()}
    assert given["code"] >= SETTINGS - OF_PAGE - OF_HOST - {"KB_ALLOWED_HOSTS"}
    assert given["agent"] >= SETTINGS - OF_PAGE - OF_CONVERTERS - {"KB_DAGSTER_PORT"}
    assert given["page"] >= OF_PAGE - {"KB_PAGE_PORT"} | {"KB_EASY_AUTH", "KB_PICTURE_BYTES", "KB_RECORD_CONTENT"}
    assert given["page"] & SETTINGS < OF_PAGE | {
        "KB_ALLOWED_HOSTS", "KB_EASY_AUTH", "KB_PICTURE_BYTES", "KB_RECORD_CONTENT"
    }  # fmt: skip


def test_what_nobody_can_list_stands_in_a_file_of_each_one() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]  # Compose leaves out what is not there
    files = {name: service["env_file"] for name, service in services.items() if "env_file" in service}
    assert files == {name: [{"path": f".env.{name}", "required": False}] for name in ("code", "agent", "page")}
    assert ".env.*" in (ROOT / ".gitignore").read_text().splitlines()


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
