"""Readers of the network while new versions are loaded: none is refused, none goes back, and the new one is seen."""

import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from kb_pipeline.network.loading import load
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline_tests.app.api.networks import client_of, with_network

pytestmark = pytest.mark.rare("readers and a loader at once")

VERSIONS = 4


def of_graph(client: httpx.Client) -> int:
    answer = client.post("/query/graph", json={"query": "SELECT count(*) AS n FROM vertices"}).json()
    assert answer["error"] is None
    return int(answer["data"][0]["n"])


def of_telemetry(client: httpx.Client) -> int:
    answer = client.post("/query/telemetry", json={"query": "SELECT count(*) AS n FROM alerts"}).json()
    assert answer["error"] is None
    return int(answer["rows"][0]["n"])


def of_topology(client: httpx.Client) -> int:
    answer = client.post("/query/topology", json={}).json()
    assert answer["error"] is None
    return int(answer["meta"]["node_count"])


def of_investigation(client: httpx.Client) -> int:
    told = client.post("/api/alert", json={"text": "LINK_DOWN on LINK-SYD-MEL"}).text
    assert "event: message" in told and '"error": true' not in told.replace('"error":true', '"error": true')
    return 0


def test_no_request_fails_while_versions_are_loaded_and_each_version_is_seen_at_once(tmp_path: Path) -> None:
    failed: list[str] = []
    ended = threading.Event()
    folder = tmp_path / "scenarios" / "telco"

    def read(url: str, count: Callable[[httpx.Client], int]) -> None:
        seen = 0
        with httpx.Client(base_url=url, timeout=60) as client:
            while not ended.is_set():
                try:
                    now = count(client)
                    assert now >= seen, f"{count.__name__} went back from {seen} to {now}"
                    seen = now
                except Exception as exc:
                    failed.append(repr(exc))
                    return

    with client_of(with_network(tmp_path)) as client:
        readers = [
            threading.Thread(target=read, args=(str(client.base_url), count))
            for count in (of_graph, of_graph, of_telemetry, of_topology, of_investigation)
        ]
        for reader in readers:
            reader.start()
        try:
            for number in range(1, VERSIONS + 1):
                with (folder / "network" / "services.csv").open("a") as services:
                    services.write(f"VPN-{number},New,AU,,VPN,New,0\n")
                with (folder / "telemetry" / "alerts.csv").open("a") as alerts:
                    alerts.write(f"ALM-X{number},2026-11-02T03:50:00Z,,LINK-SYD-MEL,TransportLink,LINK_DOWN,MAJOR,x\n")
                load(ScenarioFolder(folder), tmp_path / "home")
                assert (of_graph(client), of_telemetry(client)) == (50 + number, 51 + number)
        finally:
            ended.set()
            for reader in readers:
                reader.join()
    assert failed == []
