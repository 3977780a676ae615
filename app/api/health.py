"""What the service can do now, and what it offers."""

import asyncio

from fastapi import APIRouter

import kb_pipeline
from app.api.asking import TheService
from app.schema import Health, IndexHealth
from app.service import Service
from kb_pipeline.errors import KnowledgeBaseError

router = APIRouter(tags=["service"])
AGENT_NAME = "knowledge-base"


@router.get("/health")
async def health(service: TheService) -> Health:
    """Whether questions can be answered, and how; always 200: a monitor reads ``status``."""
    index = await asyncio.to_thread(_index_health, service)
    return Health(
        status="ok" if index.reachable else "degraded",
        version=kb_pipeline.__version__,
        index=index,
        answered_by=service.answerer.answered_by,
        model=service.answerer.model,
        vision=service.answerer.sees_images,
        last_published_at=await asyncio.to_thread(service.articles.last_published_at),
    )


def _index_health(service: Service) -> IndexHealth:
    try:
        reader = service.retrieval.reader()
        return IndexHealth(
            reachable=True,
            chunks=reader.index.count(),
            embedding_model=reader.generation.embedding_model,
            generation=reader.generation.id,
        )
    except KnowledgeBaseError as exc:
        return IndexHealth(reachable=False, problem=str(exc))


@router.get("/readiness")
async def readiness() -> dict[str, str]:
    """Whether requests are taken, for the platform that runs the container."""
    return {"status": "healthy"}


@router.get("/v1/models")
async def models(service: TheService) -> dict[str, object]:
    """What may stand for ``model`` in a request; it does not change who answers, which the settings say."""
    return {"object": "list", "data": [{"id": AGENT_NAME, "object": "model", "created": 0, "owned_by": "kb_pipeline"}]}


@router.get("/v1/entities")
async def entities(service: TheService) -> dict[str, list[dict[str, object]]]:
    """The agents that can be talked to, as Microsoft Agent Framework's DevUI lists them."""
    agent: dict[str, object] = {
        "id": AGENT_NAME,
        "type": "agent",
        "name": AGENT_NAME,
        "description": "Answers from the knowledge base, with citations and screenshots.",
        "framework": "agent_framework",
        "tools": ["search_knowledge_base"] if service.answerer.answered_by == "agent" else [],
        "metadata": {"answered_by": service.answerer.answered_by, "model": service.answerer.model},
    }
    return {"entities": [agent]}
