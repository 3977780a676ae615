"""The deployment scripts, run from beginning to end with a stand-in for the Azure CLI that writes down what it is told.

That the Azure CLI knows these commands and options was tried by hand with the real one, which got as far as signing in.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kb_pipeline_tests.deploy.bicep import parse
from kb_pipeline_tests.deploy.files import INFRA, ROOT

AZ = """#!/usr/bin/env -S python3 -S -E
import json, os, pathlib, sys
said, answers = sys.argv[1:], json.loads(os.environ["ANSWERS"])
for at, word in enumerate(said):
    if word.startswith("@"):
        said[at] = "@" + pathlib.Path(word[1:]).read_text()
with open(os.environ["SAID"], "a") as file:
    file.write(json.dumps(said) + "\\n")
for known, answer in answers.items():
    if " ".join(said).startswith(known):
        print(answer if isinstance(answer, str) else json.dumps(answer))
        break
"""
OUTPUTS = {name: f"<{name}>" for name in parse(INFRA / "main.bicep").outputs} | {
    "AZURE_CONTAINER_REGISTRY_ENDPOINT": "kbimages.azurecr.io",
    "KB_ANALYZER": "local",
}
CLIENT, PERSON = "11111111-2222-3333-4444-555555555555", "99999999-2222-3333-4444-555555555555"
SERVICE, ROLE_ID = "33333333-2222-3333-4444-555555555555", "44444444-2222-3333-4444-555555555555"
ANSWERS = {
    "ad app create": CLIENT,
    "ad signed-in-user show": PERSON,
    "ad app federated-credential list": "0",
    "ad app show": "0",
    "ad sp show --id 11111111-2222-3333-4444-555555555555 --query id": SERVICE,
    "ad sp show --id 11111111-2222-3333-4444-555555555555 --query appRoles": ROLE_ID,
    "rest --method GET": "0",
    "storage blob list": "0",
    # as the Azure CLI spells them
    "deployment sub create": {name[0].lower() + name[1:]: {"value": value} for name, value in OUTPUTS.items()},
}


BY_HAND = ("infra/by_hand.sh", "kb", "swedencentral")


def run(folder: Path, *command: str, answers: dict[str, Any] | None = None, **variables: str) -> list[list[str]]:
    """Run a script; returns what the Azure CLI was told. A file named after ``@`` is told as its text."""
    program, said = folder / "az", folder / "said"
    program.write_text(AZ)
    program.chmod(0o755)
    said.write_text("")
    own = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "SAID": str(said), "BY_HAND": "true"}
    own |= {"ANSWERS": json.dumps(ANSWERS | (answers or {})), **variables}
    ran = subprocess.run(["sh", *command], cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in said.read_text().splitlines()]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The first deployment, of an empty subscription."""
    return run(tmp_path_factory.mktemp("first"), *BY_HAND)


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """A deployment of what is there, with choices."""
    there = {"resource list": "kb-app\nkb-pipeline", "ad app federated-credential list": "1", "storage blob list": "1"}
    there |= {"ad app show": "1", "rest --method GET": "1"}
    chosen = {"ANALYZER": "mistral-doc-ai", "MODELS_LOCATION": "eastus2", "APP_USERS": "a,b", "AUTH_CLIENT_ID": CLIENT}
    return run(tmp_path_factory.mktemp("again"), *BY_HAND, answers=there, **chosen)


def parameters(said: list[list[str]], template: str) -> dict[str, Any]:
    """What a template was deployed with."""
    (command,) = [words for words in said if template in words]
    text = next(word for word in command if word.startswith("@"))
    return {name: given["value"] for name, given in json.loads(text[1:])["parameters"].items()}


def starting(said: list[list[str]], *words: str) -> list[list[str]]:
    return [command for command in said if tuple(command[: len(words)]) == words]


@pytest.mark.slow("starts the program")
def test_by_hand_everything_is_deployed_with_what_was_made_before(first: list[list[str]]) -> None:
    assert parameters(first, "infra/main.bicep") == {
        "environmentName": "kb",
        "location": "swedencentral",
        "modelsLocation": "",
        "principalId": PERSON,
        "principalType": "User",
        "analyzer": "content-understanding",
        "chunkTokens": "1500",
        "size": "small",
        "searchSku": "basic",
        "semanticRanker": "free",
        "networkGraph": "false",
    }
    pipeline, app = parameters(first, "infra/pipeline.bicep"), parameters(first, "infra/app.bicep")
    agent = parameters(first, "infra/agent.bicep")
    assert pipeline["image"].startswith("kbimages.azurecr.io/kb-pipeline:")
    assert app["image"].startswith("kbimages.azurecr.io/kb-app:")
    assert (agent["image"], app["agentUrl"]) == (app["image"], OUTPUTS["AGENT_URL"])
    assert pipeline["authClientId"] == agent["authClientId"] == app["authClientId"] == CLIENT
    assert (pipeline["dagsterUsers"], pipeline["exists"], app["exists"]) == (PERSON, "false", "false")
    for given in (pipeline, agent):
        assert given["settings"] == {name: OUTPUTS[name] for name in given["settings"]}
    built = starting(first, "acr", "build")
    assert [command[command.index("--file") + 1] for command in built] == [
        "deploy/pipeline.Dockerfile",
        "deploy/app.Dockerfile",
    ]


def test_people_sign_in_without_a_secret(first: list[list[str]]) -> None:
    assert not [word for command in first for word in command if "credential reset" in word or "password" in word]
    (trust,) = starting(first, "ad", "app", "federated-credential", "create")
    described = json.loads(trust[trust.index("--parameters") + 1])
    assert described["subject"] == OUTPUTS["SIGN_IN_PRINCIPAL_ID"]
    assert described["audiences"] == ["api://AzureADTokenExchange"]
    (urls,) = [command for command in first if "--web-redirect-uris" in command]
    assert urls[-2:] == [f"{OUTPUTS[app]}/.auth/login/aad/callback" for app in ("APP_URL", "PIPELINE_URL")]


def test_the_registration_says_what_people_and_programs_may_be_allowed(first: list[list[str]]) -> None:
    described, then = starting(first, "rest", "--method", "PATCH")
    body = json.loads(described[described.index("--body") + 1])
    assert body["identifierUris"] == [f"api://{CLIENT}"]
    assert body["api"]["requestedAccessTokenVersion"] == 2
    (scope,) = body["api"]["oauth2PermissionScopes"]
    assert {role["value"]: role["allowedMemberTypes"] for role in body["appRoles"]} == {
        "Knowledge.Ask.All": ["Application"],
        "Knowledge.Ask.ForOthers": ["Application"],
    }
    trusted = json.loads(then[then.index("--body") + 1])["api"]
    assert trusted["oauth2PermissionScopes"] == [scope]  # a PATCH replaces the list
    assert trusted["preAuthorizedApplications"][0]["delegatedPermissionIds"] == [scope["id"]]


def test_the_page_may_ask_for_others(first: list[list[str]]) -> None:
    (granted,) = starting(first, "rest", "--method", "POST")
    assert OUTPUTS["APP_PRINCIPAL_ID"] in granted[granted.index("--uri") + 1]
    assert json.loads(granted[granted.index("--body") + 1]) == {
        "principalId": OUTPUTS["APP_PRINCIPAL_ID"],
        "resourceId": SERVICE,
        "appRoleId": ROLE_ID,
    }


class TestPublishingAHostedAgent:
    IDENTITY = "55555555-2222-3333-4444-555555555555"
    PROJECT = "https://kb.services.ai.azure.com/api/projects/kb"
    GIVEN: ClassVar[dict[str, str]] = {
        **{name: OUTPUTS[name] for name in ("KB_SERVING", "KB_INDEX", "SERVING_ID", "SEARCH_ID", "MODELS_ID")},
        "FOUNDRY_PROJECT_ENDPOINT": PROJECT,
        "KB_CONVERSATIONS": "cosmos",
        "SERVICE_AGENT_IMAGE_NAME": "kbimages.azurecr.io/kb-app:1",
    }
    POST = "rest --resource https://ai.azure.com --method POST"
    GET = "rest --resource https://ai.azure.com --method GET"

    @pytest.mark.slow("starts the program")
    def test_a_version_is_made_of_the_image_of_the_service(self, tmp_path: Path) -> None:
        answers = {self.POST: "7", self.GET: f"active\n{self.IDENTITY}"}
        said = run(tmp_path, "infra/publish_agent.sh", answers=answers, **self.GIVEN)
        (made,) = starting(said, *self.POST.split())
        assert f"{self.PROJECT}/agents/knowledge-base/versions?api-version=v1" in made
        definition = json.loads(made[made.index("--body") + 1])["definition"]
        assert definition["kind"] == "hosted"
        assert definition["container_configuration"] == {"image": self.GIVEN["SERVICE_AGENT_IMAGE_NAME"]}
        assert definition["protocol_versions"] == [{"protocol": "responses", "version": "2.0.0"}]
        assert definition["environment_variables"] == {name: self.GIVEN[name] for name in ("KB_SERVING", "KB_INDEX")}

    @pytest.mark.slow("starts the program")
    def test_its_identity_gets_the_roles_of_the_agent_service(self, tmp_path: Path) -> None:
        answers = {self.POST: "7", self.GET: f"active\n{self.IDENTITY}"}
        said = run(tmp_path, "infra/publish_agent.sh", answers=answers, **self.GIVEN)
        granted = starting(said, "role", "assignment", "create")
        assert {(words[words.index("--role") + 1], words[words.index("--scope") + 1]) for words in granted} == {
            ("Storage Blob Data Reader", OUTPUTS["SERVING_ID"]),
            ("Reader", OUTPUTS["SEARCH_ID"]),
            ("Search Index Data Reader", OUTPUTS["SEARCH_ID"]),
            ("Cognitive Services OpenAI User", OUTPUTS["MODELS_ID"]),
        }
        assert all(self.IDENTITY in words for words in granted)

    @pytest.mark.slow("starts the program")
    @pytest.mark.parametrize(
        ("state", "told"), [("failed", "could not be provisioned"), ("creating", "run this again")]
    )
    def test_one_that_does_not_start_gets_no_roles(self, tmp_path: Path, state: str, told: str) -> None:
        answers = {self.POST: "7", self.GET: state}
        with pytest.raises(AssertionError, match=told):
            run(tmp_path, "infra/publish_agent.sh", answers=answers, **self.GIVEN, PUBLISH_PAUSE="0")
        assert "role" not in (tmp_path / "said").read_text()


def test_samples_are_uploaded_to_an_empty_container(first: list[list[str]]) -> None:
    (upload,) = starting(first, "storage", "blob", "upload-batch")
    assert upload[upload.index("--source") + 1] == "samples/staging"


def test_samples_that_are_not_wanted_are_not_uploaded(tmp_path: Path) -> None:
    assert run(tmp_path, "infra/hooks/upload_samples.sh", SAMPLES="false") == []


@pytest.mark.slow("starts the program")
def test_what_is_there_stays_as_it_is_when_it_is_deployed_again(again: list[list[str]]) -> None:
    assert not starting(again, "ad", "app", "create")
    assert not [words for words in starting(again, "rest") if "GET" not in words]
    assert not starting(again, "ad", "app", "federated-credential", "create")
    assert not starting(again, "storage", "blob", "upload-batch")
    # an app that is open stays open
    assert parameters(again, "infra/pipeline.bicep")["exists"] == "true"
    assert parameters(again, "infra/app.bicep")["exists"] == "true"


def test_what_people_choose_is_deployed(again: list[list[str]]) -> None:
    main, app = parameters(again, "infra/main.bicep"), parameters(again, "infra/app.bicep")
    assert (main["analyzer"], main["modelsLocation"], app["appUsers"]) == ("mistral-doc-ai", "eastus2", "a,b")
