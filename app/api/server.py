"""The application: every route behind the gate, the service opened with it and closed with it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from azure.ai.agentserver.core import AgentConfig
from fastapi import FastAPI
from starlette.middleware.trustedhost import TrustedHostMiddleware

import kb_pipeline
from app.api import articles, chat, conversations, health, quality
from app.api.asking import who_asks
from app.api.gate import Gate
from app.api.images import images_router
from app.api.problems import handle_problems
from app.api.responses import responses_host
from app.conversations.responses_store import ResponseStore
from app.loopback import names_on_loopback
from app.service import Service, open_service
from app.settings import AppSettings
from app.telemetry import configure_telemetry
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.settings import Settings

_log = logging.getLogger(__name__)


def create_app(settings: AppSettings, knowledge_base: Settings) -> FastAPI:
    """The agent service of these settings, as an ASGI application."""
    return application(open_service(settings, knowledge_base))


def application(service: Service) -> FastAPI:
    """The routes of a service; it is closed when the application ends."""
    # a hosted agent's responses are kept by the platform, with its own idea of who may read them
    hosted = AgentConfig.from_env().is_hosted
    host = responses_host(lambda: service, None if hosted else ResponseStore(service.conversations))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with host.router.lifespan_context(host):
            warming = asyncio.create_task(asyncio.to_thread(_warm, service))
            yield
            await warming
        await service.close()

    app = FastAPI(
        title="Knowledge base",
        version=kb_pipeline.__version__,
        description="Cited, image-grounded answers from the knowledge base.",
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,  # its page is put together from other sites
        redoc_url=None,
    )
    app.state.service = service
    handle_problems(app)
    for router in (health.router, chat.router, conversations.router, articles.router, quality.router):
        app.include_router(router)
    app.include_router(images_router(service.articles.layout, who_asks))
    app.mount("/v1", host)
    settings = service.settings
    app.add_middleware(Gate, easy_auth=settings.easy_auth, hosted=hosted, most_bytes=settings.request_bytes)
    if names := names_on_loopback(settings.app_host):
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=names)
    configure_telemetry(app, record_content=settings.record_content)
    return app


def _warm(service: Service) -> None:
    """Load what the first question would otherwise wait for; where that fails, the question will say why."""
    try:
        service.articles.last_published_at()
        service.retrieval.reader().embedder.embed(["warm"])
    except KnowledgeBaseError as exc:
        _log.warning("not ready yet: %s", exc)
