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
    shown = {name: _value(value) for name, value in told.items() if not _is_empty(value)}
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
    """What making it used and cost; nothing, if it was reused."""
    rows = [
        dg.TableRecord(
            {
                "model": usage.model,
                "calls": usage.calls,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "pages": usage.pages,
                "seconds": usage.seconds,
                "cost": "unknown" if usage.cost is None else f"{usage.cost:.6f}",
            }
        )
        for usage in layer.usage
    ]
    if not rows:
        return {}
    cost = sum(usage.cost or 0.0 for usage in layer.usage)
    return {"usage": dg.MetadataValue.table(rows), "cost": dg.MetadataValue.float(cost)}


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
