"""A small network of two routers, and the alerts of a cut link."""

import pyarrow as pa
import pytest

from app.network.alerts import Alert
from kb_pipeline.network.scenario import Symptom
from kb_pipeline.network.topology import Topology

SYMPTOMS = {
    "LINK_DOWN": Symptom(own=("Link",)),
    "NODE_DOWN": Symptom(own=("Router",)),
    "PATH_DOWN": Symptom(derived=("Path",)),
    "SERVICE_DOWN": Symptom(derived=("Service",)),
    "FAN_WARN": Symptom(),
}
NOW = 1_800_000_000.0
BEGAN = NOW - 600


@pytest.fixture(scope="module")
def network() -> Topology:
    """Twenty pairs of routers, each pair with a link, two paths over it, and a service on each path."""
    vertices, edges = [], []
    for number in range(20):
        one, other, link = f"r{number}a", f"r{number}b", f"link{number}"
        vertices += [(one, "Router"), (other, "Router"), (link, "Link")]
        edges += [(link, one, "all"), (link, other, "all")]
        for letter in "xy":
            path, service = f"path{number}{letter}", f"service{number}{letter}"
            vertices += [(path, "Path"), (service, "Service")]
            edges += [(path, link, "all"), (service, path, "any")]
    vertices += [("double", "Service")]
    edges += [("double", "path0x", "any"), ("double", "path1x", "any")]
    kinds = ["service" if kind == "Service" else "infrastructure" for _, kind in vertices]
    names = [name for name, _ in vertices]
    table = pa.table({"id": names, "type": [kind for _, kind in vertices], "kind": kinds, "name": names})
    rows = list(zip(*edges, strict=True))
    labels = ["needs"] * len(edges)
    return Topology(table, pa.table({"source": rows[0], "target": rows[1], "label": labels, "needs": rows[2]}))


def cut(number: int, began: float = BEGAN, *, silent: bool = False) -> list[Alert]:
    """The alerts of a cut link: its own unless it is silent, then those of paths and services."""
    own = [] if silent else [Alert(f"link{number}", "LINK_DOWN", began, "CRITICAL")]
    paths = [Alert(f"path{number}{letter}", "PATH_DOWN", began + 20, "MAJOR") for letter in "xy"]
    services = [Alert(f"service{number}{letter}", "SERVICE_DOWN", began + 50, "MAJOR") for letter in "xy"]
    return [*own, *paths, *services]
