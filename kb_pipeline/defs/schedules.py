"""What is done on its own, at night and at weekends; times are UTC."""

import dagster as dg

from kb_pipeline.defs.jobs import refresh_stale_articles, retry_failing_articles
from kb_pipeline.defs.maintenance import reconcile, verify_published
from kb_pipeline.settings import load_settings

_FREE = dg.DefaultScheduleStatus.RUNNING if load_settings().watch else dg.DefaultScheduleStatus.STOPPED
_TAGS = {"kb/source": "schedule", "dagster/priority": "-1"}  # runs that a person starts go first

SCHEDULES = [
    dg.ScheduleDefinition(
        name="nightly_reconcile",
        job=reconcile,
        cron_schedule="30 2 * * *",
        tags=_TAGS,
        default_status=_FREE,
        description="Every night: repair the index and the serving files where they differ from what was published.",
    ),
    dg.ScheduleDefinition(
        name="weekly_verification",
        job=verify_published,
        cron_schedule="0 4 * * 0",
        tags=_TAGS,
        default_status=_FREE,
        description="Every Sunday: build a twelfth of all articles again from their source, and compare.",
    ),
    dg.ScheduleDefinition(
        name="nightly_refresh",
        job=refresh_stale_articles,
        cron_schedule="0 3 * * *",
        tags=_TAGS,
        description="Every night: build what is missing or stale, also after a change of code or backend. It may call "
        "paid services, so it is off until you turn it on.",
    ),
    dg.ScheduleDefinition(
        name="hourly_retry",
        job=retry_failing_articles,
        cron_schedule="15 * * * *",
        tags=_TAGS,
        description="Every hour: try failing articles again. It is off, because the sensor already tries transient "
        "failures again.",
    ),
]
