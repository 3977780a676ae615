"""A model that calls tools cannot choose what only its asker decides: the mode of the question."""

import asyncio
from pathlib import Path

from app.answering.base import Question
from app.answering.search_tool import KnowledgeBaseSearch
from app.answering.tool_calls import ToolCalls
from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.service import open_service
from app.settings import AppSettings
from kb_pipeline.records import KnowledgeMode
from kb_pipeline_tests.app.services_with_backlog import publish_services


def test_a_model_cannot_search_in_another_mode(tmp_path: Path) -> None:
    service = open_service(AppSettings(), publish_services(tmp_path))

    async def called(mode: KnowledgeMode | None) -> str:
        question = Question("How are orders replicated?", Principal().in_mode(mode), 5)
        book = CitationBook()
        search = KnowledgeBaseSearch(service.retrieval, question, book, 4)
        calling = ToolCalls(service.tools, question, book, search)
        (function,) = [each for each in calling.functions if each.name == "rag_semantic_search"]
        assert "mode" not in function.parameters()["properties"]
        assert "mode" in service.tools["rag_semantic_search"].parameters_schema["properties"]
        return str(await calling._call(service.tools["rag_semantic_search"], query="zebra region", mode="all"))

    async def both() -> tuple[str, str]:
        try:
            return await called(None), await called("production")
        finally:
            await service.close()

    poc, production = asyncio.run(both())
    assert "orders" in poc and "zebra region" not in poc and "quagga" not in poc
    assert "quagga key" in production
