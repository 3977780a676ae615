"""Queries that may not be asked: nothing is read, written or opened, and the store answers the next one."""

import asyncio
import re
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import psutil
import pytest

from kb_pipeline.errors import QueryError, QueryFailedError, QueryRefusedError
from kb_pipeline.network.base import QueryLimits
from kb_pipeline.network.loading import load
from kb_pipeline.network.local import query_processes
from kb_pipeline.network.local.functions import FUNCTIONS
from kb_pipeline.network.local.gate import check_query
from kb_pipeline.network.local.query_processes import PendingQuery
from kb_pipeline.network.local.store import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline_tests.measuring import peak_of_children
from kb_pipeline_tests.network.conftest import SAMPLE
from kb_pipeline_tests.network.hostile_queries import EXHAUSTING, FORBIDDEN, IN_SCOPE, NAMES_OF_OTHERS, OUT_OF_SCOPE

pytestmark = pytest.mark.slow("lets queries run against their limits")

LIMITS = QueryLimits(seconds=1)
READY = query_processes.READY  # other tests have one alone


@pytest.fixture(scope="module")
def parser() -> Any:
    return duckdb.connect()


@pytest.mark.parametrize("text", FORBIDDEN)
def test_a_hostile_query_is_refused_or_stopped(
    store: LocalStore, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    began = time.perf_counter()
    with pytest.raises(QueryError):
        store.query(text.format(made=tmp_path / "made", port=9), LIMITS)
    assert time.perf_counter() - began < 60  # it was stopped, however busy the machine is
    assert list(tmp_path.iterdir()) == []
    assert store.query("SELECT count(*) AS n FROM vertices", LIMITS).rows == [{"n": 50}]


def test_the_functions_that_a_query_may_call_are_known_to_duckdb_and_change_nothing(parser: Any) -> None:
    changing = "stability = 'VOLATILE' OR has_side_effects OR function_type = 'pragma'"
    asked = f"SELECT function_name, bool_or(coalesce({changing}, false)) FROM duckdb_functions() GROUP BY 1"
    found = dict(parser.execute(asked).fetchall())
    assert {name: found.get(name) for name in FUNCTIONS} == dict.fromkeys(FUNCTIONS, False)


@pytest.mark.parametrize(
    ("called", "instead"),
    [("medain(latency_ms)", "similar ones are median"), ("printf('%9d', 1)", "texts are joined with || and numbers")],
)
def test_a_function_that_may_not_be_called_is_told_with_what_to_use_instead(
    store: LocalStore, called: str, instead: str
) -> None:
    with pytest.raises(QueryRefusedError, match=re.escape(instead)):
        store.query(f"SELECT {called} FROM link_metrics", LIMITS)


@pytest.mark.parametrize("text", [each for each in FORBIDDEN if each.startswith("WITH w AS (")])
def test_what_with_holds_is_refused_before_it_runs_unless_it_only_reads(parser: Any, text: str) -> None:
    with pytest.raises(QueryRefusedError, match="only reads"):
        check_query(parser, text, {"vertices": ["id", "name"]}, 10_000)


def test_words_that_sql_answers_without_a_table_tell_nothing_of_the_machine(store: LocalStore) -> None:
    text = "SELECT current_user a, session_user b, user c, current_role d, current_schema e, current_catalog f"
    assert set(store.query(text, LIMITS).rows[0].values()) == {"duckdb", "main", "network"}


@pytest.mark.parametrize("name", NAMES_OF_OTHERS)
@pytest.mark.parametrize("text", OUT_OF_SCOPE)
def test_a_name_that_with_defines_elsewhere_lets_no_other_table_through(parser: Any, text: str, name: str) -> None:
    with pytest.raises(QueryRefusedError, match="there is no table"):
        check_query(parser, text.format(n=f'"{name}"'), {"vertices": ["id"]}, 10_000)


@pytest.mark.parametrize("name", NAMES_OF_OTHERS)
@pytest.mark.parametrize("text", IN_SCOPE)
def test_a_name_that_with_defines_may_be_read_where_it_is_visible(store: LocalStore, text: str, name: str) -> None:
    assert store.query(text.format(n=f'"{name}"'), LIMITS).rows == [{"a": 1}]


def test_letters_that_only_look_alike_do_not_make_a_name_of_with(parser: Any) -> None:
    text = 'WITH "duc\u212adb_settings" AS (SELECT 1 a) SELECT * FROM duckdb_settings'  # the sign of kelvin, a K
    with pytest.raises(QueryRefusedError, match="there is no table"):
        check_query(parser, text, {"vertices": ["id"]}, 10_000)


def test_names_differ_in_the_case_of_letters_as_they_like(store: LocalStore) -> None:
    text = 'WITH "Counted" AS (SELECT count(*) n FROM VERTICES) SELECT n FROM cOUNTED'
    assert store.query(text, LIMITS).rows == [{"n": 50}]


@pytest.mark.parametrize("text", OUT_OF_SCOPE)
def test_duckdb_itself_looks_for_that_name_elsewhere(text: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE vertices (id TEXT)")
        with pytest.raises(duckdb.Error, match=r"nowhere does not exist|Circular reference"):
            connection.execute(text.format(n="nowhere"))


@pytest.mark.parametrize("text", EXHAUSTING)
def test_a_query_that_asks_for_too_much_costs_the_asker_alone(store: LocalStore, text: str) -> None:
    began, before = time.perf_counter(), psutil.Process().memory_info().rss
    with peak_of_children() as peak, suppress(QueryError):
        store.query(text.format(), LIMITS)
    assert time.perf_counter() - began < 60  # it was stopped, however busy the machine is
    assert psutil.Process().memory_info().rss - before < 100e6
    assert peak.mb < 900  # 512 of DuckDB, Python itself, and what is taken until somebody looks
    assert store.query("SELECT count(*) AS n FROM vertices", LIMITS).rows == [{"n": 50}]


BREAKING = "SELECT reservoir_quantile(latency_ms, 0.5, 2000000000) FROM link_metrics"
ALLOWING = "from kb_pipeline.network.local import gate; gate.FUNCTIONS |= {'reservoir_quantile'}"


def let_breaking_queries_through(store: LocalStore) -> None:
    """Let queries use a function that ends DuckDB, as an allowed one of a later release may."""
    assert store.query("SELECT 1 AS n", LIMITS).rows == [{"n": 1}]
    store._processes._starting.submit(lambda: None).result()  # all that are kept ready have been started
    for process in store._processes._processes:
        if process.is_alive:
            process.call(exec, ALLOWING)


def test_a_query_that_breaks_the_database_is_told_and_the_others_are_answered(store: LocalStore) -> None:
    let_breaking_queries_through(store)
    with pytest.raises(QueryFailedError, match="write it in another way"):
        store.query(BREAKING, LIMITS)
    assert store.query("SELECT count(*) AS n FROM vertices", LIMITS).rows == [{"n": 50}]
    assert store.network().ids  # nor does it harm what investigations read


def use_up_the_room() -> None:
    """Leave the process little address space, as large queries before may."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + 48 * 1024**2, hard))


def test_a_process_that_is_worn_out_by_the_queries_before_is_replaced(store: LocalStore) -> None:
    assert store.query("SELECT count(*) AS n FROM vertices", LIMITS).rows == [{"n": 50}]
    for process in store._processes._processes:
        if process.is_alive:
            process.call(use_up_the_room)
    for _ in range(3):
        assert store.query("SELECT count(*) AS n FROM vertices", LIMITS).rows == [{"n": 50}]


def test_a_query_finds_a_process_ready_after_two_that_ended_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_processes, "READY", READY)
    load(ScenarioFolder(SAMPLE), tmp_path)
    store = LocalStore(tmp_path, "telco")
    processes = store._processes
    let_breaking_queries_through(store)
    ready = {process._child.pid for process in processes._processes if process.is_alive and process._child}
    for _ in range(2):
        with pytest.raises(QueryFailedError, match="write it in another way"):
            store.query(BREAKING, LIMITS)
    left = {process._child.pid for process in processes._processes if process.is_alive and process._child} & ready
    assert len(left) == len(ready) - 2 > 0
    assert processes._idle.qsize() > 0  # so that the next one need not wait
    asyncio.run(store.close())


def test_more_queries_than_are_kept_ready_are_answered_at_once(store: LocalStore) -> None:
    slow = "SELECT count(*) FROM link_metrics a, link_metrics b, link_metrics c WHERE a.latency_ms < b.latency_ms"
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(store.query, slow if number % 2 else "SELECT 1 AS n", LIMITS) for number in range(8)]
        assert [bool(each.exception()) for each in asked] == [False, True] * 4


def test_a_query_that_is_given_up_ends_its_process_and_is_not_begun_again(store: LocalStore) -> None:
    async def given_up() -> None:
        slow = "SELECT count(*) FROM link_metrics a, link_metrics b, link_metrics c WHERE a.latency_ms < b.latency_ms"
        query = asyncio.create_task(store.telemetry(slow, QueryLimits(seconds=60)))
        await asyncio.sleep(0.5)
        query.cancel()
        with pytest.raises(asyncio.CancelledError):
            await query

    began = time.perf_counter()
    asyncio.run(given_up())
    assert store._waiting.submit(time.perf_counter).result() - began < 30  # not the minute that it might have had
    asked = PendingQuery()
    asked.give_up()
    with pytest.raises(QueryFailedError, match="nobody waits"):
        store.query("SELECT 1 AS n", LIMITS, asked)
    assert store.query("SELECT 1 AS n", LIMITS).rows == [{"n": 1}]


def test_queries_under_way_end_when_the_store_is_closed(tmp_path: Path) -> None:
    load(ScenarioFolder(SAMPLE), tmp_path)
    store = LocalStore(tmp_path, "telco")
    slow = "SELECT count(*) FROM link_metrics a, link_metrics b, link_metrics c WHERE a.latency_ms < b.latency_ms"
    assert store.query("SELECT 1 AS n", LIMITS).rows == [{"n": 1}]
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(store.query, slow, QueryLimits(seconds=60)) for _ in range(6)]
        time.sleep(0.5)
        began = time.perf_counter()
        asyncio.run(store.close())
        assert all(isinstance(each.exception(), QueryFailedError) for each in asked)
    assert time.perf_counter() - began < 30  # not the minute that each might have had
    assert not any(process.is_alive for process in store._processes._processes)


def test_columns_of_one_name_are_told_apart(store: LocalStore) -> None:
    found = store.query("SELECT id AS a, name AS a, type AS a FROM vertices ORDER BY id LIMIT 1", LIMITS)
    assert [column["name"] for column in found.columns] == list(found.rows[0]) == ["a", "a_2", "a_3"]


@pytest.mark.parametrize(
    "text", ["SELECT " + "(" * 10_000 + "1" + ")" * 10_000, "SELECT '" + "x" * 1_000_000 + "'", "SELECT 'a\0b'", "SELECT '\ud800'", " "]  # noqa: E501
)  # fmt: skip
def test_texts_that_are_no_queries_are_refused_before_they_are_parsed(store: LocalStore, text: str) -> None:
    with pytest.raises(QueryRefusedError):
        store.query(text, LIMITS)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("SELECT * FROM vertices WHERE type = 'CoreRouter'", 4),
        ("select v.id from Vertices v join edges e on e.source = v.id", 54),
        ("WITH down AS (SELECT * FROM downstream('CORE-SYD-01', 6)) SELECT * FROM down", 10),
        ("SELECT id FROM upstream('VPN-ACME', 6)", 4),
        ("SELECT * FROM neighbours('CORE-SYD-01')", 5),
        ("SELECT * FROM common_causes(['VPN-ACME', 'VPN-BANK'], 4)", 2),
        (
            "SELECT link_id, avg(latency_ms) FROM link_metrics WHERE measured_at > '2026-11-01' GROUP BY 1",
            6,
        ),
        ("SELECT 'DROP TABLE; COPY' AS harmless", 1),
        (
            "SELECT time_bucket(INTERVAL '1 hour', measured_at) AS hour, quantile_cont(latency_ms, 0.95) AS p95, "
            "row_number() OVER (ORDER BY count(*) DESC) FROM link_metrics GROUP BY 1",
            3,
        ),
        ("SELECT [upper(x) || '?' FOR x IN list(id) IF x LIKE 'CORE%'] FROM vertices GROUP BY type", 8),
        ("FROM alerts SELECT COLUMNS('.*_id'), raised_at::DATE, date_diff('minute', raised_at, now())", 9),
        ("PIVOT vertices ON kind IN ('service') USING count(*) GROUP BY type", 3),
        ("SELECT * FROM alerts ORDER BY raised_at OFFSET 2 LIMIT 3", 3),
    ],
)
def test_ordinary_queries_pass(store: LocalStore, text: str, least: int) -> None:
    assert len(store.query(text, LIMITS).rows) >= least


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("SELECT nme FROM vertices", '"name"'),
        ("SELECT * FROM vertex", "vertices"),
        ("SELECT * FROM metrics", "link_metrics"),
        ("SELECT * FROM downstrem('a', 2)", "downstream(id, depth)"),
        ("SELECT latency FROM link_metrics", '"latency_ms"'),
        ("SELEC * FROM vertices", "syntax"),
    ],
)
def test_a_mistake_is_answered_with_the_right_name(store: LocalStore, wrong: str, told: str) -> None:
    with pytest.raises(QueryError) as refused:
        store.query(wrong, LIMITS)
    assert told in str(refused.value)


def test_rows_and_bytes_are_limited_and_the_rest_is_told(store: LocalStore) -> None:
    exact = store.query("SELECT * FROM vertices", QueryLimits(rows=50))
    assert (len(exact.rows), exact.truncated) == (50, False)
    fewer = store.query("SELECT * FROM vertices", QueryLimits(rows=49))
    assert (len(fewer.rows), fewer.truncated) == (49, True)
    small = store.query("SELECT * FROM link_metrics", QueryLimits(bytes=2000))
    assert small.truncated and 0 < len(small.rows) < 30


def test_times_come_as_iso_8601(store: LocalStore) -> None:
    (row,) = store.query("SELECT min(raised_at) AS at FROM alerts", LIMITS).rows
    assert row["at"] == "2026-10-31T12:18:04"


def test_a_query_that_runs_too_long_is_ended_and_says_what_to_ask(store: LocalStore) -> None:
    with pytest.raises(QueryFailedError, match=r"longer than 0\.5 seconds; ask for"):
        store.query(
            "SELECT count(*) FROM link_metrics a, link_metrics b, link_metrics c WHERE a.latency_ms < b.latency_ms",
            QueryLimits(seconds=0.5),
        )
