"""Writes the files of the sample scenario ``telco``: a small metro backbone, two days of telemetry with some incidents
whose cause is known, and the alert storm of the last one.

``python samples/render_scenario.py`` writes the same bytes every time. The network is invented.
"""

import csv
import json
import math
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "scenarios" / "telco"
CITIES = [("SYD", "Sydney"), ("MEL", "Melbourne"), ("BNE", "Brisbane"), ("ADL", "Adelaide")]
END = datetime(2026, 11, 2, 4, 0, tzinfo=UTC)
FAULT = END - timedelta(minutes=21)
CUT = "LINK-SYD-MEL"
Row = Sequence[object]


class Incident(NamedTuple):
    """Something that happened: when it began, what had failed, and the alerts as seconds after that, and as columns.

    ``asked`` is when and with which words somebody asks what broke, if not in time for all alerts.
    """

    name: str
    began: datetime
    causes: Sequence[str]
    alerts: Sequence[tuple[int, str, str, str, str, str]]
    planned: Sequence[str] = ()
    asked: datetime | None = None
    alert: str = ""
    note: str = ""


def on(day: int, hour: int, minute: int) -> datetime:
    """A time of the two days; the 31st is of October, the others are of November."""
    return datetime(2026, 10 if day > 2 else 11, day, hour, minute, tzinfo=UTC)


ROUTER_DOWN, CONGESTED = on(1, 10, 4), on(1, 19, 8)
INCIDENTS = (
    Incident(
        "a path without its labels", on(31, 12, 18), ["MPLS-SYD-BNE-1"],
        [
            (4, "MPLS-SYD-BNE-1", "MPLSPath", "LSP_DOWN", "MAJOR", "path down"),
            (21, "VPN-PORT", "Service", "SERVICE_DOWN", "CRITICAL", "no traffic"),
            (380, "BS-011", "BaseStation", "VSWR_HIGH", "MINOR", "antenna 1 reflects"),
        ],
        note="A change of label ranges in Sydney; the fibre below was in order.",
    ),
    Incident(
        "nothing in common", on(31, 18, 40), [],
        [
            (0, "AGG-MEL-01", "AggSwitch", "FAN_WARN", "WARNING", "fan 1 slow"),
            (130, "BS-003", "BaseStation", "VSWR_HIGH", "MINOR", "antenna 3 reflects"),
            (340, "MOB-BNE", "Service", "SERVICE_DEGRADED", "MINOR", "calls are dropped"),
            (610, "SLA-RAIL", "SLAPolicy", "SLA_AT_RISK", "MINOR", "forecast of availability"),
        ],
        note="A full stadium in Brisbane, and a forecast that was wrong.",
    ),
    Incident(
        "a silent switch", on(31, 23, 11), ["AGG-SYD-01"],
        [
            (14, "BS-001", "BaseStation", "NODE_UNREACHABLE", "MAJOR", "no answer"),
            (19, "BS-009", "BaseStation", "NODE_UNREACHABLE", "MAJOR", "no answer"),
            (27, "BB-SYD", "Service", "SERVICE_DOWN", "CRITICAL", "no sessions"),
            (58, "SLA-BBSYD", "SLAPolicy", "SLA_AT_RISK", "MAJOR", "availability"),
        ],
        note="Both power supplies; it could not say so.",
    ),
    Incident(
        "a switch is replaced", on(1, 1, 22), ["AGG-MEL-02"],
        [
            (0, "AGG-MEL-02", "AggSwitch", "NODE_DOWN", "CRITICAL", "no answer"),
            (16, "BS-004", "BaseStation", "NODE_UNREACHABLE", "MAJOR", "no answer"),
            (17, "BS-012", "BaseStation", "NODE_UNREACHABLE", "MAJOR", "no answer"),
            (33, "BB-MEL", "Service", "SERVICE_DOWN", "CRITICAL", "no sessions"),
        ],
        planned=["AGG-MEL-02"],
        note="CHG-2026-0077.",
    ),
    Incident(
        "a core router", ROUTER_DOWN, ["CORE-BNE-01"],
        [
            (3, "LINK-SYD-BNE", "TransportLink", "LINK_DOWN", "CRITICAL", "loss of signal"),
            (3, "LINK-MEL-BNE", "TransportLink", "LINK_DOWN", "CRITICAL", "loss of signal"),
            (4, "LINK-BNE-ADL", "TransportLink", "LINK_DOWN", "CRITICAL", "loss of signal"),
            (8, "BGP-BNE-ADL", "BGPSession", "BGP_DOWN", "MAJOR", "hold timer expired"),
            (11, "MPLS-SYD-BNE-1", "MPLSPath", "LSP_DOWN", "MAJOR", "path down"),
            (11, "MPLS-SYD-MEL-2", "MPLSPath", "LSP_DOWN", "MAJOR", "path down"),
            (20, "AGG-BNE-01", "AggSwitch", "NODE_UNREACHABLE", "MAJOR", "no answer"),
            (22, "AGG-BNE-02", "AggSwitch", "NODE_UNREACHABLE", "MAJOR", "no answer"),
            (31, "BS-005", "BaseStation", "NODE_UNREACHABLE", "MAJOR", "no answer"),
            (33, "BS-006", "BaseStation", "NODE_UNREACHABLE", "MAJOR", "no answer"),
            (41, "VPN-PORT", "Service", "SERVICE_DOWN", "CRITICAL", "no traffic"),
            (44, "MOB-BNE", "Service", "SERVICE_DOWN", "CRITICAL", "no sessions"),
        ],
        note="It restarted and raised nothing; the alert of VPN-MINE was lost.",
    ),
    Incident(
        "a session that was set up wrongly", on(1, 14, 41), ["BGP-SYD-MEL"],
        [
            (0, "BGP-SYD-MEL", "BGPSession", "BGP_DOWN", "MAJOR", "hold timer expired"),
            (150, "AGG-BNE-02", "AggSwitch", "FAN_WARN", "WARNING", "fan 2 slow"),
            (260, "SLA-BANK", "SLAPolicy", "SLA_AT_RISK", "MINOR", "forecast of availability"),
        ],
        note="A new password on one side only; the fibre was in order.",
    ),
    Incident(
        "a full fibre", CONGESTED, ["LINK-MEL-ADL"],
        [
            (130, "LINK-MEL-ADL", "TransportLink", "HIGH_UTILIZATION", "MAJOR", "97 %"),
            (190, "MPLS-MEL-ADL-1", "MPLSPath", "HIGH_LATENCY", "MINOR", "38 ms"),
            (280, "VPN-RAIL", "Service", "SERVICE_DEGRADED", "MAJOR", "slow"),
        ],
        asked=CONGESTED + timedelta(minutes=22), alert="Southern Rail calls: VPN-RAIL is slow since ten past seven.",
        note="A backup that ran in the evening.",
    ),
    Incident(
        "two at once", on(1, 22, 14), ["LINK-BNE-ADL", "AGG-SYD-02"],
        [
            (2, "LINK-BNE-ADL", "TransportLink", "LINK_DOWN", "CRITICAL", "loss of signal"),
            (9, "BGP-BNE-ADL", "BGPSession", "BGP_DOWN", "MAJOR", "hold timer expired"),
            (12, "MPLS-BNE-ADL-1", "MPLSPath", "LSP_DOWN", "MAJOR", "path down"),
            (29, "VPN-MINE", "Service", "SERVICE_DOWN", "CRITICAL", "no traffic"),
            (95, "AGG-SYD-02", "AggSwitch", "NODE_DOWN", "CRITICAL", "no answer"),
            (110, "BS-002", "BaseStation", "NODE_UNREACHABLE", "MAJOR", "no answer"),
            (112, "BS-010", "BaseStation", "NODE_UNREACHABLE", "MAJOR", "no answer"),
        ],
        note="An excavator, and a tripped fuse that had nothing to do with it.",
    ),
    Incident(
        "the storm", FAULT, [CUT],
        [
            (-28000, "AGG-ADL-02", "AggSwitch", "FAN_WARN", "WARNING", "fan 2 slow"),
            (-900, "BS-009", "BaseStation", "VSWR_HIGH", "MINOR", "antenna 2 reflects"),
            (3, CUT, "TransportLink", "OPTICAL_LOSS", "CRITICAL", "receive power -40 dBm"),
            (5, CUT, "TransportLink", "LINK_DOWN", "CRITICAL", "loss of signal"),
            (9, "BGP-SYD-MEL", "BGPSession", "BGP_DOWN", "MAJOR", "hold timer expired"),
            (12, "MPLS-SYD-MEL-1", "MPLSPath", "LSP_DOWN", "MAJOR", "path down"),
            (31, "VPN-ACME", "Service", "SERVICE_DOWN", "CRITICAL", "no traffic"),
            (33, "VPN-BANK", "Service", "SERVICE_DEGRADED", "MAJOR", "on its second path"),
            (45, "SLA-ACME", "SLAPolicy", "SLA_AT_RISK", "MAJOR", "availability"),
            (64, "VPN-ACME", "Service", "SERVICE_DOWN", "CRITICAL", "no traffic"),
            (400, "AGG-BNE-01", "AggSwitch", "FAN_WARN", "WARNING", "fan 1 slow"),
        ],
        note="A cut fibre, with alerts beside it that have nothing to do with it.",
    ),
)  # fmt: skip


def write(name: str, header: str, rows: Iterable[Row]) -> None:
    """Write a CSV file of the scenario."""
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split())
        writer.writerows(rows)


def network() -> None:
    """50 vertices of 8 types, 54 edges of 7 types."""
    links = [(a, b) for i, (a, _) in enumerate(CITIES) for b, _ in CITIES[i + 1 :]]
    write(
        "network/core_routers.csv",
        "router_id name region site vendor model management_ip",
        [(f"CORE-{c}-01", f"{n} core 1", "AU", n, "Norwood", "NX9", f"10.0.{i}.1") for i, (c, n) in enumerate(CITIES)],
    )
    switches = [(f"AGG-{c}-{n:02}", c, city) for c, city in CITIES for n in (1, 2)]
    write(
        "network/agg_switches.csv",
        "switch_id name region site uplink_router ports",
        [(s, f"{city} aggregation {s[-1]}", "AU", f"{city} {s[-1]}", f"CORE-{c}-01", 48) for s, c, city in switches],
    )
    stations = [(f"BS-{i + 1:03}", switches[i % 8]) for i in range(12)]
    write(
        "network/base_stations.csv",
        "station_id name region site technology sector_count latitude longitude uplink_switch",
        [
            (
                b,
                f"{s[2]} station {b[-3:]}",
                "AU",
                f"{s[2]} mast {b[-3:]}",
                "5G" if i % 2 else "4G",
                3,
                -33 - i / 4,
                151 - i / 3,
                s[0],
            )
            for i, (b, s) in enumerate(stations)
        ],
    )
    write(
        "network/transport_links.csv",
        "link_id name region site medium capacity_gbps length_km",
        [
            (f"LINK-{a}-{b}", f"Fibre {a} to {b}", "AU", f"{a} to {b}", "fibre", 100 if i < 3 else 40, 700 + 130 * i)
            for i, (a, b) in enumerate(links)
        ],
    )
    write(
        "network/link_ends.csv",
        "link_id device_id",
        [(f"LINK-{a}-{b}", f"CORE-{c}-01") for a, b in links for c in (a, b)],
    )
    paths = [
        ("MPLS-SYD-MEL-1", "primary", ["SYD-MEL"]), ("MPLS-SYD-MEL-2", "secondary", ["SYD-BNE", "MEL-BNE"]),
        ("MPLS-SYD-BNE-1", "primary", ["SYD-BNE"]), ("MPLS-MEL-ADL-1", "primary", ["MEL-ADL"]),
        ("MPLS-BNE-ADL-1", "primary", ["BNE-ADL"]),
    ]  # fmt: skip
    write(
        "network/mpls_paths.csv",
        "path_id name region site role bandwidth_gbps",
        [(p, f"Path {p[5:]}", "AU", "", role, 10) for p, role, _ in paths],
    )
    write(
        "network/path_hops.csv",
        "path_id link_id hop",
        [(p, f"LINK-{link}", hop) for p, _, hops in paths for hop, link in enumerate(hops, 1)],
    )
    services = [
        ("VPN-ACME", "VPN", "Acme Mining", 0, ["MPLS-SYD-MEL-1"]),
        ("VPN-BANK", "VPN", "First Harbour Bank", 0, ["MPLS-SYD-MEL-1", "MPLS-SYD-MEL-2"]),
        ("VPN-RAIL", "VPN", "Southern Rail", 0, ["MPLS-MEL-ADL-1"]),
        ("VPN-PORT", "VPN", "Port of Brisbane", 0, ["MPLS-SYD-BNE-1"]),
        ("BB-SYD", "broadband", "Homes in Sydney", 8200, ["AGG-SYD-01"]),
        ("BB-MEL", "broadband", "Homes in Melbourne", 6100, ["AGG-MEL-02"]),
        ("MOB-BNE", "mobile", "Mobile, Brisbane", 3900, ["BS-005"]),
        ("VPN-MINE", "VPN", "Outback Mines", 0, ["MPLS-BNE-ADL-1"]),
    ]
    write(
        "network/services.csv",
        "service_id name region site service_kind customer subscribers",
        [(s, f"{kind} {customer}", "AU", "", kind, customer, count) for s, kind, customer, count, _ in services],
    )
    write("network/service_deps.csv", "service_id on", [(s[0], on) for s in services for on in s[4]])
    tiers = [("SLA-ACME", "VPN-ACME", "gold", 12000), ("SLA-BANK", "VPN-BANK", "gold", 25000),
             ("SLA-RAIL", "VPN-RAIL", "silver", 4000), ("SLA-BBSYD", "BB-SYD", "bronze", 900)]  # fmt: skip
    write(
        "network/sla_policies.csv",
        "sla_id name region site service_id tier availability_pct max_latency_ms penalty_per_hour",
        [(i, f"{t} for {s}", "AU", "", s, t, 99.99 if t == "gold" else 99.9, 40, p) for i, s, t, p in tiers],
    )
    peers = ["SYD-MEL", "MEL-ADL", "BNE-ADL"]
    write(
        "network/bgp_sessions.csv",
        "session_id name region site link_id peer_asn address_family",
        [(f"BGP-{p}", f"Session {p}", "AU", "", f"LINK-{p}", 64512 + i, "ipv4") for i, p in enumerate(peers)],
    )


def telemetry() -> None:
    """Five metrics of six links every five minutes for two days."""
    draw = random.Random(7)
    links = [f"LINK-{a}-{b}" for i, (a, _) in enumerate(CITIES) for b, _ in CITIES[i + 1 :]]
    rows: list[Row] = []
    for step in range(576, -1, -1):
        at = END - timedelta(minutes=5 * step)
        day = math.sin((at.hour * 60 + at.minute) / 1440 * 2 * math.pi)
        for number, link in enumerate(links):
            load = 42 + 3 * number + 15 * day + draw.gauss(0, 2)
            values = [load, 8 + number + load / 40 + draw.gauss(0, 0.3), max(0.0, draw.gauss(0.02, 0.01)),
                      1e-12 * draw.lognormvariate(0, 0.3), -3 + draw.gauss(0, 0.1)]  # fmt: skip
            measured = measured_in_trouble(link, at, values)
            rows.append((f"{at:%Y-%m-%dT%H:%M:%SZ}", link, *(f"{value:.4g}" for value in measured)))
    header = "measured_at link_id utilization_pct latency_ms packet_loss_pct bit_error_rate optical_power_dbm"
    write("telemetry/link_metrics.csv", header, rows)


def measured_in_trouble(link: str, at: datetime, usual: list[float]) -> list[float]:
    """What is measured of a link at a time, instead of the usual, while something is wrong with it or beside it."""
    utilization, latency, *rest = usual
    two_at_once = next(incident for incident in INCIDENTS if len(incident.causes) > 1)
    cut = link == CUT and at >= FAULT
    cut |= link == two_at_once.causes[0] and timedelta(0) <= at - two_at_once.began < timedelta(hours=2)
    if cut:
        return [0.0, 0.0, 100.0, 1e-3, -40.0]
    if "BNE" in link and timedelta(0) <= at - ROUTER_DOWN < timedelta(minutes=25):
        return [0.0, 0.0, 100.0, 1e-3, -40.0]
    if link == "LINK-MEL-ADL" and timedelta(0) <= at - CONGESTED < timedelta(minutes=50):
        return [min(99.0, utilization + 44), latency + 24, 0.9, *rest[1:]]
    if link in ("LINK-SYD-BNE", "LINK-MEL-BNE") and at >= FAULT:
        return [min(97.0, utilization + 31), latency + 2, *rest]
    return usual


def alerts() -> None:
    """The alerts of all incidents in order of time, and those of the last one as a text to paste."""
    told = sorted(
        (f"{incident.began + timedelta(seconds=after):%Y-%m-%dT%H:%M:%SZ}", number, *rest)
        for number, incident in enumerate(INCIDENTS)
        for after, *rest in incident.alerts
    )
    rows = [(f"ALM-{number:04}", at, "", *rest) for number, (at, _, *rest) in enumerate(told, 1)]
    write(
        "telemetry/alerts.csv", "alert_id raised_at cleared_at source_id source_type alert_type severity message", rows
    )
    storm = [row for row in told if row[1] == len(INCIDENTS) - 1 and row[0] > f"{FAULT:%Y-%m-%dT%H:%M:%SZ}"]
    lines = [f"{at} {severity} {kind} {source}: {message}" for at, _, source, _, kind, severity, message in storm]
    (FOLDER / "alert_storm.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def incidents() -> None:
    """What had failed in each incident, and when somebody asks; a minute after the last alert, unless said."""
    lines = []
    for each in INCIDENTS:
        asked = each.asked or each.began + timedelta(seconds=each.alerts[-1][0] + 60)
        told: dict[str, object] = {"incident": each.name, "until": f"{asked:%Y-%m-%dT%H:%M:%SZ}"}
        told |= {"alert": each.alert} if each.alert else {}
        told |= {"causes": each.causes} | ({"planned": each.planned} if each.planned else {})
        lines.append(json.dumps(told | {"note": each.note}, ensure_ascii=False))
    (FOLDER / "incidents.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def documents() -> None:
    """Runbooks and tickets."""
    runbooks = {
        "fibre-cut": (
            "Fibre cut between core sites",
            ["Check the receive power of both ends: below -30 dBm means that the fibre is cut.",
             "Confirm that traffic has moved to the secondary path, and that its links stay below 80 % utilization.",
             "Open a case with the fibre owner, with the link id and the distance from the reflectometer.",
             "Tell the owners of gold services within 15 minutes."],
            "A cut raises OPTICAL_LOSS and LINK_DOWN on the TransportLink, then BGP_DOWN and LSP_DOWN.",
        ),
        "core-router-down": (
            "Core router does not answer",
            ["Try the management address from another site.", "Check the power feeds of the site.",
             "Ask the site owner for a cold start only after the standby supervisor has failed to take over."],
            "A CoreRouter that is down raises NODE_DOWN, and LINK_DOWN on all of its links.",
        ),
        "congestion": (
            "Congestion of a transport link",
            ["Find the services with the largest growth.", "Move broadband traffic to the secondary path."],
            "A congested TransportLink raises HIGH_UTILIZATION and HIGH_LATENCY without LINK_DOWN.",
        ),
    }  # fmt: skip
    for slug, (title, steps, signs) in runbooks.items():
        path = FOLDER / "runbooks" / f"{slug}.md"
        path.parent.mkdir(exist_ok=True)
        listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
        path.write_text(f"# {title}\n\n## Signs\n\n{signs}\n\n## What to do\n\n{listed}\n", encoding="utf-8")
    tickets: list[dict[str, object]] = [
        {
            "ticket_id": "INC-2026-0341", "title": "Fibre cut Melbourne to Adelaide",
            "opened_at": "2026-03-04T01:12:00Z", "resolved_at": "2026-03-04T05:40:00Z", "severity": "CRITICAL",
            "alert_types": ["OPTICAL_LOSS", "LINK_DOWN", "LSP_DOWN"],
            "root_cause": {"id": "LINK-MEL-ADL", "type": "TransportLink", "fault": "link cut"},
            "affected": ["VPN-RAIL"], "symptoms": "LINK_DOWN on LINK-MEL-ADL, then LSP_DOWN and SERVICE_DOWN.",
            "diagnosis": "The reflectometer showed a break 212 km from Melbourne: an excavator.",
            "resolution": ["Rerouted the rail service through Brisbane.", "The fibre owner spliced the cable."],
            "minutes_to_resolve": 268, "lessons": "Reroute before calling the fibre owner.", "runbooks": ["fibre-cut"],
        },
        {
            "ticket_id": "INC-2026-0502", "title": "Core router Brisbane restarted",
            "opened_at": "2026-05-11T14:00:00Z", "resolved_at": "2026-05-11T14:35:00Z", "severity": "MAJOR",
            "alert_types": ["NODE_DOWN", "LINK_DOWN"],
            "root_cause": {"id": "CORE-BNE-01", "type": "CoreRouter", "fault": "router down"},
            "affected": ["VPN-PORT", "MOB-BNE"], "symptoms": "All links of CORE-BNE-01 went down at once.",
            "diagnosis": "A failed line card made the supervisor restart.",
            "resolution": ["Replaced line card 3."], "minutes_to_resolve": 35,
            "lessons": "Many links of one router at once mean the router.", "runbooks": ["core-router-down"],
        },
        {
            "ticket_id": "CHG-2026-0077", "title": "Replace aggregation switch Melbourne 02", "kind": "maintenance",
            "opened_at": "2026-11-01T01:00:00Z", "resolved_at": "2026-11-01T03:00:00Z", "severity": "MINOR",
            "affected": ["AGG-MEL-02"], "symptoms": "Homes in Melbourne and two base stations are cut off meanwhile.",
        },
    ]  # fmt: skip
    (FOLDER / "tickets").mkdir(exist_ok=True)
    for ticket in tickets:
        text = json.dumps(ticket, indent=2, ensure_ascii=False) + "\n"
        (FOLDER / "tickets" / f"{ticket['ticket_id']}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    network()
    telemetry()
    alerts()
    incidents()
    documents()
