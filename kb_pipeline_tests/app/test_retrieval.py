"""Readers wait for the cores of this machine, or for a service, and then not for each other."""

import asyncio

import pytest

from app.principal import Principal
from app.retrieval import Retrieval, threads_for
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings


def test_what_is_computed_here_has_a_thread_for_each_core() -> None:
    assert threads_for(Settings(workers=3)) == 3


@pytest.mark.parametrize(
    "service", [{"embedder": "openai"}, {"embedder": "openai/text-embedding-3-small"}, {"index": "azure-ai-search"}]
)
def test_one_slow_answer_of_a_service_does_not_keep_other_readers_waiting(service: dict[str, str]) -> None:
    assert threads_for(Settings(workers=1, **service)) == 8
    assert threads_for(Settings(workers=12, **service)) == 12


def test_the_sections_of_several_passages_are_read_at_once_each_in_the_order_of_its_article(
    knowledge_base: Settings,
) -> None:
    retrieval = Retrieval(Workspace(knowledge_base))
    found = asyncio.run(retrieval.search("undo a crop, clear a paper jam", Principal(), top=20))
    chunks = {hit.chunk.section_header: hit.chunk for hit in found}
    read = asyncio.run(retrieval.sections([chunks["Undo a crop"], chunks["Paper jam"]], Principal()))
    assert [hit.chunk for hit in read] == [chunks["Undo a crop"], chunks["Paper jam"]]
    assert asyncio.run(retrieval.sections([], Principal())) == []
    retrieval.close()
