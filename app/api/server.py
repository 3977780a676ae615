"""The application: all routes behind the gate, with the service that it opens and closes."""

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from azure.ai.agentserver.core import AgentConfig
from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

import kb_pipeline
from app.api import (
    articles,
    chat,
    contributions,
    conversations,
    documents,
    gaps,
    health,
    investigations,
    logs,
    mcp,
    model,
    network,
    originals,
    permissions,
    quality,
    tools,
    usage,
    web,
    widget,
)
from app.api.audit import AuditTrail, Refusals
from app.api.failed_store import ReportFailedStore
from app.api.gate import OPEN_PATHS, Gate, asking
from app.api.owners import RequireResponseOwner, ResponseOwners, ValidateCursors
from app.api.problems import handle_problems
from app.api.request_log import RequestLog
from app.api.responses import responses_host
from app.api.widget_sites import WidgetSites
from app.callers.principal import Principal
from app.contributing.contributing import Caller
from app.conversations.loose_questions import take_over
from app.conversations.responses_store import ResponseStore
from app.library.withheld import shown_turns
from app.logs.lines import keep_log_lines
from app.logs.telemetry import configure_telemetry
from app.schema.conversations import Turn
from app.service import AgentService, open_service
from app.settings import AppSettings
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.languages import language_of
from kb_pipeline.settings import Settings
from kb_pipeline.web.guard import RequestGuard
from kb_pipeline.web.headers import PRIVATE, AddedHeaders

_log = logging.getLogger(__name__)
_NO_PAGE = "default-src 'none'; frame-ancestors 'none'"
"""The service has no page of its own: what it sends loads and runs nothing, in whatever a browser shows it."""


def create_app(
    settings: AppSettings, knowledge_base: Settings, when_warm: Callable[[], None] = lambda: None
) -> FastAPI:
    """The agent service with these settings, as an ASGI application. ``when_warm``: called when all is loaded."""
    return application(open_service(settings, knowledge_base), when_warm)


def application(service: AgentService, when_warm: Callable[[], None] = lambda: None) -> FastAPI:
    """The ASGI application of a service; it closes the service when it ends."""
    # for a hosted agent the platform stores the responses and checks who may read them
    hosted = AgentConfig.from_env().is_hosted
    owners = ResponseOwners(service.conversations)
    glances = health.Glances(service)
    refusals = Refusals(service.audit)
    store = _responses(service)
    host = responses_host(lambda: service, None if hosted else store, owners)
    if not hosted:
        host.add_middleware(ValidateCursors, conversations=service.conversations)
    host.add_middleware(RequireResponseOwner, owners=owners, store=store, hosted=hosted)
    host.add_middleware(ReportFailedStore)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with host.router.lifespan_context(host):
            warming = asyncio.create_task(asyncio.to_thread(_warm, service, when_warm))
            taking_over = asyncio.create_task(_take_over(service))
            yield
            await warming
            taking_over.cancel()  # the next start goes on with it
            await asyncio.wait([taking_over])
        refusals.end()
        glances.close()
        await service.close()

    app = FastAPI(
        title="Knowledge base",
        version=kb_pipeline.__version__,
        description="Cited, image-grounded answers from the knowledge base.",
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,  # its page loads files from other sites
        redoc_url=None,
    )
    app.state.service = service
    app.state.glances = glances
    app.state.owners = owners
    app.state.hosted = hosted
    handle_problems(app)
    for module in (
        health,
        chat,
        conversations,
        articles,
        documents,
        originals,
        quality,
        gaps,
        usage,
        contributions,
        tools,
        model,
        permissions,
        network,
        investigations,
        logs,
        web,
        widget,
    ):
        # included, each router's routes are made a second time, while the first request waits
        app.router.routes.extend(module.router.routes)
    app.router.routes.append(Route(mcp.PATH, mcp.McpEndpoint(service), methods=["POST"]))
    app.mount("/v1", host)
    settings = service.settings
    app.add_middleware(AuditTrail, log=service.audit)

    def most_of_upload(who: Principal, is_local: bool) -> int:
        rules = service.contributing.upload_rules(Caller(who, is_local=is_local))
        return rules.most_bytes if rules else 0

    app.add_middleware(Gate, settings=settings, hosted=hosted, refused=refusals.add, most_of_upload=most_of_upload)
    app.add_middleware(
        RequestGuard,
        bound_to=settings.app_host,
        # the platform of a hosted agent uses host names of its own, and nobody else can reach the agent
        allowed_hosts=("*",) if hosted else settings.allowed_hosts,
        health_paths=OPEN_PATHS,
        foreign_origins=settings.cors_origins,
    )
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["authorization", "content-type", "last-event-id"],
        )
    app.add_middleware(WidgetSites, origins=settings.widget_origins)
    app.add_middleware(AddedHeaders, headers={**PRIVATE, "content-security-policy": _NO_PAGE})
    app.add_middleware(RequestLog)
    keep_log_lines()
    configure_telemetry(app, record_content=settings.record_content)
    return app


def _responses(service: AgentService) -> ResponseStore:
    def shown_now(turns: Sequence[Turn]) -> Sequence[Turn]:
        return shown_turns(service.articles, turns, asking.get())

    return ResponseStore(service.conversations, shown_now)


async def _take_over(service: AgentService) -> None:
    """Mask questions that an earlier release kept. A failure is only logged: reading masks them, too."""
    try:
        await take_over(service.conversations, keeps_whole=service.settings.whole_questions)
    except KnowledgeBaseError as exc:
        _log.warning("questions that were kept as they were written are not masked yet: %s", exc)


def _warm(service: AgentService, when_warm: Callable[[], None]) -> None:
    """Load what the first question would otherwise wait for. A failure is only logged: the question will report it."""
    if service.answerer.model:
        # otherwise the SDK imports it on first use, in the event loop, and all requests wait
        importlib.import_module("openai.resources.chat.completions.completions")
    try:
        service.articles.last_published_at()
        service.retrieval.reader().embedder.embed(["warm"])
        language_of("warm")
    except KnowledgeBaseError as exc:
        _log.warning("not ready yet: %s", exc)
    when_warm()
