"""``kb analyzers``: what people and scripts see of it."""

import re
from collections.abc import Iterator

import pytest

from kb_pipeline.analyzers.content_understanding.analyzer import ANALYZER_ID
from kb_pipeline_tests.cli.conftest import Run
from kb_pipeline_tests.content_understanding_service import (
    KEY,
    ContentUnderstandingService,
    content_understanding_service,
    refusal,
)


@pytest.fixture
def service(own_environment: dict[str, str]) -> Iterator[ContentUnderstandingService]:
    with content_understanding_service(ready=False) as bare:
        own_environment["KB_CONTENT_UNDERSTANDING_ENDPOINT"] = bare.url
        own_environment["KB_CONTENT_UNDERSTANDING_API_KEY"] = KEY
        yield bare


def test_from_nothing_to_ready_and_back(service: ContentUnderstandingService, run: Run) -> None:
    before = run("analyzers", "status")
    assert before.code == 1
    assert f"analyzer {ANALYZER_ID} is missing: kb analyzers deploy" in before.words
    assert "model gpt-4.1 is not registered: kb analyzers setup" in before.words

    deployed = run("analyzers", "deploy")
    assert deployed.code == 0
    assert f"{ANALYZER_ID} deployed" in deployed.words
    assert "text-embedding-3-large registered as deployment text-embedding-3-large" in deployed.words

    after = run("analyzers", "status")
    assert after.code == 0
    assert "✓ ready" in after.words

    assert f"{ANALYZER_ID} was deployed already" in run("analyzers", "deploy").words
    assert run("analyzers", "delete").words == f"{ANALYZER_ID} removed"
    assert run("analyzers", "delete").code == 0
    assert run("analyzers", "status").code == 1


def test_status_names_what_the_analyzer_extracts(service: ContentUnderstandingService, run: Run) -> None:
    run("analyzers", "deploy")
    said = run("analyzers", "status")
    for field, meaning in (("Description", "What the image shows"), ("NavigationPath", "The way to this place")):
        assert re.search(rf"{field}\s+{meaning}", said.out)
    fields = run("analyzers", "status", "--json").json["fields"]
    assert list(fields) == ["Description", "UIElements", "NavigationPath"]
    assert "quoted exactly" in fields["Description"]


def test_setup_tells_what_it_changed(service: ContentUnderstandingService, run: Run) -> None:
    service.defaults["gpt-4o"] = "old"
    assert "gpt-4o removed (it was deployment old)" in run("analyzers", "setup").words
    assert "removed" not in run("analyzers", "setup").words


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("setup", {"deployments", "registered", "removed"}),
        ("deploy", {"analyzer_id", "created", "removed", "defaults"}),
        ("status", {"analyzer_id", "analyzer", "fields", "deployments", "problems"}),
        ("delete", {"removed"}),
    ],
)
def test_json_is_one_document(service: ContentUnderstandingService, run: Run, command: str, keys: set[str]) -> None:
    assert run("analyzers", command, "--json").json.keys() == keys


def test_a_refusal_is_a_sentence(service: ContentUnderstandingService, run: Run) -> None:
    service.answer_next("GET", "/defaults", refusal(403, "403", "Forbidden"))
    refused = run("analyzers", "deploy")
    assert refused.code == 2
    assert "Cognitive Services User" in refused.err
    assert "Traceback" not in refused.err


def test_without_an_endpoint_nothing_starts(run: Run) -> None:
    refused = run("analyzers", "status")
    assert refused.code == 2
    assert "KB_CONTENT_UNDERSTANDING_ENDPOINT" in refused.err
