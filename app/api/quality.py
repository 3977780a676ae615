"""What was measured of the knowledge base: all runs, one with its questions, what changed between two."""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, HTTPException, Query

from app.api.asking import TheService, Who
from app.quality import Quality, RunNotFoundError
from app.schema import QualityComparison, QualityKind, QualityRunDetails, QualityRuns
from app.service import Service

router = APIRouter(prefix="/api/quality", tags=["quality"])

RunId = Annotated[str, Query(max_length=100)]
_Told = TypeVar("_Told")


@router.get("/runs")
async def runs(service: TheService, who: Who, kind: QualityKind | None = None) -> QualityRuns:
    """All that was measured, oldest first."""
    return await _told(lambda: _quality(service).runs(who, kind))


@router.get("/runs/{run_id}")
async def run(run_id: str, service: TheService, who: Who) -> QualityRunDetails:
    """A run with what came of each question that this person may see."""
    return await _told(lambda: _quality(service).run(run_id, who))


@router.get("/compare")
async def compare(before: RunId, after: RunId, service: TheService, who: Who) -> QualityComparison:
    """The questions that were lost, won or changed from one run to another."""
    return await _told(lambda: _quality(service).compare(before, after, who))


def _quality(service: Service) -> Quality:
    return Quality(service.retrieval.workspace.settings, service.articles)


async def _told(tell: Callable[[], _Told]) -> _Told:
    try:
        return await asyncio.to_thread(tell)
    except RunNotFoundError as exc:
        raise HTTPException(404, str(exc)) from exc
