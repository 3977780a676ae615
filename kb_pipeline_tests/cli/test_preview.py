"""``kb preview``: what other settings would do, on the terminal, as JSON and as files."""

from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import listing, made_once, stage
from kb_pipeline_tests.cli.conftest import HERE, Run, ingest
from kb_pipeline_tests.conftest import Article, Ledger
from kb_pipeline_tests.pictures import screenshot

pytestmark = pytest.mark.slow("runs whole commands")

LONG = f"<body><h1>Long</h1>{'<p>Some words of a long section.</p>' * 60}</body>"


@pytest.fixture
def ingested(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_ENGINE", HERE)
    made_once(ingest_two, settings)


def ingest_two(settings: Settings) -> None:
    stage(settings, "long", LONG)
    stage(settings, "short", "<body><h1>Short</h1><p>A few words.</p></body>")
    ingest(settings)


def test_another_chunk_size_is_shown_for_the_sample_and_for_all(run: Run, ingested: None) -> None:
    said = run("preview", "--set", "KB_CHUNK_MAX_TOKENS=100")
    assert said.code == 0
    assert "2 articles built beside the live ones: 0 with another text, 0 fail" in said.words
    assert "no scores: there are no known questions" in said.words
    assert "chunks made at most 0 2" in " ".join(said.out.replace("─", " ").split())


def test_the_document_holds_all_of_it(run: Run, ingested: None) -> None:
    told = run("preview", "--set", "KB_CHUNK_MAX_TOKENS=100", "--article", "long", "--json").json
    (long,) = told["articles"]
    assert long["before"]["count"] == 1 < long["after"]["count"]
    assert told["full"]["texts"] == long["embedded"]
    assert told["changes"] == {"KB_CHUNK_MAX_TOKENS": "100"}


def test_diffs_are_written_to_files(run: Run, ingested: None, ledger: Ledger, tmp_path: Path) -> None:
    lossy = "kb_pipeline_tests.doubles:LossyAnalyzer"
    (tmp_path / "staging" / "short" / "index.html").write_text("<body><h1>Short</h1><p>Other words.</p></body>")
    said = run("preview", "--analyzer", lossy, "--output", str(tmp_path / "seen"))
    assert said.code == 0
    written = listing(tmp_path / "seen")
    assert written.keys() == {"report.md", "short.diff"}
    assert b"+Other words." in written["short.diff"]
    assert b"KB_ANALYZER=" in written["report.md"]
    assert "+Other words." in said.out


DOUBLES = "kb_pipeline_tests.doubles"
PICTURED = "<body><h1>{0}</h1><p>Words of {0}.</p><p><img src='a.image' alt='The form'></p></body>"


@pytest.mark.parametrize(("option", "setting"), [("--analyzer", "KB_ANALYZER"), ("--prompt", "KB_IMAGE_PROMPT_FILE")])
def test_the_full_run_then_changes_what_was_shown_of_a_part(
    option: str,
    setting: str,
    run: Run,
    article: Article,
    ledger: Ledger,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_prompt = option == "--prompt"
    monkeypatch.setenv("KB_ENGINE", f"{DOUBLES}:WorkersHere")
    monkeypatch.setenv("KB_ANALYZER", f"{DOUBLES}:PromptedAnalyzer" if is_prompt else "local")
    for name in ("one", "two", "three"):
        article(name, PICTURED.format(name), {"a.image": screenshot(name, "Save")})
    assert run("ingest").code == 0
    (tmp_path / "prompt.txt").write_text("Say it in German.")
    value = str(tmp_path / "prompt.txt") if is_prompt else f"{DOUBLES}:PromptedAnalyzer"

    part = ("--article", "one", "--article", "three")
    told = run("preview", option, value, *part, "--json").json
    shown = {each["article_id"]: each for each in told["articles"]}
    assert shown.keys() == {"one", "three"}
    described = "Say it in German." if is_prompt else "As ever."
    assert any(line.startswith("+") and described in line for line in shown["one"]["diff"].splitlines())
    assert "+" in run("preview", option, value, *part, "--diff").out

    monkeypatch.setenv(setting, value)
    assert run("ingest").code == 0
    for name, each in shown.items():
        before = each["diff"].split()[1]
        assert run("diff", name, before, "--json").json["diff"] == each["diff"]
        assert len(run("show", name, "--json").json["chunks"]) == each["after"]["count"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--set", "KB_CHUNK_MAX_TOKENS"), "has no value; write it as --set KB_CHUNK_MAX_TOKENS=800"),
        (("--set", "KB_HOME=/srv"), "KB_HOME cannot be previewed"),
        (("--article", "lnog"), "did you mean long?"),
        (("--prompt", "nowhere.txt"), "KB_ANALYZER=local describes images without a prompt of yours"),
    ],
)
def test_what_it_cannot_do_is_refused(run: Run, ingested: None, arguments: tuple[str, ...], reason: str) -> None:
    said = run("preview", *arguments)
    assert (said.code, said.out) == (2, "")
    assert reason in said.words
