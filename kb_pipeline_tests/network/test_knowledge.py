"""Runbooks and tickets become folders of articles below the home, each with its topics and readers."""

import json
from pathlib import Path

import pytest

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.knowledge import WrittenArticles, are_written, write_articles
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.versions import forget_scenario
from kb_pipeline.steps.metadata import read_metadata
from kb_pipeline_tests.pictures import screenshot

RUNBOOK, TICKET = "telco-runbook-fibre-cut", "telco-ticket-INC-2026-0341"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def written(folder: Path, home: Path) -> WrittenArticles:
    return write_articles(ScenarioFolder(folder), home)


def page(home: Path, article_id: str) -> str:
    return (home / "network/telco/articles" / article_id / "index.html").read_text()


def stamps(home: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}


def test_each_document_becomes_an_article_with_its_topics(folder: Path, home: Path) -> None:
    found = written(folder, home)
    assert len(found.article_ids) == 6 and set(found.changed) == set(found.article_ids)
    assert "<li>Tell the owners of gold services within 15 minutes.</li>" in page(home, RUNBOOK)
    topics = {
        article_id: read_metadata((home / "network/telco/articles" / article_id / "metadata.json").read_bytes())
        for article_id in found.article_ids
    }
    assert not any(each.warnings for each in topics.values())
    assert topics[RUNBOOK].metadata.key_topics == ("telco/runbook",)
    assert topics[TICKET].metadata.key_topics == ("telco/ticket", "OPTICAL_LOSS", "LINK_DOWN", "LSP_DOWN")


def test_a_ticket_has_a_section_for_each_thing_that_is_known(folder: Path, home: Path) -> None:
    written(folder, home)
    html = page(home, TICKET)
    headings = [part.partition("</h2>")[0] for part in html.split("<h2>")[1:]]
    assert headings == ["Symptoms", "Diagnosis", "Root cause", "Resolution", "Lessons"]
    assert "TransportLink LINK-MEL-ADL: link cut" in html


@pytest.mark.slow("lets queries run against their limits")
def test_a_second_load_touches_only_what_changed(folder: Path, home: Path) -> None:
    written(folder, home)
    before = stamps(home)
    assert written(folder, home).changed == ()
    assert stamps(home) == before
    (folder / "runbooks/fibre-cut.md").write_text("# Cut\n\nCall.\n")
    assert not are_written(ScenarioFolder(folder), home)
    assert written(folder, home).changed == (RUNBOOK,)
    changed = {path for path, at in stamps(home).items() if before.get(path) != at}
    assert {Path(path).parent.name for path in changed} == {RUNBOOK}


def test_an_article_goes_with_its_document(folder: Path, home: Path) -> None:
    written(folder, home)
    (folder / "runbooks/fibre-cut.md").unlink()
    assert written(folder, home).removed == (RUNBOOK,)
    assert not (home / "network/telco/articles" / RUNBOOK).exists()


def test_pictures_beside_a_runbook_come_along_and_others_do_not(folder: Path, home: Path) -> None:
    (folder / "runbooks/panel.png").write_bytes(screenshot("panel", size=(64, 64)))
    (folder.parents[1] / "secret.png").write_bytes(screenshot("secret", size=(64, 64)))
    text = "# Cut\n\n![panel](panel.png) ![x](../../../secret.png) ![y](http://evil.example/z.png)\n"
    (folder / "runbooks/fibre-cut.md").write_text(text)
    written(folder, home)
    names = {path.name for path in (home / "network/telco/articles" / RUNBOOK).iterdir()}
    assert names == {"index.html", "metadata.json", "panel.png"}


def test_markup_in_documents_is_text(folder: Path, home: Path) -> None:
    ticket = {"ticket_id": "INC-1", "title": "<script>alert(1)</script>", "diagnosis": "<img src=x onerror=alert(1)>"}
    (folder / "tickets/INC-1.json").write_text(json.dumps(ticket))
    (folder / "runbooks/fibre-cut.md").write_text("# Cut\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n")
    written(folder, home)
    for html in (page(home, "telco-ticket-INC-1"), page(home, RUNBOOK)):
        assert "<script" not in html and "<img" not in html and 'href="javascript' not in html


def test_only_the_readers_of_the_scenario_may_read_its_articles(folder: Path, home: Path) -> None:
    manifest = folder / "scenario.yaml"
    manifest.write_text(manifest.read_text().replace("access_control_list: []", "access_control_list: [noc]"))
    written(folder, home)
    metadata = json.loads((home / "network/telco/articles" / TICKET / "metadata.json").read_text())
    assert metadata["access_control_list"] == ["noc"]


@pytest.mark.parametrize("number", ["../../evil", "a/b", "..", "x" * 300, "a\nb\u202e", "*"])
def test_a_ticket_whose_id_no_article_can_have_is_refused_by_name(folder: Path, home: Path, number: str) -> None:
    (folder / "tickets/evil.json").write_text(json.dumps({"ticket_id": number}))
    if number == "..":  # harmless behind the name of the scenario
        assert f"telco-ticket-{number}" in written(folder, home).article_ids
        return
    with pytest.raises(ScenarioError, match=r"evil\.json"):
        written(folder, home)
    assert not (home / "network/telco/articles").exists()


def test_two_documents_of_one_article_are_refused(folder: Path, home: Path) -> None:
    (folder / "tickets/again.json").write_text(json.dumps({"ticket_id": "inc-2026-0341"}))
    with pytest.raises(ScenarioError, match="would both be the article"):
        written(folder, home)


@pytest.mark.parametrize("text", ["[]", "{", "[" * 100_000])
def test_a_ticket_that_is_no_object_is_refused_by_name(folder: Path, home: Path, text: str) -> None:
    (folder / "tickets/bad.json").write_text(text)
    with pytest.raises(ScenarioError, match=r"bad\.json"):
        written(folder, home)


@pytest.mark.parametrize("name", ["..", "../..", "telco/../..", "", "/tmp", ".", "Telco"])
def test_a_hostile_name_of_a_scenario_removes_nothing(home: Path, name: str) -> None:
    (home / "network" / "kept").mkdir(parents=True)
    with pytest.raises(ScenarioError):
        forget_scenario(home, name)
    assert (home / "network" / "kept").is_dir()


def test_forgetting_a_scenario_leaves_one_whose_name_begins_alike(folder: Path, home: Path) -> None:
    written(folder, home)
    other = home / "network/telco-runbook/articles/telco-runbook-ticket-1"
    other.mkdir(parents=True)
    forget_scenario(home, "telco")
    assert other.is_dir() and not (home / "network/telco").exists()
