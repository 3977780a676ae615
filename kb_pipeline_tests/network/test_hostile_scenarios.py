"""Scenario folders by an enemy: each is refused by name or loaded harmlessly, and nothing outside of it is read."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network import runbooks
from kb_pipeline.network.knowledge import made_articles
from kb_pipeline.network.loading import load
from kb_pipeline.network.parquet import weigh
from kb_pipeline.network.scenario import MANIFEST, ScenarioFolder
from kb_pipeline.network.tables import read_tables
from kb_pipeline_tests.measuring import peak_of_children
from kb_pipeline_tests.network.test_scenario import spoil

SERVICES = "network/services.csv"
ALERTS = "telemetry/alerts.csv"


def replaced(folder: Path, name: str, make: Callable[[Path], object]) -> None:
    (folder / name).unlink(missing_ok=True)
    make(folder / name)


def socket_at(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(before)


NO_FILES: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "socket": socket_at,
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "link to a file": lambda path: path.symlink_to("/etc/passwd"),
}


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("name", [MANIFEST, SERVICES, ALERTS, "runbooks/fibre-cut.md", "tickets/new.json"])
def test_what_is_no_file_of_the_folder_is_refused_and_never_read(folder: Path, name: str, kind: str) -> None:
    replaced(folder, name, NO_FILES[kind])
    with pytest.raises(ScenarioError) as refused:
        scenario = ScenarioFolder(folder)
        read_tables(scenario)
        made_articles(scenario)
    assert Path(name).name in str(refused.value)
    assert "root:" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("file: network/services.csv", 'file: "a\\0b"'),
        ("file: network/services.csv", f'file: "{"a" * 5000}"'),
        ("file: network/services.csv", 'file: "\\ud800"'),
        ("file: network/services.csv", 'file: "network/../../telco/../outside.csv"'),
        ("runbooks: runbooks", "runbooks: ../.."),
        ("runbooks: runbooks", "runbooks: scenario.yaml"),
        ("title: Metro", 'x: !!python/object/apply:os.system ["touch made"]\ntitle: Metro'),
        ("title: Metro", "a: &a [x, x]\nb: [*a, *a]\ntitle: Metro"),
        ("version: ", f"version: {'9' * 5000} #"),
        ("version: ", "version: 9999-99-99 #"),
        ("size: 10", "size: .nan"),
        ("size: 10", f"size: 1{'0' * 400}"),
        ('color: "#38bdf8"', 'color: "red;background:url(http://evil.example)"'),
        ("link_metrics:", "vertices:"),
        ("link_metrics:", "ALERTS:"),
    ],
)
def test_a_hostile_manifest_is_refused_by_name(folder: Path, old: str, new: str) -> None:
    spoil(folder, old, new)
    with pytest.raises(ScenarioError, match=r"scenario\.yaml"):
        read_tables(ScenarioFolder(folder))
        made_articles(ScenarioFolder(folder))


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 200_000,
        b"- " * 120_000,
        b"a: " + b"{a: " * 20_000 + b"1" + b"}" * 20_000,
        b"\xff\xfe\x00\x00abc",
        b"",
        b"- a\n",
        b"name: telco\n---\na: 1\n",
        b"x" * 300_000,
        b"vertices:\n" + b"".join(b"  T%d: {file: a, id: b}\n" % number for number in range(100_000)),
    ],
    ids=["brackets", "dashes", "braces", "binary", "empty", "list", "two", "long", "types"],
)
def test_what_is_no_manifest_is_refused_by_name(folder: Path, content: bytes) -> None:
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(ScenarioError, match=r"scenario\.yaml"):
        ScenarioFolder(folder)


def test_a_manifest_of_any_size_is_not_read_whole(folder: Path) -> None:
    with (folder / MANIFEST).open("r+b") as file:
        file.truncate(1 << 40)  # it takes no room on the disk
    with pytest.raises(ScenarioError, match="larger than"):
        ScenarioFolder(folder)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: "service_id,name,kind" + "".join(f",c{number}" for number in range(2000)) + "\n", "columns"),
        (lambda: "service_id,name,kind," + ",".join(f"c{number}" for number in range(1_000_000)) + "\n", "services"),
        (lambda: 'service_id,name,kind\n"x' + "\n" * 2_000_000 + '",y,z\n', "services"),
        (str, "services"),
        (lambda: "service_id,service_id,name,kind\na,b,c,d\n", "one name"),
        (lambda: "service_id,name,region,Region\na,b,c,d\n", "one name"),
    ],
    ids=["columns", "long header", "long cell", "empty", "column twice", "in another case"],
)
def test_a_table_that_is_none_is_refused_by_name(folder: Path, make: Callable[[], str], told: str) -> None:
    (folder / SERVICES).write_text(make())
    with pytest.raises(ScenarioError, match=told):
        load(ScenarioFolder(folder), folder / "home")


def test_a_line_without_end_is_refused_before_it_is_read(folder: Path) -> None:
    with (folder / SERVICES).open("ab") as file:
        file.truncate(1 << 30)
    before = psutil.Process().memory_info().rss
    with pytest.raises(ScenarioError, match=r"services\.csv"):
        read_tables(ScenarioFolder(folder))
    assert psutil.Process().memory_info().rss - before < 500 << 20


@pytest.mark.parametrize("year", ["0001", "1969", "2200", "9999"])
def test_a_time_of_no_measurement_is_refused_with_its_column(folder: Path, year: str) -> None:
    path = folder / ALERTS
    path.write_text(path.read_text().replace("2026-11-02T", f"{year}-11-02T"))
    with pytest.raises(ScenarioError, match="raised_at"):
        read_tables(ScenarioFolder(folder))


@pytest.mark.parametrize("other", ["vpn-acme", "VPN-ACME", "Vpn-Acme"])
def test_an_id_that_differs_only_in_case_is_refused(folder: Path, other: str) -> None:
    with (folder / SERVICES).open("a") as file:
        file.write(f"{other},x,AU,,VPN,x,0\n")
    with pytest.raises(ScenarioError, match="ids_are_unique"):
        load(ScenarioFolder(folder), folder / "home")


@pytest.mark.parametrize(
    "text", ["=cmd|'/c calc'!A0", "a\x1b[31m\x07\u202eb", "<img src=x onerror=alert(1)>", "\ufeffx"]
)
def test_a_hostile_text_is_a_text(folder: Path, text: str) -> None:
    path = folder / SERVICES
    path.write_text(path.read_text().replace("VPN Acme Mining", text))
    assert text in read_tables(ScenarioFolder(folder)).vertices["name"].to_pylist()


# --- Parquet -------------------------------------------------------------------------------------


def with_parquet(folder: Path, table: pa.Table) -> ScenarioFolder:
    spoil(folder, "file: network/services.csv", "file: network/services.parquet")
    pq.write_table(table, folder / "network/services.parquet", compression="zstd")
    return ScenarioFolder(folder)


def test_a_table_in_parquet_is_read(folder: Path) -> None:
    tables = read_tables(ScenarioFolder(folder))
    services = csv.read_csv(folder / SERVICES)
    assert read_tables(with_parquet(folder, services)).vertices["id"].equals(tables.vertices["id"])


def test_a_small_file_that_holds_gigabytes_is_refused(folder: Path) -> None:
    text, rows = "x" * 1_000_000, 20_000
    name = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))
    ids = pa.array([str(number) for number in range(rows)])
    scenario = with_parquet(folder, pa.table({"service_id": ids, "name": name}))
    assert (folder / "network/services.parquet").stat().st_size < 1_000_000
    before = psutil.Process().memory_info().rss
    with (
        peak_of_children(only_new=True) as peak,
        pytest.raises(ScenarioError, match=r"services\.parquet holds more than"),
    ):
        read_tables(scenario)
    assert psutil.Process().memory_info().rss - before < 500 << 20
    assert peak.mb < 300


@pytest.mark.slow("lets queries run against their limits")
def test_a_file_that_says_itself_how_much_it_holds_is_refused_unread(folder: Path) -> None:
    scenario = with_parquet(folder, pa.table({"service_id": ["a"], "name": ["b"]}))
    path, rows = (
        folder / "network/services.parquet",
        pa.table({"service_id": ["a"] * 10, "name": ["x" * 1_000_000] * 10}),
    )
    with pq.ParquetWriter(path, rows.schema, compression="zstd", use_dictionary=False) as writer:
        for _ in range(30):
            writer.write_table(rows)
    assert path.stat().st_size < 1_000_000
    with (
        peak_of_children(only_new=True) as peak,
        pytest.raises(ScenarioError, match=r"services\.parquet holds more than"),
    ):
        read_tables(scenario)
    assert peak.mb < 200


def test_texts_that_are_stored_once_are_counted_as_often_as_they_stand(tmp_path: Path) -> None:
    names = pa.array(["one", "three", None, "three"] * 2000)
    pq.write_table(pa.table({"name": names, "number": range(8000)}), tmp_path / "t.parquet", store_schema=False)
    assert 0.8 < weigh(str(tmp_path / "t.parquet"), 1 << 30) / pa.table({"a": names, "b": range(8000)}).nbytes < 1.2


@pytest.mark.slow("lets queries run against their limits")
@pytest.mark.parametrize(
    "columns",
    [
        {"service_id": [b"\xff", b"\x00"], "name": ["a", "b"]},
        {"service_id": [[1], [2]], "name": ["a", "b"]},
        {"service_id": ["a"], "name": [{"a": 1}]},
        {"service_id": ["a"], "name": ["b"], **{f"c{number}": [1] for number in range(2000)}},
        {"name": ["a"]},
    ],
    ids=["bytes", "lists", "structs", "columns", "no id"],
)
def test_a_file_with_columns_of_other_types_is_refused_by_name(folder: Path, columns: dict[str, object]) -> None:
    with pytest.raises(ScenarioError, match=r"services\.parquet"):
        load(with_parquet(folder, pa.table(columns)), folder / "home")


@pytest.mark.slow("lets queries run against their limits")
@pytest.mark.parametrize("keep", [0, 4, 40])
def test_a_damaged_file_is_refused_by_name(folder: Path, keep: int) -> None:
    scenario = with_parquet(folder, pa.table({"service_id": ["a"] * 5000, "name": ["b"] * 5000}))
    path = folder / "network/services.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:keep] + bytes(len(whole) - keep - 8) + whole[-8:])
    with pytest.raises(ScenarioError, match=r"services\.parquet"):
        read_tables(scenario)


def test_alerts_without_their_types_are_refused_by_name(folder: Path) -> None:
    path = folder / ALERTS
    path.write_text(path.read_text().replace("alert_type", "kind", 1))
    with pytest.raises(ScenarioError, match=r"alerts\.csv has no column alert_type"):
        read_tables(ScenarioFolder(folder))


# --- runbooks and tickets ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "[" * 900_000,
        '{"title": ' * 5000 + "1" + "}" * 5000,
        '{"ticket_id": "t9"}',
        '{"ticket_id": 1e400, "title": NaN, "minutes_to_resolve": -Infinity, "resolution": {"a": 1}, '
        '"affected": {"b": 2}, "alert_types": [[1], {"x": 2}, null], "root_cause": [1, 2]}',
        '{"root_cause": "fibre", "alert_types": 5, "affected": 7, "resolution": "x", "kind": "maintenance"}',
        '{"title": "\\ud800\\u0000", "opened_at": 5, "resolved_at": []}',
        "\ufeff{}",
        '{"ticket_id": "../../x"}',
        '{"minutes_to_resolve": ' + "9" * 100_000 + "}",
    ],
)  # fmt: skip
def test_a_hostile_ticket_is_refused_by_name_or_becomes_an_article(folder: Path, content: str) -> None:
    (folder / "tickets/T9.json").write_text(content)
    try:
        articles = made_articles(ScenarioFolder(folder))
    except ScenarioError as refused:
        assert "T9" in str(refused)
    else:
        assert {"telco-ticket-T9", "telco-ticket-t9", "telco-ticket-inf"} & articles.keys()


@pytest.mark.parametrize("reference", ["../scenario.yaml.png", "..%2f..%2fx.png", "a" * 5000 + ".png", "%00.png"])
def test_a_picture_with_a_name_that_no_file_beside_it_has_is_left_out(folder: Path, reference: str) -> None:
    (folder / "runbooks/fibre-cut.md").write_text(f"# Cut\n\n![x]({reference})\n")
    files = made_articles(ScenarioFolder(folder))["telco-runbook-fibre-cut"]
    assert files.keys() == {"index.html", "metadata.json"}


@pytest.mark.parametrize(
    ("sizes", "told"), [([2_500_000], "larger than 2,000,000"), ([1_900_000] * 60, "larger than 100,000,000")]
)
def test_runbooks_that_are_too_large_are_refused_unread(folder: Path, sizes: list[int], told: str) -> None:
    for number, size in enumerate(sizes):
        with (folder / f"runbooks/r{number}.md").open("wb") as file:
            file.truncate(size)
    with pytest.raises(ScenarioError, match=told):
        made_articles(ScenarioFolder(folder))


@pytest.mark.slow("lets queries run against their limits")
def test_markdown_that_no_parser_finishes_is_stopped_and_refused_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = "kb_pipeline.network.runbooks._LIMITS"
    monkeypatch.setattr(quick, runbooks._LIMITS.__class__(seconds=1, memory_mb=1000))
    (folder / "runbooks/endless.md").write_text("[" * 1_900_000)
    with pytest.raises(ScenarioError, match=r"endless\.md"):
        made_articles(ScenarioFolder(folder))
