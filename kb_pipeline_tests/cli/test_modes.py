"""Sections that are left for later, on the command line."""

from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.services_with_backlog import COSMOS
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.cli.conftest import Run


@pytest.fixture
def built(settings: Settings) -> Settings:
    folder = Path(settings.staging) / "cosmos-db"
    folder.mkdir(parents=True)
    (folder / "index.md").write_text(COSMOS)
    build_here(settings)
    return settings


def test_the_backlog_is_listed(run: Run, built: Settings) -> None:
    said = run("backlog")
    assert said.code == 0
    assert "Add a zebra region" in said.words and "Cosmos DB › Production Backlog Items" in said.words
    (found,) = run("backlog", "cosmos-db", "--json").json
    assert found["sections"][-1]["items"] == ["Add a zebra region", "Rotate the quagga key"]
    assert run("backlog", "cosmos-dbs").code == 2


def test_a_search_takes_both_kinds_of_modes(run: Run, built: Settings) -> None:
    assert "zebra" not in run("search", "zebra region").words
    assert "zebra" in run("search", "zebra region", "--mode", "production", "--mode", "keyword").words
    refused = run("search", "zebra", "--mode", "magic")
    assert refused.code == 2 and "hybrid, keyword, vector, poc, production, all" in refused.err


def test_an_answer_takes_the_mode(run: Run, built: Settings) -> None:
    question = "How are orders replicated to the zebra region?"
    assert "quagga" not in run("ask", question).words
    assert "quagga" in run("ask", question, "--mode", "all").words
    assert run("ask", question, "--mode", "magic").code == 2
