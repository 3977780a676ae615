"""Networks of any size, as scenarios on disk: the simulator's networks beside each other, joined by links.

Storms happen in them whose causes are known: faults in different tiles at once, alerts raised again and again, noise.
"""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from app.network.alerts import Alert
from benchmarks.diagnosis.networks import Network, network_of
from benchmarks.diagnosis.propagation import Spreading
from benchmarks.diagnosis.simulator import DERIVED, NOW, OWN, SYMPTOMS, WINDOW

_KINDS = 12
"""Different networks that are laid beside each other."""
_LEAST = 8
"""Fewest elements that a fault of a storm brings down: of a smaller one nobody could tell it from noise."""
_STEP = 300
_ENDS: Mapping[str, tuple[Sequence[str], Sequence[str], str]] = {
    "connects_to": (["TransportLink"], ["CoreRouter"], "all"),
    "peers_over": (["BGPSession"], ["TransportLink"], "all"),
    "aggregates_to": (["AggSwitch"], ["CoreRouter"], "all"),
    "backhauls_via": (["BaseStation"], ["AggSwitch"], "all"),
    "routes_over": (["MPLSPath"], ["TransportLink"], "all"),
    "depends_on": (["Service"], ["AggSwitch", "BaseStation", "MPLSPath"], "any"),
    "governs": (["SLAPolicy"], ["Service"], "all"),
}
_ROLES = {"Service": "service", "SLAPolicy": "obligation"}


@dataclass(frozen=True)
class Tiled:
    """Ids by type, edges by label, and the networks of the tiles."""

    vertices: Mapping[str, list[str]]
    edges: Mapping[str, list[tuple[str, str]]]
    tiles: Sequence[Network]

    @property
    def size(self) -> tuple[int, int]:
        """Vertices and edges."""
        return sum(map(len, self.vertices.values())), sum(map(len, self.edges.values()))


def tile(least: int, seed: int) -> Tiled:
    """A network of at least so many vertices."""
    kinds = [network_of(seed * 1000 + number) for number in range(_KINDS)]
    vertices: dict[str, list[str]] = {}
    edges: dict[str, list[tuple[str, str]]] = {label: [] for label in _ENDS}
    tiles: list[Network] = []
    border = ""
    while sum(map(len, vertices.values())) < least:
        network = kinds[len(tiles) % len(kinds)]
        start = f"t{len(tiles):05}"
        for name, kind, *_ in network.vertices:
            vertices.setdefault(kind, []).append(start + name)
        for source, target, label, _ in network.edges:
            edges[label].append((start + source, start + target))
        router = start + next(row[0] for row in network.vertices if row[1] == "CoreRouter")
        if border:
            link = f"{start}link"
            vertices.setdefault("TransportLink", []).append(link)
            edges["connects_to"] += [(link, border), (link, router)]
        border = router
        tiles.append(network)
    return Tiled(vertices, edges, tiles)


def storm(tiled: Tiled, seed: int, faults: int, alerts: int, noise: float = 0.02) -> tuple[list[Alert], list[str]]:
    """Alerts of so many faults at once in different tiles, and the causes.

    ``noise`` is the share of elements that alert for nothing; a fifth of all alerts is theirs.
    """
    draw = random.Random(f"storm {seed}")
    causes: list[str] = []
    raised: list[Alert] = []
    spreading: dict[int, Spreading] = {}
    for place in draw.sample(range(len(tiled.tiles)), min(faults, len(tiled.tiles))):
        network = tiled.tiles[place]
        spread = spreading.setdefault(id(network), Spreading(network.topology))
        root, failed = _fault(network, spread, draw)
        began = NOW - draw.uniform(240, 1200)
        causes.append(f"t{place:05}{network.topology.ids[root]}")
        for vertex, steps in failed.items():
            if draw.random() < 0.1:
                continue
            kind = network.topology.types[vertex]
            name = OWN_ALERTS[kind] if vertex == root else DERIVED[kind]
            at = began + steps * draw.expovariate(1 / 30)
            raised.append(Alert(f"t{place:05}{network.topology.ids[vertex]}", name, at, "MAJOR"))
    ids = [name for some in tiled.vertices.values() for name in some]
    kind_of = {name: kind for kind, some in tiled.vertices.items() for name in some}
    types = {
        kind: sorted(name for name, symptom in SYMPTOMS.items() if kind in (*symptom.own, *symptom.derived))
        for kind in tiled.vertices
    }
    strewn = [
        Alert(name, draw.choice(types[kind_of[name]]), NOW - draw.uniform(0, WINDOW), "MINOR")
        for name in draw.sample(ids, min(round(len(ids) * noise), alerts // 5))
    ]
    strewn_again = itertools.islice(itertools.cycle(strewn), alerts // 5 - len(strewn))
    raised_again = itertools.islice(itertools.cycle(raised), alerts - alerts // 5 - len(raised))
    repeated = [
        Alert(first.entity, first.kind, draw.uniform(first.at, NOW), first.severity)
        for first in itertools.chain(strewn_again, raised_again)
    ]
    everything = [alert for alert in (*raised, *strewn, *repeated) if alert.at <= NOW]
    draw.shuffle(everything)
    return everything, causes


OWN_ALERTS = {kind: alert for kind, alert in OWN.values() if alert in ("LINK_DOWN", "NODE_DOWN")}


def _fault(network: Network, spread: Spreading, draw: random.Random) -> tuple[int, dict[int, int]]:
    topology = network.topology
    having = [vertex for vertex, kind in enumerate(topology.types) if kind in OWN_ALERTS]
    while True:
        root = draw.choice(having)
        failed, _ = spread.failing_with([root])
        if len(failed) >= _LEAST:
            return root, failed


def write_scenario(folder: Path, tiled: Tiled, alerts: Sequence[Alert], rows: int, seed: int) -> None:
    """Write a scenario: the network, the alerts, and about so many rows of measurements."""
    (folder / "network").mkdir(parents=True)
    (folder / "telemetry").mkdir()
    for kind, ids in tiled.vertices.items():
        pq.write_table(pa.table({"id": ids, "name": ids}), folder / "network" / f"{kind}.parquet")
    for label, pairs in tiled.edges.items():
        sources, targets = zip(*pairs, strict=True)
        pq.write_table(pa.table({"source": sources, "target": targets}), folder / "network" / f"{label}.parquet")
    times = [datetime.fromtimestamp(alert.at, UTC).replace(tzinfo=None) for alert in alerts]
    pq.write_table(
        pa.table(
            {
                "raised_at": pa.array(times, pa.timestamp("us")),
                "source_id": [alert.entity for alert in alerts],
                "alert_type": [alert.kind for alert in alerts],
                "severity": [alert.severity for alert in alerts],
                "message": ["" for _ in alerts],
            }
        ),
        folder / "telemetry" / "alerts.parquet",
    )
    _write_metrics(folder / "telemetry" / "link_metrics.parquet", tiled.vertices["TransportLink"], rows, seed)
    manifest = {
        "name": folder.name,
        "title": "tiled",
        "vertices": {
            kind: {"file": f"network/{kind}.parquet", "id": "id", "kind": _ROLES.get(kind, "infrastructure")}
            for kind in tiled.vertices
        },
        "edges": [
            {"label": label, "file": f"network/{label}.parquet", "needs": needs,
             "from": ["|".join(sources), "source"], "to": ["|".join(targets), "target"]}
            for label, (sources, targets, needs) in _ENDS.items()
        ],
        "telemetry": {
            "alerts": {"file": "telemetry/alerts.parquet", "time": "raised_at", "entity": "source_id"},
            "link_metrics": {"file": "telemetry/link_metrics.parquet", "time": "measured_at", "entity": "link_id",
                             "metrics": {"utilization_pct": "both", "latency_ms": "up", "packet_loss_pct": "up"}},
        },
        "symptoms": {
            name: {"own": list(symptom.own), "derived": list(symptom.derived)} for name, symptom in SYMPTOMS.items()
        },
    }  # fmt: skip
    (folder / "scenario.yaml").write_text(yaml.safe_dump(manifest, sort_keys=False))


def _write_metrics(path: Path, links: Sequence[str], rows: int, seed: int) -> None:
    """A week of measurements of as many links as make so many rows."""
    draw = np.random.default_rng(seed)
    points = 7 * 86400 // _STEP
    measured = list(links[: max(rows // points, 1)])
    times = (NOW - _STEP * np.arange(points)[::-1]) * 1e6
    with pq.ParquetWriter(path, _METRICS) as writer:
        for part in np.array_split(np.arange(points), 24):
            count = len(part) * len(measured)
            writer.write_table(
                pa.table(
                    {
                        "measured_at": pa.array(np.repeat(times[part].astype("int64"), len(measured))).cast(
                            pa.timestamp("us")
                        ),
                        "link_id": measured * len(part),
                        "utilization_pct": draw.normal(45, 4, count),
                        "latency_ms": draw.normal(6, 0.3, count),
                        "packet_loss_pct": np.abs(draw.normal(0.02, 0.01, count)),
                    },
                    _METRICS,
                )
            )


_METRICS = pa.schema(
    [
        ("measured_at", pa.timestamp("us")),
        ("link_id", pa.string()),
        ("utilization_pct", pa.float64()),
        ("latency_ms", pa.float64()),
        ("packet_loss_pct", pa.float64()),
    ]
)
