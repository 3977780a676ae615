"""Writes a batch's history into Dagster's event log: what was materialised, what failed, per partition.

The only module that touches Dagster's internal event classes. Events go to the storage in batches,
one asset at a time and upstream first, because one at a time they take longer than the work.
"""

import time
from collections.abc import Sequence
from itertools import groupby

import dagster as dg
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)
from dagster._core.events import (
    AssetMaterializationPlannedData,
    AssetObservationData,
    DagsterEvent,
    DagsterEventType,
    StepMaterializationData,
)
from dagster._core.events.log import EventLogEntry
from dagster._core.execution.plan.step import IExecutionStep

from kb_pipeline.build import ArticleResult, LayerResult
from kb_pipeline.defs.metadata import metadata_of


class EventRecorder:
    """Records article results as events of the running step."""

    def __init__(self, context: dg.OpExecutionContext, specs: Sequence[dg.AssetSpec]) -> None:
        self._context = context
        self._specs = specs
        self._storage = context.instance.event_log_storage

    def record(self, results: Sequence[ArticleResult]) -> None:
        """Write the events of a batch: a materialisation for each good layer, a failed plan for a bad one."""
        for spec in self._specs:
            name = spec.key.to_user_string()
            pointer = self._storage.get_maximum_record_id()
            events = [event for result in results for event in self._events(spec, name, result, pointer)]
            # one type at a time: PostgreSQL's storage takes a mixed batch apart and writes every event alone
            for _, batch in groupby(sorted(events, key=_type_of), key=_type_of):
                self._storage.store_event_batch([self._entry(event) for event in batch])

    def _events(self, spec: dg.AssetSpec, name: str, result: ArticleResult, pointer: int | None) -> list[DagsterEvent]:
        made = {layer.name: layer for layer in result.layers}
        if name in made:
            return [self._materialised(spec, result.article_id, made[name], pointer)]
        if name == result.failed_layer:
            return [self._planned(spec, result.article_id), self._observed(spec, result)]
        return []

    def _observed(self, spec: dg.AssetSpec, result: ArticleResult) -> DagsterEvent:
        """The reason, where people look for it: in the partition's own history."""
        metadata = {
            "error": dg.MetadataValue.text(result.error or ""),
            "kind": dg.MetadataValue.text("transient" if result.transient else "permanent"),
        }
        observation = dg.AssetObservation(
            spec.key, description="not made", partition=result.article_id, metadata=metadata
        )
        return self._event(
            DagsterEventType.ASSET_OBSERVATION,
            AssetObservationData(observation),
            f"Could not make {result.failed_layer} of {result.article_id}",
        )

    def _planned(self, spec: dg.AssetSpec, article_id: str) -> DagsterEvent:
        # a partition planned in a failed run and not materialised there is what the UI shows as failed
        return DagsterEvent.build_asset_materialization_planned_event(
            self._context.job_name,
            self._step.key,
            AssetMaterializationPlannedData(spec.key, partition=article_id),
        )

    def _materialised(
        self, spec: dg.AssetSpec, article_id: str, layer: LayerResult, pointer: int | None
    ) -> DagsterEvent:
        materialization = dg.AssetMaterialization(
            asset_key=spec.key,
            partition=article_id,
            metadata=metadata_of(layer),
            tags=_version_tags(spec, layer, pointer),
        )
        return self._event(
            DagsterEventType.ASSET_MATERIALIZATION,
            StepMaterializationData(materialization),
            f"{'Reused' if layer.reused else 'Made'} {layer.name} of {article_id}",
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

    def _entry(self, event: DagsterEvent) -> EventLogEntry:
        return EventLogEntry(  # type: ignore[no-untyped-call]
            error_info=None,
            level=10,
            user_message=event.message or "",
            run_id=self._context.run_id,
            timestamp=time.time(),
            step_key=self._step.key,
            job_name=self._context.job_name,
            dagster_event=event,
        )


def _type_of(event: DagsterEvent) -> str:
    return event.event_type_value


def _version_tags(spec: dg.AssetSpec, layer: LayerResult, pointer: int | None) -> dict[str, str]:
    """The tags by which Dagster tells fresh from stale partitions."""
    tags = {
        DATA_VERSION_TAG: layer.output_hash,
        DATA_VERSION_IS_USER_PROVIDED_TAG: "true",
        CODE_VERSION_TAG: layer.code_version,
    }
    for dep in spec.deps:
        data_version = layer.inputs.get(dep.asset_key.to_user_string())
        if data_version and pointer is not None:
            tags[get_input_data_version_tag(dep.asset_key)] = data_version
            tags[get_input_event_pointer_tag(dep.asset_key)] = str(pointer)
    return tags
