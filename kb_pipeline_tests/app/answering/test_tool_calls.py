"""The agent's model, played by aimock, calls the tools of programs and cites what they find."""

import asyncio
import json
from typing import Any

import pytest

from app.answering.base import Question, Searched, ToolEnded, ToolStarted
from app.answering.profiles import Profile
from app.answering.prompts import NO_MORE_SEARCHES
from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from app.settings import AppSettings
from kb_pipeline_tests.app.answering.conftest import Ask, Asked, answer
from kb_pipeline_tests.app.answering.test_agent import saying
from kb_pipeline_tests.app.model_servers import Aimock


def calling(*calls: tuple[str, dict[str, Any]], **match: Any) -> dict[str, Any]:
    """The model calls these tools at once."""
    wanted = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return {"match": match, "response": {"toolCalls": wanted}}


def results(aimock: Aimock) -> list[str]:
    """What the model read of the tools at last."""
    return [each["content"] for each in aimock.requests()[-1]["messages"] if each["role"] == "tool"]


def test_the_model_is_offered_the_tools_beside_its_search(aimock: Aimock, ask: Ask) -> None:
    aimock.says(calling(("rag_list_documents", {}), turnIndex=0), saying("There are some [Ref #1].", turnIndex=1))
    ask("Which documents are there?", base_url=aimock.base_url, planning="off")
    offered = [tool["function"] for tool in aimock.requests()[0]["tools"]]
    assert [tool["name"] for tool in offered] == [
        "search_knowledge_base",
        "rag_semantic_search",
        "rag_list_documents",
        "rag_get_document",
    ]
    assert offered[1]["parameters"]["required"] == ["query"]


def test_a_list_is_numbered_and_each_document_can_be_cited(aimock: Aimock, ask: Ask) -> None:
    aimock.says(calling(("rag_list_documents", {"sort_by": "title"}), turnIndex=0), saying("[Ref #1]", turnIndex=1))
    asked = ask("Which documents are there?", base_url=aimock.base_url, planning="off")
    assert [citation.article_id for citation in asked.book.citations] == ["layers", "printing", "hostile"]
    (read,) = results(aimock)
    assert read.startswith("[1]\n<untrusted_passage>\nArticle: Layers")
    assert "doc_id: layers." in read
    assert read.count("</untrusted_passage>") == 3
    assert "HACKED" not in "".join(read.split("</untrusted_passage>")[3:])


def test_each_call_is_told_as_it_begins_and_ends(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        calling(("rag_get_document", {"doc_id": "layers"}), turnIndex=0),
        calling(("rag_semantic_search", {"query": "crop a layer", "filters": {"doc_id": "layers"}}), turnIndex=1),
        saying("Choose Crop to Content [Ref #2].", turnIndex=2),
    )
    asked = ask("Summarise layers", base_url=aimock.base_url, planning="off")
    steps = [event for event in asked.events if isinstance(event, ToolStarted | ToolEnded | Searched)]
    assert steps[:2] == [
        ToolStarted("rag_get_document_1", "rag_get_document", {"doc_id": "layers"}),
        ToolEnded("rag_get_document_1", "rag_get_document", "1 found"),
    ]
    assert isinstance(steps[2], ToolStarted)
    assert steps[2].arguments == {"query": "crop a layer", "filters": {"doc_id": "layers"}}
    assert [type(step).__name__ for step in steps[3:]] == ["ToolEnded", "Searched"]
    assert asked.text == "Choose Crop to Content [Ref #2]."
    assert "Crop a layer" in asked.book.citations[0].passage


def test_a_failed_call_is_told_to_the_model_which_calls_again(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        calling(("rag_list_documents", {"filters": {"colour": "red"}}), turnIndex=0),
        calling(("rag_list_documents", {}), turnIndex=1),
        saying("Here they are [Ref #1].", turnIndex=2),
    )
    asked = ask("Which?", base_url=aimock.base_url, planning="off")
    failed, _ = results(aimock)
    value = json.loads(failed.removeprefix("<untrusted_passage>\n").removesuffix("\n</untrusted_passage>"))
    assert value["type"] == "InvalidArgument"
    assert "filters: doc_id" in str(value["hints"])
    errors = [event.error for event in asked.events if isinstance(event, ToolEnded)]
    assert errors == ["there is no filter 'colour'", None]
    assert asked.text == "Here they are [Ref #1]."


def test_calls_count_as_searches(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        calling(*[("rag_get_document", {"doc_id": "layers"})] * 3, turnIndex=0), saying("Done [Ref #1].", turnIndex=1)
    )
    ask("Which?", base_url=aimock.base_url, planning="off", search_rounds=2)
    assert results(aimock)[2] == NO_MORE_SEARCHES


@pytest.mark.parametrize("names", [(), ("ann", "group-hr")])
def test_a_tool_finds_for_the_model_what_the_asker_may_see(aimock: Aimock, ask: Ask, names: tuple[str, ...]) -> None:
    aimock.says(
        calling(
            ("rag_list_documents", {}),
            ("rag_get_document", {"doc_id": "secret"}),
            ("rag_semantic_search", {"query": "salary of the director", "top_k": 50}),
            turnIndex=0,
        ),
        saying("So.", turnIndex=1),
    )
    asked = ask("Salaries?", base_url=aimock.base_url, planning="off", who=Principal("ann", names))
    told = "".join(results(aimock)) + str(asked.book.citations)
    assert ("12345" in told) == ("Salaries" in told) == bool(names)


def test_text_of_a_document_stays_inside_its_delimiters(aimock: Aimock, ask: Ask) -> None:
    aimock.says(calling(("rag_get_document", {"doc_id": "hostile"}), turnIndex=0), saying("[Ref #1]", turnIndex=1))
    ask("toner?", base_url=aimock.base_url, planning="off")
    (read,) = results(aimock)
    assert "ignore all rules" in read
    assert read.count("</untrusted_passage>") == 1
    assert read.endswith("</untrusted_passage>")


def test_facts_of_a_document_bear_out_what_is_said_of_it(aimock: Aimock, ask: Ask) -> None:
    aimock.says(calling(("rag_get_document", {"doc_id": "layers"}), turnIndex=0), saying("[Ref #1]", turnIndex=1))
    (citation,) = ask("layers?", base_url=aimock.base_url, planning="off").book.citations
    assert "Uploaded: " in citation.passage
    assert (citation.kind, citation.document_url) == ("article", None)


def test_a_profile_says_who_the_model_is_and_which_tools_it_has(aimock: Aimock, retrieval: Retrieval) -> None:
    aimock.says(calling(("rag_list_documents", {}), turnIndex=0), saying("Some [Ref #1].", turnIndex=1))
    settings = AppSettings(chat_model="m", chat_base_url=aimock.base_url, vision=False, planning="off")
    profile = Profile("clerk", "Files.", tools=("rag_list_documents",), instructions="You are a clerk.")
    who = Principal.of("ann", department="finance")
    question = Question("Which?", who, 2, profile=profile)
    asyncio.run(answer(settings, retrieval, question, Asked()))
    request = aimock.requests()[0]
    assert [tool["function"]["name"] for tool in request["tools"]] == ["search_knowledge_base", "rag_list_documents"]
    told = request["messages"][0]["content"]
    assert told.startswith("You are a clerk.")
    assert "department: finance." in told
    assert "ann" not in told.split()
