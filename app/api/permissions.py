"""The route that says what its caller may do beyond asking and reading."""

from fastapi import APIRouter

from app.api.contributions import Calling
from app.api.gate import TheService
from app.schema.permissions import Permissions

router = APIRouter(prefix="/api", tags=["service"])


@router.get("/me")
async def me(service: TheService, caller: Calling) -> Permissions:
    """What the caller may do beyond asking and reading, as a page needs it that shows to each what is theirs."""
    contributing = service.contributing
    return Permissions(
        may_review=contributing.reviews(caller),
        may_upload=contributing.upload_rules(caller) is not None,
        is_operator=caller.who.is_operator,
    )
