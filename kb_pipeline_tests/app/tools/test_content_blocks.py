"""The tools on top of somebody else's two indexes, through the proxy that holds every request to the contract."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from app.tools import open_tools
from app.tools.base import ToolServices
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.models import open_embedder
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.check import check_connections
from kb_pipeline_tests.app.tools.conftest import Call
from kb_pipeline_tests.search_service.app import QUERY_KEY
from kb_pipeline_tests.search_service.content_blocks import (
    DIAGRAM,
    DIAGRAM_URL,
    RING,
    block_fields,
    fill_blocks,
    fill_documents,
    without,
)
from kb_pipeline_tests.search_service.fixtures import search_settings
from kb_pipeline_tests.search_service.running import RunningService

FINANCE = Principal.of("bo", department="finance")
HOSTILE = "x' or true or doc_id ne '"


def vectors(text: str) -> list[float]:
    embedder = open_embedder(Settings(embedder="hashing"))
    return [float(value) for value in embedder.embed_question(text).vector]


@pytest.fixture
def theirs(fake: RunningService) -> RunningService:
    fill_blocks(fake, block_fields(len(vectors("x"))), vectors)
    fill_documents(fake)
    return fake


def told(url: str, folder: Path, **more: object) -> Settings:
    places = {"staging": str(folder / "staging"), "home": str(folder / "home")}
    return search_settings(url, embedder="hashing", search_layout="content-blocks", **places, **more)


@pytest.fixture(params=[{}, {"search_api_key": QUERY_KEY}], ids=["admin", "query"])
def call(
    theirs: RunningService,
    checked_url: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> Iterator[Call]:
    """Calls a tool: with a key that may read definitions, and with one that may only search."""
    retrieval = Retrieval(Workspace(told(checked_url, tmp_path, **request.param)))
    tools = open_tools(ToolServices(retrieval))

    def called(name: str, who: Principal | None = None, /, **arguments: Any) -> dict[str, Any]:
        return asyncio.run(tools[name].execute(user_context=who, **arguments))

    yield called
    retrieval.close()


@pytest.mark.slow("builds a whole knowledge base")
def test_a_search_returns_blocks_as_they_describe_them(call: Call) -> None:
    said = call("rag_semantic_search", query="slewing ring")
    assert (said["success"], said["result_count"]) == (True, 2)
    blocks = {block["block_id"]: block for block in said["results"]}
    scores = [blocks["b1"].pop("score"), blocks["b2"].pop("score")]
    assert min(scores) > 0
    names = {"doc_id": "d1", "filename": "crane.pdf", "title": "Crane Handbook", "section": "Crane Handbook"}
    assert blocks["b1"] == {"block_id": "b1", "block_type": "text", "content": RING, "page_number": 3, **names}
    image = {"image_url": DIAGRAM_URL, "image_caption": DIAGRAM, "page_number": 4}
    assert blocks["b2"] == {"block_id": "b2", "block_type": "image", **image, **names}


def test_filters_reach_facts_of_either_index(call: Call) -> None:
    def found(**filters: object) -> list[str]:
        said = call("rag_semantic_search", FINANCE, query="crane ring", filters=filters)
        return sorted(block["block_id"] for block in said["results"])

    assert found(block_type="image") == ["b2"]
    assert found(page_number={"from": 1, "to": 3}) == ["b1", "b3"]
    assert found(department="finance") == ["b3"]
    assert found(filename="crane.pdf", upload_date={"from": "2024-05-01"}) == ["b1", "b2"]
    assert found(doc_id=HOSTILE) == found(filename=HOSTILE) == found(department=[HOSTILE, "'"]) == []


def test_documents_are_listed_and_got_with_their_summaries(call: Call) -> None:
    said = call("rag_list_documents", FINANCE)
    assert [each["doc_id"] for each in said["documents"]] == ["d1", "d2"]
    assert (said["count"], said["total"], said["documents"][1]["summary_brief"]) == (2, 2, "What the crane costs.")
    assert call("rag_list_documents", FINANCE, filters={"document_type": "Report"})["count"] == 1
    assert call("rag_list_documents", FINANCE, filters={"department": HOSTILE})["count"] == 0
    document = call("rag_get_document", doc_id="d1")["document"]
    assert (document["summary_standard"], document["page_count"]) == ("How to keep the crane.\n\nAnd its ring.", 12)


def test_what_the_asker_may_not_see_does_not_exist(call: Call) -> None:
    assert call("rag_list_documents")["total"] == 1
    assert call("rag_get_document", doc_id="d2")["type"] == "DocumentNotFound"
    assert call("rag_get_document", FINANCE, doc_id="d2")["success"] is True
    assert call("rag_get_document", FINANCE, doc_id=HOSTILE)["type"] == "DocumentNotFound"
    found = call("rag_semantic_search", query="budget", filters={"department": "finance"})
    assert (found["success"], found["result_count"]) == (True, 0)


def test_a_fact_that_neither_index_has_is_told(call: Call) -> None:
    said = call("rag_semantic_search", query="crane", filters={"language": "en"})
    assert (said["success"], said["type"]) == (False, "SearchError")
    assert "documents-metadata cannot be filtered by language" in said["error"]


def test_kb_check_asks_both_indexes(theirs: RunningService, tmp_path: Path) -> None:
    connections = {each.role: each for each in check_connections(Workspace(told(theirs.url, tmp_path)))}
    assert connections["index"].found == "generation somebodys is live, 3 entries"
    assert (connections["documents"].name, connections["documents"].found) == ("documents-metadata", "3 documents")
    theirs.service.delete("indexes", "documents-metadata", None)
    connections = {each.role: each for each in check_connections(Workspace(told(theirs.url, tmp_path)))}
    assert "check KB_SEARCH_DOCUMENTS_INDEX" in connections["documents"].problem


def test_kb_check_says_where_everybody_may_see_everything(fake: RunningService, tmp_path: Path) -> None:
    fill_blocks(fake, without(block_fields(len(vectors("x"))), "access_control_list"), vectors)
    fill_documents(fake)
    settings = told(fake.url, tmp_path, search_fields={"access_control_list": ""})
    (found,) = [each.found for each in check_connections(Workspace(settings)) if each.role == "index"]
    assert found.endswith("; without access lists, everybody may see everything in content-blocks")
