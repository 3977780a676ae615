"""Faults in a network and what is seen of them: alerts that are late, lost or meaningless, and measurements.

The cause is known. The diagnosis never imports this; the repository uses seeds 1 to 200, others are for judging.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.network.alerts import Alert
from benchmarks.diagnosis.networks import Network, network_of
from benchmarks.diagnosis.propagation import Spreading
from kb_pipeline.network.scenario import Symptom

NOW = 1_790_000_000.0
WINDOW = 1800.0
STEP = 300.0
POINTS = 577

SYMPTOMS: Mapping[str, Symptom] = {
    "LINK_DOWN": Symptom(own=("TransportLink",)),
    "LINK_ERRORS": Symptom(own=("TransportLink",)),
    "HIGH_UTILIZATION": Symptom(own=("TransportLink",)),
    "NODE_DOWN": Symptom(own=("CoreRouter", "AggSwitch", "BaseStation")),
    "CPU_HIGH": Symptom(own=("CoreRouter",)),
    "POWER_LOSS": Symptom(own=("CoreRouter", "AggSwitch", "BaseStation")),
    "UNREACHABLE": Symptom(derived=("AggSwitch", "BaseStation")),
    "CONFIG_MISMATCH": Symptom(own=("BGPSession", "MPLSPath")),
    "BGP_DOWN": Symptom(derived=("BGPSession",)),
    "LSP_DOWN": Symptom(derived=("MPLSPath",)),
    "SERVICE_DOWN": Symptom(derived=("Service",)),
    "SERVICE_DEGRADED": Symptom(derived=("Service",)),
    "SLA_AT_RISK": Symptom(derived=("SLAPolicy",)),
    "FAN_WARN": Symptom(),
}
OWN: Mapping[str, tuple[str, str]] = {  # fault: type that has it, alert type of the cause
    "link cut": ("TransportLink", "LINK_DOWN"),
    "link degraded": ("TransportLink", "LINK_ERRORS"),
    "link flapping": ("TransportLink", "LINK_DOWN"),
    "router down": ("CoreRouter", "NODE_DOWN"),
    "router cpu": ("CoreRouter", "CPU_HIGH"),
    "line card": ("CoreRouter", "NODE_DOWN"),
    "switch down": ("AggSwitch", "NODE_DOWN"),
    "station power": ("BaseStation", "POWER_LOSS"),
    "bgp misconfigured": ("BGPSession", "CONFIG_MISMATCH"),
    "mpls misconfigured": ("MPLSPath", "CONFIG_MISMATCH"),
    "congestion": ("TransportLink", "HIGH_UTILIZATION"),
    "site power": ("CoreRouter", "POWER_LOSS"),
}
DERIVED: Mapping[str, str] = {
    "TransportLink": "LINK_DOWN", "BGPSession": "BGP_DOWN", "MPLSPath": "LSP_DOWN", "Service": "SERVICE_DOWN",
    "SLAPolicy": "SLA_AT_RISK", "AggSwitch": "UNREACHABLE", "BaseStation": "UNREACHABLE", "CoreRouter": "NODE_DOWN",
}  # fmt: skip


@dataclass(frozen=True)
class Level:
    """How much is lost and added: shares of alerts missed, of elements that alert for nothing, of silent causes."""

    missed: float
    noise: float
    silent: float


LEVELS: Mapping[str, Level] = {
    "easy": Level(0, 0, 0),
    "normal": Level(0.1, 0.01, 0.1),
    "hard": Level(0.3, 0.03, 0.3),
    "brutal": Level(0.5, 0.05, 0.5),
}


@dataclass(frozen=True)
class Incident:
    """What is seen, and what is true."""

    network: Network
    alerts: list[Alert]
    metrics: Mapping[str, Mapping[str, np.ndarray]]
    times: np.ndarray
    causes: tuple[str, ...]
    fault: str
    down: frozenset[str]
    weakened: frozenset[str]
    planned: tuple[str, ...] = field(default=())


DIRECTIONS: Mapping[str, str] = {
    "utilization_pct": "both",
    "latency_ms": "up",
    "packet_loss_pct": "up",
    "cpu_pct": "up",
}


def simulate(seed: int, level: str, *, faults: int = 1, names: Sequence[str] = (), planned: bool = False) -> Incident:
    """An incident of a level; without ``faults`` there is only noise."""
    draw = random.Random(f"{seed} {level} {faults} {planned}")
    network = network_of(seed, names)
    happened = [_fault(network, draw) for _ in range(faults)]
    while len({root for root, _ in happened}) < faults or _related(network, [root for root, _ in happened]):
        happened = [_fault(network, draw) for _ in range(faults)]
    noise = LEVELS[level]
    alerts: list[Alert] = []
    down: set[str] = set()
    weakened: set[str] = set()
    began = {}
    wholly: list[int] = []
    for root, fault in happened:
        began[root] = NOW - draw.uniform(240, 1200)
        more, failing, weaker, starts = _suffered(network, root, fault, began[root], noise, draw)
        alerts += more
        wholly += starts
        down |= failing
        weakened |= weaker
    together = {network.topology.ids[each] for each in Spreading(network.topology).failing_with(wholly)[0]} - down
    alerts = _without_ways(network, alerts, together, max(began.values(), default=NOW), noise, f"{seed} {level}")
    down |= together
    alerts += _noise(network, noise.noise, draw)
    skewed = draw.choice(network.vertices)[0]
    alerts = [_skewed(alert, 75.0 if alert.entity == skewed else 0.0) for alert in alerts if alert.at <= NOW]
    draw.shuffle(alerts)
    times, metrics = _measured(network, dict(happened), began, down, draw)
    return Incident(
        network, alerts, metrics, times, tuple(root for root, _ in happened), " and ".join(f for _, f in happened) or "none",  # noqa: E501
        frozenset(down), frozenset(weakened - down), tuple(began) if planned else (),
    )  # fmt: skip


def _related(network: Network, roots: list[str]) -> bool:
    numbers = network.topology.numbers(roots)
    return any(other != one and other in network.topology.downstream([one], 8) for one in numbers for other in numbers)


def _fault(network: Network, draw: random.Random) -> tuple[str, str]:
    fault = draw.choice(sorted(OWN))
    kind = OWN[fault][0]
    having = [row[0] for row in network.vertices if row[1] == kind]
    return (draw.choice(having), fault) if having else _fault(network, draw)


def _suffered(
    network: Network, root: str, fault: str, began: float, level: Level, draw: random.Random
) -> tuple[list[Alert], set[str], set[str], list[int]]:
    """Its alerts, what is down, what is weakened, and the elements that failed completely by the fault itself."""
    topology = network.topology
    start = topology.number[root]
    starts = [start]
    some: list[int] = []
    if fault == "site power":
        site = {row[0]: row[4] for row in network.vertices}
        starts += [
            topology.number[row[0]] for row in network.vertices if row[4] and row[4] == site[root] and row[0] != root
        ]
    spreading = Spreading(topology)
    failed, weakened = spreading.failing_with(starts)
    if fault in ("line card",):
        some = [each for each in topology.dependents(start) if draw.random() < 0.5] or topology.dependents(start)[:1]
        failed, weakened = spreading.failing_with(some)
        failed = {**{each: steps + 1 for each, steps in failed.items()}, start: 0}
    elif fault in ("link degraded", "congestion", "router cpu"):
        weakened = {each: steps for each, steps in failed.items() if steps}
        failed = {start: 0}
    chance = {"link degraded": 0.5, "congestion": 0.35, "router cpu": 0.3}.get(fault, 0.5)
    alerts: list[Alert] = []
    if draw.random() >= level.silent:
        again = draw.randint(5, 9) if fault == "link flapping" else 1
        alerts += [
            _raised(network, start, OWN[fault][1], began + 45 * n + draw.expovariate(1 / 8), draw) for n in range(again)
        ]
    for vertex, steps in failed.items():
        if vertex == start or draw.random() < level.missed:
            continue
        kind = "POWER_LOSS" if vertex in starts else DERIVED[topology.types[vertex]]
        alerts.append(_raised(network, vertex, kind, began + steps * draw.expovariate(1 / 30), draw))
    for vertex in weakened:
        if draw.random() < chance * (1 - level.missed):
            kind = DERIVED[topology.types[vertex]]
            kind = {"SERVICE_DOWN": "SERVICE_DEGRADED"}.get(kind, kind)
            if topology.types[vertex] in ("Service", "BGPSession", "MPLSPath", "SLAPolicy"):
                alerts.append(_raised(network, vertex, kind, began + draw.expovariate(1 / 120), draw))
    alerts += [Alert(a.entity, a.kind, a.at + draw.uniform(5, 60), a.severity) for a in alerts if draw.random() < 0.1]
    names = topology.ids
    is_partial = fault in ("link degraded", "congestion", "router cpu")
    down = set() if is_partial else {names[each] for each in failed}
    return alerts, down, {names[each] for each in weakened}, [] if is_partial else some or starts


def _without_ways(
    network: Network, alerts: list[Alert], together: set[str], began: float, level: Level, seed: str
) -> list[Alert]:
    """The alerts, when some elements fail only because several faults took all their ways."""
    draw = random.Random(f"together {seed}")
    kept = [alert for alert in alerts if alert.entity not in together]
    for name in sorted(together):
        if draw.random() >= level.missed:
            vertex = network.topology.number[name]
            kind = DERIVED[network.topology.types[vertex]]
            kept.append(_raised(network, vertex, kind, began + draw.expovariate(1 / 60), draw))
    return kept


def _raised(network: Network, vertex: int, kind: str, at: float, draw: random.Random) -> Alert:
    severity = draw.choice(["CRITICAL", "MAJOR", "MAJOR", "MINOR"])
    return Alert(network.topology.ids[vertex], kind, at, severity)


def _noise(network: Network, share: float, draw: random.Random) -> list[Alert]:
    alerts = []
    for name, kind, *_ in network.vertices:
        if draw.random() < share:
            types = sorted(each for each, symptom in SYMPTOMS.items() if kind in (*symptom.own, *symptom.derived))
            alert_type = draw.choice([*types, "FAN_WARN"])
            alerts.append(
                Alert(name, alert_type, NOW - draw.uniform(0, WINDOW), draw.choice(["WARNING", "MINOR", "MAJOR"]))
            )
    return alerts


def _skewed(alert: Alert, seconds: float) -> Alert:
    return Alert(alert.entity, alert.kind, alert.at - seconds, alert.severity, alert.message)


def _measured(
    network: Network, faults: Mapping[str, str], began: Mapping[str, float], down: set[str], draw: random.Random
) -> tuple[np.ndarray, dict[str, dict[str, np.ndarray]]]:
    """Two days of every link and router, every five minutes."""
    random_state = np.random.default_rng(draw.getrandbits(32))
    times = NOW - STEP * np.arange(POINTS)[::-1]
    day = np.sin(times / 86400 * 2 * np.pi)
    first = min(began.values(), default=NOW + 1)
    found: dict[str, dict[str, np.ndarray]] = {}
    for name, kind, *_ in network.vertices:
        if kind not in ("TransportLink", "CoreRouter"):
            continue
        walk = np.convolve(random_state.normal(0, 1.5, POINTS + 5), np.ones(6) / 2.4, "valid")
        load = random_state.uniform(20, 60) + random_state.uniform(5, 20) * day + walk
        spikes = random_state.random(POINTS) < 0.004
        after = times >= began.get(name, first)
        fault = faults.get(name, "")
        if kind == "CoreRouter":
            values = {"cpu_pct": load * 0.6 + 25 * spikes}
            if fault == "router cpu":
                values["cpu_pct"] = np.where(after, 97.0, values["cpu_pct"])
        else:
            loss = np.maximum(random_state.normal(0.02, 0.01, POINTS), 0)
            values = {
                "utilization_pct": load,
                "latency_ms": 5 + load / 30 + random_state.normal(0, 0.2, POINTS) + 8 * spikes,
                "packet_loss_pct": loss,
            }
            if fault == "congestion":
                values["utilization_pct"] = np.where(after, 98.0, load)
                values["latency_ms"] = values["latency_ms"] + 15 * after
            elif fault == "link degraded":
                values["packet_loss_pct"] = loss + 3.0 * after
        if name in down:
            values = {
                metric: np.where(after, {"packet_loss_pct": 100.0}.get(metric, 0.0), each)
                for metric, each in values.items()
            }
        if random_state.random() < 0.1:  # a gap
            gap = random_state.integers(0, POINTS - 20)
            values = {
                metric: np.where((np.arange(POINTS) >= gap) & (np.arange(POINTS) < gap + 15), np.nan, each)
                for metric, each in values.items()
            }
        found[name] = values
    return times, found
