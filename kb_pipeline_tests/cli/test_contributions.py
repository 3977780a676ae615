"""``kb contribute`` and ``kb contributions``."""

import getpass
import json
from pathlib import Path

import pytest

from kb_pipeline.contributions.base import TYPES
from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.contributions.uploads import NewFile, preview_upload
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.cli.conftest import Run

PITFALL = ("--service", "cosmos-db", "--description", "RU throttling in serverless mode", "--file", "finding.md")
TEXT = "Serverless accounts answer requests above 5,000 RU/s with 429.\n"


@pytest.fixture(autouse=True)
def finding(tmp_path: Path, settings: Settings) -> Path:
    """The file that the examples hand in; commands run in its folder."""
    file = tmp_path / "finding.md"
    file.write_text(TEXT)
    return file


def files(settings: Settings) -> dict[str, bytes]:
    roots = (Path(settings.staging), Path(settings.home) / "contributions")
    return {str(path): path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file()}


def handed_in(run: Run, *options: str) -> str:
    said = run("contribute", *PITFALL, "--json", *options)
    assert said.code == 0, said.err
    return str(said.json["id"])


def test_a_pitfall_waits_for_a_reviewer(run: Run, settings: Settings) -> None:
    said = run("contribute", *PITFALL)
    assert said.code == 0
    assert "Pitfall for cosmos-db/index.md (new), section 'Common Pitfalls' (new)" in said.words
    [contribution] = run("contributions", "--json").json
    assert contribution["id"] in said.out
    assert (contribution["state"], contribution["type"], contribution["source"]) == ("pending", "Pitfall", "manual")
    assert list(Path(settings.staging).iterdir()) == []


@pytest.mark.slow("runs whole commands")
@pytest.mark.parametrize("command", ["contributions", "check"])
def test_a_command_reads_each_contribution_once(command: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    contribution_id = handed_in(run)
    read: list[str] = []
    of_queue = FolderQueue._read
    monkeypatch.setattr(FolderQueue, "_read", lambda queue, name: (read.append(name), of_queue(queue, name))[1])
    run(command)
    assert read == [contribution_id]


@pytest.mark.parametrize("as_json", ["--json", "-j"])
def test_a_draft_is_shown_and_writes_nothing(run: Run, settings: Settings, as_json: str) -> None:
    handed_in(run)
    before = files(settings)
    assert TEXT.strip() in run("contribute", *PITFALL, "--draft").out
    document = run("contribute", *PITFALL, "--draft", as_json).json
    assert document["state"] == "draft"
    assert document["content"] == TEXT.strip()
    assert [one["similarity"] for one in document["duplicates"]] == [1.0]
    assert files(settings) == before


def test_a_pattern_update_goes_to_the_section_that_is_named(run: Run, settings: Settings) -> None:
    folder = Path(settings.staging) / "cosmos-db"
    folder.mkdir()
    (folder / "index.md").write_text("# Cosmos DB\n\n## Configuration\n\nOld.\n\n## Tools\n\nHammer.\n")
    contribution_id = handed_in(run, "--type", "Service pattern update", "--section", "Configuration")
    shown = run("contributions", "show", contribution_id)
    assert "+### RU throttling in serverless mode" in shown.out
    assert run("contributions", "accept", contribution_id).code == 0
    text = (folder / "index.md").read_text()
    assert text.startswith("# Cosmos DB\n\n## Configuration\n\nOld.\n\n### RU throttling in serverless mode\n\n")
    assert text.endswith(f"(contribution {contribution_id}).*\n\n## Tools\n\nHammer.\n")
    [listed] = run("contributions", "--state", "accepted", "--json").json
    assert listed["decision"]["section"] == "Configuration"


def test_what_was_accepted_is_found_and_traced(run: Run, settings: Settings) -> None:
    contribution_id = handed_in(run)
    accepted = run("contributions", "accept", contribution_id, "--json").json
    assert accepted["state"] == "accepted"
    build_here(settings)
    [hit, *_] = run("search", "serverless 429", "--json").json
    assert hit["section"] == "RU throttling in serverless mode"
    traced = run("trace", hit["chunk_id"])
    assert f"contribution {contribution_id}: RU throttling in serverless mode" in traced.words
    assert "accepted by" in traced.words
    assert run("trace", hit["chunk_id"], "--json").json["contributions"][0]["id"] == contribution_id


def test_another_section_an_editor_and_a_patch(run: Run, settings: Settings, tmp_path: Path) -> None:
    contribution_id, editor = handed_in(run), tmp_path / "editor.sh"
    editor.write_text("#!/bin/sh\necho 'In better words.' > \"$1\"\n")
    editor.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("EDITOR", str(editor))
        patched.delenv("VISUAL", raising=False)
        options = ("--section", "Limits", "--edit", "--output", "one.patch")
        assert run("contributions", "accept", contribution_id, *options).code == 0
    patch = (tmp_path / "one.patch").read_text()
    assert "+## Limits\n" in patch
    assert "+In better words.\n" in patch
    assert list(Path(settings.staging).iterdir()) == []


def test_an_editor_that_saves_nothing_accepts_nothing(run: Run, settings: Settings) -> None:
    contribution_id = handed_in(run)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("EDITOR", "true")
        patched.delenv("VISUAL", raising=False)
        said = run("contributions", "accept", contribution_id, "--edit")
    assert (said.code, "nothing was accepted" in said.words) == (2, True)
    assert list(Path(settings.staging).iterdir()) == []


def test_a_rejected_one_keeps_the_reason(run: Run) -> None:
    contribution_id = handed_in(run)
    assert run("contributions", "reject", contribution_id).code == 2
    assert run("contributions", "reject", contribution_id, "--reason", "not true").code == 0
    assert "reason not true" in run("contributions", "show", contribution_id).words
    assert "1 rejected" in run("contributions").words
    again = run("contributions", "accept", contribution_id, "--json")
    assert again.code == 2
    assert "was rejected by" in json.loads(again.out)["error"]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (("--type", "pitfall"), ", ".join(TYPES)),
        (("--service", "../etc"), "cannot be an article id"),
        (("--file", "missing.md"), "cannot be read"),
        (("--file", "finding.docx"), "neither Markdown (.md, .markdown) nor text"),
        (("--description", ""), "description is empty"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_right(
    run: Run, settings: Settings, tmp_path: Path, wrong: tuple[str, str], right: str
) -> None:
    (tmp_path / "finding.docx").write_text("x")
    said = run("contribute", *PITFALL, *wrong, "-j")
    assert said.code == 2
    assert right in said.words
    assert right in said.json["error"]
    assert files(settings) == {}


@pytest.mark.parametrize("data", [b"x" * (10 << 20), "Text".encode("utf-16")], ids=["10 MB", "UTF-16"])
def test_a_file_that_is_no_short_text_is_refused(run: Run, settings: Settings, finding: Path, data: bytes) -> None:
    finding.write_bytes(data)
    assert run("contribute", *PITFALL).code == 2
    assert files(settings) == {}


def test_only_reviewers_decide(run: Run, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    contribution_id = handed_in(run)
    monkeypatch.setenv("KB_REVIEWERS", '["somebody-else"]')
    for command in (("accept",), ("reject", "--reason", "x")):
        said = run("contributions", *command, contribution_id)
        assert (said.code, "KB_REVIEWERS" in said.words) == (2, True)
    assert list(Path(settings.staging).iterdir()) == []
    monkeypatch.setenv("KB_REVIEWERS", '["somebody-else", "local"]')
    assert run("contributions", "accept", contribution_id).code == 0


def test_a_reviewer_who_is_named_accepts_nothing_of_their_own_unless_that_is_allowed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    contribution_id = handed_in(run)
    monkeypatch.setenv("KB_REVIEWERS", f'["{getpass.getuser()}"]')
    said = run("contributions", "accept", contribution_id)
    assert (said.code, "KB_ACCEPT_OWN" in said.words) == (2, True)
    monkeypatch.setenv("KB_ACCEPT_OWN", "true")
    assert run("contributions", "accept", contribution_id).code == 0


def test_a_state_and_an_id_that_are_none_are_refused(run: Run) -> None:
    assert "pending, accepted, rejected" in run("contributions", "--state", "open").words
    assert "kb contributions lists them" in run("contributions", "show", "20260101-00000000").words
    assert "no contributions" in run("contributions").words


@pytest.mark.slow("converts in a process of its own")
def test_an_uploaded_file_is_listed_shown_and_accepted(run: Run, settings: Settings) -> None:
    queue = FolderQueue(Path(settings.home) / "contributions")
    new = NewFile("pumps.md", b"# Pumps\n\nTurn the red valve.\n", readers=("hr",), contributed_by="ann")
    one = preview_upload(Workspace(settings), queue, new).contribution
    queue.add_file(one, new.data)
    assert run("contributions", "--json").json[0]["upload"]["name"] == "pumps.md"
    shown = run("contributions", "show", one.id).words
    assert "uploaded pumps.md, 29 bytes readers hr" in shown
    assert "Turn the red valve." in shown
    assert run("contributions", "accept", one.id).code == 0
    assert (Path(settings.staging) / "pumps" / "pumps.md").read_bytes() == new.data
