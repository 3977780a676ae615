"""Every backend is asked once, whatever the others say."""

import shutil
from pathlib import Path

import pytest
from pydantic import SecretStr

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.check import Connection, check_connections
from kb_pipeline_tests.building import listing
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.quoting_server import quoting_server


def asked(settings: Settings, **changed: object) -> dict[str, Connection]:
    workspace = Workspace(settings.model_copy(update=changed))
    return {connection.role: connection for connection in check_connections(workspace)}


@pytest.mark.slow("builds a whole knowledge base")
def test_what_is_there_is_said(article: Article, build: Build, settings: Settings) -> None:
    article("one", "<h1>One</h1><p>Some text.</p>")
    build()
    found = {role: connection.found for role, connection in asked(settings).items()}
    assert found["staging"] == "1 article"
    assert found["serving"] == "can be written and read"
    assert found["embedder"] == "hashing-256, 256 dimensions"
    assert found["index"].endswith("is live, 1 entries")
    shutil.rmtree(settings.home_path / "index")
    assert "1 article that is published; run: kb reconcile" in asked(settings)["index"].problem


def test_before_the_first_ingest_nothing_is_wrong(settings: Settings) -> None:
    connections = asked(settings)
    assert connections["index"].found == "reached; nothing is published yet"
    assert not any(connection.problem for connection in connections.values())


def test_one_that_fails_does_not_keep_the_others_from_being_asked(settings: Settings) -> None:
    shutil.rmtree(settings.staging)
    connections = asked(settings, analyzer="nonsense", index="elastic")
    assert {role for role, connection in connections.items() if connection.problem} == {"staging", "analyzer", "index"}
    assert "KB_STAGING" in connections["staging"].problem
    assert "KB_ANALYZER" in connections["analyzer"].problem
    assert "KB_INDEX" in connections["index"].problem
    assert connections["embedder"].found


def test_what_was_written_to_try_it_is_removed(settings: Settings) -> None:
    assert asked(settings)["serving"].found
    assert listing(Path(settings.home) / "serving") == {}


@pytest.mark.usefixtures("no_pauses")
def test_a_wrong_address_is_no_index_without_articles(settings: Settings) -> None:
    with quoting_server(404) as url:
        azure = {"index": "azure-ai-search", "search_endpoint": url, "search_api_key": SecretStr("key")}
        assert "check KB_SEARCH_ENDPOINT" in asked(settings, **azure)["index"].problem


def test_an_advisory_check_that_does_not_exist_is_found_before_an_ingest(settings: Settings) -> None:
    problem = asked(settings, advisory_checks=("no_markup_leakd",))["checks"].problem
    assert "KB_ADVISORY_CHECKS names 'no_markup_leakd'" in problem


def test_a_plug_in_may_raise_anything(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalAnalyzer, "check", lambda _: 1 / 0)
    connections = asked(settings)
    assert connections["analyzer"].problem == "unexpected ZeroDivisionError: division by zero"
    assert not connections["index"].problem
