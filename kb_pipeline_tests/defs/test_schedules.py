"""What is done on its own: each tick asks for one run of its job, with the job's defaults."""

import dagster as dg
import pytest

from kb_pipeline.defs.schedules import article_schedules, quality_schedules
from kb_pipeline.settings import load_settings

BY_NAME = {
    schedule.name: schedule for schedule in (*article_schedules(load_settings()), *quality_schedules(load_settings()))
}


@pytest.mark.parametrize(
    ("name", "job"),
    [
        ("nightly_reconcile", "reconcile"),
        ("weekly_verification", "verify_published"),
        ("nightly_refresh", "refresh_stale_articles"),
        ("hourly_retry", "retry_failing_articles"),
        ("nightly_gaps", "find_knowledge_gaps"),
    ],
)
def test_a_tick_asks_for_one_run(name: str, job: str, instance: dg.DagsterInstance) -> None:
    from kb_pipeline.definitions import defs

    schedule = BY_NAME[name]
    tick = schedule.evaluate_tick(
        dg.build_schedule_context(instance=instance, repository_def=defs().get_repository_def())
    )
    assert tick.run_requests is not None
    (request,) = tick.run_requests
    assert (schedule.job_name, request.run_config) == (job, {})
    assert request.tags["kb/source"] == "schedule"


def test_what_may_cost_money_waits_for_a_person_to_turn_it_on() -> None:
    stopped = {name for name, found in BY_NAME.items() if found.default_status == dg.DefaultScheduleStatus.STOPPED}
    assert {"nightly_refresh", "hourly_retry"} <= stopped
