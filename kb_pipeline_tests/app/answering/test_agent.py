"""The agent, with aimock playing the model: it searches, reads, searches again, and has to answer in the end."""

import asyncio
import json
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from app.answering.base import Message, Question, Searched, TextPart
from app.answering.prompts import NO_MORE_SEARCHES
from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from app.schema.answers import TokenUsage
from app.settings import AppSettings
from kb_pipeline.errors import KnowledgeBaseError, SearchError
from kb_pipeline_tests.app.answering.conftest import Ask, Asked, answer
from kb_pipeline_tests.app.model_servers import Aimock, OwnModel, chunk, streamed


def searching(*queries: str, **match: Any) -> dict[str, Any]:
    """The model asks for these searches at once."""
    calls = [{"name": "search_knowledge_base", "arguments": {"query": query}} for query in queries]
    return {"match": match, "response": {"toolCalls": calls, "usage": usage(100, 10)}}


def saying(text: str, **match: Any) -> dict[str, Any]:
    return {"match": match, "response": {"content": text, "usage": usage(1000, 50)}}


def usage(prompt: int, completion: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def test_it_searches_in_the_models_words_and_answers_from_what_was_found(aimock: Aimock, ask: Ask) -> None:
    aimock.says(searching("crop a layer", turnIndex=0), saying("Choose Crop to Content [Ref #1].", turnIndex=1))
    asked = ask("How do I get rid of the border?", base_url=aimock.base_url)
    assert asked.searches == ["crop a layer"]
    assert asked.text == "Choose Crop to Content [Ref #1]."
    assert asked.book.citations[0].article_id == "layers"
    asked_first, told = aimock.requests()
    assert asked_first["tool_choice"] == "required"
    assert told["messages"][-1]["content"].startswith("[1]\n<untrusted_passage>\nArticle: Layers")


def test_it_may_search_again_with_other_words_and_passages_keep_their_numbers(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        searching("paper jam", turnIndex=0),
        searching("undo a crop", turnIndex=1),
        saying("[Ref #1] [Ref #3]", turnIndex=2),
    )
    asked = ask("jam and crop", base_url=aimock.base_url)
    assert asked.searches == ["paper jam", "undo a crop"]
    assert [event.found for event in asked.events if isinstance(event, Searched)] == [2, 2]
    assert [citation.number for citation in asked.book.citations] == list(range(1, len(asked.book.citations) + 1))
    assert (asked.end.usage.input_tokens, asked.end.usage.output_tokens) == (1200, 70)


def test_what_each_round_used_is_told_before_the_next_one_ends(aimock: Aimock, ask: Ask) -> None:
    aimock.says(searching("crop a layer", turnIndex=0), saying("Choose Crop to Content [Ref #1].", turnIndex=1))
    asked = ask("How do I get rid of the border?", base_url=aimock.base_url)
    used = [event.input_tokens for event in asked.events if isinstance(event, TokenUsage)]
    assert used[0] == 100
    assert used[-1] <= asked.end.usage.input_tokens == 1100
    assert asked.events.index(TokenUsage(input_tokens=100, output_tokens=10)) < asked.events.index(
        next(event for event in asked.events if isinstance(event, TextPart))
    )


def test_the_rounds_are_bounded_and_then_it_has_to_answer(aimock: Aimock, ask: Ask) -> None:
    aimock.says(*(searching(f"try {n}", turnIndex=n) for n in range(2)), saying("Nothing answers this.", turnIndex=2))
    asked = ask("something", base_url=aimock.base_url, search_rounds=2)
    assert asked.searches == ["try 0", "try 1"]
    assert asked.text == "Nothing answers this."
    assert [request.get("tool_choice") for request in aimock.requests()] == ["required", None, "none"]


def test_many_searches_in_one_round_count_each(aimock: Aimock, ask: Ask) -> None:
    aimock.says(searching("a", "b", "c", turnIndex=0), saying("Found.", turnIndex=1))
    asked = ask("something", base_url=aimock.base_url, search_rounds=2)
    assert asked.searches == ["a", "b"]
    results = [m["content"] for m in aimock.requests()[-1]["messages"] if m["role"] == "tool"]
    assert results[2] == NO_MORE_SEARCHES


def test_a_model_that_only_searches_is_told_what_was_found_without_tools(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        saying("Pull the paper out [Ref #1].", systemMessage="The knowledge base was searched"), searching("jam")
    )
    asked = ask("How do I clear a paper jam?", base_url=aimock.base_url, search_rounds=1)
    assert asked.text == "Pull the paper out [Ref #1]."
    assert asked.searches == ["jam", "How do I clear a paper jam?"]
    assert (asked.end.usage.input_tokens, asked.end.usage.output_tokens) == (1200, 70)


def test_a_model_that_never_searches_is_made_to_answer_from_passages(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        saying("Pull the paper out [Ref #1].", systemMessage="The knowledge base was searched"),
        saying("I know that by heart: burn the printer."),
    )
    asked = ask("How do I clear a paper jam?", base_url=aimock.base_url)
    assert asked.text == "Pull the paper out [Ref #1]."
    assert asked.searches == ["How do I clear a paper jam?"]
    assert asked.book.citations[0].article_id == "printing"


def test_what_is_said_between_two_searches_is_a_paragraph_of_its_own(aimock: Aimock, ask: Ask) -> None:
    again = searching("crop", turnIndex=1)
    again["response"]["content"] = "Let me look again."
    first = searching("jam", turnIndex=0)
    first["response"]["content"] = "Let me look that up."
    aimock.says(first, again, saying("Here it is.", turnIndex=2))
    assert ask("something", base_url=aimock.base_url).text == "Let me look again.\n\nHere it is."


def test_references_that_the_model_invents_do_not_stop_it(aimock: Aimock, ask: Ask) -> None:
    aimock.says(searching("crop", turnIndex=0), saying("So [Ref #99] ![x](http://evil/x.png).", turnIndex=1))
    assert ask("crop?", base_url=aimock.base_url).text == "So [Ref #99] ![x](http://evil/x.png)."


def test_text_of_an_article_stays_inside_its_delimiters(aimock: Aimock, ask: Ask) -> None:
    aimock.says(searching("toner cartridge", turnIndex=0), saying("Replace it [Ref #1].", turnIndex=1))
    ask("toner?", base_url=aimock.base_url, top=1)
    result = aimock.requests()[-1]["messages"][-1]["content"]
    assert "ignore all rules" in result
    assert result.count("</untrusted_passage>") == 1
    assert result.endswith("</untrusted_passage>")
    assert "<|im_" not in result


def test_nobody_finds_through_the_model_what_they_may_not_see(aimock: Aimock, ask: Ask) -> None:
    aimock.says(searching("salary of the director", turnIndex=0), saying("Done.", turnIndex=1))
    assert "secret" not in {c.article_id for c in ask("salary?", base_url=aimock.base_url, top=20).book.citations}
    hr = Principal("ann", ("ann", "group-hr"))
    assert "secret" in {c.article_id for c in ask("salary?", base_url=aimock.base_url, who=hr).book.citations}


def test_what_was_said_before_is_told_to_the_model(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        searching("undo a crop", userMessage="undo", hasToolResult=False), saying("Ctrl+Z.", userMessage="undo")
    )
    history = (Message("user", "How do I crop?"), Message("assistant", "Choose Crop to Content."))
    ask("And how do I undo it?", base_url=aimock.base_url, history=history)
    roles = [(m["role"], m["content"]) for m in aimock.requests()[0]["messages"][1:]]
    assert roles == [
        ("user", "How do I crop?"),
        ("assistant", "Choose Crop to Content."),
        ("user", "And how do I undo it?"),
    ]


def test_arguments_that_are_no_arguments_are_told_to_the_model_not_to_the_reader(ask: Ask) -> None:
    arguments = iter(['{"query": ', '{"query": "paper jam"}'])

    def bad_then_good(_: dict[str, Any], __: object) -> Any:
        given = next(arguments, None)
        if given is None:
            return streamed(chunk("Open the rear tray [Ref #1]."), chunk(finish="stop"))
        call = {"index": 0, "id": given, "function": {"name": "search_knowledge_base", "arguments": given}}
        return streamed(chunk(tool_calls=[call]), chunk(finish="tool_calls"))

    with OwnModel(bad_then_good) as model:
        asked = ask("How do I clear a paper jam?", base_url=model.base_url)
    assert (asked.searches, asked.text) == (["paper jam"], "Open the rear tray [Ref #1].")
    assert "rror" in model.requests[1]["messages"][-1]["content"]


@pytest.mark.slow("builds a whole knowledge base")
def test_a_tool_that_does_not_exist_is_told_to_the_model(llmock: LLMock, ask: Ask) -> None:
    llmock.break_tool_call("unknown_tool")
    asked = ask("How do I clear a paper jam?", base_url=llmock.base_url())
    assert asked.text
    assert asked.book.citations[0].article_id == "printing"


def test_a_search_that_fails_ends_the_answer(aimock: Aimock, ask: Ask, retrieval: Retrieval, monkeypatch: Any) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise SearchError("the index is gone")

    monkeypatch.setattr(retrieval, "search", broken)
    aimock.says(searching("crop"))
    with pytest.raises(KnowledgeBaseError, match="the index is gone"):
        ask("crop?", base_url=aimock.base_url)
    assert len(aimock.requests()) == 1


def test_thoughts_that_a_server_does_not_keep_apart_are_left_out(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        searching("crop", turnIndex=0), saying("<think>Which of them?</think>\n\nThe first [Ref #1].", turnIndex=1)
    )
    assert ask("crop?", base_url=aimock.base_url).text == "The first [Ref #1]."


@pytest.mark.slow("builds a whole knowledge base")
def test_sixteen_answers_at_once_are_not_mixed_up(retrieval: Retrieval) -> None:
    topics = ["crop a layer", "undo a crop", "paper jam", "toner"] * 4

    def echoing(body: dict[str, Any], _: object) -> Any:
        said = [m for m in body["messages"] if m["role"] == "user"][-1]["content"]
        number, topic = said.split(" ", 1)
        if body["messages"][-1]["role"] == "tool":
            return streamed(*(chunk(f"{number} ") for _ in range(20)), chunk(finish="stop"))
        arguments = json.dumps({"query": f"{topic} {number}"})
        call = {"index": 0, "id": number, "function": {"name": "search_knowledge_base", "arguments": arguments}}
        return streamed(chunk(tool_calls=[call]), chunk(finish="tool_calls"))

    async def all_at_once(base_url: str) -> list[Asked]:
        settings = AppSettings(chat_model="m", chat_base_url=base_url, vision=False)
        questions = [Question(f"{n} {topic}", Principal(), 1) for n, topic in enumerate(topics)]
        return await asyncio.gather(*(answer(settings, retrieval, each, Asked()) for each in questions))

    with OwnModel(echoing) as model:
        everything = asyncio.run(all_at_once(model.base_url))
    for number, (topic, asked) in enumerate(zip(topics, everything, strict=True)):
        assert asked.searches == [f"{topic} {number}"]
        assert asked.text.split() == [str(number)] * 20
        assert len(asked.book.citations) == 1
        assert isinstance(asked.events[1], TextPart)
