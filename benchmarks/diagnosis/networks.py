"""Telecom networks for the simulator, grown on topologies of TopoHub."""

import itertools
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import pyarrow as pa

from kb_pipeline.network.topology import Topology

Edge = tuple[str, str, str, str]


@dataclass(frozen=True)
class Network:
    """A network: rows of vertices and edges, and the same as a topology."""

    name: str
    vertices: list[tuple[str, str, str, str, str]]
    edges: list[Edge]
    topology: Topology


@cache
def topologies(provider: str = "topozoo", least: int = 6, most: int = 60) -> tuple[str, ...]:
    """The names of the provider's networks of a size, in order."""
    folder = files("topohub") / "data" / provider
    names = sorted(path.name for path in folder.iterdir() if path.name.endswith(".json"))
    sizes = {name: len(json.loads((folder / name).read_text())["nodes"]) for name in names}
    return tuple(f"{provider}/{name.removesuffix('.json')}" for name in names if least <= sizes[name] <= most)


def network_of(seed: int, names: Sequence[str] = ()) -> Network:
    """A network on a topology that the seed chooses, with switches, stations, paths, services and obligations."""
    draw = random.Random(f"network {seed}")
    name = draw.choice(names or topologies())
    import topohub

    graph = topohub.get(name)
    growing = _Growing(draw)
    cores = {node["id"]: growing.add("CoreRouter", site=f"site-{node['id']}") for node in graph["nodes"]}
    ends = sorted(
        {tuple(sorted((str(e["source"]), str(e["target"])))) for e in graph["edges"] if e["source"] != e["target"]}
    )
    links = {}
    for one, other in ends:
        link = links[one, other] = growing.add("TransportLink")
        growing.join(link, cores[one], "connects_to")
        growing.join(link, cores[other], "connects_to")
        if draw.random() < 0.7:
            growing.join(growing.add("BGPSession"), link, "peers_over")
    _access(growing, list(cores.values()), draw)
    _paths(growing, list(cores), links, draw)
    for service in [row[0] for row in growing.vertices if row[1] == "Service"]:
        if draw.random() < 0.8:
            growing.join(growing.add("SLAPolicy", "obligation"), service, "governs")
    return growing.network(name)


class _Growing:
    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.vertices: list[tuple[str, str, str, str, str]] = []
        self.edges: list[Edge] = []

    def add(self, kind: str, role: str = "infrastructure", site: str = "") -> str:
        name = f"v{len(self.vertices):05}"  # a name says nothing
        self.vertices.append((name, kind, role, name, site))
        return name

    def join(self, source: str, target: str, label: str, needs: str = "all") -> None:
        self.edges.append((source, target, label, needs))

    def network(self, name: str) -> Network:
        vertices = pa.table(
            dict(zip(("id", "type", "kind", "name", "site"), zip(*self.vertices, strict=True), strict=True))
        )
        edges = pa.table(dict(zip(("source", "target", "label", "needs"), zip(*self.edges, strict=True), strict=True)))
        return Network(name, self.vertices, self.edges, Topology(vertices, edges))


def _access(growing: _Growing, cores: list[str], draw: random.Random) -> None:
    for place, core in enumerate(cores):
        for _ in range(draw.randint(1, 3)):
            switch = growing.add("AggSwitch", site=f"site-{place}")
            growing.join(switch, core, "aggregates_to")
            if draw.random() < 0.5:
                growing.join(growing.add("Service", "service"), switch, "depends_on", "any")
            for _ in range(draw.randint(2, 6)):
                station = growing.add("BaseStation", site=f"mast-{len(growing.vertices)}")
                growing.join(station, switch, "backhauls_via")
                if draw.random() < 0.35:
                    growing.join(growing.add("Service", "service"), station, "depends_on", "any")


def _paths(growing: _Growing, nodes: list[str], links: dict[tuple[str, str], str], draw: random.Random) -> None:
    near: dict[str, list[str]] = {node: [] for node in nodes}
    for one, other in links:
        near[one].append(other)
        near[other].append(one)
    for _ in range(max(4, len(nodes))):
        start, end = draw.sample(nodes, 2)
        first = _way(near, start, end, set())
        if not first:
            continue
        ways = [first]
        used = {tuple(sorted(pair)) for pair in itertools.pairwise(first)}
        if draw.random() < 0.5 and (second := _way(near, start, end, used)):
            ways.append(second)
        service = growing.add("Service", "service")
        for way in ways:
            path = growing.add("MPLSPath")
            for pair in itertools.pairwise(way):
                growing.join(path, links[tuple(sorted(pair))], "routes_over")
            growing.join(service, path, "depends_on", "any")


def _way(near: dict[str, list[str]], start: str, end: str, without: set[tuple[str, ...]]) -> list[str]:
    before, ring = {start: start}, [start]
    while ring and end not in before:
        following = []
        for node in ring:
            for other in near[node]:
                if other not in before and tuple(sorted((node, other))) not in without:
                    before[other] = node
                    following.append(other)
        ring = following
    if end not in before:
        return []
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]
