"""Records a batch of articles in Dagster's event log: what was materialized, and what failed, by partition.

Events are stored in batches, one asset at a time, upstream first: storing them one by one would take longer than
building the articles.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import dagster as dg
from upath import UPath

from kb_pipeline.defs.dagster_internals import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    AssetMaterializationPlannedData,
    AssetObservationData,
    DagsterEvent,
    DagsterEventType,
    EventLogEntry,
    IExecutionStep,
    StepMaterializationData,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)
from kb_pipeline.defs.namespace import Namespace
from kb_pipeline.errors import StorageError
from kb_pipeline.flow.build import ArticleResult, LayerResult
from kb_pipeline.flow.layers import LayerType
from kb_pipeline.records import Markdown, ReportValue, Scalar, Table
from kb_pipeline.settings import Settings
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.store.files import names_in


def table(rows: Iterable[Mapping[str, Scalar]]) -> dg.MetadataValue:
    """The rows as a table in the metadata of an event."""
    return dg.MetadataValue.table([dg.TableRecord(row) for row in rows])


def metadata_of(layer: LayerResult) -> Mapping[str, Any]:
    """The metadata of one materialization: the layer's report, its cost, and its provenance.

    A reused layer shows the texts and numbers of its report; the tables are shown by the run that made it.
    """
    shown = {
        name: value
        for name, value in layer.report.items()
        if not isinstance(value, Table) or (value.rows and not layer.reused)
    }
    return (
        {name: _value(_brief(value)) for name, value in shown.items()}
        | _cost(layer)
        | {
            "content_hash": layer.output_hash,
            "seconds": round(layer.seconds, 4),
            "reused": layer.reused,
            "made_by_run": dg.MetadataValue.dagster_run(layer.run_id),
        }
    )


def _cost(layer: LayerResult) -> dict[str, Any]:
    """The usage table and the total cost; empty for a reused layer. Columns that are 0 for all models are left out."""
    rows: list[dict[str, str | int | float]] = [
        {
            **usage.model_dump(),
            "cost": "unknown" if usage.cost is None else f"{usage.cost:.6f}" if usage.cost else "",
        }
        for usage in layer.usage
    ]
    if not rows:
        return {}
    columns = {name for row in rows for name, value in row.items() if value}
    shown = [{name: value for name, value in row.items() if name in columns} for row in rows]
    return {"usage": table(shown), "cost": sum(usage.cost or 0.0 for usage in layer.usage)}


def _brief(value: ReportValue) -> ReportValue:
    """Checks that all passed, in one line: as a table they would be half of the event."""
    if isinstance(value, Table) and all("check" in row and row.get("passed") for row in value.rows):
        return f"passed: {', '.join(str(row['check']) for row in value.rows)}"
    return value


def _value(value: ReportValue) -> Scalar | dg.MetadataValue:
    match value:
        case Markdown():
            return dg.MetadataValue.md(value.text)
        case Table():
            return table(value.rows)
        case _:
            return value


class EventRecorder:
    """Records the results of articles as events of the running step."""

    def __init__(
        self,
        context: dg.OpExecutionContext,
        layers: Sequence[LayerType],
        namespace: Namespace,
        failing: Collection[str] = (),
    ) -> None:
        """``failing``: the articles whose last attempt failed."""
        self._context, self._layers, self._namespace, self._failing = context, layers, namespace, failing
        self._storage = context.instance.event_log_storage

    def record(self, results: Sequence[ArticleResult]) -> None:
        """Record a batch: a materialization for each layer that was made, a failed plan for each that was not."""
        for layer in self._layers:
            pointer = self._storage.get_maximum_record_id()
            events = [event for result in results for event in self._events(layer, result, pointer)]
            # one type at a time: PostgreSQL's storage would write every event of a mixed batch alone;
            # in this order what is planned comes before what is materialized, or it would count as not made
            for _, batch in groupby(sorted(events, key=_type_of, reverse=True), key=_type_of):
                self._storage.store_event_batch([self._entry(event) for event in batch])

    def record_failed_in(self, run_id: str, failures: Sequence[ArticleResult]) -> None:
        """Plan what failed once more in another run, whose status then is that of these partitions."""
        for layer in self._layers:
            events = [self._planned(layer, each.article_id) for each in failures if each.failed_layer == layer.name]
            if events:
                self._storage.store_event_batch([self._entry(event, run_id) for event in events])

    def _events(self, layer: LayerType, result: ArticleResult, pointer: int | None) -> list[DagsterEvent]:
        made = {each.name: each for each in result.layers}
        if layer.name in made:
            event = self._materialized(layer, result.article_id, made[layer.name], pointer)
            # the UI tells of the run that planned a partition last: it shall be this one, no more the one that failed
            return [self._planned(layer, result.article_id), event] if result.article_id in self._failing else [event]
        if layer.name == result.failed_layer:
            return [self._planned(layer, result.article_id), self._observed(layer, result)]
        return []

    def _observed(self, layer: LayerType, result: ArticleResult) -> DagsterEvent:
        """The reason, in the history of the partition, where people look for it."""
        metadata = {
            "error": result.error or "",
            "kind": "transient" if result.transient else "permanent",
        }
        observation = dg.AssetObservation(
            self._namespace.asset(layer.name), description="not made", partition=result.article_id, metadata=metadata
        )
        return self._event(
            DagsterEventType.ASSET_OBSERVATION,
            AssetObservationData(observation),
            f"Could not make {result.failed_layer} of {result.article_id}",
        )

    def _planned(self, layer: LayerType, article_id: str) -> DagsterEvent:
        # the UI shows a partition as failed that was planned in a failed run and not materialized there
        return DagsterEvent.build_asset_materialization_planned_event(
            self._context.job_name,
            self._step.key,
            AssetMaterializationPlannedData(self._namespace.asset(layer.name), partition=article_id),
        )

    def _materialized(self, layer: LayerType, article_id: str, made: LayerResult, pointer: int | None) -> DagsterEvent:
        materialization = dg.AssetMaterialization(
            asset_key=self._namespace.asset(layer.name),
            partition=article_id,
            metadata=metadata_of(made),
            tags=_version_tags(layer, made, pointer, self._namespace),
        )
        return self._event(
            DagsterEventType.ASSET_MATERIALIZATION,
            StepMaterializationData(materialization),
            f"{'Reused' if made.reused else 'Made'} {layer.name} of {article_id}",
        )

    def _event(
        self, kind: DagsterEventType, data: StepMaterializationData | AssetObservationData, message: str
    ) -> DagsterEvent:
        return DagsterEvent(
            event_type_value=kind.value,
            job_name=self._context.job_name,
            step_handle=self._step.handle,  # type: ignore[arg-type]
            node_handle=self._step.node_handle,
            step_kind_value=self._step.kind.value,
            event_specific_data=data,
            message=message,
        )

    @property
    def _step(self) -> IExecutionStep:
        return self._context.get_step_execution_context().step

    def _entry(self, event: DagsterEvent, run_id: str = "") -> EventLogEntry:
        return EventLogEntry(  # type: ignore[no-untyped-call]
            error_info=None,
            level=10,
            user_message=event.message or "",
            run_id=run_id or self._context.run_id,
            timestamp=time.time(),
            step_key=self._step.key,
            job_name=self._context.job_name,
            dagster_event=event,
        )


def _type_of(event: DagsterEvent) -> str:
    return event.event_type_value


def _version_tags(layer: LayerType, made: LayerResult, pointer: int | None, namespace: Namespace) -> dict[str, str]:
    """The tags from which Dagster computes whether a partition is stale."""
    tags = {
        DATA_VERSION_TAG: made.output_hash,
        DATA_VERSION_IS_USER_PROVIDED_TAG: "true",
        CODE_VERSION_TAG: made.code_version,
    }
    for upstream in layer.upstream:
        if (data_version := made.inputs.get(upstream)) and pointer is not None:
            tags[get_input_data_version_tag(namespace.asset(upstream))] = data_version
            tags[get_input_event_pointer_tag(namespace.asset(upstream))] = str(pointer)
    return tags


class PendingEvents:
    """Articles whose events are not in Dagster's log yet, as empty files in ``<home>/unrecorded``.

    A run marks its articles before it builds them and unmarks them once they are recorded. What a killed run left
    marked is built again, and so recorded, by the next.
    """

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.home_path / "unrecorded"

    def add(self, article_ids: Iterable[str]) -> None:
        """Mark articles before they are built.

        Raises:
            StorageError: the home folder cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for article_id in filter(is_article_id, article_ids):
                (self._folder / article_id).touch()
        except OSError as exc:
            raise StorageError(f"cannot write {self._folder} ({exc.strerror}); check KB_HOME and its disk") from exc

    def remove(self, article_ids: Iterable[str]) -> None:
        """Unmark articles that are recorded, or removed."""
        for article_id in filter(is_article_id, article_ids):
            (self._folder / article_id).unlink(missing_ok=True)

    def all(self) -> set[str]:
        """The ids of the marked articles."""
        return names_in(UPath(self._folder))
