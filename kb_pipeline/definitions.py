"""The code location that ``workspace.yaml`` names: everything that Dagster shows and runs."""

from functools import cache

import dagster as dg

from kb_pipeline.defs.articles import definitions_of
from kb_pipeline.defs.automation import automation_sensor, expected_fresh
from kb_pipeline.defs.diagnosis import diagnosis_quality, evaluate_diagnosis
from kb_pipeline.defs.evaluation import (
    answer_quality,
    evaluate_answering,
    evaluate_retrieval,
    retrieval_quality,
)
from kb_pipeline.defs.failures import report_lost_runs, reported
from kb_pipeline.defs.gaps import find_knowledge_gaps, unanswered_questions
from kb_pipeline.defs.network import NETWORK, scenario_sensor
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.defs.schedules import quality_schedules
from kb_pipeline.defs.usage import usage
from kb_pipeline.settings import load_settings
from kb_pipeline.telemetry.destinations import read_destinations


@dg.definitions
@cache  # Dagster calls it more than once while it loads the code location
def defs() -> dg.Definitions:
    """Everything, for the settings of this process."""
    assets = [retrieval_quality, answer_quality, unanswered_questions, usage, diagnosis_quality]
    reporting = read_destinations().of("logs")
    if reporting:
        assets = [reported(asset) for asset in assets]
    settings = load_settings()
    around = dg.Definitions(
        assets=[*dg.with_source_code_references(expected_fresh(assets, settings)), *NETWORK],
        jobs=[evaluate_retrieval, evaluate_answering, evaluate_diagnosis, find_knowledge_gaps],
        schedules=quality_schedules(settings),
        sensors=[scenario_sensor, automation_sensor(settings), *([report_lost_runs] if reporting else [])],
        # nothing is handed from step to step; the default one could be pointed at any folder
        resources={"io_manager": dg.mem_io_manager},
        # a step has its own worker processes; one more process around it would only cost its start
        executor=dg.in_process_executor,
    )
    return dg.Definitions.merge(definitions_of(KnowledgeBase()), around)
