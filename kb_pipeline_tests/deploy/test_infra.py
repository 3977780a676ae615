"""The Bicep files: they parse, fit each other, and mean what our code means.

No Bicep compiler can be had as a package. What stands in for it: the grammar of tree-sitter, the checks here and in
test_infra_access.py, and, by hand, every property against Microsoft's published types (bicep_types.py).
"""

import re
from pathlib import Path

import pytest

from app.conversations import cosmos_account
from app.settings import AppSettings
from kb_pipeline.network.cosmos.gremlin_gate import PARTITION
from kb_pipeline.network.scenario import open_scenario
from kb_pipeline.settings import Settings
from kb_pipeline_tests.deploy.bicep import Module, Template, parse
from kb_pipeline_tests.deploy.files import INFRA, OF_DEPLOYING, ROOT, SECRET_SETTINGS, SETTINGS, TEMPLATES
from kb_pipeline_tests.deploy.infra import APPS, MAIN, each_app, each_file, environment, resource


def modules() -> list[tuple[Template, Module, Template]]:
    """Every use of a module: where, which, and what it is."""
    return [
        (template, module, parse((template.path.parent / module.path).resolve()))
        for template in map(parse, TEMPLATES)
        for module in template.modules.values()
    ]


@each_file
def test_it_is_bicep_and_names_nothing_that_is_not_declared(path: Path) -> None:
    assert parse(path).unknown == set()


def test_a_mistake_would_be_found(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.bicep"
    wrong.write_text("param a string\nvar b = concat(a, c)\n")
    assert parse(wrong).unknown == {"c"}
    broken = tmp_path / "broken.bicep"
    broken.write_text("resource x 'A/b@1' = {\n  name: \n}\n")
    with pytest.raises(SyntaxError, match=r"broken\.bicep"):
        parse(broken)


def test_modules_are_given_what_they_declare_and_asked_for_what_they_give() -> None:
    for template, module, called in modules():
        given, where = set(module.body.get("params", {})), f"{template.path.name}: {module.symbol}"
        required = {name for name, parameter in called.parameters.items() if parameter.required}
        assert given <= set(called.parameters), where
        assert required <= given, where
        used = {output for symbol, output in template.outputs_used if symbol == module.symbol}
        assert used <= set(called.outputs), where


def test_every_module_is_used_and_every_parameter_too() -> None:
    assert {called.path for _, _, called in modules()} == set((INFRA / "modules").glob("*.bicep"))
    for template in map(parse, TEMPLATES):
        text = template.path.read_text()
        for name in (*template.parameters, *template.variables):
            assert len(re.findall(rf"\b{name}\b", text)) > 1, f"{template.path.name}: {name}"


@each_file
def test_versions_of_resources_are_the_same_everywhere_and_not_previews(path: Path) -> None:
    everywhere = {one.type: one.version for template in map(parse, TEMPLATES) for one in template.resources}
    for one in parse(path).resources:
        assert one.version == everywhere[one.type]
        # of diagnostic settings there is nothing else
        assert "preview" not in one.version or one.type == "Microsoft.Insights/diagnosticSettings"


def test_the_shared_folder_has_locks_and_the_app_may_only_read_it() -> None:
    share = resource("home", "Storage/storageAccounts/fileServices/shares")["properties"]
    assert share["enabledProtocols"] == "NFS"
    mounts = {
        one.body["name"]: one.body["properties"]["nfsAzureFile"]["accessMode"]
        for one in parse(INFRA / "modules/environment.bicep").resources
        if one.type == "Microsoft.App/managedEnvironments/storages"
    }
    assert mounts == {"home": "ReadWrite", "home-to-read": "ReadOnly"}
    used = {name: re.findall(r"storageName: '([\w-]+)'", path.read_text()) for name, path in APPS.items()}
    assert used == {"pipeline": ["home"], "agent": ["home-to-read"], "app": []}


def test_conversations_are_kept_as_the_app_would_make_them() -> None:
    made = resource("cosmos", "DocumentDB/databaseAccounts/sqlDatabases/containers")
    assert made["name"] == AppSettings().cosmos_container
    assert resource("cosmos", "DocumentDB/databaseAccounts/sqlDatabases")["name"] == AppSettings().cosmos_database
    described = made["properties"]["resource"]
    assert described["partitionKey"]["paths"] == [cosmos_account.PARTITION_KEY]
    assert cosmos_account._INDEXING.items() <= described["indexingPolicy"].items()


def test_a_network_is_kept_as_its_loader_would_make_it() -> None:
    settings = Settings()
    database = resource("diagnosis", "DocumentDB/databaseAccounts/gremlinDatabases")
    graph = resource("diagnosis", "DocumentDB/databaseAccounts/gremlinDatabases/graphs")
    assert (database["name"], graph["name"]) == (settings.gremlin_database, settings.gremlin_graph)
    assert graph["properties"]["resource"]["partitionKey"]["paths"] == [f"/{PARTITION}"]
    assert resource("diagnosis", "DocumentDB/databaseAccounts/sqlDatabases")["name"] == settings.telemetry_database
    sample = open_scenario(ROOT / "samples/scenarios").scenario.telemetry
    made = re.findall(r"\{ name: '(\w+)', partitionKey: '(\w+)', time: '(\w+)' \}", MAIN.read_text())
    assert made == [(name, each.partition_key, each.time) for name, each in sample.items()]


def test_networks_are_kept_on_azure_only_for_whom_asks() -> None:
    assert "\nparam networkGraph string = 'false'\n" in MAIN.read_text()
    assert parse(MAIN).modules["diagnosis"].conditional


def test_the_models_are_those_of_the_settings() -> None:
    main = parse(MAIN)
    text = MAIN.read_text()
    deployed = set(re.findall(r"\{ name: '([\w.-]+)', model:", text))
    assert {"gpt-4.1", "gpt-4.1-mini", "text-embedding-3-small", "text-embedding-3-large"} <= deployed
    assert {Settings().mistral_model, Settings().vision_model} <= deployed
    assert set(main.parameters["analyzer"].allowed) == {"local", "content-understanding", "mistral-doc-ai"}


@each_app
def test_the_replica_has_a_size_that_container_apps_offer(name: str) -> None:
    containers = APPS[name].read_text().partition("\nvar containers = ")[2].partition("\n]\n")[0]
    sizes = [re.findall(r"cpu: json\('([\d.]+)'\), memory: '([\d.]+)Gi'", line) for line in containers.splitlines()]
    for size in (0, -1):  # a line holds the large one and the small one, where they differ
        cpus = sum(float(line[size][0]) for line in sizes if line)
        memory = sum(float(line[size][1]) for line in sizes if line)
        assert memory == 2 * cpus  # the only ratio of the consumption plan
        assert cpus <= 4


@each_app
def test_variables_are_settings_or_what_other_programs_read(name: str) -> None:
    given = environment(name)
    assert {variable for variable in given if variable.startswith("KB_")} <= SETTINGS | OF_DEPLOYING
    assert not set(given) & SECRET_SETTINGS
    assert given["AZURE_TOKEN_CREDENTIALS"] == "ManagedIdentityCredential"
    assert given["AZURE_CLIENT_ID"] == "identity.properties.clientId"


@each_app
def test_it_is_known_by_the_name_of_its_ingress(name: str) -> None:
    template = parse(APPS[name])
    assert environment(name)["KB_ALLOWED_HOSTS"] == "${name}.${environment.properties.defaultDomain},${otherHosts}"
    assert template.variables["name"] == f"kb-{name}"


def test_outputs_that_look_like_settings_are_settings() -> None:
    assert {name for name in parse(MAIN).outputs if name.startswith("KB_")} <= SETTINGS - SECRET_SETTINGS
