"""Queries of telemetry in Azure Cosmos DB: one SELECT of one container and one version, whatever is written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.errors import QueryError, QueryFailedError
from kb_pipeline.network.cosmos.sql_gate import Contained, checked, plain

COLUMNS = ("alert_id", "raised_at", "source_id", "severity", "message", "value")
CONTAINERS = {
    "alerts": Contained("telco@1", COLUMNS, "source_id", "raised_at", 11),
    "order": Contained("telco@1", ("group", "end", "limit", "and", "value"), "group", "end", 11),
}
HOSTILE = """
SELECT * FROM users
SELECT * FROM c
SELECT * FROM alerts, users
SELECT * FROM alerts JOIN t IN alerts.tags
SELECT * FROM t IN alerts.tags
SELECT * FROM ROOT
SELECT * FROM alerts.children
SELECT * FROM (SELECT * FROM users)
SELECT (SELECT VALUE 1) FROM alerts
SELECT ARRAY(SELECT * FROM users) FROM alerts
SELECT * FROM alerts WHERE EXISTS(SELECT VALUE 1 FROM users)
SELECT udf.steal(alerts) FROM alerts
SELECT * FROM alerts WHERE udf.steal(alerts.message)
SELECT 1
SELECT *
SELECT VALUE 1
DELETE FROM alerts
UPDATE alerts SET severity = 'x'
INSERT INTO alerts VALUES ('x')
DROP TABLE alerts
EXEC sp_executesql
SELECT * FROM alerts; SELECT * FROM users
SELECT * FROM alerts -- comment
SELECT * FROM alerts /* comment */
SELECT * FROM alerts WHERE kb_version = 'telco@2'
SELECT * FROM alerts WHERE alerts.kb_version != 'telco@1'
SELECT kb_version FROM alerts
SELECT c.kb_version FROM alerts
SELECT alerts["kb_version"] FROM alerts
SELECT * FROM alerts WHERE severity = 'a') OR (1=1
SELECT * FROM alerts WHERE 1=1) OR (c.kb_version != 'x'
SELECT * FROM alerts WHERE (severity = 'a'
SELECT * FROM alerts WHERE severity = @p0
SELECT * FROM alerts WHERE severity = "x"
SELECT * FROM alerts WHERE severity = 'unclosed
SELECT {"a": alerts.severity} FROM alerts
SELECT [alerts.severity] FROM alerts
SELECT * FROM alerts WHERE severity = undefined
SELECT * FROM alerts WHERE alerts = undefined
SELECT alerts FROM alerts
SELECT c FROM alerts
SELECT _ts FROM alerts
SELECT alerts._self FROM alerts
SELECT id FROM alerts
SELECT * FROM alerts WHERE RegexMatch(message, '(a+)+$')
SELECT * FROM alerts WHERE StringToObject(message)
SELECT GetCurrentTimestamp() FROM alerts
SELECT severity, count(*) FROM alerts GROUP BY severity
SELECT severity FROM alerts HAVING count(*) > 1
SELECT * FROM alerts WHERE severity = 'a' UNION SELECT * FROM users
SELECT max(max(value)) FROM alerts
SELECT count(*) + 1 FROM alerts
SELECT * FROM alerts LIMIT severity
SELECT * FROM alerts OFFSET 1 LIMIT
SELECT * FROM alerts WHERE a ?? b
SELECT * FROM alеrts
SELECT SELECT FROM FROM alerts
FROM alerts SELECT *
""".strip().splitlines()
PARTS = st.sampled_from(
    ["SELECT", "FROM", "WHERE", "ORDER", "BY", "ALL", "alerts", "a", ".", "*", ",", "(", ")", "'x'", "'", "severity",
     "=", "1", "AND", "OR", "NOT", "IS", "NULL", "LIMIT", "OFFSET", "count", "AS", "kb_version", "--", ";", "IN", "TOP"]
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_query_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        checked(text, CONTAINERS, 16_384)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("SELECT * FROM alerts", "SELECT * FROM c WHERE c.kb_version = @p0"),
        ("select a.severity from ALERTS as a", 'SELECT c["severity"] FROM c WHERE c.kb_version = @p0'),
        (
            "SELECT severity FROM alerts WHERE severity = 'a' OR value > 1",
            'SELECT c["severity"] FROM c WHERE c.kb_version = @p0 AND (c["severity"] = @p1 OR c["value"] > 1)',
        ),
        ("SELECT severity FROM alerts LIMIT 3", 'SELECT TOP 3 c["severity"] FROM c WHERE c.kb_version = @p0'),
        (
            "SELECT DISTINCT value FROM alerts ORDER BY value DESC LIMIT 3 OFFSET 2",
            'SELECT DISTINCT c["value"] FROM c WHERE c.kb_version = @p0 ORDER BY c["value"] DESC OFFSET 2 LIMIT 3',
        ),
        ("SELECT max(value) AS m FROM alerts", 'SELECT VALUE MAX(c["value"]) FROM c WHERE c.kb_version = @p0'),
    ],
)
def test_a_query_is_written_for_the_service_and_sees_one_version(text: str, sent: str) -> None:
    found = checked(text, CONTAINERS, 16_384)
    assert (found.container, found.texts[0], found.parameters[0]) == ("alerts", sent, ("@p0", "telco@1"))


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ('SELECT * FROM "order"', "SELECT * FROM c WHERE c.kb_version = @p0"),
        (
            'SELECT "group" FROM "order" WHERE "limit" > 1 AND "and" < 2 ORDER BY "end"',
            'SELECT c["group"] FROM c WHERE c.kb_version = @p0 AND (c["limit"] > 1 AND c["and"] < 2) ORDER BY c["end"]',
        ),
        (
            'SELECT "order"."group", o.limit FROM "order" AS o ORDER BY ALL',
            'SELECT c["group"] , c["limit"] FROM c WHERE c.kb_version = @p0 ORDER BY c["end"]',
        ),
        ('SELECT max("limit") FROM "order"', 'SELECT VALUE MAX(c["limit"]) FROM c WHERE c.kb_version = @p0'),
    ],
)
def test_words_of_sql_are_names_in_double_quotation_marks(text: str, sent: str) -> None:
    found = checked(text, CONTAINERS, 16_384)
    assert (found.container, found.texts[0]) == ("order", sent)


def test_a_column_may_be_given_a_name_that_the_service_does_not_take() -> None:
    found = checked('SELECT severity AS value, message AS "order", alert_id AS id2 FROM alerts', CONTAINERS, 16_384)
    assert found.texts[0].startswith(
        'SELECT c["severity"] AS kb_column_0 , c["message"] AS kb_column_1 , c["alert_id"] AS id2 FROM'
    )
    row = {"kb_column_0": "MAJOR", "kb_column_1": "fan", "id2": "A1", "_ts": 5}
    assert plain(row, found.renamed) == {"value": "MAJOR", "order": "fan", "id2": "A1"}


@pytest.mark.parametrize("written", ["2026-11-02 03:24:00", "2026-11-02T03:24:00Z", "2026-11-02T05:24:00+02:00"])
def test_times_are_compared_as_rows_hold_them(written: str) -> None:
    found = checked(f"SELECT * FROM alerts WHERE raised_at >= TIMESTAMP '{written}'", CONTAINERS, 16_384)
    assert found.parameters[1] == ("@p1", "2026-11-02T03:24:00")


def test_a_wrong_column_is_told_with_the_nearest_and_with_all() -> None:
    with pytest.raises(
        QueryFailedError, match=r"'sevrity' in alerts; did you mean severity\? its columns are alert_id"
    ):
        checked("SELECT sevrity FROM alerts", CONTAINERS, 16_384)


@pytest.mark.slow("many requests to the double of Cosmos DB")
@settings(max_examples=500)
@given(st.one_of(st.text(max_size=60), st.lists(PARTS, max_size=20).map(lambda parts: "SELECT " + " ".join(parts))))
def test_whatever_is_written_is_refused_or_of_one_version(text: str) -> None:
    try:
        found = checked(text, CONTAINERS, 16_384)
    except QueryError:
        return
    for query in found.texts:
        before, _, condition = query.partition(" FROM c WHERE c.kb_version = @p0")
        assert "kb_version" not in before + condition and "'" not in query
        further = condition.partition(" AND (")[2].partition(" ORDER BY ")[0].partition(" OFFSET ")[0]
        depth = [0]
        for sign in further:
            depth.append(depth[-1] + (sign == "(") - (sign == ")"))
        assert not further or (min(depth[:-1]) == 0 and depth[-1] == -1)
