"""Routes for evaluation runs: all runs, one run with its questions, the changes between two runs, and how
answers were used.
"""

from asyncio import to_thread
from typing import Annotated

from fastapi import APIRouter, Query

from app.api.gate import TheService, Who
from app.library.quality import Quality
from app.schema.quality import QualityComparison, QualityKind, QualityRunDetails, QualityRuns, UseCount, UseOfAnswers
from app.service import AgentService
from kb_pipeline.evaluation.gaps import DAYS, load_gaps

router = APIRouter(prefix="/api/quality", tags=["quality"])

RunId = Annotated[str, Query(max_length=100)]


@router.get("/runs")
async def runs(service: TheService, who: Who, kind: QualityKind | None = None) -> QualityRuns:
    """All runs, oldest first."""
    return await to_thread(_quality(service).runs, who, kind)


@router.get("/runs/{run_id}")
async def run(run_id: str, service: TheService, who: Who) -> QualityRunDetails:
    """A run with the outcome of each question that the caller may see."""
    return await to_thread(_quality(service).run, run_id, who)


@router.get("/compare")
async def compare(before: RunId, after: RunId, service: TheService, who: Who) -> QualityComparison:
    """The questions that were lost, won or changed between two runs."""
    return await to_thread(_quality(service).compare, before, after, who)


@router.get("/use")
async def use(service: TheService, who: Who) -> UseOfAnswers:
    """How the answers of the last month were used, counted last night; counts alone."""
    gaps = await to_thread(load_gaps, service.retrieval.workspace.settings)
    rows = gaps.use.rows() if gaps else []
    return UseOfAnswers(
        made_at=gaps.made_at if gaps else None, days=DAYS, counts=tuple(map(UseCount.model_validate, rows))
    )


def _quality(service: AgentService) -> Quality:
    return Quality(service.retrieval.workspace.settings, service.articles)
