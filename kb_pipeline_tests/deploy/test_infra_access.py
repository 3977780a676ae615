"""Who may do what on Azure, and who reaches what: the Bicep files grant and open no more than is listed here."""

import json
import re
from pathlib import Path

from app.callers.access_tokens import FOR_OTHERS, ROLE, SCOPE
from kb_pipeline_tests.deploy.bicep import Expression, parse
from kb_pipeline_tests.deploy.files import INFRA, TEMPLATES
from kb_pipeline_tests.deploy.infra import APPS, each_app, each_file, each_guarded, environment, grants, resource

ROLES: dict[str, str] = json.loads((INFRA / "roles.json").read_text())
BUILT_IN = {
    "AcrPull": "7f951dda-4ed3-4680-a7ca-43fe172d538d",
    "CognitiveServicesOpenAIUser": "5e0bd9bd-7b93-4f28-af87-19fc36ad61bd",
    "CognitiveServicesUser": "a97b65f3-24c7-4388-baec-2e87135dc908",
    "Reader": "acdd72a7-3385-48ef-bd42-f606fba81ae7",
    "SearchIndexDataContributor": "8ebe5a00-799e-43f5-93ac-243d3dce84a7",
    "SearchIndexDataReader": "1407120a-92aa-4202-b7e9-c0e197c71c8f",
    "SearchServiceContributor": "7ca78c08-252a-4471-8644-bb5ff32d4ba0",
    "StorageBlobDataContributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
    "StorageBlobDataReader": "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
}
"""https://learn.microsoft.com/azure/role-based-access-control/built-in-roles"""


def test_the_roles_are_the_built_in_ones() -> None:
    assert ROLES == BUILT_IN


def test_identities_have_the_roles_that_their_work_needs_and_no_others() -> None:
    assert grants() == {
        ("staging", "pipeline", "StorageBlobDataReader"),
        ("staging", "principalId", "StorageBlobDataContributor"),
        ("serving", "pipeline", "StorageBlobDataContributor"),
        ("serving", "agent", "StorageBlobDataReader"),
        ("serving", "principalId", "StorageBlobDataReader"),
        ("search", "pipeline", "SearchServiceContributor"),
        ("search", "pipeline", "SearchIndexDataContributor"),
        ("search", "agent", "Reader"),
        ("search", "agent", "SearchIndexDataReader"),
        ("search", "principalId", "SearchIndexDataReader"),
        ("models", "pipeline", "CognitiveServicesUser"),
        ("models", "pipeline", "CognitiveServicesOpenAIUser"),
        ("models", "agent", "CognitiveServicesOpenAIUser"),
        ("models", "search", "CognitiveServicesOpenAIUser"),
        ("models", "principalId", "CognitiveServicesUser"),
        ("registry", "pipeline", "AcrPull"),
        ("registry", "agent", "AcrPull"),
        ("registry", "app", "AcrPull"),
        ("registry", "project", "AcrPull"),
    }


def test_every_role_is_assigned_on_one_resource_and_none_on_a_group_or_subscription() -> None:
    for template in map(parse, TEMPLATES):
        for one in template.resources:
            if one.type == "Microsoft.Authorization/roleAssignments":
                own = {other.symbol for other in template.resources if not other.existing}
                assert one.body["scope"].text in own, template.path.name


def test_there_are_no_keys_to_sign_in_with() -> None:
    assert resource("blobs", "Storage/storageAccounts")["properties"]["allowSharedKeyAccess"] is False
    assert resource("blobs", "Storage/storageAccounts")["properties"]["allowBlobPublicAccess"] is False
    assert resource("home", "Storage/storageAccounts")["properties"]["allowSharedKeyAccess"] is False
    assert resource("search", "Search/searchServices")["properties"]["disableLocalAuth"] is True
    assert resource("models", "CognitiveServices/accounts")["properties"]["disableLocalAuth"] is True
    assert resource("cosmos", "DocumentDB/databaseAccounts")["properties"]["disableLocalAuth"] is True
    telemetry, graph = (
        one.body["properties"]
        for name in ("telemetry", "graph")
        for one in parse(INFRA / "modules/diagnosis.bicep").resources
        if one.symbol == name
    )
    assert telemetry["disableLocalAuth"] is True
    assert "disableLocalAuth" not in graph  # Gremlin knows nothing but keys; this network is all that reaches it
    assert resource("registry", "ContainerRegistry/registries")["properties"]["adminUserEnabled"] is False
    assert resource("registry", "ContainerRegistry/registries")["properties"]["anonymousPullEnabled"] is False
    sign_in = resource("postgres", "DBforPostgreSQL/flexibleServers")["properties"]["authConfig"]
    assert (sign_in["passwordAuth"], sign_in["activeDirectoryAuth"]) == ("Disabled", "Enabled")


@each_file
def test_no_secret_is_written_asked_for_or_given_out(path: Path) -> None:
    text = re.sub(r"//.*", "", path.read_text())
    assert not re.search(
        r"listKeys|listSas|listCredentials|listSecrets|adminPassword|accountKey\b", text, re.IGNORECASE
    )
    assert not re.search(r"(?i)(password|secret|token|connectionstring)(?!Auth)\w*\s*:\s*'[^$']", text)
    for name in parse(path).outputs:
        assert not re.search(r"key|secret|password|connection_?string|token(?!s)", name, re.IGNORECASE)


def test_what_has_no_sign_in_is_reached_from_the_apps_subnet_only() -> None:
    share = resource("home", "Storage/storageAccounts")["properties"]["networkAcls"]
    assert (share["defaultAction"], share["bypass"]) == ("Deny", "None")
    (rule,) = share["virtualNetworkRules"]
    assert rule["id"].text == "subnetId"
    database = resource("postgres", "DBforPostgreSQL/flexibleServers")["properties"]["network"]
    assert database["publicNetworkAccess"] == "Disabled"


@each_guarded
def test_nobody_reaches_an_app_without_having_signed_in(name: str) -> None:
    template = parse(APPS[name])
    assert not [one for one in template.resources if one.type == "Microsoft.App/containerApps" and not one.existing]
    closed, opened = template.modules["closed"], template.modules["open"]
    assert {closed.path, opened.path} == {"modules/guarded_app.bicep"}
    assert (closed.body["params"]["external"], closed.conditional) == (False, True)
    assert opened.body["dependsOn"] == [Expression("closed")]  # its sign-in stands before it is open
    assert "minLength" in template.parameters["authClientId"].decorators
    sign_in = resource("guarded_app", "App/containerApps/authConfigs")["properties"]
    assert sign_in["globalValidation"]["unauthenticatedClientAction"] == "RedirectToLoginPage"
    assert "excludedPaths" not in sign_in["globalValidation"]
    ingress = resource("guarded_app", "App/containerApps")["properties"]["configuration"]["ingress"]
    assert ingress["allowInsecure"] is False


def test_the_agent_service_takes_tokens_of_this_tenant_for_itself_and_no_headers() -> None:
    template, given = parse(APPS["agent"]), environment("agent")
    assert given["KB_TOKEN_ISSUER"] == "${az.environment().authentication.loginEndpoint}${tenant().tenantId}/v2.0"
    assert given["KB_TOKEN_AUDIENCE"] == "authClientId"
    assert "minLength" in template.parameters["authClientId"].decorators
    assert "KB_EASY_AUTH" not in given
    (app,) = [one for one in template.resources if one.type == "Microsoft.App/containerApps"]
    assert app.body["properties"]["configuration"]["ingress"]["allowInsecure"] is False


def test_the_page_asks_by_its_own_token_and_reads_nothing_itself() -> None:
    given = environment("app")
    assert (given["KB_APP_URL"], given["KB_APP_SCOPE"]) == ("agentUrl", "api://${authClientId}/.default")
    assert given["KB_EASY_AUTH"] == "true"
    assert parse(APPS["app"]).variables["app"]["volumes"] == []


def test_the_roles_of_the_registration_are_those_that_the_service_asks_for() -> None:
    hook = (INFRA / "hooks/register_app.sh").read_text()
    named = dict(re.findall(r'\\"value\\": \\"([\w.]+)\\", \\"(type|isEnabled)', hook))
    assert named == {SCOPE: "type", ROLE: "isEnabled", FOR_OTHERS: "isEnabled"}
    assert f'APP_PRINCIPAL_ID" {FOR_OTHERS}\n' in (INFRA / "hooks/allow_sign_in.sh").read_text()


def test_the_dagster_ui_is_for_named_people_only() -> None:
    assert "minLength" in parse(APPS["pipeline"]).parameters["dagsterUsers"].decorators


@each_app
def test_only_what_people_reach_listens_beyond_the_replicas_loopback(name: str) -> None:
    variables = parse(APPS[name]).variables
    port = "8088" if name == "agent" else str(variables["app"]["targetPort"])
    for container in variables["containers"]:
        command = container["command"]
        listening = [command[at + 1] for at, word in enumerate(command) if word in ("-h", "--host")]
        assert listening == {"webserver": ["0.0.0.0"], "page": ["0.0.0.0"], "code": ["127.0.0.1"]}.get(
            container["name"], []
        )
        if listening == ["0.0.0.0"]:
            assert port in command
            assert {probe["httpGet"]["port"] for probe in container["probes"]} == {int(port)}
