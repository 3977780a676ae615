"""What is done on its own, at night and at weekends; times are UTC."""

import dagster as dg

from kb_pipeline.defs.diagnosis import evaluate_diagnosis
from kb_pipeline.defs.evaluation import evaluate_retrieval
from kb_pipeline.defs.gaps import find_knowledge_gaps
from kb_pipeline.defs.jobs import refresh_stale_articles, retry_failing_articles
from kb_pipeline.defs.maintenance import reconcile, verify_published
from kb_pipeline.defs.materialize import SOURCE_TAG
from kb_pipeline.defs.namespace import PLAIN, Namespace
from kb_pipeline.defs.network import scenarios
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.network.opening import configured_scenario, loaded_version
from kb_pipeline.settings import Settings

BACKGROUND = {SOURCE_TAG: "schedule", "dagster/priority": "-1"}  # runs that a person starts go first


def _free(settings: Settings) -> dg.DefaultScheduleStatus:
    """Schedules that cost nothing run where KB_WATCH is on; the others wait for a person."""
    return dg.DefaultScheduleStatus.RUNNING if settings.watch else dg.DefaultScheduleStatus.STOPPED


def article_schedules(
    settings: Settings, namespace: Namespace = PLAIN, refresh: str = ""
) -> list[dg.ScheduleDefinition]:
    """The schedules for articles; ``refresh`` (cron) is when stale ones are made again, which is off without it."""
    free = _free(settings)
    return [
        dg.ScheduleDefinition(
            name=namespace.of("nightly_reconcile"),
            job=reconcile,
            cron_schedule="30 2 * * *",
            tags=BACKGROUND,
            default_status=free,
            description="Every night: repair the index and the serving files where they differ from what was "
            "published.",
        ),
        dg.ScheduleDefinition(
            name=namespace.of("weekly_verification"),
            job=verify_published,
            cron_schedule="0 4 * * 0",
            tags=BACKGROUND,
            default_status=free,
            description="Every Sunday: build a twelfth of all articles again from their source, and compare.",
        ),
        dg.ScheduleDefinition(
            name=namespace.of("nightly_refresh"),
            job=refresh_stale_articles,
            cron_schedule=refresh or "0 3 * * *",
            tags=BACKGROUND,
            default_status=dg.DefaultScheduleStatus.RUNNING if refresh else dg.DefaultScheduleStatus.STOPPED,
            description="Every night: build what is missing or stale, also after a change of code or backend. It "
            "may call paid services, so it is off until you turn it on.",
        ),
        dg.ScheduleDefinition(
            name=namespace.of("hourly_retry"),
            job=retry_failing_articles,
            cron_schedule="15 * * * *",
            tags=BACKGROUND,
            description="Every hour: try failing articles again. It is off, because the sensor already tries transient "
            "failures again.",
        ),
    ]


def quality_schedules(settings: Settings) -> list[dg.ScheduleDefinition]:
    """The schedules that measure search, answers and diagnoses."""
    free = _free(settings)
    return [
        _nightly_evaluation(free),
        _nightly_diagnosis(free),
        dg.ScheduleDefinition(
            name="nightly_gaps",
            job=find_knowledge_gaps,
            cron_schedule="30 5 * * *",
            tags=BACKGROUND,
            default_status=free,
            description="Every night: group what readers asked and was not answered.",
        ),
    ]


def _nightly_evaluation(default_status: dg.DefaultScheduleStatus) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="nightly_evaluation",
        job=evaluate_retrieval,
        cron_schedule="0 5 * * *",
        tags=BACKGROUND,
        default_status=default_status,
        description="Every night, after repairs and refreshes: measure how well readers find what they ask for.",
    )
    def evaluate_if_there_are_questions(kb: KnowledgeBase) -> dg.RunRequest | dg.SkipReason:
        folder = kb.settings().evaluation_path
        if not any(folder.glob("*.jsonl")):
            return dg.SkipReason(f"there are no questions (*.jsonl) in {folder}")
        return dg.RunRequest()

    return evaluate_if_there_are_questions


def _nightly_diagnosis(default_status: dg.DefaultScheduleStatus) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="nightly_diagnosis",
        job=evaluate_diagnosis,
        cron_schedule="15 5 * * *",
        tags=BACKGROUND,
        default_status=default_status,
        description="Every night: measure how often the diagnosis of each loaded network names the right cause.",
    )
    def diagnose_recorded_incidents(
        context: dg.ScheduleEvaluationContext, kb: KnowledgeBase
    ) -> list[dg.RunRequest] | dg.SkipReason:
        settings = kb.settings()
        names = sorted(context.instance.get_dynamic_partitions(scenarios.name or ""))
        with_incidents = [name for name in names if _has_incidents(context, settings, name)]
        if not with_incidents:
            return dg.SkipReason("no loaded scenario of Dagster's partitions names a file of incidents")
        return [dg.RunRequest(partition_key=name) for name in with_incidents]

    return diagnose_recorded_incidents


def _has_incidents(context: dg.ScheduleEvaluationContext, settings: Settings, name: str) -> bool:
    """Whether a scenario is loaded and names a file of incidents."""
    try:
        scenario = configured_scenario(settings, name).scenario
        return bool(scenario.incidents and loaded_version(settings, name))
    except KnowledgeBaseError as exc:
        context.log.warning(str(exc))
        return False
