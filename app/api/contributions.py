"""Routes for contributions: hand in, list, show, accept and reject. Only reviewers decide."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from app.api.gate import UPLOADS, TheService, Who
from app.contributing.contributing import Caller
from app.schema.contributions import (
    Acceptance,
    ContributionDetails,
    ContributionList,
    NewContribution,
    NewUpload,
    Rejection,
)
from kb_pipeline.records import ContributionState

router = APIRouter(tags=["contributions"])
_BODY = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}, "required": True}


def _caller(request: Request, service: TheService, who: Who) -> Caller:
    # behind the hosting platform everybody looks local who sends no identity
    return Caller(who, is_local=service.settings.is_only_local and not request.app.state.hosted)


Calling = Annotated[Caller, Depends(_caller)]


@router.get("/api/contributions")
async def contributions(
    service: TheService,
    caller: Calling,
    state: ContributionState | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> ContributionList:
    """The contributions that the caller may see, the newest first: reviewers those about articles they may read,
    others their own."""
    contributing = service.contributing
    return await contributing.pool.run(partial(contributing.page, caller, state, limit=limit, offset=offset))


@router.post("/api/contributions", status_code=201)
async def contribute(new: NewContribution, service: TheService, caller: Calling) -> ContributionDetails:
    """Propose knowledge; it waits for a reviewer. A draft is only checked."""
    return await service.contributing.pool.run(partial(service.contributing.propose, new, caller))


@router.get("/api/contributions/{contribution_id}")
async def contribution(contribution_id: str, service: TheService, caller: Calling) -> ContributionDetails:
    """One contribution, with what accepting it would change."""
    return await service.contributing.pool.run(partial(service.contributing.details, contribution_id, caller))


@router.post("/api/contributions/{contribution_id}/accept")
async def accept(
    contribution_id: str, acceptance: Acceptance, service: TheService, caller: Calling
) -> ContributionDetails:
    """Put a contribution into the staging folder. Accepting it again changes nothing."""
    return await service.contributing.pool.run(
        partial(service.contributing.accept, contribution_id, acceptance, caller)
    )


@router.post("/api/contributions/{contribution_id}/reject")
async def reject(
    contribution_id: str, rejection: Rejection, service: TheService, caller: Calling
) -> ContributionDetails:
    """Reject a contribution, with the reason."""
    return await service.contributing.pool.run(
        partial(service.contributing.reject, contribution_id, rejection.reason, caller)
    )


@router.post(UPLOADS, status_code=201, openapi_extra={"requestBody": _BODY})
async def upload(
    new: Annotated[NewUpload, Query()], request: Request, service: TheService, caller: Calling
) -> ContributionDetails:
    """Hand in a file; it becomes an article when a reviewer accepts it."""
    data = await request.body()
    return await service.contributing.converting.run(partial(service.contributing.upload, new, data, caller))
