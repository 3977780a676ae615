"""What is done on its own, at night and at weekends; times are UTC."""

import dagster as dg

from kb_pipeline.defs.jobs import refresh_stale_articles, retry_failing_articles
from kb_pipeline.defs.maintenance import reconcile, verify_published
from kb_pipeline.settings import load_settings

_FREE = dg.DefaultScheduleStatus.RUNNING if load_settings().watch else dg.DefaultScheduleStatus.STOPPED
_TAGS = {"kb/source": "schedule", "dagster/priority": "-1"}  # what a person asks for goes first

SCHEDULES = [
    dg.ScheduleDefinition(
        name="nightly_reconcile",
        job=reconcile,
        cron_schedule="30 2 * * *",
        tags=_TAGS,
        default_status=_FREE,
        description="Every night: the index and the serving files are what was published.",
    ),
    dg.ScheduleDefinition(
        name="weekly_verification",
        job=verify_published,
        cron_schedule="0 4 * * 0",
        tags=_TAGS,
        default_status=_FREE,
        description="Every Sunday: a twelfth of all articles is made again from its source and compared.",
    ),
    dg.ScheduleDefinition(
        name="nightly_refresh",
        job=refresh_stale_articles,
        cron_schedule="0 3 * * *",
        tags=_TAGS,
        description="Every night: what is missing or stale, also after a change of code or backend, is made. It may "
        "call paid services, so it is off until somebody turns it on.",
    ),
    dg.ScheduleDefinition(
        name="hourly_retry",
        job=retry_failing_articles,
        cron_schedule="15 * * * *",
        tags=_TAGS,
        description="Every hour: failing articles are tried again. Off, because the sensor tries transient failures "
        "again by itself.",
    ),
]
