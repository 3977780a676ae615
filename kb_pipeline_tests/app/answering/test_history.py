"""What of a conversation a model is given when it does not fit."""

from agent_framework import Content, Message
from hypothesis import given
from hypothesis import strategies as st

from app.answering import base
from app.answering.history import estimate_tokens, fit, passages_content
from app.model.passages import format_passages
from kb_pipeline_tests.app.answering.conftest import Ask
from kb_pipeline_tests.app.answering.test_prompts import citation
from kb_pipeline_tests.app.model_servers import Aimock

QUESTION = Message("user", ["the question"])
LONG = "word " * 300


def turns(count: int, words: int = 30) -> list[Message]:
    return [Message(role, [f"{role} {n} " + "x " * words]) for n in range(count) for role in ("user", "assistant")]


def found(passage: str = LONG, call: str = "1") -> list[Message]:
    """A search of the model, and its result."""
    blocks = format_passages([citation(passage)])
    return [
        Message("assistant", [Content.from_function_call(call, "search_knowledge_base", arguments='{"query": "x"}')]),
        Message("tool", [Content.from_function_result(call, result=blocks)]),
    ]


def results(messages: list[Message]) -> list[str]:
    return [str(content.result) for m in messages for content in m.contents if content.type == "function_result"]


def said(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


def test_what_fits_stays_as_it_is() -> None:
    messages = [*turns(3), QUESTION, *found()]
    assert fit(messages, 100_000) == messages


def test_the_oldest_turns_are_dropped_whole() -> None:
    kept = fit([*turns(10), QUESTION], 200)
    assert said(kept) == said([*turns(10), QUESTION])[-len(kept) :]
    assert kept[0].role == "user"
    assert 1 < len(kept) < 21


def test_passages_are_shortened_before_words_are_dropped_those_of_the_oldest_search_first() -> None:
    messages = [*turns(2), QUESTION, *found(call="1"), *found(call="2")]
    first, second = results(fit(messages, 1100))
    assert len(first) < len(second)
    assert first.endswith("\n[...]\n</untrusted_passage>")
    assert said(fit(messages, 1100)) == said(messages)
    first, second = results(fit(messages, 600))
    assert len(first) == len(second) < len(LONG)
    assert said(fit(messages, 600)) == said(messages)


def test_the_question_is_never_dropped_nor_what_was_found_for_it() -> None:
    kept = fit([*turns(5), QUESTION, *found()], 1)
    assert said(kept)[0] == "the question"
    assert [message.role for message in kept] == ["user", "assistant", "tool"]


def test_passages_beside_a_question_are_shortened_but_not_the_question() -> None:
    asked = Message("user", [passages_content(format_passages([citation(LONG)])), LONG])
    (kept,) = fit([*turns(2), asked], 300)
    assert kept.contents[1].text == LONG
    assert len(kept.contents[0].text or "") < len(LONG)


@given(st.integers(0, 12), st.integers(0, 200), st.integers(1, 3000))
def test_the_budget_is_kept_and_the_callers_messages_are_untouched(count: int, words: int, budget: int) -> None:
    messages = [*turns(count, words), QUESTION, *found()]
    before = [message.to_dict() for message in messages]
    kept = fit(messages, budget)
    assert [message.to_dict() for message in messages] == before
    tokens = sum(estimate_tokens(message.text) for message in kept) + sum(map(estimate_tokens, results(kept)))
    assert tokens <= budget or said(kept) == ["the question", "", ""]


def test_the_estimate_is_on_the_safe_side() -> None:
    english = "The quick brown fox jumps over the lazy dog. " * 10
    assert estimate_tokens(english) >= 100  # it has 10 tokens a sentence in common tokenizers
    assert estimate_tokens("日本語の文章") == 6
    assert estimate_tokens("\ud800") >= 1


def test_a_long_conversation_reaches_the_model_within_its_budget(aimock: Aimock, ask: Ask) -> None:
    aimock.says({"match": {}, "response": {"content": "Answer."}})
    history = tuple(base.Message("user", f"{n} {LONG}") for n in range(40))
    ask("And now?", base_url=aimock.base_url, answering="retrieve-first", history=history, history_tokens=4000)
    told = aimock.requests()[0]["messages"]
    assert told[1]["content"].startswith("3")
    assert told[-1]["content"].endswith("And now?")
    assert sum(estimate_tokens(message["content"]) for message in told) <= 4000
