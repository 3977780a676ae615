"""azure.yaml, the parameter files and the hooks name what there is."""

import json
import re
import subprocess

import pytest
import yaml

from kb_pipeline_tests.deploy.bicep import parse
from kb_pipeline_tests.deploy.files import DOCKERFILES, INFRA, ROOT, SECRET_SETTINGS, SETTINGS

AZD = yaml.safe_load((ROOT / "azure.yaml").read_text())
HOOKS = sorted((INFRA / "hooks").glob("*.sh"))
PARAMETERS = sorted(INFRA.glob("*.parameters.json"))
OUTPUTS = set(parse(INFRA / "main.bicep").outputs)
FROM_AZD = {"AZURE_ENV_NAME", "AZURE_LOCATION", "AZURE_PRINCIPAL_ID", "AZURE_PRINCIPAL_TYPE"} | {
    f"SERVICE_{name.upper()}_{what}" for name in AZD["services"] for what in ("IMAGE_NAME", "RESOURCE_EXISTS")
}
FROM_HOOKS = {"AUTH_CLIENT_ID", "DAGSTER_USERS"}
FROM_PEOPLE = {"MODELS_LOCATION", "ANALYZER", "CHUNK_TOKENS", "SEARCH_SKU", "SEMANTIC_RANKER", "NETWORK_GRAPH"} | {
    *("APP_USERS", "SAMPLES", "PIPELINE_HOSTS", "AGENT_HOSTS", "APP_HOSTS", "CORS_ORIGINS", "IMAGE_URLS", "SIZE")
}
"""azd env set NAME VALUE; see docs/azure.md."""
each_file = pytest.mark.parametrize("path", PARAMETERS, ids=lambda path: path.name)
each_hook = pytest.mark.parametrize("path", HOOKS, ids=lambda path: path.stem)


def test_each_service_is_built_from_a_dockerfile_and_deployed_by_its_template() -> None:
    assert {ROOT / service["docker"]["path"] for service in AZD["services"].values()} == set(DOCKERFILES)
    for name, service in AZD["services"].items():
        assert service["host"] == "containerapp"
        assert (INFRA / f"{name}.bicep").exists()
        assert (INFRA / f"{name}.parameters.json").exists()
        variables = parse(INFRA / f"{name}.bicep").variables
        tags = variables["tags"] if name == "agent" else variables["app"]["tags"]
        assert tags["azd-service-name"] == name  # by which azd finds it again


def test_the_hooks_are_those_in_the_folder() -> None:
    run = {hook["run"] for hooks in AZD["hooks"].values() for hook in (hooks if isinstance(hooks, list) else [hooks])}
    assert run == {path.relative_to(ROOT).as_posix() for path in HOOKS}


@each_file
def test_parameters_are_declared_and_those_that_are_needed_are_given(path) -> None:
    declared = parse(path.with_name(path.name.replace(".parameters.json", ".bicep"))).parameters
    given = json.loads(path.read_text())["parameters"]
    assert set(given) <= set(declared)
    assert {name for name, parameter in declared.items() if parameter.required} <= set(given)


@each_file
def test_variables_in_parameters_come_from_somewhere(path) -> None:
    named = set(re.findall(r"\$\{(\w+)", path.read_text()))
    later = OUTPUTS if path.name != "main.parameters.json" else set()
    assert named <= FROM_AZD | FROM_HOOKS | FROM_PEOPLE | later


@pytest.mark.parametrize("name", AZD["services"])
def test_the_settings_of_a_service_are_settings_and_named_after_themselves(name: str) -> None:
    settings = json.loads((INFRA / f"{name}.parameters.json").read_text())["parameters"].get("settings", {"value": {}})[
        "value"
    ]
    assert set(settings) <= SETTINGS - SECRET_SETTINGS
    assert all(value == f"${{{setting}}}" for setting, value in settings.items())


@each_hook
def test_a_hook_is_a_shell_script_that_stops_at_the_first_error(path) -> None:
    assert path.read_text().startswith("#!/bin/sh\n")
    assert "\nset -eu\n" in path.read_text()
    assert path.stat().st_mode & 0o111
    assert subprocess.run(["sh", "-n", path], check=False).returncode == 0


@each_hook
def test_the_variables_of_a_hook_come_from_somewhere(path) -> None:
    text = path.read_text()
    named = set(re.findall(r"\$\{?([A-Z][A-Z_]+)", text))
    assert named <= FROM_AZD | FROM_HOOKS | FROM_PEOPLE | OUTPUTS | {"BY_HAND"}


def test_what_people_may_set_is_in_the_guide() -> None:
    guide = (ROOT / "docs/azure.md").read_text()
    assert [name for name in FROM_PEOPLE | FROM_HOOKS if name not in guide] == []
