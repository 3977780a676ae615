"""Queries of the network over HTTP: what fails is told in the answer, and outside agents can make tools of them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.network.descriptions import openapi_document
from kb_pipeline.errors import ServiceRefusedError, TransientError
from kb_pipeline.network.base import (
    Language,
    NetworkStore,
    NetworkStoreHealth,
    QueryLimits,
    Rows,
    Subgraph,
    TopologyQuery,
)
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import signed_in
from kb_pipeline_tests.app.api.generic_client import GenericClient
from kb_pipeline_tests.app.api.networks import FOR_NOC, SAMPLE, client_of, with_network
from kb_pipeline_tests.app.api.random_queries import ANSWERS, TEXTS, fault
from kb_pipeline_tests.prism import prism_proxy

QUERIES = tuple(ANSWERS)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a service with the sample scenario."""
    with client_of(with_network(tmp_path_factory.mktemp("network"))) as client:
        yield client


def asked(client: httpx.Client, path: str, body: object) -> dict[str, Any]:
    reply = client.post(path, json=body)
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    assert answer.keys() == ANSWERS[path]
    return answer


def test_vertices_and_edges_are_queried_in_the_language_of_the_backend(network: httpx.Client) -> None:
    answer = asked(network, "/query/graph", {"query": "SELECT id, distance FROM downstream('LINK-SYD-MEL', 1)"})
    assert answer["columns"] == [{"name": "id", "type": "VARCHAR"}, {"name": "distance", "type": "INTEGER"}]
    assert {"id": "BGP-SYD-MEL", "distance": 1} in answer["data"]
    assert (answer["truncated"], answer["error"]) == (False, None)


def test_telemetry_is_queried_in_sql_and_times_are_iso_8601(network: httpx.Client) -> None:
    query = "SELECT raised_at, alert_type FROM alerts WHERE source_id = 'LINK-SYD-MEL' ORDER BY raised_at LIMIT 1"
    answer = asked(network, "/query/telemetry", {"query": query})
    assert answer["rows"] == [{"raised_at": "2026-11-02T03:39:03", "alert_type": "OPTICAL_LOSS"}]


def test_the_network_is_shown_whole_by_type_by_text_and_around_elements(network: httpx.Client) -> None:
    whole = asked(network, "/query/topology", {})
    assert (len(whole["nodes"]), len(whole["edges"])) == (50, 54)
    meta = whole["meta"]
    assert (meta["node_count"], meta["edge_count"]) == (50, 54)
    assert (len(meta["vertex_labels"]), len(meta["edge_labels"])) == (8, 7)
    routers = asked(network, "/query/topology", {"vertex_labels": ["CoreRouter"]})["nodes"]
    assert {node["type"] for node in routers} == {"CoreRouter"}
    assert routers[0].keys() == {"id", "label", "type", "properties"}
    assert asked(network, "/query/topology", {"query": "syd-mel"})["nodes"]
    around = asked(network, "/query/topology", {"around": ["LINK-SYD-MEL"], "depth": 1, "direction": "up"})
    assert {node["id"] for node in around["nodes"]} == {"LINK-SYD-MEL", "CORE-SYD-01", "CORE-MEL-01"}
    assert {(edge["source"], edge["type"]) for edge in around["edges"]} == {("LINK-SYD-MEL", "connects_to")}
    few = asked(network, "/query/topology", {"limit": 3})
    assert (len(few["nodes"]), few["meta"]["node_count"]) == (3, 50)


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/query/graph", {"query": "SELECT nam FROM vertices"}, '"name"'),
        ("/query/graph", {"query": "SELECT * FROM routers"}, "the tables are"),
        ("/query/graph", {"query": "DROP TABLE vertices"}, "exactly one SELECT"),
        ("/query/graph", {"query": "SELECT * FROM read_csv('/etc/passwd')"}, "the tables are"),
        ("/query/telemetry", {"query": "SELEC x"}, "SELEC"),
        ("/query/graph", {"query": ""}, "the query is empty"),
        ("/query/graph", {}, "send a JSON object with query"),
        ("/query/graph", None, "send a JSON object with query"),
        ("/query/graph", [], "send a JSON object with query"),
        ("/query/telemetry", {"query": 5}, "send a JSON object with query"),
        ("/query/telemetry", {"query": {"a": "b"}}, "send a JSON object with query"),
        ("/query/topology", {"around": ["LINK-X"]}, "there is no element 'LINK-X'"),
        ("/query/topology", {"vertex_labels": ["Router"]}, "the types are CoreRouter"),
        ("/query/topology", {"depth": "far"}, "depth"),
        ("/query/topology", {"direction": "left"}, "direction"),
    ],
)
def test_a_query_that_fails_is_answered_with_words_by_which_it_can_be_corrected(
    network: httpx.Client, path: str, body: object, told: str
) -> None:
    answer = asked(network, path, body)
    assert told in answer["error"]
    assert not any(answer.get(name) for name in ("data", "rows", "nodes", "edges", "columns"))


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", {"content-type": "application/json"}, 400),
        (b'{"query": "\\ud800"}', {"content-type": "application/json"}, 400),
        (b'{"query": "' + b"x" * 300_000 + b'"}', {"content-type": "application/json"}, 413),
        (b"query=1", {"content-type": "application/x-www-form-urlencoded"}, 415),
        (b"{}", {"content-type": "application/json", "host": "evil.example"}, 400),
        (b"{}", {"content-type": "application/json", "origin": "https://evil.example"}, 403),
    ],
)
@pytest.mark.parametrize("path", [*QUERIES, "/api/alert"])
def test_what_is_no_request_of_ours_is_refused_as_everywhere(
    network: httpx.Client, path: str, content: bytes, headers: dict[str, str], status: int
) -> None:
    reply = network.post(path, content=content, headers=headers)
    assert (reply.status_code, bool(reply.json()["error"]["message"])) == (status, True)


@pytest.mark.slow("waits for a silent or slow service")
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(QUERIES), query=TEXTS)
def test_any_text_is_answered(network: httpx.Client, path: str, query: str) -> None:
    reply = network.post(path, json={"query": query})
    assert not fault(path, reply), (query, reply.text)


@pytest.mark.slow("waits for a silent or slow service")
def test_limits_come_from_the_settings(tmp_path: Path) -> None:
    limits = {"query_rows": 3, "query_characters": 70, "topology_nodes": 4}
    with client_of(with_network(tmp_path, **limits)) as client:
        rows = asked(client, "/query/telemetry", {"query": "SELECT * FROM alerts"})
        assert (len(rows["rows"]), rows["truncated"]) == (3, True)
        long = asked(client, "/query/graph", {"query": "SELECT '" + "x" * 70 + "'"})
        assert "at most 70" in long["error"]
        assert len(asked(client, "/query/topology", {"limit": 1000})["nodes"]) == 4
        assert not asked(client, "/query/graph", {"query": "SELECT 1"})["error"]


@pytest.mark.slow("waits for a silent or slow service")
def test_a_query_may_take_as_long_as_the_settings_say(tmp_path: Path) -> None:
    with client_of(with_network(tmp_path, query_seconds=0.3)) as client:
        forever = "SELECT count(*) FROM link_metrics a, link_metrics b, link_metrics c"
        assert "took longer than 0.3 seconds" in asked(client, "/query/graph", {"query": forever})["error"]


class Broken(NetworkStore):
    """A store that fails as its query says."""

    backend = "broken"
    language = Language("words", "Say what should happen.", ("fall over",))

    def __init__(self, _: Settings, __: ScenarioFolder) -> None: ...

    async def graph(self, query: str, limits: QueryLimits) -> Rows:
        raise {
            "busy": TransientError("the graph is busy; try again in 3 s", retry_after=3),
            "refused": ServiceRefusedError("the graph at https://graph.example/x refuses the key; check KB_X"),
            "bug": ZeroDivisionError("secret detail"),
            "not there": NotImplementedError(),
        }[query]

    async def telemetry(self, query: str, limits: QueryLimits) -> Rows:
        return Rows([{"name": "n", "type": "INTEGER"}], [{"n": 1}])

    async def topology(self, wanted: TopologyQuery) -> Subgraph:
        raise TransientError("the graph is busy")

    async def health(self) -> NetworkStoreHealth:
        raise TransientError("the graph at https://graph.example/x is busy")

    async def close(self) -> None: ...


@contextmanager
def broken(folder: Path) -> Iterator[httpx.Client]:
    name = f"{Broken.__module__}:{Broken.__qualname__}"
    with client_of(with_network(folder, network=name)) as client:
        yield client


def test_whatever_breaks_in_a_backend_is_told_without_places_and_details(tmp_path: Path) -> None:
    with broken(tmp_path) as client:
        told = {each: asked(client, "/query/graph", {"query": each})["error"] for each in ("busy", "refused", "bug")}
        assert told["busy"] == "the graph is busy; try again in 3 s"
        assert "refuses the key" in told["refused"] and "graph.example" not in told["refused"]
        assert "secret detail" not in told["bug"]
        assert asked(client, "/query/graph", {"query": "not there"})["error"]
        assert "busy" in asked(client, "/query/topology", {})["error"]
        assert asked(client, "/query/telemetry", {"query": "x"})["rows"] == [{"n": 1}]
        health = client.get("/query/health").json()
        assert (health["reachable"], "graph.example" in health["problem"]) == (False, False)
        assert client.get("/health").json()["network"]["reachable"] is False


def test_the_state_of_the_network_is_told(network: httpx.Client) -> None:
    told = network.get("/query/health").json()
    assert told == {
        "backend": "local",
        "scenario": "telco",
        "vertices": 50,
        "edges": 54,
        "telemetry_until": "2026-11-02T03:45:40",
        "reachable": True,
        "problem": None,
    }
    assert network.get("/health").json()["network"] == told


def test_a_scenario_that_is_not_loaded_says_how_to_load_it(service: httpx.Client) -> None:
    assert "kb scenario load telco" in asked(service, "/query/graph", {"query": "SELECT 1"})["error"]
    assert "kb scenario load telco" in service.get("/health").json()["network"]["problem"]
    (scenario,) = service.get("/api/scenarios").json()["scenarios"]
    assert (scenario["name"], scenario["loaded"]) == ("telco", False)


def test_scenarios_are_listed_with_what_a_page_needs_to_draw_them(network: httpx.Client) -> None:
    (scenario,) = network.get("/api/scenarios").json()["scenarios"]
    assert (scenario["name"], scenario["loaded"], scenario["vertices"], scenario["edges"]) == ("telco", True, 50, 54)
    assert {"name": "CoreRouter", "kind": "infrastructure", "color": "#38bdf8", "size": 10, "count": 4} in (
        scenario["types"]
    )
    assert "LINK_DOWN" in scenario["sample_alert"]


# --- who may ask ---------------------------------------------------------------------------------

ROUTES = [
    *(("POST", path) for path in QUERIES),
    *(("GET", path) for path in ("/query/openapi.json", "/query/health", "/api/agents", "/api/investigations")),
    ("POST", "/api/alert"),
    ("GET", "/api/logs"),
    ("GET", "/api/investigations/20260101-000000000-0123456789abcdef"),
    ("GET", "/api/investigations/20260101-000000000-0123456789abcdef/events"),
]


@pytest.fixture(scope="module")
def restricted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service behind Easy Auth with a scenario for the network operations centre."""
    with client_of(with_network(tmp_path_factory.mktemp("restricted"), FOR_NOC), easy_auth=True) as client:
        yield client


@pytest.mark.parametrize(("method", "path"), [*ROUTES, ("GET", "/api/scenarios")])
def test_who_is_not_signed_in_is_told_to(restricted: httpx.Client, method: str, path: str) -> None:
    reply = restricted.request(method, path, json={"query": "SELECT 1", "text": "x"} if method == "POST" else None)
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "not_signed_in")


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_for_whom_the_network_is_not_there_is_none(restricted: httpx.Client, method: str, path: str) -> None:
    bodies: list[Any] = [{"query": "SELECT 1", "text": "x"}, {"text": "x"}] if method == "POST" else [None]
    for body in bodies:
        reply = restricted.request(method, path, json=body, headers=signed_in("bob", "group-it"))
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found"), reply.text
        assert "telco" not in reply.text and "Metro" not in reply.text


def test_for_whom_it_is_there_it_answers_and_nobody_else_hears_of_it(restricted: httpx.Client) -> None:
    ann, bob = signed_in("ann", "group-noc"), signed_in("bob", "group-it")
    assert restricted.post("/query/graph", json={"query": "SELECT 1 AS n"}, headers=ann).json()["data"] == [{"n": 1}]
    for path, seen in (("/api/scenarios", "telco"), ("/api/tools", "query_graph")):
        assert seen in restricted.get(path, headers=ann).text
        assert seen not in restricted.get(path, headers=bob).text
    called = restricted.post("/api/tools/query_graph", json={"query": "SELECT 1"}, headers=bob)
    assert called.status_code == 404
    assert restricted.get("/health").json()["network"] == {
        "backend": "local",
        "scenario": "",
        "vertices": 0,
        "edges": 0,
        "telemetry_until": None,
        "reachable": None,
        "problem": None,
    }


@pytest.mark.slow("waits for a silent or slow service")
def test_a_list_that_changes_applies_at_once_and_one_that_cannot_be_read_lets_nobody_in(tmp_path: Path) -> None:
    knowledge_base = with_network(tmp_path)
    manifest = tmp_path / "scenarios" / "telco" / "scenario.yaml"
    whole = manifest.read_text()
    bob = signed_in("bob", "group-it")
    with client_of(knowledge_base, easy_auth=True) as client:
        ask = {"json": {"query": "SELECT 1"}, "headers": bob}
        assert client.post("/query/graph", **ask).json()["error"] is None
        manifest.write_text(whole.replace("access_control_list: []", FOR_NOC))
        assert client.post("/query/graph", **ask).status_code == 404
        manifest.write_text(whole.replace("access_control_list: []", "access_control_list: {"))
        answer = client.post("/query/graph", **ask).json()
        assert (answer["data"], "cannot be read" in answer["error"]) == ([], True)
        assert client.get("/api/agents", headers=bob).status_code == 503


# --- OpenAPI for outside agents ------------------------------------------------------------------


def document(client: httpx.Client) -> dict[str, Any]:
    reply = client.get("/query/openapi.json?version=3.0.3")
    assert reply.status_code == 200
    described: dict[str, Any] = reply.json()
    return described


OF_3_0 = {
    *("type", "properties", "required", "items", "additionalProperties", "description", "nullable", "enum", "example"),
    *("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern", "format", "allOf", "default"),
}
"""What a schema of OpenAPI 3.0 may say: it is older than JSON Schema of today."""


def _check_schema(schema: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    if "$ref" in schema:
        assert schema["$ref"].removeprefix("#/components/schemas/") in known
        return
    assert schema.keys() <= OF_3_0, schema
    assert schema.get("type") in (None, "array", "boolean", "integer", "number", "object", "string")
    assert isinstance(schema.get("additionalProperties", True), bool)
    for each in (*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])):
        _check_schema(each, known)


@pytest.mark.parametrize("backend", ["local", "mock"])
def test_the_description_is_valid_openapi_3_0_and_made_for_its_backend(tmp_path: Path, backend: str) -> None:
    with client_of(with_network(tmp_path, network=backend)) as client:
        described = document(client)
    assert described["openapi"] == "3.0.3"
    for schema in described["components"]["schemas"].values():
        _check_schema(schema, described["components"]["schemas"])
    assert described["paths"].keys() == {"/query/graph", "/query/telemetry"}
    graph = described["paths"]["/query/graph"]["post"]["description"]
    assert ("downstream(id, depth)" in graph) == (backend == "local")
    assert "CoreRouter" in graph and "connects_to: TransportLink to CoreRouter" in graph
    telemetry = described["paths"]["/query/telemetry"]["post"]["description"]
    assert "alerts (raised_at, source_id" in telemetry
    for name in ("GraphQueryResponse", "TelemetryQueryResponse"):
        error = described["components"]["schemas"][name]["properties"]["error"]
        assert error["nullable"] is True and "correct the query" in error["description"]


def test_another_version_is_refused(network: httpx.Client) -> None:
    assert network.get("/query/openapi.json?version=2.0").status_code == 422


@pytest.mark.slow("waits for a silent or slow service")
def test_a_proxy_that_holds_every_message_against_the_description_lets_all_of_ours_pass(
    network: httpx.Client, tmp_path: Path
) -> None:
    described = tmp_path / "openapi.json"
    described.write_text(json.dumps(document(network)))
    with prism_proxy(described, str(network.base_url)) as url, httpx.Client(base_url=url, timeout=30) as client:
        for query in ("SELECT id, kind FROM vertices LIMIT 2", "SELECT x"):
            for path in ("/query/graph", "/query/telemetry"):
                assert (
                    asked(client, path, {"query": query}).get("error", "")
                    == (asked(network, path, {"query": query})["error"])
                )
        assert client.post("/query/graph", json={"question": "what?"}).status_code == 422


def test_a_generic_client_makes_tools_of_it_and_repairs_its_query_by_the_error(network: httpx.Client) -> None:
    client = GenericClient(document(network), network)
    assert client.tools.keys() == {"query_graph", "query_telemetry"}
    first = client.call("query_graph", query="SELECT nam FROM vertices LIMIT 1")
    assert not first["data"]
    nearest = first["error"].partition('Candidate bindings: "')[2].partition('"')[0]
    assert client.call("query_graph", query=f"SELECT {nearest} FROM vertices LIMIT 1")["data"]
    example = network.get("/query/openapi.json").json()["paths"]["/query/telemetry"]["post"]["requestBody"]
    query = example["content"]["application/json"]["example"]["query"]
    assert client.call("query_telemetry", query=query)["error"] is None


def test_where_callers_sign_in_with_a_token_the_description_says_so() -> None:
    described = openapi_document(Broken.language, ScenarioFolder(SAMPLE).scenario, "https://kb.example/", signs_in=True)
    assert described["security"] == [{"token": []}]
    assert described["servers"] == [{"url": "https://kb.example"}]


# --- tools ---------------------------------------------------------------------------------------


def test_the_queries_are_tools_and_a_failed_one_is_a_value_with_hints(network: httpx.Client) -> None:
    names = [tool["function"]["name"] for tool in network.get("/api/tools").json()["tools"]]
    assert names[-3:] == ["query_graph", "query_telemetry", "network_neighbourhood"]
    found = network.post("/api/tools/query_graph", json={"query": "SELECT 1 AS n"}).json()
    assert (found["success"], found["data"]) == (True, [{"n": 1}])
    failed = network.post("/api/tools/query_telemetry", json={"query": "SELECT x FROM alerts"}).json()
    assert (failed["success"], failed["type"], "alert" in failed["error"]) == (False, "QueryFailed", True)
    around = {"ids": ["LINK-SYD-MEL"], "depth": 1, "direction": "up"}
    nodes = network.post("/api/tools/network_neighbourhood", json=around).json()["nodes"]
    assert {node["id"] for node in nodes} == {"LINK-SYD-MEL", "CORE-SYD-01", "CORE-MEL-01"}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "query_graph", "arguments": {"query": "SELECT 1 AS n"}},
    }
    reply = network.post("/mcp", json=call, headers={"accept": "application/json, text/event-stream"})
    assert reply.json()["result"]["structuredContent"]["data"] == [{"n": 1}]


@pytest.mark.slow("waits for a silent or slow service")
def test_without_a_loaded_network_there_are_no_tools_for_it(service: httpx.Client) -> None:
    assert "query_graph" not in service.get("/api/tools").text
