"""Routes about the service: health, readiness, its models and agents. No part is waited for long."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Generic, TypeVar, cast

from fastapi import APIRouter, Depends, Request

import kb_pipeline
from app.answering.profiles import KNOWLEDGE_BASE, Profile, profiles
from app.answering.prompts import TOOL_NAME
from app.api.gate import TheService, Who
from app.callers.principal import Principal
from app.errors import as_answer_error
from app.schema.health import ConversationsHealth, Health, IndexHealth
from app.schema.network import NetworkHealth
from app.service import AgentService
from kb_pipeline.errors import KnowledgeBaseError

_log = logging.getLogger(__name__)
router = APIRouter(tags=["service"])
_HANGS = "does not answer; see whether its disk or its service can be reached, and whether this machine is overloaded"
_NETWORK_SECONDS = 0.7
"""Less than the second that many probes wait."""


class Glances:
    """What is looked at for the health of a service. The index is read in a thread that no request can keep busy."""

    def __init__(self, service: AgentService) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="health")

        async def index() -> tuple[IndexHealth, str | None]:
            return await asyncio.get_running_loop().run_in_executor(self._thread, _seen, service)

        self.index = Glance(index)
        self.conversations = Glance(lambda: _store_health(service))

    def close(self) -> None:
        """Let the thread end after what it does."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _glances(request: Request) -> Glances:
    return cast(Glances, request.app.state.glances)


@router.get("/health")
async def health(service: TheService, who: Who, glances: Annotated[Glances, Depends(_glances)]) -> Health:
    """Whether and how questions can be answered. The HTTP status is always 200; monitors read ``status``."""
    seen, store, network = await asyncio.gather(
        glances.index.seen(), glances.conversations.seen(), _network_health(service, who)
    )
    index, last_published_at = seen or (IndexHealth(reachable=False, problem=f"the search index {_HANGS}"), None)
    conversations = store or ConversationsHealth(usable=False, problem=f"the store of conversations {_HANGS}")
    return Health(
        status="ok" if index.reachable and conversations.usable else "degraded",
        version=kb_pipeline.__version__,
        index=index,
        conversations=conversations,
        answered_by=service.answerer.answered_by,
        model=service.answerer.model,
        vision=service.answerer.sees_images,
        network=network,
        audit="failing" if service.audit.problem else service.audit.level,
        last_published_at=last_published_at,
    )


async def _network_health(service: AgentService, who: Principal) -> NetworkHealth | None:
    try:
        return await asyncio.wait_for(service.networks.health(who), _NETWORK_SECONDS)
    except TimeoutError:
        return NetworkHealth(backend=service.networks.settings.network)


async def _store_health(service: AgentService) -> ConversationsHealth:
    try:
        await service.conversations.probe()
    except KnowledgeBaseError as exc:
        _log.warning("conversations cannot be used: %s", exc)
        return ConversationsHealth(usable=False, problem=str(as_answer_error(exc)))
    return ConversationsHealth()


def _seen(service: AgentService) -> tuple[IndexHealth, str | None]:
    try:
        last_published_at = service.articles.last_published_at()
    except KnowledgeBaseError as exc:
        _log.warning("the articles cannot be listed: %s", exc)
        return IndexHealth(reachable=False, problem=str(as_answer_error(exc))), None
    return _index_health(service), last_published_at


def _index_health(service: AgentService) -> IndexHealth:
    try:
        reader = service.retrieval.reader()
        service.retrieval.probe()
        chunks = reader.index.count_of("text")
        return IndexHealth(
            reachable=True,
            chunks=chunks,
            problem=None if chunks else _empty(service),
            embedding_model=reader.generation.embedding_model,
            generation=reader.generation.id,
        )
    except KnowledgeBaseError as exc:
        _log.warning("the index cannot be searched: %s", exc)
        return IndexHealth(reachable=False, problem=str(as_answer_error(exc)))


def _empty(service: AgentService) -> str:
    """Say that the index is empty, and what to do if it is ours."""
    settings = service.retrieval.workspace.settings
    if settings.index == "azure-ai-search" and settings.search_index:
        return f"the index {settings.search_index} is empty; another program fills it"
    return "there are no articles in the index yet; add some with: kb ingest"


@router.get("/readiness")
async def readiness() -> dict[str, str]:
    """Whether the service accepts requests, for the platform that runs the container."""
    return {"status": "healthy"}


@router.get("/v1/models")
async def models(service: TheService) -> dict[str, object]:
    """The accepted values of ``model`` in a request: profiles. The settings choose the model that words answers."""
    listed = [{"id": name, "object": "model", "created": 0, "owned_by": "kb_pipeline"} for name in _profiles(service)]
    return {"object": "list", "data": listed}


@router.get("/v1/entities")
async def entities(service: TheService) -> dict[str, list[dict[str, object]]]:
    """The available agents, in the format of Microsoft Agent Framework's DevUI."""
    return {"entities": [_entity(service, profile) for profile in _profiles(service).values()]}


def _profiles(service: AgentService) -> Mapping[str, Profile]:
    """Return the profiles that a request can choose; without a model they would all say the same."""
    return profiles() if service.answerer.model else {KNOWLEDGE_BASE.name: KNOWLEDGE_BASE}


def _entity(service: AgentService, profile: Profile) -> dict[str, object]:
    answered_by = service.answerer.answered_by
    tools = [TOOL_NAME, *(name for name in service.tools if profile.tools is None or name in profile.tools)]
    return {
        "id": profile.name,
        "type": "agent",
        "name": profile.name,
        "description": profile.description,
        "framework": "agent_framework",
        "tools": tools if answered_by == profile.mode == "agent" else [],
        "metadata": {"answered_by": answered_by, "model": service.answerer.model, "web_search": profile.web_search},
    }


_LONGEST_WAIT_SECONDS = 0.7
"""Some monitors give up after one second. Probing an index of 50,000 entries takes .1 to .3 s on two cores."""
_FIRST_WAIT_SECONDS = 10.0
"""Nothing is known before the first look, so it may take as long as an SDK needs to start."""
_HANGS_AFTER_SECONDS = 30.0
"""A look that takes longer never ends; what it found before is not told any more."""
T = TypeVar("T")


class Glance(Generic[T]):
    """Awaits ``look``, once at a time; whoever asks meanwhile gets what was seen before."""

    def __init__(self, look: Callable[[], Awaitable[T]]) -> None:
        self._look = look
        self._looking: asyncio.Future[T] | None = None
        self._last: asyncio.Future[T] | None = None
        self._since = 0.0

    async def seen(self) -> T | None:
        """What ``look`` returns now, or last returned if it is slow; ``None`` if it hangs.

        Raises:
            Exception: what ``look`` raises.
        """
        if self._looking is None or self._looking.done():
            self._last, self._since = self._looking, time.monotonic()
            self._looking = asyncio.ensure_future(self._look())
        patience = _LONGEST_WAIT_SECONDS if self._last else _FIRST_WAIT_SECONDS
        await asyncio.wait([self._looking], timeout=patience)
        if self._looking.done():
            return self._looking.result()
        hangs = time.monotonic() - self._since > _HANGS_AFTER_SECONDS
        return None if hangs or self._last is None else self._last.result()
