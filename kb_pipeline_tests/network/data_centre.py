"""A second network beside the sample: a small data centre. Both have a service of the same id, ``VPN-ACME``."""

from pathlib import Path

STORM = """\
2026-11-02T04:10:02Z CRITICAL SWITCH_DOWN LEAF-2: no heartbeat
2026-11-02T04:10:20Z MAJOR HOST_UNREACHABLE HOST-03: no route
2026-11-02T04:10:21Z MAJOR HOST_UNREACHABLE HOST-04: no route
2026-11-02T04:10:44Z CRITICAL APP_DOWN SHOP-WEB: health check failed
2026-11-02T04:10:51Z CRITICAL APP_DOWN VPN-ACME: health check failed
"""
_MANIFEST = """\
name: datacentre
title: Data centre West
vertices:
  Spine: {file: switches.csv, id: id, kind: infrastructure, color: "#38bdf8", size: 10}
  Leaf: {file: leaves.csv, id: id, kind: infrastructure, color: "#34d399", size: 8}
  Host: {file: hosts.csv, id: id, kind: infrastructure, color: "#fbbf24"}
  App: {file: apps.csv, id: id, kind: service, fields: {subscribers: integer}, color: "#c084fc", size: 8}
edges:
  - {label: uplinks_to, file: uplinks.csv, from: [Leaf, leaf], to: [Spine, spine], needs: any}
  - {label: cabled_to, file: hosts.csv, from: [Host, id], to: [Leaf, leaf]}
  - {label: runs_on, file: apps.csv, from: [App, id], to: [Host, host]}
telemetry:
  alerts: {file: alerts.csv, time: raised_at, entity: source_id, partition_key: source_id}
symptoms:
  SWITCH_DOWN: {own: [Spine, Leaf]}
  HOST_DOWN: {own: [Host]}
  HOST_UNREACHABLE: {derived: [Host]}
  APP_DOWN: {derived: [App]}
knowledge: {runbooks: runbooks}
access_control_list: [READERS]
"""
_FILES = {
    "switches.csv": "id,name\nSPINE-1,Spine 1\nSPINE-2,Spine 2\n",
    "leaves.csv": "id,name\nLEAF-1,Leaf of row 1\nLEAF-2,Leaf of row 2\nLEAF-3,Leaf of row 3\n",
    "uplinks.csv": "leaf,spine\n" + "".join(f"LEAF-{leaf},SPINE-{spine}\n" for leaf in (1, 2, 3) for spine in (1, 2)),
    "hosts.csv": "id,name,leaf\n" + "".join(f"HOST-0{n},Host {n},LEAF-{(n + 1) // 2}\n" for n in range(1, 7)),
    "apps.csv": "id,name,host,customer,subscribers\n"
    "SHOP-WEB,Web shop,HOST-03,Acme,1200\nMAIL-1,Mail,HOST-01,,300\nBACKUP-1,Backup,HOST-05,,0\n"
    "VPN-ACME,Gateway of Acme,HOST-04,Acme,40\n",
    "runbooks/leaf.md": "# A leaf switch is down\n\nIf SWITCH_DOWN of a Leaf comes, reseat its supervisor card.\n",
}


def data_centre(scenarios: Path, readers: str = "") -> Path:
    """Write it into a folder of scenarios; ``readers`` are the names of its access control list."""
    folder = scenarios / "datacentre"
    (folder / "runbooks").mkdir(parents=True)
    (folder / "scenario.yaml").write_text(_MANIFEST.replace("READERS", readers))
    for name, text in _FILES.items():
        (folder / name).write_text(text)
    alerts = (line.partition(": ")[0].split() for line in STORM.splitlines())
    table = [f"{at},{element},{kind},{severity}" for at, severity, kind, element in alerts]
    (folder / "alerts.csv").write_text("\n".join(["raised_at,source_id,alert_type,severity", *table]) + "\n")
    (folder / "alert_storm.md").write_text(STORM)
    return folder
