"""Each way in which a call can fail is a value with a type and hints; nothing is raised."""

import asyncio
import json
import logging
from typing import Any

import pytest

from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from app.tools import AnyTool, open_tools
from app.tools.base import ToolServices
from app.tools.semantic_search import SemanticSearchTool
from kb_pipeline.errors import IndexMissingError, SearchError, TransientError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.tools.conftest import Call

LISTED = "list the documents that you may see with rag_list_documents"


@pytest.mark.parametrize(
    ("name", "arguments", "type_", "error", "hint"),
    [
        ("rag_semantic_search", {}, "InvalidArgument", "query is missing", "query: what to look for"),
        ("rag_semantic_search", {"query": " "}, "InvalidArgument", "query", "query: what to look for"),
        ("rag_semantic_search", {"query": "x" * 40_000}, "InvalidArgument", "query", "query: what to look for"),
        ("rag_semantic_search", {"query": "a", "top_k": 0}, "InvalidArgument", "top_k", "from 1 to 50"),
        ("rag_semantic_search", {"query": "a", "top_k": 51}, "InvalidArgument", "top_k", "from 1 to 50"),
        ("rag_semantic_search", {"query": "a", "top_k": "x"}, "InvalidArgument", "top_k", "from 1 to 50"),
        ("rag_semantic_search", {"query": "a", "colour": 1}, "InvalidArgument", "no argument 'colour'", "query, top_k"),
        (
            "rag_semantic_search",
            {"query": "a", "filters": {"colour": "red"}},
            "InvalidArgument",
            "there is no filter 'colour'",
            "filters: doc_id, filename, document_type, department, author, language, upload_date, block_type, page",
        ),
        ("rag_semantic_search", {"query": "a", "filters": "x"}, "InvalidArgument", "filters", "filters: doc_id"),
        ("rag_semantic_search", {"query": "a", "filters": {"page_number": 0}}, "InvalidArgument", "page_number", "12"),
        ("rag_list_documents", {"limit": 0}, "InvalidArgument", "limit", "from 1 to 500"),
        ("rag_list_documents", {"sort_by": "x"}, "InvalidArgument", "sort_by", "sort_by: the fact"),
        (
            "rag_list_documents",
            {"filters": {"upload_date": "soon"}},
            "InvalidArgument",
            "'soon' is not a date like 2024-05-31",
            "such as 2024-05-31",
        ),
        ("rag_list_documents", {"filters": {"upload_date": {"from": "2024-99-01"}}}, "InvalidArgument", "date", "day"),
        ("rag_list_documents", {"filters": {"block_type": "text"}}, "InvalidArgument", "no filter 'block_type'", "doc"),
        ("rag_get_document", {"doc_id": "nothing"}, "DocumentNotFound", "there is no document 'nothing'", LISTED),
        ("rag_get_document", {"doc_id": "doc-006"}, "DocumentNotFound", "there is no document 'doc-006'", LISTED),
    ],
)
def test_wrong_arguments_say_what_is_right(
    call: Call, name: str, arguments: dict[str, Any], type_: str, error: str, hint: str
) -> None:
    failed = call(name, **arguments)
    assert failed.keys() == {"success", "error", "type", "hints"}
    assert (failed["success"], failed["type"]) == (False, type_)
    assert error in failed["error"]
    assert any(hint in each for each in failed["hints"]), failed["hints"]
    assert len(json.dumps(failed)) < 2000


def test_a_forbidden_document_looks_like_one_that_is_not_there(call: Call) -> None:
    forbidden, unknown = (call("rag_get_document", doc_id=doc_id) for doc_id in ("doc-006", "doc-xyz"))
    assert str(forbidden).replace("doc-006", "doc-xyz") == str(unknown)


@pytest.mark.parametrize("arguments", [[], "query", 5, True])
def test_arguments_that_are_no_object_are_refused(tools: dict[str, AnyTool], arguments: object) -> None:
    outcome = asyncio.run(tools["rag_list_documents"].call(arguments))
    assert outcome.failure
    assert outcome.failure.error == "the arguments are not a JSON object"


def test_an_argument_that_is_null_is_none(call: Call) -> None:
    assert call("rag_list_documents", filters=None, sort_by=None, limit=3)["count"] == 3
    assert call("rag_list_documents", filters={"department": None})["success"]


def test_without_an_index_it_says_how_to_build_it(settings: Settings) -> None:
    failed = _called(Retrieval(Workspace(settings)))
    assert (failed["type"], failed["hints"]) == ("IndexMissing", ["an administrator builds the index with: kb ingest"])


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(staging=str(tmp_path / "staging"), home=str(tmp_path / "home"), embedder="hashing")


class _Failing(Retrieval):
    """Every search raises this, after a while."""

    def __init__(self, error: Exception | None, settings: Settings) -> None:
        super().__init__(Workspace(settings))
        self._error = error

    async def search(self, *_: object, **__: object) -> Any:
        if self._error is None:
            await asyncio.sleep(60)
        raise self._error or AssertionError


def _called(retrieval: Retrieval, seconds: float = 30.0) -> dict[str, Any]:
    tool = SemanticSearchTool(ToolServices(retrieval))
    tool.seconds = seconds
    return asyncio.run(tool.execute(query="budget"))


def _from_the_sdk(error: SearchError) -> SearchError:
    from azure.core.exceptions import HttpResponseError

    error.__cause__ = HttpResponseError("503")
    return error


@pytest.mark.parametrize(
    ("error", "type_", "hint"),
    [
        (IndexMissingError("no"), "IndexMissing", "kb ingest"),
        (TransientError("busy", retry_after=7), "ServiceBusy", "call it again in 7 s"),
        (TransientError("busy"), "ServiceBusy", "call it again in a while"),
        (SearchError("broken"), "SearchError", "kb check"),
        (_from_the_sdk(SearchError("refused")), "AzureSearchError", "kb check"),
        (ZeroDivisionError("a bug"), "UnexpectedError", "the service's log has the details"),
    ],
)
def test_a_failing_service_is_a_value(error: Exception, type_: str, hint: str, settings: Settings) -> None:
    failed = _called(_Failing(error, settings))
    assert (failed["success"], failed["type"]) == (False, type_)
    assert any(hint in each for each in failed["hints"])


def test_a_bug_is_told_to_the_log_not_to_the_caller(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    failed = _called(_Failing(ZeroDivisionError("a secret detail"), settings))
    assert "secret" not in str(failed)
    assert "a secret detail" in caplog.text


def test_silence_ends_with_a_value(settings: Settings) -> None:
    failed = _called(_Failing(None, settings), seconds=0.05)
    assert (failed["type"], failed["error"]) == ("Timeout", "there was no answer within 0.05 s")


def test_thirty_seconds_are_the_limit(tools: dict[str, AnyTool]) -> None:
    assert {tool.seconds for tool in tools.values()} == {30.0}


def test_no_place_of_the_server_is_told(settings: Settings) -> None:
    failed = _called(_Failing(SearchError("cannot read /home/kb/index.lance"), settings))
    assert "/home" not in str(failed)


@pytest.mark.parametrize("record", [True, False])
def test_every_call_is_one_line_of_the_log(
    finding: Retrieval, caplog: pytest.LogCaptureFixture, *, record: bool
) -> None:
    caplog.set_level(logging.INFO, logger="app.tools.base")
    tool = open_tools(ToolServices(finding, record_content=record))["rag_semantic_search"]
    asyncio.run(tool.execute(user_context=Principal.of("ann"), query="budget", filters={"department": "finance"}))
    (line,) = (each.getMessage() for each in caplog.records if each.name == "app.tools.base")
    told = json.loads(line.removeprefix("tool call "))
    assert (told["tool"], told["azure_operation"]) == ("rag_semantic_search", "search")
    assert told["result_count"] == 10
    assert told["index_name"]
    assert told["search_latency_ms"] > 0
    if record:
        assert told["search_query"] == "budget"
        assert json.loads(told["filter_applied"])["principals"] == ["ann"]
        assert json.loads(told["filter_applied"])["department"] == ["finance"]
    else:
        assert told.keys().isdisjoint({"search_query", "filter_applied"})
        assert "ann" not in line
