"""The code location that ``workspace.yaml`` names: everything that Dagster shows and runs."""

import dagster as dg

from kb_pipeline.defs.assets import index_state, knowledge_base
from kb_pipeline.defs.jobs import ingest_articles
from kb_pipeline.defs.materialise import NoProgress
from kb_pipeline.defs.resources import KnowledgeBase

defs = dg.Definitions(
    assets=[knowledge_base, index_state],
    jobs=[ingest_articles],
    resources={"kb": KnowledgeBase(), "progress": NoProgress()},
    # a step has its own worker processes; one more process around it would only cost its start
    executor=dg.in_process_executor,
)
