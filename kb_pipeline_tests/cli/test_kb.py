"""The command line as people and scripts use it: real processes, real exit codes."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.pictures import screenshot

KB = str(Path(sys.executable).parent / "kb")


@pytest.fixture
def kb(settings: Settings, tmp_path: Path):
    """Run ``kb`` in an empty folder with the test's own home."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        own = {"KB_STAGING": settings.staging, "KB_HOME": settings.home, "KB_EMBEDDER": "hashing", "COLUMNS": "140"}
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("KB_", "DAGSTER_"))}
        return subprocess.run(
            [KB, *arguments], env=clean | own | environment, cwd=tmp_path, capture_output=True, text=True, timeout=120
        )

    return run


@pytest.fixture
def two_articles(article: Article) -> None:
    article(
        "passwords",
        "<body><h1>Passwords</h1><h2>Reset a password</h2><p>Open the profile menu and choose Reset password.</p>"
        "<img src='menu.image' alt='The profile menu'></body>",
        {"menu.image": screenshot("Profile", "Reset password")},
    )
    article("invoices", "<body><h1>Invoices</h1><p>An invoice is sent by mail at the end of the month.</p></body>")


def test_ingest_search_and_show(kb, two_articles: None) -> None:
    ingested = kb("ingest")
    assert ingested.returncode == 0, ingested.stderr
    assert "2 articles published" in ingested.stderr
    assert "1 images described" in ingested.stderr

    again = kb("ingest")
    assert "2 articles published (2 unchanged)" in again.stderr

    hits = json.loads(kb("search", "reset password", "--json", "--top", "1").stdout)
    assert hits[0]["article_id"] == "passwords"
    assert hits[0]["section"] == "Reset a password"
    assert hits[0]["images"] == ["passwords/images/menu.png"]

    for mode in ("keyword", "vector", "hybrid"):
        shown = kb("search", "invoice by mail", "--mode", mode, "--top", "1")
        assert shown.returncode == 0
        assert "invoices" in shown.stdout

    article = kb("show", "passwords")
    assert "# Passwords" in article.stdout
    assert "**[Image: menu](images/menu.png)**" in article.stdout
    assert "chunks" in article.stdout


def test_a_failing_article_is_named_and_the_exit_code_says_so(kb, two_articles: None, article: Article) -> None:
    article("broken", b"%PDF-1.7")
    result = kb("ingest")
    assert result.returncode == 1
    assert "2 articles published" in result.stderr
    assert "1 failed" in result.stderr
    assert "broken: " in result.stderr
    assert "Traceback" not in result.stderr


def test_one_article_alone(kb, two_articles: None) -> None:
    result = kb("ingest", "--article", "invoices")
    assert result.returncode == 0, result.stderr
    assert "1 articles published" in result.stderr


def test_an_empty_staging_folder_is_no_error(kb) -> None:
    result = kb("ingest")
    assert result.returncode == 0
    assert "nothing to ingest" in result.stderr


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
def test_what_cannot_start_says_what_to_do(kb, article: Article, arguments, environment, said: str) -> None:
    article("page", "<body><h1>Page</h1><p>Text.</p></body>")
    result = kb(*arguments, **environment)
    assert result.returncode == 2
    assert said in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_searching_imports_neither_dagster_nor_a_cloud_sdk(settings: Settings) -> None:
    code = (
        "import sys, kb_pipeline.cli.search, kb_pipeline.build; "
        "bad = {'dagster', 'azure', 'openai', 'mistralai', 'torch'} & {m.split('.')[0] for m in sys.modules}; "
        "sys.exit(str(bad) if bad else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_serving_twice_is_fine_and_a_foreign_port_is_explained(kb) -> None:
    class Foreign(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.server.reply)  # type: ignore[attr-defined]

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Foreign) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = str(server.server_port)
        server.reply = b'{"dagster_webserver_version": "1"}'  # type: ignore[attr-defined]
        again = kb("serve", "--port", port)
        assert (again.returncode, "served already" in again.stdout) == (0, True)
        server.reply = b"hello"  # type: ignore[attr-defined]
        foreign = kb("serve", "--port", port)
        assert (foreign.returncode, "another program uses port" in foreign.stderr) == (2, True)
        server.shutdown()


def test_titles_and_warnings_are_text_not_markup(kb, article: Article) -> None:
    article("odd", "<body><h1>Tags [/foo] and [bold]</h1><p>Text.</p><img src='gone.png' alt='The gone one'></body>")
    ingested = kb("ingest")
    assert "warning: odd: " in ingested.stderr
    assert "gone.png" in ingested.stderr
    shown = kb("show", "odd")
    assert shown.returncode == 0, shown.stderr
    assert "Tags [/foo]" in shown.stdout


def test_an_article_named_twice_is_ingested_once(kb, two_articles: None) -> None:
    assert "1 articles published" in kb("ingest", "--article", "invoices", "--article", "invoices").stderr


def test_a_home_that_cannot_be_written_is_explained(kb, article: Article, tmp_path: Path) -> None:
    article("page", "<body><h1>Page</h1><p>Text.</p></body>")
    (tmp_path / "file").write_text("in the way")
    result = kb("ingest", KB_HOME=str(tmp_path / "file"))
    assert result.returncode == 2
    assert "KB_HOME" in result.stderr
    assert "Traceback" not in result.stderr
