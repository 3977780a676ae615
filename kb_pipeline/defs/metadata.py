"""A layer's report as Dagster metadata: what people see when they click on a materialisation."""

from collections.abc import Mapping

import dagster as dg

from kb_pipeline.build import LayerResult
from kb_pipeline.report import Markdown, ReportValue, Table


def metadata_of(layer: LayerResult) -> Mapping[str, dg.MetadataValue]:
    """Metadata of one materialisation: the report, then how it came about.

    What was reused shows its text and numbers; its tables are with the run that made it, which it links.
    """
    told = {name: value for name, value in layer.report.items() if not (layer.reused and isinstance(value, Table))}
    shown = {name: _value(_brief(value)) for name, value in told.items() if not _is_empty(value)}
    return (
        shown
        | _cost(layer)
        | {
            "content_hash": dg.MetadataValue.text(layer.output_hash),
            "seconds": dg.MetadataValue.float(round(layer.seconds, 4)),
            "reused": dg.MetadataValue.bool(layer.reused),
            "made_by_run": dg.MetadataValue.dagster_run(layer.run_id),
        }
    )


def _cost(layer: LayerResult) -> dict[str, dg.MetadataValue]:
    """What making it used and cost; nothing, if it was reused. A column that is 0 for all models is left out."""
    rows: list[dict[str, str | int | float]] = [
        {
            "model": usage.model,
            "calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "pages": usage.pages,
            "seconds": usage.seconds,
            "cost": "unknown" if usage.cost is None else f"{usage.cost:.6f}" if usage.cost else "",
        }
        for usage in layer.usage
    ]
    if not rows:
        return {}
    said = {name for row in rows for name, value in row.items() if value}
    records = [dg.TableRecord({name: value for name, value in row.items() if name in said}) for row in rows]
    cost = sum(usage.cost or 0.0 for usage in layer.usage)
    return {"usage": dg.MetadataValue.table(records), "cost": dg.MetadataValue.float(cost)}


def _brief(value: ReportValue) -> ReportValue:
    """Checks that all passed as a line: as a table, which names its columns each time, they are half of the event."""
    if isinstance(value, Table) and all("check" in row and row.get("passed") for row in value.rows):
        return f"passed: {', '.join(str(row['check']) for row in value.rows)}"
    return value


def _is_empty(value: ReportValue) -> bool:
    return isinstance(value, Table) and not value.rows


def _value(value: ReportValue) -> dg.MetadataValue:
    match value:
        case Markdown():
            return dg.MetadataValue.md(value.text)
        case Table():
            return dg.MetadataValue.table([dg.TableRecord(dict(row)) for row in value.rows])
        case bool():
            return dg.MetadataValue.bool(value)
        case int():
            return dg.MetadataValue.int(value)
        case float():
            return dg.MetadataValue.float(value)
        case str():
            return dg.MetadataValue.text(value)
