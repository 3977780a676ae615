"""The route of the web: how often a conversation looked up again what it had found before."""

from fastapi import APIRouter

from app.api.contributions import Calling
from app.api.gate import TheService
from app.contributing.contributing import NotAReviewerError
from app.schema.health import WebStatistics

router = APIRouter(prefix="/api/web", tags=["web"])


@router.get("/stats")
async def stats(service: TheService, caller: Calling) -> WebStatistics:
    """The counts of all conversations whose searches are kept. They tell of other people, so reviewers alone see them.

    Raises:
        NotAReviewerError: the caller is not named in KB_REVIEWERS.
    """
    if not service.contributing.reviews(caller):
        raise NotAReviewerError(
            "only reviewers see what all people look up; an administrator can name you in KB_REVIEWERS"
        )
    web = service.web
    if web is None:
        return WebStatistics()
    counts = web.stats()
    return WebStatistics(
        searches=web.name,
        hits=counts.hits,
        misses=counts.misses,
        entries=counts.entries,
        failures=dict(web.failures),
    )
