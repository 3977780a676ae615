"""The routes of usage: counts of what was asked and answered, for those who answer for the knowledge base."""

from asyncio import to_thread

from fastapi import APIRouter, Response

from app.api.contributions import Calling
from app.api.gate import TheService
from app.contributing.contributing import Caller, NotAReviewerError
from app.conversations.usage import usage_since_weeks
from app.schema.usage import UsageReport
from app.service import AgentService

router = APIRouter(prefix="/api", tags=["quality"])


@router.get("/usage")
async def usage(service: TheService, caller: Calling) -> UsageReport:
    """What was asked in the last weeks, what became of it, what it cost, and which articles no answer used.

    Counts alone, for reviewers; of articles and topics, those that the caller may read.
    """
    return await _counted(service, caller)


@router.get("/usage.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def usage_csv(service: TheService, caller: Calling) -> Response:
    """The same as one table; the column ``of`` says what a row is about."""
    report = await _counted(service, caller)
    name = f"usage-{report.made_at[:10]}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(report.csv(), media_type="text/csv", headers=headers)


async def _counted(service: AgentService, caller: Caller) -> UsageReport:
    if not service.contributing.reviews(caller):
        raise NotAReviewerError("only reviewers see how it is used; an administrator can name you in KB_REVIEWERS")
    listings = await to_thread(service.articles.all, caller.who)
    return await usage_since_weeks(service.conversations, listings, service.retrieval.workspace.settings.prices)
