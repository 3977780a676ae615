"""A scenario's folder may come from anybody: its manifest is read strictly, and nothing outside of it."""

import runpy
from pathlib import Path

import pytest

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.scenario import ScenarioFolder, open_scenario
from kb_pipeline.network.tables import read_tables

ROOT = Path(__file__).parents[2]


def spoil(folder: Path, old: str, new: str) -> None:
    path = folder / "scenario.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_sample_has_50_vertices_of_8_types_and_54_edges_of_7(folder: Path) -> None:
    tables = read_tables(ScenarioFolder(folder))
    assert (len(tables.vertices), len(set(tables.vertices["type"].to_pylist()))) == (50, 8)
    assert (len(tables.edges), len(set(tables.edges["label"].to_pylist()))) == (54, 7)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("file: network/services.csv", "file: ../../outside.csv", "lies outside"),
        ("file: network/services.csv", "file: /etc/passwd", "lies outside"),
        ("file: network/services.csv", "file: network/absent.csv", "is not there"),
        ("name: telco", "name: ../telco", "name"),
        ("name: telco", "name: other", "make them equal"),
        ("title: Metro", "colour: red\ntitle: Metro", "colour"),
        ("title: Metro", "a: &a [x]\nb: *a\ntitle: Metro", "aliases"),
        ("title: Metro", "title: [Metro", "not valid YAML"),
        ("access_control_list: []", "access_control_list: [noc]\naccess_control_list: []", "occurs twice, on line"),
        (
            "access_control_list: []",
            "access_control_list: [noc]\nAccess_Control_List: []",
            "only in how they",
        ),
        ("access_control_list: []", 'access_control_list: [noc]\n"\\x61ccess_control_list": []', "occurs twice"),
        ("access_control_list: []", "access_control_list: [noc]\n<<: {access_control_list: []}", "merges"),
        ("access_control_list: []", "access_control_list: [noc]\n---\naccess_control_list: []", "another document"),
        ("access_control_list: []", "access_control_list: [on]", r"access_control_list\.0: .*string"),
        ("access_control_list: []", "access_control_list: [17]", r"access_control_list\.0: .*string"),
        ("access_control_list: []", "access_control_list: [2026-11-01]", r"access_control_list\.0: .*string"),
        ("access_control_list: []", "access_control_list: noc", "access_control_list: .*list"),
        ("access_control_list: []", "access_control_list:", "access_control_list: .*list"),
        ("access_control_list: []", "access_control_list: ['']", "empty name"),
        ("access_control_list: []", 'access_control_list: ["n\\u200boc"]', "cannot be the name"),
    ],
)
def test_what_a_manifest_may_not_say_is_refused_by_name(folder: Path, old: str, new: str, told: str) -> None:
    spoil(folder, old, new)
    with pytest.raises(ScenarioError, match=told):
        read_tables(ScenarioFolder(folder))


def test_readers_are_named_as_in_metadata_of_articles(folder: Path) -> None:
    spoil(folder, "access_control_list: []", "access_control_list: [' noc ', noc, Boss]")
    assert ScenarioFolder(folder).scenario.access_control_list == ["noc", "Boss"]


def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.csv"
    outside.write_text("service_id,name\nx,y\n")
    (folder / "network/services.csv").unlink()
    (folder / "network/services.csv").symlink_to(outside)
    with pytest.raises(ScenarioError, match="lies outside"):
        read_tables(ScenarioFolder(folder))


@pytest.mark.parametrize(
    "text", ["service_id,name\n" + "x" * 3_000_000 + ",y\n", "name\nx\n", "service_id,name\na,b,c\n"]
)
def test_a_file_that_is_no_table_is_refused_by_name(folder: Path, text: str) -> None:
    (folder / "network/services.csv").write_text(text)
    with pytest.raises(ScenarioError, match=r"services\.csv"):
        read_tables(ScenarioFolder(folder))


def test_a_time_that_is_none_is_refused_with_its_column(folder: Path) -> None:
    path = folder / "telemetry/alerts.csv"
    path.write_text(path.read_text().replace("2026-11-02T", "yesterday ", 1))
    with pytest.raises(ScenarioError, match="raised_at"):
        read_tables(ScenarioFolder(folder))


def test_the_fingerprint_follows_the_data_and_not_the_runbooks(folder: Path) -> None:
    before = ScenarioFolder(folder).fingerprint()
    (folder / "runbooks/fibre-cut.md").write_text("# Other\n")
    assert ScenarioFolder(folder).fingerprint() == before
    with (folder / "network/services.csv").open("a") as file:
        file.write("VPN-NEW,New,AU,,VPN,New,0\n")
    assert ScenarioFolder(folder).fingerprint() != before


def test_a_scenario_is_chosen_by_name_or_because_it_is_the_only_one(folder: Path) -> None:
    assert open_scenario(folder.parent).scenario.name == "telco"
    with pytest.raises(ScenarioError, match="there are: telco"):
        open_scenario(folder.parent, "metro")
    with pytest.raises(ScenarioError, match="KB_SCENARIOS"):
        open_scenario(folder / "network")


def test_the_sample_is_what_its_script_writes(tmp_path: Path) -> None:
    script = runpy.run_path(str(ROOT / "samples/render_scenario.py"))
    script["network"].__globals__["FOLDER"] = tmp_path
    for part in ("network", "telemetry", "alerts", "incidents", "documents"):
        script[part]()
    written = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    sample = ROOT / "samples/scenarios/telco"
    assert written == {path.relative_to(sample) for path in sample.rglob("*") if path.is_file()} - {
        Path("scenario.yaml")
    }
    assert all((tmp_path / name).read_bytes() == (sample / name).read_bytes() for name in written)
