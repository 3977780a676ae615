"""From a built manual to an answer in one command, and what the other commands of ``kb intake`` say."""

import shutil
from pathlib import Path

import dagster as dg
import pytest
import yaml  # type: ignore[import-untyped]

from kb_pipeline.settings import Settings
from kb_pipeline.store.home import dagster_home
from kb_pipeline_tests.cli.conftest import Run
from kb_pipeline_tests.intake.conftest import PROSE, page
from kb_pipeline_tests.intake.website.site import Site
from kb_pipeline_tests.pictures import screenshot

pytestmark = pytest.mark.slow("runs whole commands")


@pytest.fixture(autouse=True)
def manual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built manual: pages beside a folder of pictures, and an index."""
    monkeypatch.setenv("KB_INTAKE", str(tmp_path / "intake.yaml"))
    root = tmp_path / "manual"
    (root / "images").mkdir(parents=True)
    (root / "images" / "gauge.png").write_bytes(screenshot("Three bars"))
    (root / "valve.html").write_text(page(f'<p>{PROSE}</p><img src="images/gauge.png" alt="The gauge">', "Valves"))
    (root / "pump.html").write_text(
        page('<p>The pump starts by itself, as <a href="valve.html">valves</a> do.</p>', "Pumps")
    )
    links = "".join(f'<li><a href="{name}.html">Chapter {name}</a></li>' for name in ("valve", "pump", "valve", "pump"))
    (root / "index.html").write_text(page(f"<ul>{links}</ul>", "Contents"))
    return root


def test_a_manual_is_answered_from_with_its_picture_after_one_command(run: Run, manual: Path) -> None:
    said = run("intake", "add", "folder", str(manual), "--url", "https://docs.example.org", "--json").json
    assert (said["published"], said["failing"], said["sources"][0]["left_out"]) == (2, {}, 1)
    answer = run("ask", "When does the gauge show three bars?", "--json").json
    assert answer["citations"][0]["article_id"] == "manual-valve"
    shown = run("show", "manual-valve", "--json").json
    assert "https://docs.example.org/valve.html" in str(shown)
    assert "gauge.png" in str(shown)
    [status] = run("intake", "status", "--json").json
    assert (status["articles"], status["left_out"]) == (2, 1)
    assert status["why_left_out"] == [{"reason": "it only leads to other pages", "count": 1, "example": "index.html"}]
    assert "left out: 1, as it only leads to other pages: index.html" in run("intake", "status").words


def test_what_is_taken_in_and_what_fails_is_in_the_history(
    run: Run, manual: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("intake", "add", "folder", str(manual), "--no-ingest")
    shutil.rmtree(manual)
    assert run("intake", "run", "--no-ingest").code == 1
    monkeypatch.setenv("DAGSTER_HOME", str(dagster_home(settings)))
    with dg.DagsterInstance.get() as instance:
        assert [(each.job_name, each.status.value) for each in instance.get_runs()] == [
            ("take_in_manual", "FAILURE"), ("take_in_manual", "SUCCESS"),
        ]  # fmt: skip
        made = instance.get_latest_materialization_event(dg.AssetKey("intake_manual"))
        assert made
        assert made.asset_materialization
        assert made.asset_materialization.metadata["new"].value == 2


def test_only_what_is_asked_for_is_taken_in(run: Run, manual: Path) -> None:
    told = ("intake", "add", "folder", str(manual), "--include", "v*", "--include", "p*", "--exclude", "pump*")
    said = run(*told, "--no-ingest", "--json").json["sources"][0]
    assert (said["new"], said["left_out"]) == (["manual-valve"], 0)


def test_a_website_is_answered_from_with_its_picture_after_one_command(run: Run, manual: Path) -> None:
    site = Site()
    try:
        for path in manual.rglob("*.*"):
            site.put(f"/guide/{path.relative_to(manual)}", path.read_bytes())
        site.put("/guide/", (manual / "index.html").read_bytes())
        told = ("intake", "add", "website", f"{site.url}guide/", "--name", "guide", "--rate", "1000")
        assert "allow_private" in run(*told).err
        said = run(*told, "--allow-private", "--json").json
        assert (said["published"], said["failing"], said["sources"][0]["left_out"]) == (2, {}, 1)
        citation = run("ask", "When does the gauge show three bars?", "--json").json["citations"][0]
        assert citation["article_id"] == "guide-valve"
        assert f"{site.url}guide/valve.html" in str(citation)
        assert "gauge.png" in str(run("show", "guide-valve", "--json").json)
    finally:
        site.close()


def test_what_is_gone_is_taken_from_readers(run: Run, manual: Path) -> None:
    run("intake", "add", "folder", str(manual))
    (manual / "pump.html").unlink()
    assert "gone: manual-pump" in run("intake", "preview").out
    assert run("intake", "run", "--json").json["removed"] == ["manual-pump"]
    assert [each["article_id"] for each in run("documents", "--json").json["documents"]] == ["manual-valve"]


def test_without_ingesting_only_the_staging_folder_changes(run: Run, manual: Path, settings: Settings) -> None:
    said = run("intake", "add", "folder", str(manual), "--name", "pumps", "--reader", "ops", "--no-ingest")
    assert "read by ops only; who asks on this machine is one of them with KB_LOCAL_USER=ops" in said.words
    assert said.code == 0
    assert sorted(path.name for path in Path(settings.staging).iterdir()) == ["pumps-pump", "pumps-valve"]
    assert '"ops"' in (Path(settings.staging) / "pumps-pump" / "metadata.json").read_text()
    assert "pumps" in run("intake", "status").out


def test_a_source_that_is_not_declared_any_more_can_be_forgotten(
    run: Run, manual: Path, tmp_path: Path, settings: Settings
) -> None:
    run("intake", "add", "folder", str(manual))
    assert "remove it there first" in run("intake", "forget", "manual").err
    (tmp_path / "intake.yaml").unlink()
    assert run("intake", "forget", "manual", "--json").json["removed"] == ["manual-pump", "manual-valve"]
    assert list(Path(settings.staging).iterdir()) == []
    assert run("documents", "--json").json["documents"] == []


def test_a_file_of_sources_that_is_wrong_is_told_with_its_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "intake.yaml").write_text("wiki:\n  kind: fodler\n")
    for command in ("status", "run", "preview"):
        said = run("intake", command)
        assert (said.code, "intake.yaml, line 1: wiki needs a kind" in said.words) == (2, True), command


def test_what_is_wrong_is_said_with_its_exit_code(run: Run, manual: Path) -> None:
    assert "kb intake add folder PATH" in run("intake", "run").err
    assert "there is no folder" in run("intake", "add", "folder", "/nowhere").err
    run("intake", "add", "folder", str(manual), "--no-ingest")
    assert "has a source manual already" in run("intake", "add", "folder", str(manual)).err
    assert "declares no wiki; there are: manual" in run("intake", "run", "wiki").err
    (manual / "list.numbers").write_bytes(b"PK")
    said = run("intake", "run", "--no-ingest")
    assert (said.code, "list.numbers is a Numbers spreadsheet" in said.words) == (1, True)
    shutil.rmtree(manual)
    said = run("intake", "run", "--no-ingest")
    assert (said.code, "is its disk mounted" in said.words) == (1, True)


def test_a_staging_folder_that_is_a_manual_names_the_command(
    run: Run, manual: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_STAGING", str(manual))
    (manual / "repair").mkdir()
    (manual / "pump.html").rename(manual / "repair" / "pump.html")
    for command in ("status", "ingest"):
        assert "pump.html is not the name of a page; " in (said := run(command).words)
        assert "make an article of each page of a tree with kb intake add folder" in said


@pytest.mark.parametrize(
    ("kind", "option"),
    [("website", "--most-pages"), ("mediawiki", "--namespace"), ("sharepoint", "--library"), ("mail", "--sign-in")],
)
def test_what_a_kind_of_source_has_is_an_option_of_its_command(run: Run, kind: str, option: str) -> None:
    assert option in run("intake", "add", kind, "--help").out


def test_a_source_is_declared_with_what_was_given_of_it(run: Run, manual: Path, tmp_path: Path) -> None:
    run("intake", "add", "folder", str(manual), "--chapters", "h2", "--schedule", "0 4 * * *", "--no-ingest")
    assert yaml.safe_load((tmp_path / "intake.yaml").read_text()) == {
        "manual": {"kind": "folder", "path": str(manual), "chapters": "h2", "schedule": "0 4 * * *"}
    }
