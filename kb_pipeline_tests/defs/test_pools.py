"""Concurrency pools: who waits for whom, and that nobody waits for the dead."""

import logging
import time
from collections.abc import Callable
from types import SimpleNamespace
from uuid import uuid4

import dagster as dg
import pytest
from dagster._daemon.monitoring.concurrency import execute_concurrency_slots_iteration

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.defs.materialize import pools_of
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import load_settings
from kb_pipeline_tests.defs.runs import end_of, execute, logged, start

WAITING = "waiting for a slot of the pool 'ocr'"


def holder_of(instance: dg.DagsterInstance, pool: str) -> set[str]:
    """Ids of the runs that hold a slot."""
    return {slot.run_id for slot in instance.event_log_storage.get_concurrency_info(pool).claimed_slots}


def until(condition: Callable[[], object], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def messages(instance: dg.DagsterInstance, run_id: str) -> str:
    return "\n".join(entry.user_message for entry in instance.all_logs(run_id))


@pytest.fixture
def limited(instance: dg.DagsterInstance, three: list[str]) -> dg.DagsterInstance:
    """One run at a time may read text from images."""
    instance.event_log_storage.set_concurrency_slots("ocr", 1)
    return instance


def test_layers_name_the_pool_of_what_they_use() -> None:
    assert pools_of(Workspace(load_settings()), LAYER_NAMES) == ["ocr"]
    assert pools_of(Workspace(load_settings()), ["chunks", "chunk_embeddings"]) == []


def test_runs_that_embed_by_a_service_share_its_rate_limit() -> None:
    settings = load_settings(embedder="openai", openai_api_key="k")
    assert pools_of(Workspace(settings), ["chunks", "chunk_embeddings"]) == ["openai"]


@pytest.mark.slow("a run of Dagster")
def test_without_a_limit_nobody_waits(instance: dg.DagsterInstance, three: list[str]) -> None:
    result = execute(instance, "ingest_articles")
    assert result.success
    assert "waiting for a slot" not in logged(instance, result)


@pytest.mark.slow("a run of Dagster")
def test_all_slots_are_held_during_the_work_and_free_afterwards_even_if_it_fails(
    limited: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited.event_log_storage.set_concurrency_slots("converter", 1)
    seen: list[set[str]] = []

    def fail(*_: object, **__: object) -> None:
        seen.extend(holder_of(limited, pool) for pool in ("converter", "ocr"))
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(LocalAnalyzer, "convert_pool", "converter")
    monkeypatch.setattr("kb_pipeline.defs.materialize.publish", fail)
    result = execute(limited, "ingest_articles")
    assert not result.success
    assert seen == [{result.run_id}, {result.run_id}]
    assert holder_of(limited, "ocr") == holder_of(limited, "converter") == set()


@pytest.mark.rare("two whole runs that wait for each other")
def test_a_second_run_waits_says_so_and_goes_on_when_the_first_is_done(limited: dg.DagsterInstance) -> None:
    storage, first = limited.event_log_storage, str(uuid4())
    assert storage.claim_concurrency_slot("ocr", first, "ingest").is_claimed
    second = start(limited, "ingest_articles")
    until(lambda: (runs := limited.get_run_records()) and WAITING in messages(limited, runs[0].dagster_run.run_id))
    assert holder_of(limited, "ocr") == {first}
    storage.free_concurrency_slot_for_step(first, "ingest")
    end_of(second)
    assert holder_of(limited, "ocr") == set()


@pytest.mark.rare("two whole runs that wait for each other")
def test_two_runs_at_once_take_turns(limited: dg.DagsterInstance, three: list[str]) -> None:
    for process in [start(limited, "ingest_articles") for _ in range(2)]:
        end_of(process)
    spans = sorted(
        (min(times), max(times))
        for run in limited.get_runs()
        if (
            times := [
                entry.timestamp for entry in limited.all_logs(run.run_id) if "search_index of" in entry.user_message
            ]
        )
    )
    assert len(spans) == 2
    assert spans[0][1] < spans[1][0]


@pytest.mark.slow("a run of Dagster")
def test_the_slot_of_a_killed_run_is_free_again_once_it_is_known_to_be_dead(instance: dg.DagsterInstance) -> None:
    storage = instance.event_log_storage
    storage.set_concurrency_slots("ocr", 1)
    run = instance.add_run(dg.DagsterRun(job_name="ingest_articles", status=dg.DagsterRunStatus.STARTED))
    storage.claim_concurrency_slot("ocr", run.run_id, "ingest")
    free_slots(instance)
    assert holder_of(instance, "ocr") == {run.run_id}
    instance.report_run_failed(run)
    until(lambda: free_slots(instance) or not holder_of(instance, "ocr"))


def free_slots(instance: dg.DagsterInstance) -> None:
    """What the daemon does again and again."""
    context = SimpleNamespace(instance=instance)
    list(execute_concurrency_slots_iteration(context, logging.getLogger()))  # type: ignore[arg-type]
