"""Several networks at once: each is asked by its name, an alert finds its own, and each has its own readers."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.client import Client
from app.logs.lines import log_tail, note
from app.network.networks import NetworkNotFoundError, Networks
from app.schema.network import Investigation, TopologyRequest
from kb_pipeline.network.loading import load
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import signed_in
from kb_pipeline_tests.app.api.networks import FOR_NOC, STORM, client_of, with_network
from kb_pipeline_tests.network.data_centre import STORM as STORM_OF_DATA_CENTRE
from kb_pipeline_tests.network.data_centre import data_centre

BOTH = signed_in("nina", "group-noc", "group-dc")
TELCO, CENTRE = signed_in("tom", "group-noc"), signed_in("dora", "group-dc")
NETWORKS = ["telco", "datacentre"]


def two_networks(folder: Path, **settings: Any) -> Settings:
    """Settings with the sample for one group and a data centre for another; the sample is the default."""
    knowledge_base = with_network(folder, FOR_NOC, scenario="telco", **settings)
    load(ScenarioFolder(data_centre(folder / "scenarios", "group-dc")), knowledge_base.home_path)
    return knowledge_base


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with client_of(two_networks(tmp_path_factory.mktemp("networks")), easy_auth=True) as client:
        yield client


def client_for(service: httpx.Client, who: dict[str, str]) -> Client:
    return Client(str(service.base_url).rstrip("/"), headers=who)


def investigated(client: Client, alert: str, scenario: str = "") -> Investigation:
    events = list(client.investigate(alert, scenario))
    return client.investigation(events[0].data["run_id"])


def test_the_default_is_listed_first_and_each_is_loaded(service: httpx.Client) -> None:
    with client_for(service, BOTH) as client:
        told = client.scenarios()
        assert [each.name for each in told] == NETWORKS
        assert [each.vertices for each in told] == [50, 15] and all(each.loaded for each in told)
        assert [client.network_health(each).scenario for each in ("", *NETWORKS)] == ["telco", *NETWORKS]


def test_each_is_asked_by_its_name(service: httpx.Client) -> None:
    with client_for(service, BOTH) as client:
        count = "SELECT count(*) AS n FROM {}"
        for scenario, vertices, alerts in (("", 50, 51), ("telco", 50, 51), ("datacentre", 15, 5)):
            assert client.query_graph(count.format("vertices"), scenario).data == ({"n": vertices},)
            assert client.query_telemetry(count.format("alerts"), scenario).rows == ({"n": alerts},)
            assert client.topology(TopologyRequest(limit=1), scenario).meta.node_count == vertices


@pytest.mark.parametrize("path", ["/query/graph", "/query/telemetry", "/query/topology", "/api/alert"])
@pytest.mark.parametrize("name", ["nowhere", "../telco", "TELCO"])
def test_a_name_that_there_is_not_is_refused_with_those_that_there_are(
    service: httpx.Client, path: str, name: str
) -> None:
    body = {"text": STORM} if path == "/api/alert" else {"query": "SELECT 1"}
    reply = service.post(path, params={"scenario": name}, json=body, headers=BOTH)
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
    assert reply.json()["error"]["message"].endswith("there are: telco, datacentre")


def test_an_alert_is_investigated_in_the_network_whose_elements_it_names(service: httpx.Client) -> None:
    with client_for(service, BOTH) as client:
        for alert, scenario, cause, other in (
            (STORM, "telco", "LINK-SYD-MEL", "Data centre West"),
            (STORM_OF_DATA_CENTRE, "datacentre", "LEAF-2", "Metro backbone"),
        ):
            found = investigated(client, alert)
            assert (found.scenario, found.cause) == (scenario, cause)
            assert f"Not looked at: {other}" in (found.report or "")  # both have an element VPN-ACME
        assert [each.scenario for each in client.investigations()[:2]] == ["datacentre", "telco"]


@pytest.mark.parametrize("alert", ["VPN-ACME is down", "good morning"])
def test_where_no_network_fits_better_it_is_the_default_and_the_report_names_it(
    service: httpx.Client, alert: str
) -> None:
    with client_for(service, BOTH) as client:
        found = investigated(client, alert)
        assert found.scenario == "telco" and "Metro backbone of four cities" in (found.report or "")


def test_who_names_the_network_is_believed(service: httpx.Client) -> None:
    with client_for(service, BOTH) as client:
        found = investigated(client, STORM, "datacentre")
        assert found.scenario == "datacentre"
        assert "VPN-ACME" in (found.report or "") and found.cause != "LINK-SYD-MEL"


def test_who_may_see_one_network_alone_has_it_as_the_default_and_hears_of_no_other(service: httpx.Client) -> None:
    for who, own, other, words in (
        (TELCO, "telco", "datacentre", ("LEAF-2", "Data centre West")),
        (CENTRE, "datacentre", "telco", ("LINK-SYD-MEL", "Metro backbone")),
    ):
        with client_for(service, who) as client:
            assert [each.name for each in client.scenarios()] == [own]
            found = investigated(client, f"{STORM}\n{STORM_OF_DATA_CENTRE}")
            assert (found.scenario, client.network_health().scenario) == (own, own)
            told = (found.report or "") + service.get("/api/tools", headers=who).text
            told += service.get("/query/openapi.json", headers=who).text
            assert not [each for each in words if f"cause: {each}" in told or f"Not looked at: {each}" in told]
            assert f"scenario {other}" not in told
        reply = service.post("/query/graph", params={"scenario": other}, json={"query": "SELECT 1"}, headers=who)
        assert reply.status_code == 404 and f"there are: {own}" in reply.text


def test_tools_take_the_name_of_a_network(service: httpx.Client) -> None:
    tools = {
        each["function"]["name"]: each["function"] for each in service.get("/api/tools", headers=BOTH).json()["tools"]
    }
    described = tools["query_graph"]["description"]
    assert "scenario telco: " in described and "scenario datacentre: " in described
    for scenario, found in (("datacentre", "LEAF-2"), ("telco", "LINK-SYD-MEL")):
        asked = {"query": f"SELECT id FROM vertices WHERE id = '{found}'", "scenario": scenario}
        assert service.post("/api/tools/query_graph", json=asked, headers=BOTH).json()["data"] == [{"id": found}]
        around = {"ids": [found], "depth": 1, "scenario": scenario}
        assert service.post("/api/tools/network_neighbourhood", json=around, headers=BOTH).json()["nodes"]
    wrong = {"query": "SELECT 1", "scenario": "nowhere"}
    failed = service.post("/api/tools/query_telemetry", json=wrong, headers=BOTH).json()
    assert failed["success"] is False and "there are: telco, datacentre" in failed["error"]


def test_the_description_for_agents_names_the_scenario_that_each_query_has_to_name(service: httpx.Client) -> None:
    reply = service.get("/query/openapi.json", params={"scenario": "datacentre"}, headers=BOTH).json()
    for path in reply["paths"].values():
        (which,) = path["post"]["parameters"]
        assert (which["name"], which["required"], which["schema"]["enum"]) == ("scenario", True, ["datacentre"])
    assert "Leaf" in json.dumps(reply) and "CoreRouter" not in json.dumps(reply)


def test_what_was_found_in_a_network_is_for_its_readers_whatever_others_they_may_see(tmp_path: Path) -> None:
    knowledge_base = two_networks(tmp_path)
    with client_of(knowledge_base, easy_auth=True) as service, client_for(service, BOTH) as client:
        run_id = investigated(client, STORM_OF_DATA_CENTRE).id
        manifest = tmp_path / "scenarios" / "datacentre" / "scenario.yaml"
        manifest.write_text(manifest.read_text().replace("group-dc", "group-board"))
        assert client.investigations() == ()
        assert service.get(f"/api/investigations/{run_id}", headers=BOTH).status_code == 404
        assert investigated(client, STORM_OF_DATA_CENTRE).scenario == "telco"


def test_lines_about_a_network_are_for_its_readers_and_all_others_for_the_readers_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_tail(), "_readers", {})  # scenarios of other tests have other readers
    with client_of(two_networks(tmp_path), easy_auth=True) as service:
        with client_for(service, CENTRE) as client:
            run_id = investigated(client, STORM_OF_DATA_CENTRE).id
        note("of nobody knows what")

        def told(who: dict[str, str]) -> str:
            return service.get("/api/logs?follow=false", headers=who).text

        assert run_id[:18] in told(CENTRE) and run_id[:18] in told(BOTH) and run_id[:18] not in told(TELCO)
        assert [("of nobody knows what" in told(who)) for who in (BOTH, TELCO, CENTRE)] == [True, False, False]


def test_a_network_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    knowledge_base = two_networks(tmp_path)
    with client_of(knowledge_base, easy_auth=True) as service, client_for(service, BOTH) as client:
        (tmp_path / "scenarios" / "datacentre" / "scenario.yaml").write_text("name: [")
        assert [each.name for each in client.scenarios()] == ["telco"]
        assert client.query_graph("SELECT 1 AS n").data == ({"n": 1},)
        assert "cannot be read" in (client.query_graph("SELECT 1 AS n", "datacentre").error or "")
        shutil.rmtree(tmp_path / "scenarios" / "datacentre")
        assert investigated(client, STORM_OF_DATA_CENTRE).scenario == "telco"


def test_a_default_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    data_centre(tmp_path, "group-dc")
    networks = Networks(Settings(scenarios=str(tmp_path), scenario="datacenter"))
    with pytest.raises(NetworkNotFoundError, match=r"'datacenter' here; there are: datacentre"):
        asyncio.run(networks.open(None))
