"""The sample scenario with a container and columns of telemetry that are called like words of SQL."""

from pathlib import Path

import yaml

COLUMNS = {
    "raised_at": "when",
    "source_id": "from",
    "measured_at": "end",
    "link_id": "group",
    "latency_ms": "limit",
    "packet_loss_pct": "value",
    "optical_power_dbm": "and",
}


def named_by_sql_words(folder: Path) -> Path:
    """Rename the columns of telemetry in a copy of the sample scenario, and call the measurements ``order``."""
    for path in (folder / "telemetry").glob("*.csv"):
        head, _, rows = path.read_text().partition("\n")
        path.write_text(",".join(COLUMNS.get(name, name) for name in head.split(",")) + "\n" + rows)
    manifest = folder / "scenario.yaml"
    told = yaml.safe_load(manifest.read_text())
    told["telemetry"]["order"] = told["telemetry"].pop("link_metrics")
    for container in told["telemetry"].values():
        for key in ("time", "entity", "partition_key"):
            container[key] = COLUMNS[container[key]]
        metrics = container.get("metrics", {})
        container["metrics"] = {COLUMNS.get(name, name): direction for name, direction in metrics.items()}
    manifest.write_text(yaml.safe_dump(told, sort_keys=False))
    return folder
