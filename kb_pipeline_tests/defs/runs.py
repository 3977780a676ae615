"""Runs of the definitions on an instance, and what Dagster shows of them afterwards.

``python -m kb_pipeline_tests.defs.runs JOB`` is a run in a process of its own, on the instance in ``DAGSTER_HOME``.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluation
from dagster._core.event_api import PartitionKeyFilter
from dagster._core.loader import LoadingContextForTest
from dagster._core.storage.partition_status_cache import get_partition_subsets

from kb_pipeline.defs.assets import knowledge_base
from kb_pipeline.defs.control_room import control_room
from kb_pipeline.defs.namespace import PLAIN
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.settings import load_settings

RANGE = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


def execute(
    instance: dg.DagsterInstance, job: str, *, choosing: Mapping[str, object] | None = None, **config: object
) -> dg.ExecuteInProcessResult:
    """A run of one of our jobs, each of which is one op with its config; ``choosing`` is for this run only."""
    from kb_pipeline.definitions import defs

    definition = defs().resolve_job_def(job)
    ops = {definition.nodes[0].name: {"config": config}} if config else {}
    run_config = {"ops": ops, "resources": {"kb": {"config": dict(choosing or {})}}}
    return definition.execute_in_process(instance=instance, run_config=run_config, raise_on_error=False)


def materialize(
    instance: dg.DagsterInstance, *, tags: dict[str, str] | None = None, **options: Any
) -> dg.ExecuteInProcessResult:
    """A run of the flow, as a backfill of the UI launches it."""
    from kb_pipeline.definitions import defs

    return dg.materialize(
        [knowledge_base(load_settings())],
        instance=instance,
        resources=defs().resources,
        tags=tags,
        raise_on_error=False,
        **options,
    )


def materialize_range(instance: dg.DagsterInstance, first: str, last: str) -> dg.ExecuteInProcessResult:
    return materialize(instance, tags=dict(zip(RANGE, (first, last), strict=True)))


def materialize_control_room(instance: dg.DagsterInstance, **options: Any) -> dg.ExecuteInProcessResult:
    from kb_pipeline.definitions import defs

    return dg.materialize([control_room()], instance=instance, resources=defs().resources, **options)


def materialized(instance: dg.DagsterInstance, asset: str) -> set[str]:
    return instance.get_materialized_partitions(dg.AssetKey(asset))


def failed(instance: dg.DagsterInstance, asset: str) -> set[str]:
    """Failed partitions as the UI computes them."""
    _, failed, _ = asyncio.run(
        get_partition_subsets(instance, LoadingContextForTest(instance), dg.AssetKey(asset), instance, PLAIN.partitions)
    )
    return set(failed.get_partition_keys()) if failed else set()


def shown(instance: dg.DagsterInstance, asset: str) -> dict[str, Any]:
    """Values of the metadata of an asset's newest materialization; a table is a list of its rows."""
    event = instance.get_latest_materialization_event(dg.AssetKey(asset))
    assert event and event.asset_materialization, f"{asset} was never materialized"
    return values(event.asset_materialization.metadata)


def values(metadata: Mapping[str, dg.MetadataValue[Any]]) -> dict[str, Any]:
    return {
        name: [dict(row.data) for row in value.records] if isinstance(value, dg.TableMetadataValue) else value.value
        for name, value in metadata.items()
    }


def observed(instance: dg.DagsterInstance, asset: str) -> list[dg.AssetObservation]:
    """Observations of an asset, newest first."""
    records = instance.fetch_observations(dg.AssetKey(asset), limit=100).records
    return [record.event_log_entry.asset_observation for record in records if record.event_log_entry.asset_observation]


def check(instance: dg.DagsterInstance, name: str, asset: str = "converted_markdown") -> AssetCheckEvaluation:
    """The newest evaluation of an asset check."""
    return check_history(instance, name, asset)[0]


def check_history(
    instance: dg.DagsterInstance, name: str, asset: str = "converted_markdown", partition: str = ""
) -> list[AssetCheckEvaluation]:
    """The evaluations of an asset check, of one partition if it is named, newest first."""
    key = dg.AssetCheckKey(dg.AssetKey(asset), name)
    only = PartitionKeyFilter(key=partition) if partition else None
    records = instance.event_log_storage.get_asset_check_execution_history(key, limit=100, partition_filter=only)
    return [each.evaluation for each in records if isinstance(each.evaluation, AssetCheckEvaluation)]


def reason(result: dg.ExecuteInProcessResult) -> str:
    """Why the run failed, as the UI says it."""
    failures = [event.step_failure_data for event in result.all_events if event.is_step_failure]
    assert failures, "the run was expected to fail"
    described = failures[0].user_failure_data
    return str(described.description if described else failures[0].error)


def logged(instance: dg.DagsterInstance, result: dg.ExecuteInProcessResult) -> str:
    """All messages of the run's log."""
    return "\n".join(entry.user_message for entry in instance.all_logs(result.run_id))


def touched(instance: dg.DagsterInstance, result: dg.ExecuteInProcessResult, asset: str) -> list[str]:
    """Articles of which the run recorded the asset."""
    events = (entry.get_dagster_event() for entry in instance.all_logs(result.run_id) if entry.is_dagster_event)
    return [
        str(event.partition)
        for event in events
        if event.is_step_materialization and event.asset_key == dg.AssetKey(asset)
    ]


def execute_checks(instance: dg.DagsterInstance, *names: str) -> dg.ExecuteInProcessResult:
    """What the button "Execute" of asset checks launches."""
    from kb_pipeline.definitions import defs

    wanted = [key for key in defs().get_repository_def().asset_graph.asset_check_keys if key.name in names]
    return _execute_selected(instance, dg.AssetSelection.checks(*wanted))


def materialize_with_checks(instance: dg.DagsterInstance, article_id: str) -> dg.ExecuteInProcessResult:
    """What the button "Materialize" launches: the layers, and the checks that belong to them."""
    return _execute_selected(instance, dg.AssetSelection.assets(*LAYER_NAMES), partition_key=article_id)


def _execute_selected(
    instance: dg.DagsterInstance, selection: dg.AssetSelection, **options: Any
) -> dg.ExecuteInProcessResult:
    from kb_pipeline.definitions import defs

    job = dg.define_asset_job("selected", selection=selection)
    resolved = dg.Definitions.merge(defs(), dg.Definitions(jobs=[job])).resolve_job_def("selected")
    return resolved.execute_in_process(instance=instance, raise_on_error=False, **options)


def start(instance: dg.DagsterInstance, job: str) -> "subprocess.Popen[str]":
    """A run of one of our jobs in a process of its own, with this process's settings."""
    environment = os.environ | {"DAGSTER_HOME": instance.root_directory}
    command = [sys.executable, "-W", "ignore", "-m", __name__, job]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def end_of(process: "subprocess.Popen[str]") -> str:
    """Wait for a run that must succeed; returns what it printed."""
    output, _ = process.communicate(timeout=280)
    assert process.returncode == 0, output
    return output


def main(job: str) -> None:
    with dg.DagsterInstance.get() as instance:
        sys.exit(0 if execute(instance, job).success else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
