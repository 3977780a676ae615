"""The code location that ``workspace.yaml`` names: everything that Dagster shows and runs."""

from functools import cache

import dagster as dg

from kb_pipeline.defs.assets import knowledge_base
from kb_pipeline.defs.checks import quality_gates
from kb_pipeline.defs.control_room import REMOVED_ARTICLES, control_room
from kb_pipeline.defs.diagnosis import diagnosis_quality, evaluate_diagnosis
from kb_pipeline.defs.evaluation import (
    answer_quality,
    evaluate_answering,
    evaluate_retrieval,
    retrieval_quality,
)
from kb_pipeline.defs.failures import report_lost_runs, reported
from kb_pipeline.defs.gaps import find_knowledge_gaps, unanswered_questions
from kb_pipeline.defs.jobs import ingest_articles, refresh_stale_articles, retry_failing_articles
from kb_pipeline.defs.maintenance import (
    compare_article_versions,
    reconcile,
    remove_articles,
    rollback_article,
    switch_generation,
    verify_published,
)
from kb_pipeline.defs.materialize import NoProgress
from kb_pipeline.defs.network import NETWORK, scenario_sensor
from kb_pipeline.defs.preview import preview_changes
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.schedules import schedules
from kb_pipeline.defs.sensors import staging_sensor
from kb_pipeline.settings import load_settings
from kb_pipeline.telemetry.destinations import read_destinations

_JOBS = (
    ingest_articles,
    retry_failing_articles,
    refresh_stale_articles,
    remove_articles,
    rollback_article,
    compare_article_versions,
    preview_changes,
    reconcile,
    verify_published,
    switch_generation,
)


@dg.definitions
@cache  # Dagster calls it more than once while it loads the code location
def defs() -> dg.Definitions:
    """Everything, for the settings of this process."""
    settings = load_settings()
    assets = [
        *(knowledge_base(settings), control_room, retrieval_quality, answer_quality, unanswered_questions),
        diagnosis_quality,
    ]
    jobs = {job.name: job for job in _JOBS}
    reporting = read_destinations().of("logs")
    if reporting:
        assets = [reported(asset) for asset in assets]
        jobs = {name: reported(job) for name, job in jobs.items()}
    return dg.Definitions(
        assets=[assets[0], *dg.with_source_code_references(assets[1:]), REMOVED_ARTICLES, *NETWORK],
        asset_checks=[quality_gates(settings)],
        jobs=[*jobs.values(), evaluate_retrieval, evaluate_answering, evaluate_diagnosis, find_knowledge_gaps],
        schedules=[
            schedule.with_updated_job(jobs[schedule.job_name]) if schedule.job_name in jobs else schedule
            for schedule in schedules(settings)
        ],
        sensors=[
            staging_sensor(settings, [jobs[ingest_articles.name], jobs[remove_articles.name]]),
            scenario_sensor,
            *([report_lost_runs] if reporting else []),
        ],
        resources={
            "kb": KnowledgeBase(),
            "progress": NoProgress(),
            # nothing is handed from step to step; the default one could be pointed at any folder
            "io_manager": dg.mem_io_manager,
        },
        # a step has its own worker processes; one more process around it would only cost its start
        executor=dg.in_process_executor,
    )
