"""Queries by an enemy: those that nobody may ask, and those that ask for far more than a machine has.

``{made}`` stands for a file that none of them may make.
"""

FORBIDDEN = """
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
SELECT json_execute_serialized_sql('x')
SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
SELECT * FROM test_all_types()
SELECT * FROM repeat_row(1, num_rows=100000000)
SELECT * FROM seq_scan('vertices')
SELECT * FROM pandas_scan(1)
SELECT * FROM enable_logging()
SELECT * FROM force_checkpoint()
SELECT checkpoint()
SELECT printf('%999999999d', 1)
SELECT format('{{:999999999}}', 1)
SELECT bitstring('1', 999999999)
SELECT add_parquet_key('a', 'b')
SELECT * FROM vertices AT (VERSION => 1)
SELECT "LPAD"('x', 999999999, 'x')
SELECT list_resize([1], 999999999)
SELECT gen_random_uuid() FROM vertices WHERE getenv('HOME') = 'x'
SELECT main.printf('%9d', 1)
WITH w AS (COPY vertices TO '{made}') SELECT * FROM w
WITH w AS (DELETE FROM vertices RETURNING *) SELECT * FROM w
WITH w AS (TRUNCATE vertices) SELECT 1
WITH w AS (UPDATE vertices SET name = 'x' RETURNING *) SELECT 1
WITH w AS (INSERT INTO vertices FROM vertices RETURNING *) SELECT 1
SELECT (WITH w AS (COPY vertices TO '{made}') SELECT 1 FROM w) FROM vertices
SELECT * FROM icu_calendar_names()
SELECT * FROM which_secret('x', 'y')
SELECT * FROM (DESCRIBE vertices)
SELECT * FROM (SUMMARIZE vertices)
PIVOT vertices ON type USING count(*)
SELECT current_schemas(true)
SELECT write_log('x')
SELECT nextval('s')
SELECT * FROM read_text('http://127.0.0.1:{port}/x')
SELECT * FROM 's3://bucket/x.parquet'
COPY (SELECT 1) TO 'http://127.0.0.1:{port}/x'
ATTACH 'http://127.0.0.1:{port}/x.db' AS other
ATTACH 'postgres://127.0.0.1:{port}/x' AS other (TYPE postgres)
INSTALL spatial FROM 'http://127.0.0.1:{port}'
""".strip().splitlines()

_LONG = (
    "WITH s AS (SELECT string_agg(a.message || b.link_id, '') AS t "
    "FROM alerts a, (SELECT * FROM link_metrics LIMIT 400) b) "
)


def _grown(first: str, grow: str, times: int) -> str:
    """A query in which each step makes a text or list of the one before."""
    steps = [f"s{number} AS (SELECT {grow} AS t FROM s{number - 1})" for number in range(1, times)]
    return f"WITH s0 AS (SELECT {first} AS t FROM alerts), {', '.join(steps)} SELECT length(t) FROM s{times - 1}"


EXHAUSTING = [
    "SELECT format('{{:>2000000000}}', 'x')",
    "SELECT length(format('{{:>400000000}}', 'x'))",
    "SELECT length(printf('%400000000d', 1))",
    "SELECT length(bitstring('1', 2000000000))",
    f"{_LONG}SELECT levenshtein(t, t || 'x') FROM s",
    f"{_LONG}SELECT damerau_levenshtein(t, t || 'x') FROM s",
    f"{_LONG}SELECT length(list_reduce(string_split(t, ''), lambda x, y: x || y)) FROM s",
    _grown("message", " || ".join("t" * 8), 8),
    _grown("message", "replace(t, 'o', t)", 6),
    _grown("message", "regexp_replace(t, '.', t, 'g')", 6),
    _grown("message", f"concat({', '.join('t' * 12)})", 8),
    _grown("[1, 2, 3, 4, 5, 6, 7, 8]", "list_concat(t, list_concat(t, list_concat(t, t)))", 15),
    "SELECT reservoir_quantile(latency_ms, 0.5, 2000000000) FROM link_metrics",
    "SELECT reservoir_quantile(latency_ms, 0.5, 200000000) FROM link_metrics",
    "SELECT array_agg(a) FROM link_metrics a, link_metrics b",
    "SELECT quantile_cont(a.latency_ms + b.latency_ms, 0.5) FROM link_metrics a, link_metrics b, edges",
    "SELECT string_agg(a.link_id, '' ORDER BY b.latency_ms) FROM link_metrics a, link_metrics b",
    "SELECT histogram(a.latency_ms * b.latency_ms) FROM link_metrics a, link_metrics b",
    "WITH s AS (SELECT list(latency_ms) AS l FROM link_metrics) SELECT len(list_transform(l, lambda x: "
    "list_sum(list_transform(l, lambda y: list_sum(list_transform(l, lambda z: x + y + z)))))) FROM s",
    "SELECT [[[a.latency_ms]]], " + "[" * 150 + "1" + "]" * 150 + " FROM link_metrics a",
]
"""What an engine may answer, refuse or be stopped at, but not without end nor with all memory."""


NAMES_OF_OTHERS = (
    "sqlite_master",
    "duckdb_settings",
    "pg_class",
    "DUCKDB_VIEWS",
    "/etc/passwd",
    "connection",
    "nowhere",
)
"""Tables of the database, a file, a variable of the program, and nothing: no query may read them."""
OUT_OF_SCOPE = """
SELECT * FROM {n}, (WITH {n} AS (SELECT 1 a) SELECT 1 z) t
SELECT * FROM (WITH {n} AS (SELECT 1 a) SELECT 1 z) t, {n}
SELECT * FROM vertices, LATERAL (WITH {n} AS (SELECT 1 a) SELECT id z) t, {n}
SELECT (WITH {n} AS (SELECT 1 a) SELECT a FROM {n}) FROM {n}
SELECT * FROM {n} WHERE EXISTS (WITH {n} AS (SELECT 1 a) SELECT a FROM {n})
SELECT 1 FROM vertices ORDER BY (SELECT count(*) FROM {n}), (WITH {n} AS (SELECT 1 a) SELECT a FROM {n})
(WITH {n} AS (SELECT 1 a) SELECT a FROM {n}) UNION ALL SELECT 1 FROM {n}
SELECT 1 FROM {n} UNION ALL (WITH {n} AS (SELECT 1 a) SELECT a FROM {n})
(WITH {n} AS (SELECT 1 a) SELECT a FROM {n}) EXCEPT (SELECT 1 FROM {n})
WITH b AS (SELECT * FROM {n}), {n} AS (SELECT 1 a) SELECT * FROM b
WITH {n} AS (SELECT * FROM {n}) SELECT * FROM {n}
WITH {n} AS (SELECT (SELECT count(*) FROM {n}) a) SELECT * FROM {n}
WITH b AS (WITH {n} AS (SELECT 1 a) SELECT * FROM {n}) SELECT * FROM b, {n}
WITH b AS (WITH {n} AS (SELECT 1 a) SELECT * FROM {n}), c AS (SELECT * FROM {n}) SELECT * FROM c
WITH b AS (SELECT * FROM (WITH {n} AS (SELECT 1 a) SELECT 1) t, {n}) SELECT * FROM b
WITH RECURSIVE b AS (SELECT * FROM {n}), {n} AS (SELECT 1 a) SELECT * FROM b
WITH b AS MATERIALIZED (SELECT * FROM {n}), {n} AS NOT MATERIALIZED (SELECT 1 a) SELECT * FROM b
SELECT [x for x in (SELECT list(1) FROM {n})], (WITH {n} AS (SELECT 1 a) SELECT a FROM {n})
FROM (FROM {n}) t, (WITH {n} AS (SELECT 1 a) SELECT 1) u
TABLE {n}
SELECT * FROM (TABLE {n}) t, (WITH {n} AS (SELECT 1 a) TABLE {n}) u
SELECT * FROM vertices v JOIN {n} ON true JOIN (WITH {n} AS (SELECT 1 a) SELECT 1) t ON true
SELECT * FROM ({n} CROSS JOIN (WITH {n} AS (SELECT 1 a) SELECT 1) t)
WITH {n} AS (SELECT 1 a) SELECT * FROM memory.{n}
WITH {n} AS (SELECT 1 a) SELECT * FROM main.{n}
""".strip().splitlines()
"""Queries in which a WITH defines the name elsewhere than where it is read."""
IN_SCOPE = """
WITH {n} AS (SELECT 1 a) SELECT a FROM {n}
WITH {n} AS (SELECT 1 a), b AS (SELECT * FROM {n}) SELECT a FROM b
WITH {n} AS (SELECT 1 a) SELECT (SELECT a FROM {n}) a
WITH {n} AS (SELECT 1 a) SELECT t.a FROM (SELECT * FROM {n}) t, LATERAL (SELECT a FROM {n} WHERE a = t.a) u
WITH {n} AS (SELECT 1 a) SELECT 1 a ORDER BY (SELECT a FROM {n})
WITH {n} AS (SELECT 1 a) (SELECT a FROM {n} UNION SELECT a FROM {n})
WITH {n} AS (SELECT 1 a), b AS (WITH c AS (SELECT * FROM {n}) SELECT * FROM c) SELECT a FROM b
WITH {n} AS (SELECT 2 a) SELECT a FROM (WITH {n} AS (SELECT 1 a) SELECT a FROM {n}) t
WITH {n} AS (SELECT 1 a) SELECT a FROM (WITH {n} AS (SELECT * FROM {n}) SELECT a FROM {n}) t
SELECT 1 a UNION (WITH {n} AS (SELECT 1 a) SELECT a FROM {n})
""".strip().splitlines()
"""Queries that read what their own WITH defines."""
