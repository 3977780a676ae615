"""Mistakes in queries of Azure Cosmos DB: the error names what is right, and who follows it succeeds at once."""

import re

import pytest

from kb_pipeline.errors import QueryError
from kb_pipeline.network.base import QueryLimits, Rows
from kb_pipeline.network.cosmos.gremlin_gate import parse
from kb_pipeline.network.cosmos.store import CosmosStore
from kb_pipeline_tests.contracts.network_store_contract import done

GRAPH = [
    "g.V().hasLabel('Servce').values('name')",
    "g.V().hasLabel('service').values('name')",
    "g.V().hasLabel('TransportLinks').count()",
    "g.V().has('label', 'CoreRouters').values('name')",
    "g.V().has('Servces', 'id', 'VPN-ACME').valueMap(true)",
    "g.V('VPN-ACME').out('dependson').id()",
    "g.V('LINK-SYD-MEL').in('route_over').id()",
    "g.V('VPN-ACME').outE('depend_on').count()",
    "g.V().where(out('depends-on').hasId('MPLS-SYD-MEL-1')).id()",
    "g.V('VPN-ACME').repeat(out('depends_onn').simplePath()).emit().times(3).path().by(id)",
    "g.V().hasLabel('Service').values('nam')",
    "g.V().hasLabel('Service').values('customers')",
    "g.V().has('knd', 'service').id()",
    "g.V().hasLabel('TransportLink').values('capacity')",
    "g.V().hasLabel('Service').valuesMap(true)",
    "g.V().hasLabels('Service').id()",
]
TELEMETRY = [
    "SELECT * FROM alert",
    "SELECT * FROM linkmetrics LIMIT 3",
    "SELECT sevrity FROM alerts",
    "SELECT raised_at, sourceid FROM alerts WHERE severity = 'MAJOR'",
    "SELECT latency FROM link_metrics LIMIT 3",
    "SELECT a.mesage FROM alerts a LIMIT 3",
    "SELECT link_id FROM link_metrics WHERE packet_los_pct > 0 LIMIT 3",
    "SELECT UPER(severity) AS s FROM alerts LIMIT 3",
]
_WRONG = re.compile(r"(?:the label|the property|no column|no container) '([^']+)'")
_WRONG_CALL = re.compile(r"(\w+) is no (?:step|function)")
_MEANT = re.compile(r"did you mean ([^,?;]+)")


@pytest.fixture(scope="module")
def store(cosmos_store: CosmosStore) -> CosmosStore:
    return cosmos_store


def ask(store: CosmosStore, query: str) -> Rows:
    return done(store.graph(query, QueryLimits()) if query.startswith("g.") else store.telemetry(query, QueryLimits()))


def corrected(query: str, error: str) -> str:
    """What someone asks who knows nothing but the error."""
    wrong = _WRONG.search(error) or _WRONG_CALL.search(error)
    meant = _MEANT.search(error)
    assert wrong and meant, error
    return re.sub(rf"(?<![\w-]){re.escape(wrong[1])}(?![\w-])", meant[1], query)


@pytest.mark.slow("many requests to the double of Cosmos DB")
@pytest.mark.parametrize("query", [*GRAPH, *TELEMETRY])
def test_who_follows_the_error_succeeds_at_the_second_try(store: CosmosStore, query: str) -> None:
    with pytest.raises(QueryError) as refused:
        ask(store, query)
    assert ask(store, corrected(query, str(refused.value))).rows


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("g.V().out('Service')", "Service is a type of vertices, as in out().hasLabel('Service')"),
        ("g.V().has('type', 'Service')", "the type of a vertex is its label, as in hasLabel('…')"),
        ("g.V().hasLabel('Router-X9')", "the types of vertices are CoreRouter, AggSwitch"),
        ("g.V().hasLabel(within('Service', 'Cloud'))", "nothing has the label 'Cloud'"),
        ("g.V().hasLabel('Service').order().by('xyzzy')", "the properties are id, label, "),
        ("g.V().hasLabel('Service').toList()", "leave it out"),
        ("g.V().hasLabel(Service)", "put texts in quotation marks"),
        ("g.V().hasLabel('Service'", "a comma or ) is expected"),
    ],
)
def test_other_mistakes_in_gremlin_are_told_with_what_is_right(store: CosmosStore, query: str, told: str) -> None:
    with pytest.raises(QueryError) as refused:
        ask(store, query)
    assert told in str(refused.value)
    assert "kb_version" not in str(refused.value)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT latency_ms FROM alerts", "it is a column of link_metrics"),
        ("SELECT * FROM alerts WHERE severity = MAJOR", "a text stands in single quotation marks, as in 'MAJOR'"),
        ('SELECT * FROM alerts WHERE severity = "MAJOR"', "a text stands in single quotation marks, as in 'MAJOR'"),
        ("SELECT severity, count(*) FROM alerts", "aggregates stand alone here"),
        ("SELECT severity FROM alerts GROUP BY severity", "rows cannot be grouped here"),
        ("SELECT * FROM alerts WHERE (severity = 'MAJOR'", "a bracket is not closed"),
        ("SELECT severity WHERE 1 = 1", "FROM is missing; a query is one SELECT"),
    ],
)
def test_other_mistakes_in_sql_are_told_with_what_is_right(store: CosmosStore, query: str, told: str) -> None:
    with pytest.raises(QueryError) as refused:
        ask(store, query)
    assert told in str(refused.value)


@pytest.mark.parametrize("query", ["SELECT * FROM vertices", "match (n) return n", "WITH a AS (SELECT 1) SELECT 2"])
def test_another_language_is_told_with_an_example_of_gremlin(store: CosmosStore, query: str) -> None:
    with pytest.raises(QueryError, match=r"the graph answers Gremlin.* as in g\.V\("):
        done(store.graph(query, QueryLimits()))


def test_names_that_a_query_gives_itself_are_known(store: CosmosStore) -> None:
    for query in (
        "g.V().hasLabel('Service').as('x').out('depends_on').as('y').select('x', 'y').by('name').by(id)",
        "g.V().hasLabel('Service').project('name of it', 'n').by('name').by(out().count()).order().by('n')",
        "g.V().hasLabel('Service').group().by(label).by('name')",
        "g.E().hasLabel('depends_on').has('needs', 'any').values('source')",
    ):
        store._names(store._version(5)).check(parse(query))
