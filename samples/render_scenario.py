"""Writes the files of the sample scenario ``telco``: a small metro backbone, two days of telemetry, and an alert storm.

``python samples/render_scenario.py`` writes the same bytes every time. The network is invented.
"""

import csv
import json
import math
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

FOLDER = Path(__file__).parent / "scenarios" / "telco"
CITIES = [("SYD", "Sydney"), ("MEL", "Melbourne"), ("BNE", "Brisbane"), ("ADL", "Adelaide")]
END = datetime(2026, 11, 2, 4, 0, tzinfo=UTC)
FAULT = END - timedelta(minutes=21)
CUT = "LINK-SYD-MEL"
Row = Sequence[object]


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
    """Five metrics of six links every five minutes for two days, and the alerts of the last one."""
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
            if link == CUT and at >= FAULT:
                values = [0.0, 0.0, 100.0, 1e-3, -40.0]
            elif link in ("LINK-SYD-BNE", "LINK-MEL-BNE") and at >= FAULT:
                values[0] = min(97.0, values[0] + 31)
                values[1] += 2
            rows.append((f"{at:%Y-%m-%dT%H:%M:%SZ}", link, *(f"{value:.4g}" for value in values)))
    header = "measured_at link_id utilization_pct latency_ms packet_loss_pct bit_error_rate optical_power_dbm"
    write("telemetry/link_metrics.csv", header, rows)
    alerts()


def alerts() -> None:
    """The alerts of a cut fibre, with three that have nothing to do with it."""
    told = [
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
    ]
    rows = [
        (f"ALM-{number:04}", f"{FAULT + timedelta(seconds=after):%Y-%m-%dT%H:%M:%SZ}", "", *rest)
        for number, (after, *rest) in enumerate(told, 1)
    ]
    write(
        "telemetry/alerts.csv", "alert_id raised_at cleared_at source_id source_type alert_type severity message", rows
    )
    lines = [f"{row[1]} {row[6]} {row[5]} {row[3]}: {row[7]}" for row in rows[2:]]
    (FOLDER / "alert_storm.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


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
    ]  # fmt: skip
    (FOLDER / "tickets").mkdir(exist_ok=True)
    for ticket in tickets:
        text = json.dumps(ticket, indent=2, ensure_ascii=False) + "\n"
        (FOLDER / "tickets" / f"{ticket['ticket_id']}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    network()
    telemetry()
    documents()
