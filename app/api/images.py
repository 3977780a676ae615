"""The route for images."""

import asyncio
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.api.served import file_response
from app.callers.principal import Principal
from app.grounding.citations import IMAGE_ROUTE
from app.library.images import ImageNotFoundError, open_image
from kb_pipeline.store.layout import Layout

WhoAsks = Callable[..., Principal]
"""A FastAPI dependency that returns the caller of a request."""


def images_router(layout: Layout, who_asks: WhoAsks) -> APIRouter:
    """A router that serves the images of published articles below ``/api/images/``."""
    router = APIRouter(tags=["images"])

    @router.head(IMAGE_ROUTE + "{article_id}/{image_path:path}", operation_id="image_headers")
    @router.get(IMAGE_ROUTE + "{article_id}/{image_path:path}")
    async def image(
        request: Request, article_id: str, image_path: str, who: Annotated[Principal, Depends(who_asks)]
    ) -> Response:
        """An image of an article: ``images/<stem>.png``."""
        try:
            opened = await asyncio.to_thread(open_image, layout, article_id, image_path, who)
        except ImageNotFoundError as exc:
            raise HTTPException(404, "there is no such image") from exc
        return file_response(request, opened)

    return router
