"""Ids stand whole on a narrow terminal, each on a line that can be copied."""

from collections.abc import Callable

import pytest

from kb_pipeline.cli import console
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.cli.conftest import Run, page
from kb_pipeline_tests.conftest import Article

LONG = "how-to-reset-the-password-of-a-colleague-who-has-left-us-early"


@pytest.fixture
def narrow(article: Article, settings: Settings, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command 80 columns wide, with one article whose id has 62 characters."""
    article(LONG, page("Passwords of colleagues", "Open the profile menu and choose Reset password."))
    build_here(settings)
    for printer in (console.out, console.err):
        monkeypatch.setattr(printer, "width", 80)
    return run


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("show", LONG), lambda chunk, run_id: [chunk, run_id]),
        (("search", "password"), lambda chunk, run_id: [LONG]),
        (("ask", "How do I reset a password?"), lambda chunk, run_id: [f"kb trace {chunk}"]),
        (("trace", "CHUNK"), lambda chunk, run_id: [chunk, f"/runs/{run_id}"]),
        (("versions", LONG), lambda chunk, run_id: [f"run {run_id}", f"kb diff {LONG}"]),
        (("status",), lambda chunk, run_id: [run_id]),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_ids_are_whole(narrow: Run, command: tuple[str, ...], shown: Callable[[str, str], list[str]]) -> None:
    article = narrow("show", LONG, "--json").json
    chunk, run_id = article["chunks"][0]["id"], article["manifest"]["provenance"]["run_id"]
    said = narrow(*(chunk if word == "CHUNK" else word for word in command))
    for wanted in shown(chunk, run_id):
        assert wanted in said.out + said.err


def test_an_article_is_one_object_for_a_program(narrow: Run) -> None:
    article = narrow("show", LONG, "--json").json
    assert [*article] == ["article_id", "markdown", "manifest", "chunks"]
    assert article["article_id"] == LONG
    assert article["markdown"].startswith("# Passwords of colleagues")


def test_markdown_and_json_are_two_formats(narrow: Run) -> None:
    said = narrow("show", LONG, "--markdown", "--json")
    assert (said.code, "leave out one" in said.err) == (2, True)
