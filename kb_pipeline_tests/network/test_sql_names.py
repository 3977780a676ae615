"""Names of tables and columns in SQL, also those that are words of SQL."""

import asyncio
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from app.network.descriptions import telemetry_description, telemetry_examples
from kb_pipeline.errors import QueryFailedError
from kb_pipeline.network.base import QueryLimits
from kb_pipeline.network.loading import load
from kb_pipeline.network.local.store import LocalStore, store_counts, write_store
from kb_pipeline.network.mock import MockStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.sql_names import sql_name
from kb_pipeline.network.tables import NetworkTables
from kb_pipeline_tests.network.sql_words import named_by_sql_words


@pytest.fixture
def words() -> list[str]:
    """All words that DuckDB knows, and some that it or this project give a meaning."""
    rows = duckdb.sql("SELECT DISTINCT keyword_name FROM duckdb_keywords()").fetchall()
    named = ["user", "current_date", "rowid", "arriving", "downstream", "walk", "duckdb_tables", "main"]
    return [*(word for (word,) in rows), *named]


def test_ordinary_names_stand_as_they_are() -> None:
    assert [sql_name(name) for name in ("alerts", "Link_Metrics_2", "count", "time")] == [
        *("alerts", "Link_Metrics_2", "count", "time")
    ]


def test_other_names_are_quoted() -> None:
    assert [sql_name(name) for name in ("Order", "latency (ms)", 'a"b', "2nd", "größe")] == [
        *('"Order"', '"latency (ms)"', '"a""b"', '"2nd"', '"größe"')
    ]


@pytest.mark.slow("lets queries run against their limits")
def test_every_word_of_sql_can_name_a_table_and_its_columns(words: list[str]) -> None:
    with duckdb.connect() as connection:
        for word in words:
            name = sql_name(word)
            connection.execute(f'CREATE OR REPLACE TABLE "{word}" AS SELECT 7 AS "{word}", 1 AS other')
            asked = f"SELECT max({name}) FROM {name} WHERE {name} IN (7) AND {name}.{name} BETWEEN 1 AND 9"
            assert connection.execute(asked).fetchall() == [(7,)], word
            connection.execute(f'DROP TABLE "{word}"')


@pytest.mark.slow("lets queries run against their limits")
def test_a_store_holds_containers_of_any_name(tmp_path: Path, words: list[str]) -> None:
    network = pa.table({name: ["x"] for name in ("id", "type", "kind", "name", "source", "target", "label", "needs")})
    containers = {word: pa.table({"at": [1, 2, 3]}) for word in words}
    write_store(NetworkTables(network, network, containers), tmp_path / "network.duckdb")
    assert store_counts(tmp_path / "network.duckdb") == {"vertices": 1, "edges": 1, **dict.fromkeys(words, 3)}


@pytest.fixture
def worded(folder: Path) -> ScenarioFolder:
    return ScenarioFolder(named_by_sql_words(folder))


@pytest.mark.slow("lets queries run against their limits")
def test_the_examples_of_such_a_scenario_can_be_asked(worded: ScenarioFolder, tmp_path: Path) -> None:
    load(worded, tmp_path)
    store = LocalStore(tmp_path, "telco")
    for example in telemetry_examples(worded.scenario):
        assert store.query(example.replace("'ID'", "'LINK-SYD-MEL'"), QueryLimits()).rows
    assert '"order" ("end", "group", utilization_pct, "limit"' in telemetry_description(worded.scenario)


@pytest.mark.slow("lets queries run against their limits")
@pytest.mark.parametrize("wrong", ["SELECT * FROM order", 'SELECT group, limit FROM "order"'])
def test_a_name_without_its_quotation_marks_is_told_with_them(
    worded: ScenarioFolder, tmp_path: Path, wrong: str
) -> None:
    load(worded, tmp_path)
    with pytest.raises(QueryFailedError, match=r'stand in double quotation marks: .*"order"'):
        LocalStore(tmp_path, "telco").query(wrong, QueryLimits())


def test_plain_words_find_the_container_after_from(worded: ScenarioFolder) -> None:
    query = 'SELECT "group" FROM "order" ORDER BY "end"'
    found = asyncio.run(MockStore(worded).telemetry(query, QueryLimits()))
    assert {"group", "limit"} <= {column["name"] for column in found.columns}
