"""A mistyped article id: every command that takes one says what was probably meant, before any run starts."""

from pathlib import Path

import pytest

from kb_pipeline.cli.naming import did_you_mean
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("mistyped", "hint"),
    [
        (["canned-respones"], "; did you mean canned-responses?"),
        (["Canned-Responses"], "; did you mean canned-responses?"),
        (["canned-respones", "invoice"], "; did you mean canned-responses, invoices?"),
        (["webhooks"], ""),
        ([], ""),
    ],
)
def test_the_nearest_id_is_named_if_one_is_near(mistyped: list[str], hint: str) -> None:
    assert did_you_mean(mistyped, ["canned-responses", "invoices"]) == hint


@pytest.mark.slow("runs whole commands")
@pytest.mark.parametrize(
    "command",
    [
        "show passwrods",
        "versions passwrods",
        "diff passwrods 1",
        "rollback passwrods",
        "remove passwrods",
        "ingest --article passwrods",
        "retry --article passwrods",
        "reconcile --article passwrods",
        "verify --article passwrods",
        "estimate --article passwrods",
    ],
)
def test_every_command_asks_what_was_meant_and_starts_no_run(
    run: Run, two_articles: None, settings: Settings, command: str
) -> None:
    build_here(settings)
    said = run(*command.split())
    assert said.code == 2
    assert "did you mean passwords?" in said.words
    assert not (Path(settings.home) / "dagster").exists()
