"""Batches written by our SQLite storage read exactly like events written one by one by Dagster's."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluation
from dagster._core.events import (
    AssetMaterializationPlannedData,
    DagsterEvent,
    DagsterEventType,
    StepMaterializationData,
)
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage

from kb_pipeline.defs.sqlite_storage import BatchingSqliteStorage, together

KEY = dg.AssetKey("chunks")


def materialized(run_id: str, partition: str) -> EventLogEntry:
    materialization = dg.AssetMaterialization(
        KEY, partition=partition, tags={"dagster/data_version": f"v-{partition}"}, metadata={"chunks": 3}
    )
    return entry(
        run_id,
        DagsterEvent(
            DagsterEventType.ASSET_MATERIALIZATION.value,
            job_name="job",
            event_specific_data=StepMaterializationData(materialization),
        ),
    )


def planned(run_id: str, partition: str) -> EventLogEntry:
    data = AssetMaterializationPlannedData(KEY, partition=partition)
    return entry(run_id, DagsterEvent.build_asset_materialization_planned_event("job", "step", data))


def entry(run_id: str, event: DagsterEvent) -> EventLogEntry:
    return EventLogEntry(
        error_info=None,
        level=10,
        user_message="",
        run_id=run_id,
        timestamp=time.time(),
        job_name="job",
        step_key="step",
        dagster_event=event,
    )


@pytest.fixture(params=[BatchingSqliteStorage, DagsterSqliteStorage])
def instance(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    kind = request.param
    config = {
        "storage": {
            "custom": {"module": kind.__module__, "class": kind.__name__, "config": {"base_dir": str(tmp_path)}}
        }
    }
    with dg.instance_for_test(temp_dir=str(tmp_path), overrides=config) as instance:
        yield instance


def test_materialized_partitions_are_found_by_partition_run_and_tag(instance: dg.DagsterInstance) -> None:
    instance.event_log_storage.store_event_batch([materialized("run-1", name) for name in ("a", "b", "c")])

    assert instance.get_materialized_partitions(KEY) == {"a", "b", "c"}
    record = instance.get_latest_materialization_event(KEY)
    assert record and record.dagster_event and record.dagster_event.partition == "c"
    tags = instance.event_log_storage.get_event_tags_for_asset(KEY)
    assert {"dagster/data_version": "v-b"}.items() <= {
        k: v for tag in tags for k, v in tag.items() if v == "v-b"
    }.items()
    assert len(instance.all_logs("run-1")) == 3


def test_a_plan_without_materialization_is_kept_apart(instance: dg.DagsterInstance) -> None:
    instance.event_log_storage.store_event_batch([materialized("run-1", "good"), planned("run-1", "bad")])

    assert instance.get_materialized_partitions(KEY) == {"good"}
    in_run = instance.event_log_storage.get_latest_storage_id_by_partition(
        KEY, DagsterEventType.ASSET_MATERIALIZATION_PLANNED
    )
    assert set(in_run) == {"bad"}


@pytest.mark.slow("a run of Dagster")
def test_record_ids_follow_the_order_of_the_batch(instance: dg.DagsterInstance) -> None:
    instance.event_log_storage.store_event_batch([materialized("run-1", f"p{n:02}") for n in range(50)])

    ids = instance.event_log_storage.get_latest_storage_id_by_partition(KEY, DagsterEventType.ASSET_MATERIALIZATION)
    assert [name for name, _ in sorted(ids.items(), key=lambda item: item[1])] == [f"p{n:02}" for n in range(50)]


def test_an_empty_batch_is_nothing(instance: dg.DagsterInstance) -> None:
    instance.event_log_storage.store_event_batch([])
    assert instance.get_materialized_partitions(KEY) == set()


def test_partitions_are_listed_as_they_were_added_each_kind_for_itself(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("articles", ["b", "a"])
    instance.add_dynamic_partitions("scenarios", ["z"])
    instance.add_dynamic_partitions("articles", ["0"])
    assert list(instance.get_dynamic_partitions("articles")) == ["b", "a", "0"]
    instance.delete_dynamic_partition("articles", "a")
    assert list(instance.get_dynamic_partitions("articles")) == ["b", "0"]


@pytest.mark.slow("many partitions")
def test_many_partitions_take_less_time_than_in_dagster_s_own_storage(tmp_path: Path) -> None:
    storage = BatchingSqliteStorage.from_config_value(None, {"base_dir": str(tmp_path)}).event_log_storage
    storage.add_dynamic_partitions("articles", [f"article-{number:05}" for number in range(10_000)])

    def seconds(listing: Callable[[str], Sequence[str]]) -> float:
        """The shortest of some attempts."""
        taken = []
        for _ in range(9):
            began = time.process_time()
            listing("articles")
            taken.append(time.process_time() - began)
        return min(taken)

    own = DagsterSqliteStorage.from_local(str(tmp_path)).event_log_storage
    assert seconds(storage.get_dynamic_partitions) < 0.8 * seconds(own.get_dynamic_partitions)


def checked(run_id: str, name: str) -> EventLogEntry:
    evaluation = AssetCheckEvaluation(asset_key=KEY, check_name=name, passed=True, metadata={})
    return entry(
        run_id,
        DagsterEvent(DagsterEventType.ASSET_CHECK_EVALUATION.value, job_name="job", event_specific_data=evaluation),
    )


def results(instance: dg.DagsterInstance) -> dict[str, int]:
    """How many results of each check there are."""
    storage = instance.event_log_storage
    keys = [dg.AssetCheckKey(KEY, name) for name in ("one", "two")]
    return {key.name: len(storage.get_asset_check_execution_history(key, limit=9)) for key in keys}


def test_what_is_stored_together_reads_as_if_it_was_stored_one_by_one(instance: dg.DagsterInstance) -> None:
    with together(instance):
        for name in ("one", "two"):
            instance.event_log_storage.store_event(checked("run-1", name))
        instance.event_log_storage.store_event(materialized("run-1", "alpha"))
    assert results(instance) == {"one": 1, "two": 1}
    assert instance.get_materialized_partitions(KEY) == {"alpha"}
    assert len(instance.event_log_storage.get_logs_for_run("run-1")) == 3
    instance.event_log_storage.store_event(checked("run-2", "one"))
    assert results(instance) == {"one": 2, "two": 1}


def test_of_what_fails_amid_being_stored_together_nothing_is_left(tmp_path: Path) -> None:
    storage = {"module": BatchingSqliteStorage.__module__, "class": BatchingSqliteStorage.__name__}
    custom = {"storage": {"custom": storage | {"config": {"base_dir": str(tmp_path)}}}}
    with dg.instance_for_test(overrides=custom) as instance:
        with pytest.raises(OSError, match="full"), together(instance):
            instance.event_log_storage.store_event(checked("run-1", "one"))
            raise OSError("the disk is full")
        assert results(instance) == {"one": 0, "two": 0}
        instance.event_log_storage.store_event(checked("run-1", "two"))
        assert results(instance) == {"one": 0, "two": 1}
