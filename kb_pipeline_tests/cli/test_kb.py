"""The command line as people and scripts use it: real processes and exit codes where these may differ."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kb_pipeline_tests.cli.conftest import Run
from kb_pipeline_tests.conftest import Article

pytestmark = pytest.mark.slow("starts the program")


def test_ingest_search_and_show(kb, run: Run, two_articles: None) -> None:
    ingested = run("ingest")
    assert ingested.code == 0, ingested.err
    assert "2 articles published" in ingested.err
    assert "1 image described" in ingested.err

    assert "2 articles published (2 unchanged)" in run("ingest").err

    hits = json.loads(kb("search", "reset password", "--json", "--top", "1").stdout)
    assert hits[0]["article_id"] == "passwords"
    assert hits[0]["section"] == "Reset a password"
    assert hits[0]["images"] == ["passwords/images/menu.png"]

    for mode in ("keyword", "vector", "hybrid"):
        shown = run("search", "invoice by mail", "--mode", mode, "--top", "1")
        assert shown.code == 0
        assert "invoices" in shown.out

    article = run("show", "passwords")
    assert "# Passwords" in article.out
    assert "**[Image: menu](images/menu.png)**" in article.out
    assert "chunks" in article.out
    assert "topics  invoice\n" in run("show", "invoices").out


def test_a_failing_article_is_named_and_the_exit_code_says_so(run: Run, two_articles: None, article: Article) -> None:
    article("broken", b"%PDF-1.7")
    result = run("ingest")
    assert result.code == 1
    for said in ("2 articles published", "1 failed", "broken: "):
        assert said in result.err
    assert "Traceback" not in result.err


@pytest.mark.rare("a further ingest by the installed program")
def test_one_article_alone(kb, two_articles: None) -> None:
    result = kb("ingest", "--article", "invoices")
    assert result.returncode == 0, result.stderr
    assert "1 article published" in result.stderr


def test_an_empty_staging_folder_is_no_error(run: Run) -> None:
    result = run("ingest")
    assert result.code == 0
    assert "nothing to ingest" in result.err


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (("search", "anything"), {}, "kb ingest"),
        (("ingest", "--staging", "nowhere"), {}, "KB_STAGING"),
        (("ingest",), {"KB_EMBEDDER": "word3vec"}, "word3vec"),
        (("ingest",), {"KB_ANALYZER": "magic"}, "magic"),
        (("ingest",), {"KB_WORKERS": "many"}, "KB_WORKERS"),
        (("show", "unknown"), {}, "kb ingest"),
        (("show", "../../etc/passwd"), {}, "cannot be an article id"),
    ],
    ids=["no index", "no staging", "no such embedder", "no such analyzer", "no number", "no such article", "traversal"],
)
def test_what_cannot_start_says_what_to_do(
    run: Run,
    article: Article,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    environment: dict[str, str],
    said: str,
) -> None:
    article("page", "<body><h1>Page</h1><p>Text.</p></body>")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    result = run(*arguments)
    assert result.code == 2
    assert said in result.words
    assert "Traceback" not in result.words


def test_no_command_imports_dagster_or_a_cloud_sdk_before_it_needs_it() -> None:
    code = (
        "import sys, kb_pipeline.cli, kb_pipeline.flow.build; "
        "bad = {'dagster', 'azure', 'openai', 'mistralai', 'torch', 'lancedb'} & "
        "{m.split('.')[0] for m in sys.modules}; "
        "sys.exit(str(bad) if bad else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_help_groups_the_commands_by_purpose(run: Run) -> None:
    shown = run("--help").out
    places = [
        shown.index(word) for word in ("Every day", "ingest", "Inspect", "trace", "Repair and roll back", "rollback")
    ]
    assert places == sorted(places)


@pytest.mark.rare("a further ingest by the installed program")
def test_titles_and_warnings_are_text_not_markup(kb, article: Article) -> None:
    article("odd", "<body><h1>Tags [/foo] and [bold]</h1><p>Text.</p><img src='https://e.org/gone.png' alt='A'></body>")
    ingested = kb("ingest")
    assert "warning: odd: " in ingested.stderr
    assert "gone.png" in ingested.stderr
    shown = kb("show", "odd")
    assert shown.returncode == 0, shown.stderr
    assert "Tags [/foo]" in shown.stdout


@pytest.mark.rare("a further ingest by the installed program")
def test_an_article_named_twice_is_ingested_once(kb, two_articles: None) -> None:
    assert "1 article published" in kb("ingest", "--article", "invoices", "--article", "invoices").stderr


def test_a_home_that_cannot_be_written_is_explained(
    run: Run, article: Article, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    article("page", "<body><h1>Page</h1><p>Text.</p></body>")
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KB_HOME", str(tmp_path / "file"))
    result = run("ingest")
    assert result.code == 2
    assert "KB_HOME" in result.err
    assert "Traceback" not in result.err
