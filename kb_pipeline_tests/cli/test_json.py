"""What programs get: one JSON document on stdout, whatever happens."""

import inspect
from itertools import chain

import pytest

from kb_pipeline.cli import COMMANDS
from kb_pipeline.cli.analyzers import analyzers
from kb_pipeline_tests.cli.conftest import Run, page
from kb_pipeline_tests.conftest import Article


def test_every_command_that_tells_something_takes_it() -> None:
    commands = [*chain(*COMMANDS.values()), *(command.callback for command in analyzers.registered_commands)]
    without = {command.__name__ for command in commands if "as_json" not in inspect.signature(command).parameters}
    assert without == {"serve", "mcp", "init"}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("show", "nothing"), "there is no published article 'nothing'"),
        (("search", "words"), "there is no search index yet"),
        (("ask", "words"), "there is no search index yet"),
        (("trace", "nothing-0"), "there is no search index yet"),
        (("versions", "nothing"), "nothing was published yet"),
        (("ingest", "--article", "nothing"), "no article in"),
    ],
)
def test_an_error_is_a_document_too(run: Run, article: Article, arguments: tuple[str, ...], problem: str) -> None:
    article("one", page("One", "Some text."))
    said = run(*arguments, "--json")
    assert said.code == 2
    assert problem in said.json["error"]
    assert said.json["error"] in " ".join(said.err.split())
    assert run(*arguments).out == ""


@pytest.mark.slow("runs whole commands")
def test_show_has_the_text_the_manifest_and_the_chunks(run: Run, article: Article) -> None:
    article("one", page("One", "Some text."))
    run("ingest")
    shown = run("show", "one", "--json").json
    assert [*shown] == ["article_id", "markdown", "manifest", "chunks"]
    assert (shown["article_id"], shown["manifest"]["title"]) == ("one", "One")
    assert "Some text." in shown["markdown"]
    assert [chunk["heading_path"] for chunk in shown["chunks"]] == [["One"]]
    assert {"access_control_list", "images", "article_links", "counts", "warnings"} < shown["manifest"].keys()
    assert {"id", "content", "image_urls", "content_hash"} < shown["chunks"][0].keys()
