"""The commands for networks: check, load, list, investigate, unload."""

import shutil
from pathlib import Path

import pytest

from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.cli.conftest import Run
from kb_pipeline_tests.network.cosmos.accounts import account_settings, running_gremlin_server, variables

pytestmark = pytest.mark.slow("runs whole commands")


SAMPLE = Path(__file__).parents[2] / "samples" / "scenarios" / "telco"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KB_SCENARIOS", str(tmp_path / "scenarios"))
    return Path(shutil.copytree(SAMPLE, tmp_path / "scenarios" / "telco"))


def test_a_scenario_is_checked_loaded_investigated_and_unloaded(run: Run) -> None:
    assert run("scenario", "check").code == 0
    assert run("scenario", "list", "--json").json == [{"name": "telco", "loaded": ""}]
    loaded = run("scenario", "load", "--json").json
    assert (loaded["counts"]["vertices"], len(loaded["articles"]), loaded["published"]) == (50, 6, 6)
    said = run("investigate", "2026-11-02T03:45:00Z what broke?", "--json").json
    assert "Very likely cause: LINK-SYD-MEL" in said["report"]
    assert "[Ref #1]" in said["report"]
    assert said["events"][0]["event"] == "run_start"
    assert said["citations"][0]["article_id"].startswith("telco-runbook-")
    assert "[Ref #1] Fibre cut" in run("investigate", "2026-11-02T03:45:00Z what broke?").out
    brief = run("investigate", str(SAMPLE / "alert_storm.md"), "--brief")
    assert "Very likely cause: LINK-SYD-MEL" in brief.out and "Why" not in brief.out
    assert run("scenario", "load", "--json").json["changed"] == []
    assert set(run("scenario", "unload", "telco", "--json").json["removed"]) == set(loaded["articles"])
    assert run("search", "fibre", "--json").json == []
    assert run("scenario", "list", "--json").json == [{"name": "telco", "loaded": ""}]


def test_the_commands_use_the_backend_that_is_set(
    run: Run, monkeypatch: pytest.MonkeyPatch, cosmos_server: CosmosServer
) -> None:
    with running_gremlin_server() as server:
        for name, value in variables(account_settings(server.endpoint, cosmos_server)).items():
            monkeypatch.setenv(name, value)
        assert run("scenario", "load", "--json").json["counts"] == {
            "vertices": 50, "edges": 54, "alerts": 51, "link_metrics": 3462
        }  # fmt: skip
        assert run("scenario", "list", "--json").json[0]["loaded"]
        said = run("investigate", "LINK_DOWN on LINK-SYD-MEL", "--json").json
        assert "cause: LINK-SYD-MEL" in said["report"]
        checked = {each["role"]: each["found"] for each in run("check", "--json").json["connections"]}
        assert "50 vertices, 54 edges" in checked["network"]
        assert run("scenario", "unload", "telco").code == 0
        assert "kb scenario load telco" in run("check").err
        assert not server.vertices


def test_a_scenario_with_errors_is_told_with_exit_code_1_and_not_loaded(run: Run, folder: Path) -> None:
    with (folder / "network/service_deps.csv").open("a") as file:
        file.write("VPN-ACME,NOWHERE\n")
    said = run("scenario", "check")
    assert (said.code, "NOWHERE" in said.out) == (1, True)
    assert "edges_have_both_ends" in run("scenario", "load").err


def test_documents_wait_for_kb_ingest_where_that_is_asked_for(run: Run) -> None:
    assert run("scenario", "load", "--no-ingest", "--json").json["published"] == 0
    assert run("ingest", "--article", "telco-runbook-fibre-cut", "--json").json["published"] == 1


def test_the_diagnosis_is_measured_compared_accepted_and_forgotten_with_the_scenario(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    incidents = folder / "incidents.jsonl"
    incidents.write_text("".join(incidents.read_text().splitlines(keepends=True)[-2:]))  # the storm comes last
    assert "kb scenario load telco" in run("scenario", "evaluate").err
    run("scenario", "load", "--no-ingest")
    first = run("scenario", "evaluate", "--json")
    assert (first.code, first.json["accepted"], first.json["scenario"]) == (0, True, "telco")
    storm = next(each for each in first.json["incidents"] if each["incident"] == "the storm")
    assert (storm["named"], storm["causes"], storm["values"]["top-1"]) == (["LINK-SYD-MEL"], ["LINK-SYD-MEL"], 1.0)
    monkeypatch.setenv("KB_WINDOW_MINUTES", "1")
    worse = run("scenario", "evaluate", "telco")
    assert worse.code == 1 and "the storm" in worse.out and "incidents lost" in worse.err
    assert {"fate": "lost", "incident": "the storm"} in run("scenario", "evaluate", "--json").json["changes"]
    assert run("scenario", "evaluate", "--accept").code == 0
    run("scenario", "unload", "telco")
    run("scenario", "load", "--no-ingest")
    assert run("scenario", "evaluate", "--json").json["compared_with"] is None


def test_without_incidents_there_is_nothing_to_measure(run: Run, folder: Path) -> None:
    manifest = folder / "scenario.yaml"
    manifest.write_text(manifest.read_text().replace("incidents: incidents.jsonl", ""))
    run("scenario", "load", "--no-ingest")
    said = run("scenario", "evaluate")
    assert (said.code, "incidents: incidents.jsonl" in said.err) == (2, True)


def test_a_cause_that_is_no_vertex_is_told_when_the_scenario_is_checked_and_keeps_nothing_from_readers(
    run: Run, folder: Path
) -> None:
    path = folder / "incidents.jsonl"
    path.write_text(path.read_text().replace('"causes": ["LINK-SYD-MEL"]', '"causes": ["LINK-SYD-MELL"]'))
    said = run("scenario", "check")
    assert said.code == 0 and "incidents_can_be_used" in said.out and "LINK-SYD-MELL" in said.out
    assert run("scenario", "load", "--no-ingest").code == 0
    refused = run("scenario", "evaluate")
    assert refused.code == 2 and "did you mean LINK-SYD-MEL?" in refused.err


def test_an_empty_alert_is_refused(run: Run) -> None:
    assert run("investigate", " ").code == 2
