"""All that one knowledge base shows and runs in Dagster: assets, checks, jobs, schedules, the sensor."""

import dagster as dg

from kb_pipeline.defs.assets import knowledge_base
from kb_pipeline.defs.automation import expected_fresh
from kb_pipeline.defs.checks import quality_gates
from kb_pipeline.defs.control_room import REMOVED_ARTICLES, control_room, named
from kb_pipeline.defs.failures import reported
from kb_pipeline.defs.intake import WATCHER, NoWatcher, intake_of
from kb_pipeline.defs.jobs import failed_articles, ingest_articles, refresh_stale_articles, retry_failing_articles
from kb_pipeline.defs.maintenance import (
    compare_article_versions,
    reconcile,
    remove_articles,
    rollback_article,
    switch_generation,
    verify_published,
)
from kb_pipeline.defs.materialize import NoProgress
from kb_pipeline.defs.namespace import Namespace
from kb_pipeline.defs.preview import preview_changes
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.schedules import article_schedules
from kb_pipeline.defs.sensors import staging_sensor
from kb_pipeline.telemetry.destinations import read_destinations

_JOBS = (
    ingest_articles,
    failed_articles,
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


def definitions_of(kb: KnowledgeBase, schedule: str = "") -> dg.Definitions:
    """The definitions of a knowledge base; ``schedule`` is when stale articles are made again (cron)."""
    settings, namespace = kb.settings(), kb.namespace
    layers, room = knowledge_base(settings, namespace), control_room(namespace)
    jobs, intake = _jobs(kb), intake_of(settings, namespace)
    if read_destinations().of("logs"):
        layers, room = reported(layers), reported(room)
        jobs = {name: reported(job) for name, job in jobs.items()}
    return dg.Definitions(
        assets=[
            layers,
            *dg.with_source_code_references(expected_fresh([room], settings)),
            named(REMOVED_ARTICLES, namespace),
            *intake.assets,
        ],
        asset_checks=[quality_gates(settings, namespace)],
        jobs=[*jobs.values(), *intake.jobs],
        schedules=[
            *intake.schedules,
            *(each.with_updated_job(jobs[each.job_name]) for each in article_schedules(settings, namespace, schedule)),
        ],
        sensors=[staging_sensor(settings, [jobs[ingest_articles.name], jobs[remove_articles.name]], kb)],
        resources={
            namespace.of("kb"): kb,
            namespace.of("progress"): NoProgress(),
            namespace.of(WATCHER): NoWatcher(),
        },
    )


def _jobs(kb: KnowledgeBase) -> dict[str, dg.JobDefinition]:
    """The jobs, by the names that they have here; those of a knowledge base with a name have resources of their own."""
    if not kb.namespace.name:
        return {job.name: job for job in _JOBS}
    # a step has its own worker processes; one more process around it would only cost its start
    bound = dg.Definitions(jobs=_JOBS, resources={"kb": kb, "progress": NoProgress()}, executor=dg.in_process_executor)
    return {job.name: _renamed(bound.resolve_job_def(job.name), kb.namespace) for job in _JOBS}


def _renamed(job: dg.JobDefinition, namespace: Namespace) -> dg.JobDefinition:
    return job.graph.to_job(
        name=namespace.of(job.name),
        description=job.description,
        config=job.run_config,
        resource_defs=job.resource_defs,
        executor_def=job.executor_def,
    )
