"""One search, one call: for models that cannot be trusted with tools."""

import pytest

from app.answering.base import Finished, Message, Searched, TextPart
from app.callers.principal import Principal
from app.language.messages import Messages
from app.library.retrieval import Retrieval
from app.model.passages import NOT_CLEAR
from kb_pipeline.records import SearchHit, SearchMode
from kb_pipeline.search.base import SearchFilter
from kb_pipeline_tests.app.answering.conftest import Ask
from kb_pipeline_tests.app.model_servers import Aimock

NOTHING = Messages.of("en")("nothing_answers")
USAGE = {"prompt_tokens": 700, "completion_tokens": 20, "total_tokens": 720}
SAYS = {"match": {}, "response": {"content": "Press Ctrl+Z [Ref #1].", "usage": USAGE}}


def test_the_passages_stand_before_the_question_and_there_are_no_tools(aimock: Aimock, ask: Ask) -> None:
    aimock.says(SAYS)
    asked = ask("How do I undo a crop?", base_url=aimock.base_url, answering="retrieve-first")
    (request,) = aimock.requests()
    system, told = request["messages"]
    assert system["role"] == "system"
    assert told["content"].startswith("[1]\n<untrusted_passage>\nArticle: Layers\nSection: Layers > Undo a crop\n")
    assert told["content"].endswith("How do I undo a crop?")
    assert "tools" not in request
    assert asked.text == "Press Ctrl+Z [Ref #1]."
    assert (asked.end.usage.input_tokens, asked.end.usage.output_tokens) == (700, 20)


def test_a_follow_up_is_searched_for_in_the_words_that_it_leans_on(aimock: Aimock, ask: Ask) -> None:
    aimock.says(SAYS)
    history = (Message("user", "How do I crop a layer?"), Message("assistant", "Choose Crop to Content."))
    asked = ask("And how do I undo it?", base_url=aimock.base_url, answering="retrieve-first", history=history)
    assert asked.searches == ["And how do I undo it?\nHow do I crop a layer?"]
    assert asked.book.citations[0].section == "Undo a crop"


def test_a_search_that_finds_nothing_costs_no_call_of_the_model(aimock: Aimock, ask: Ask) -> None:
    asked = ask("Why is the sky blue?", base_url=aimock.base_url, answering="retrieve-first", top=0)
    assert aimock.requests() == []
    assert asked.events[-2:] == [TextPart(NOTHING, is_quoted=True), Finished(refused=True)]


def test_what_is_refused_before_a_model_is_asked_is_searched_for_once(
    aimock: Aimock, ask: Ask, retrieval: Retrieval, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []
    search = retrieval.search

    async def counted(
        question: str, who: Principal, *, top: int, mode: SearchMode = "hybrid", filters: SearchFilter | None = None
    ) -> list[SearchHit]:
        searched.append(top)
        return await search(question, who, top=top, mode=mode, filters=filters)

    monkeypatch.setattr(retrieval, "search", counted)
    asked = ask("Why is the sky blue?", base_url=aimock.base_url, answering="retrieve-first", top=0)
    assert asked.end.refused
    assert searched.count(0) == 1


def test_a_search_that_is_not_trusted_is_told_to_the_model(aimock: Aimock, ask: Ask) -> None:
    aimock.says({"match": {}, "response": {"content": "The articles do not say that."}})
    asked = ask("Why do bananas ripen in spring?", base_url=aimock.base_url, answering="retrieve-first")
    assert aimock.requests()[0]["messages"][-1]["content"].startswith(NOT_CLEAR)
    assert asked.events[0] == Searched("Why do bananas ripen in spring?", 2, is_doubtful=True)


def test_only_what_the_asking_person_may_see_is_told_to_the_model(aimock: Aimock, ask: Ask) -> None:
    aimock.says(SAYS)
    for names in [(), ("group-hr",)]:
        who = Principal("ann", names)
        ask("salary of the director", base_url=aimock.base_url, answering="retrieve-first", top=20, who=who)
    for_all, for_hr = (str(request["messages"]) for request in aimock.requests())
    assert ("12345" in for_all, "12345" in for_hr) == (False, True)
