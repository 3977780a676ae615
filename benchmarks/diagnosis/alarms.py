"""Alarms of real telecom networks (PCIC 2021; gcastle-hub/dataset, MIT): what alert reduction makes of them.

``python -m benchmarks.diagnosis.alarms FOLDER``; FOLDER is a network, or holds networks, each a folder with Alarm.csv,
DAG.npy (which type causes which, by experts) and, where it is known, Topology.npy.

Prints for each network how many groups an investigation of the whole period makes of its alarms, how many one every
half an hour makes together, and as a control how many if every device stood at another's place; and how well counting
finds which type causes which.
"""

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from app.network.diagnosing import diagnose
from app.network.incidents import SignGroup
from benchmarks.diagnosis.sequences import DEVIATIONS, deviations
from kb_pipeline.network.topology import Topology

Booleans = NDArray[np.bool_]
_WINDOW = 1800.0
"""How far back an investigation reads alerts by default, in seconds."""


@dataclass(frozen=True)
class Recorded:
    """Alarms (device, type, at in seconds), which devices are joined, and which type causes which."""

    name: str
    alarms: pd.DataFrame
    joined: Booleans
    causes: Booleans


def read(folder: Path) -> Recorded:
    """Read a network. Without a topology every device stands alone."""
    table = pd.read_csv(folder / "Alarm.csv")
    alarms = pd.DataFrame(
        {"device": table["device_id"], "type": table["alarm_id"], "at": table["start_timestamp"].astype(float)}
    )
    path = folder / "Topology.npy"
    known = np.load(path).astype(bool) if path.is_file() else np.zeros((0, 0), bool)
    size = max(len(known), int(alarms["device"].max()) + 1)
    joined = np.zeros((size, size), bool)
    joined[: len(known), : len(known)] = known
    return Recorded(folder.name, alarms, joined | joined.T, np.load(folder / "DAG.npy").astype(bool))


def network_of(joined: Booleans) -> Topology:
    """The devices, and between every two that are joined a link that depends on both, as scenarios have them."""
    links = [(one, other) for one, other in zip(*np.nonzero(joined), strict=True) if one < other]
    rows = [(_device(number), "Device") for number in range(len(joined))]
    rows += [(f"link-{one}-{other}", "Link") for one, other in links]
    ends = [(f"link-{one}-{other}", _device(end)) for one, other in links for end in (one, other)]
    names = pa.array([name for name, _ in rows])
    kinds = pa.array(["infrastructure"] * len(rows))
    return Topology(
        pa.table({"id": names, "type": [kind for _, kind in rows], "kind": kinds, "name": names}),
        pa.table(
            {
                "source": pa.array([link for link, _ in ends], pa.string()),
                "target": pa.array([end for _, end in ends], pa.string()),
                "label": pa.array(["connects_to"] * len(ends), pa.string()),
                "needs": pa.array(["all"] * len(ends), pa.string()),
            }
        ),
    )


def alerts_of(alarms: pd.DataFrame) -> pa.Table:
    """The alarms as an investigation reads alerts from a store."""
    return pa.table(
        {
            "entity": [_device(number) for number in alarms["device"]],
            "kind": [f"type-{number}" for number in alarms["type"]],
            "at": alarms["at"].to_numpy(float),
            "severity": [""] * len(alarms),
        }
    )


def grouped(network: Topology, alerts: pa.Table) -> list[SignGroup]:
    """The groups that an investigation makes, of which nobody has said what the types mean."""
    at = alerts["at"].to_numpy()
    return diagnose(network, alerts, {}, float(at.min()), float(at.max())).incidents


def grouped_by_windows(network: Topology, alerts: pa.Table) -> int:
    """How many groups the investigations of one window after the other make."""
    at = alerts["at"].to_numpy()
    window = (at // _WINDOW).astype(int)
    return sum(len(grouped(network, alerts.filter(pa.array(window == each)))) for each in np.unique(window))


def memberships(network: Topology, alerts: pa.Table, incidents: Iterable[SignGroup]) -> list[int]:
    """In how many groups each alert is."""
    spans: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for incident in incidents:
        for sign in incident.signs:
            spans.setdefault((sign.vertex, sign.kind), []).append((sign.first, sign.last))
    rows = zip(
        network.find(alerts["entity"]).tolist(), alerts["kind"].to_pylist(), alerts["at"].to_pylist(), strict=True
    )
    return [sum(first <= at <= last for first, last in spans.get((vertex, kind), ())) for vertex, kind, at in rows]


def correlated(recorded: Recorded, seed: int = 0) -> dict[str, object]:
    """How many rows are left of the alarms, and what holds of the groups."""
    draw = np.random.default_rng(seed)
    network, alerts = network_of(recorded.joined), alerts_of(recorded.alarms)
    began = time.perf_counter()
    incidents = grouped(network, alerts)
    seconds = time.perf_counter() - began
    moved = draw.permutation(len(recorded.joined))
    elsewhere = network_of(recorded.joined[np.ix_(moved, moved)])
    sizes = sorted((sum(sign.count for sign in each.signs) for each in incidents), reverse=True)
    unfolding = [max(sign.first for sign in each.signs) - each.began for each in incidents]
    return {
        "alarms": len(recorded.alarms),
        "signs": sum(len(each.signs) for each in incidents),
        "groups": len(incidents),
        "fewer_rows": round(1 - len(incidents) / len(recorded.alarms), 4),
        "in_exactly_one": set(memberships(network, alerts, incidents)) == {1} and sum(sizes) == len(recorded.alarms),
        "same_when_shuffled": grouped(network, alerts.take(pa.array(draw.permutation(len(alerts))))) == incidents,
        "largest": sizes[:3],
        "devices_of_widest": max(len(each.vertices) for each in incidents),
        "longest_to_unfold_min": round(max(unfolding) / 60),
        "groups_by_half_hours": grouped_by_windows(network, alerts),
        "groups_if_devices_stood_elsewhere": len(grouped(elsewhere, alerts)),
        "seconds": round(seconds, 2),
    }


def sequenced(recorded: Recorded) -> dict[str, object]:
    """How well counting finds which type causes which: F1 over directed pairs, as the authors of the data define it.

    Beside it what naming every pair would score: the experts name many.
    """
    size = len(recorded.joined)
    near = {device: [device, *np.flatnonzero(recorded.joined[device]).tolist()] for device in range(size)}
    found = deviations(recorded.alarms, near, len(recorded.causes)) > DEVIATIONS
    different = ~np.eye(len(recorded.causes), dtype=bool)
    return {
        "types": len(recorded.causes),
        "pairs": int(recorded.causes.sum()),
        **f1(found & different, recorded.causes),
        "if_every_pair_is_named": f1(different, recorded.causes)["f1"],
    }


def f1(found: Booleans, true: Booleans) -> dict[str, float]:
    """F1, precision and recall of named pairs."""
    right = int((found & true).sum())
    return {
        "f1": round(2 * right / max(int(found.sum()) + int(true.sum()), 1), 3),
        "precision": round(right / max(int(found.sum()), 1), 3),
        "recall": round(right / max(int(true.sum()), 1), 3),
    }


def _device(number: int) -> str:
    return f"device-{number}"


def _folders(folder: Path) -> Sequence[Path]:
    inside = sorted(path.parent for path in folder.glob("*/Alarm.csv"))
    return inside or [folder]


def main() -> None:
    """Print two JSON lines for each network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    for folder in _folders(options.folder):
        recorded = read(folder)
        print(json.dumps({"network": recorded.name, "causes": sequenced(recorded)}), flush=True)
        print(json.dumps({"network": recorded.name, "groups": correlated(recorded)}), flush=True)


if __name__ == "__main__":
    main()
