"""Queries that may not be asked: nothing is read, written or opened, and the store answers the next one."""

import time
from pathlib import Path

import pytest

from kb_pipeline.errors import QueryError, QueryFailedError, QueryRefusedError
from kb_pipeline.network.base import Limits
from kb_pipeline.network.local import LocalStore

LIMITS = Limits(seconds=1)
HOSTILE = """
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv_auto('/etc/passwd')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM read_parquet('x.parquet')
SELECT * FROM read_json('x.json')
SELECT * FROM '/etc/passwd'
SELECT * FROM 'https://example.com/x.csv'
SELECT * FROM "vertices.csv"
SELECT * FROM glob('/*')
SELECT * FROM sniff_csv('/etc/passwd')
SELECT * FROM parquet_metadata('x')
COPY vertices TO '{made}'
COPY (SELECT 1) TO '{made}' (FORMAT csv)
COPY vertices FROM '/etc/passwd'
EXPORT DATABASE '{made}'
IMPORT DATABASE '/tmp'
ATTACH '{made}' AS other
ATTACH ':memory:' AS other
DETACH network
USE other
INSTALL httpfs
LOAD httpfs
LOAD json
SET memory_limit='10GB'
SET enable_external_access=true
SET VARIABLE a = 1
RESET ALL
PRAGMA database_list
PRAGMA show_tables
PRAGMA version
CALL pragma_version()
CALL duckdb_settings()
CREATE TABLE x AS SELECT 1
CREATE TEMP TABLE x AS SELECT 1
CREATE VIEW x AS SELECT 1
CREATE MACRO m(a) AS a
CREATE SECRET (TYPE S3)
CREATE SEQUENCE s
DROP TABLE vertices
ALTER TABLE vertices ADD COLUMN x INT
INSERT INTO vertices (id) VALUES ('x')
UPDATE vertices SET name = 'x'
DELETE FROM vertices
TRUNCATE vertices
VACUUM
CHECKPOINT
ANALYZE
BEGIN TRANSACTION
PREPARE p AS SELECT 1
EXECUTE p
EXPLAIN SELECT * FROM vertices
EXPLAIN ANALYZE SELECT * FROM vertices
DESCRIBE vertices
SUMMARIZE vertices
SHOW TABLES
SHOW ALL TABLES
SELECT 1; SELECT 2
SELECT 1; DROP TABLE vertices
SELECT 1 /* ; */ ; /* */ COPY vertices TO '{made}'
FROM query('SELECT * FROM duckdb_settings()')
SELECT * FROM query_table('duckdb_settings')
SELECT * FROM query_table(['vertices', 'edges'])
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_tables()
SELECT * FROM duckdb_secrets()
SELECT * FROM pragma_table_info('vertices')
SELECT * FROM pragma_storage_info('vertices')
SELECT * FROM information_schema.tables
SELECT * FROM main.vertices
SELECT * FROM network.main.vertices
SELECT * FROM system.information_schema.tables
SELECT * FROM pg_catalog.pg_tables
SELECT * FROM sqlite_master
SELECT current_setting('memory_limit')
SELECT getvariable('a')
SELECT getenv('HOME')
SELECT current_database()
SELECT version()
SELECT (SELECT current_setting('home_directory'))
SELECT * FROM vertices WHERE name = current_setting('x')
WITH a AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM a
SELECT * FROM (SELECT * FROM edges) JOIN duckdb_settings() ON true
SELECT * FROM vertices UNION ALL SELECT * FROM duckdb_settings()
SELECT * FROM range(10000000000)
SELECT * FROM generate_series(1, 10000000000)
SELECT unnest(range(10000000000))
SELECT list(range(2000000000))
SELECT repeat('x', 2000000000)
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r
SELECT count(*) FROM link_metrics a, link_metrics b, link_metrics c, link_metrics d
SELECT * FROM link_metrics a, link_metrics b, link_metrics c ORDER BY a.latency_ms + b.latency_ms + c.latency_ms
SELECT string_agg(a.message || b.link_id, '') FROM alerts a, link_metrics b, link_metrics c
SELECT * FROM vertісes
SELECT
; ; ;
not sql at all
"""


@pytest.mark.parametrize("text", [line for line in HOSTILE.splitlines() if line])
def test_a_hostile_query_is_refused_or_stopped(
    store: LocalStore, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    began = time.perf_counter()
    with pytest.raises(QueryError):
        store.query(text.replace("{made}", str(tmp_path / "made")), LIMITS)
    assert time.perf_counter() - began < 60  # it was stopped, however busy the machine is
    assert list(tmp_path.iterdir()) == []
    assert store.query("SELECT count(*) AS n FROM vertices", LIMITS).rows == [{"n": 50}]


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
    exact = store.query("SELECT * FROM vertices", Limits(rows=50))
    assert (len(exact.rows), exact.truncated) == (50, False)
    fewer = store.query("SELECT * FROM vertices", Limits(rows=49))
    assert (len(fewer.rows), fewer.truncated) == (49, True)
    small = store.query("SELECT * FROM link_metrics", Limits(bytes=2000))
    assert small.truncated and 0 < len(small.rows) < 30


def test_times_come_as_iso_8601(store: LocalStore) -> None:
    (row,) = store.query("SELECT min(raised_at) AS at FROM alerts", LIMITS).rows
    assert row["at"] == "2026-10-31T12:18:04"


def test_a_query_that_runs_too_long_is_ended_and_says_what_to_ask(store: LocalStore) -> None:
    with pytest.raises(QueryFailedError, match=r"longer than 0\.5 seconds; ask for"):
        store.query(
            "SELECT count(*) FROM link_metrics a, link_metrics b, link_metrics c WHERE a.latency_ms < b.latency_ms",
            Limits(seconds=0.5),
        )
