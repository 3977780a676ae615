"""The route that takes a file as a contribution. Its body is the file itself, and what is said of it in the address."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request

from app.api.contributions import Calling
from app.api.gate import UPLOADS, TheService
from app.schema.contributions import ContributionDetails, NewUpload

router = APIRouter(tags=["contributions"])
_BODY = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}, "required": True}


@router.post(UPLOADS, status_code=201, openapi_extra={"requestBody": _BODY})
async def upload(
    new: Annotated[NewUpload, Query()], request: Request, service: TheService, caller: Calling
) -> ContributionDetails:
    """Hand in a file; it becomes an article when a reviewer accepts it."""
    data = await request.body()
    return await service.contributing.converting.run(partial(service.contributing.upload, new, data, caller))
