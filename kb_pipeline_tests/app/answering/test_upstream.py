"""Failures of a model's endpoint, made by real servers: each becomes a clear error, and never half an answer."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from starlette.responses import HTMLResponse, StreamingResponse

from app.answering import open_answerer
from app.answering.base import Question, TextPart
from app.application.checking import check_answering
from app.callers.principal import Principal
from app.errors import (
    AnswerError,
    NotAcceptedError,
    UpstreamBusyError,
    UpstreamCutShortError,
    UpstreamMissingError,
    UpstreamRefusedError,
    UpstreamTimeoutError,
)
from app.grounding.citations import CitationBook
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.model.calls import OUT_OF_ROOM
from app.schema.answers import TokenUsage
from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.answering.conftest import Ask, Asked
from kb_pipeline_tests.app.model_servers import Aimock, OwnModel, aimock_server, chunk, refused, streamed

KEY = "sk-do-not-tell"
BOTH = pytest.mark.parametrize("answering", ["agent", "retrieve-first"])


@pytest.fixture
def fails(ask: Ask, llmock: LLMock) -> Any:
    """``fails(UpstreamBusyError)``: asks llmock, and returns the error that this must end in."""

    def asked(error: type[AnswerError], **settings: Any) -> AnswerError:
        with pytest.raises(error) as raised:
            ask("crop?", base_url=llmock.base_url(), **{"answering": "retrieve-first", **settings})
        assert type(raised.value) is error
        return raised.value

    return asked


@pytest.mark.slow("waits for a silent or slow service")
@BOTH
def test_a_key_that_is_refused_names_its_setting_and_is_told_nobody(
    tmp_path: Path, ask: Ask, caplog: pytest.LogCaptureFixture, answering: str
) -> None:
    caplog.set_level(logging.DEBUG)
    with aimock_server(tmp_path, keys="another") as server, pytest.raises(UpstreamRefusedError) as raised:
        ask("crop?", base_url=server.base_url, chat_api_key=KEY, answering=answering)
    assert "401" in str(raised.value)
    assert "KB_CHAT_API_KEY" in str(raised.value)
    assert KEY not in caplog.text + repr(raised.getrepr(style="long", chain=True))


@pytest.mark.slow("waits for a silent or slow service")
@pytest.mark.parametrize("status", [401, 403, 400, 500])
def test_a_key_that_the_endpoint_quotes_is_not_passed_on(
    ask: Ask, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.INFO)
    quoting = OwnModel(lambda _, request: refused(status, f"no: {request.headers['authorization']}"))
    with quoting as server, pytest.raises(AnswerError) as raised:
        ask("crop?", base_url=server.base_url, chat_api_key=KEY, answering="retrieve-first")
    assert KEY not in str(raised.value)
    assert KEY not in caplog.text


@pytest.mark.slow("waits for a silent or slow service")
def test_an_unknown_model_names_its_setting(llmock: LLMock, fails: Any) -> None:
    llmock.fail(404, times=None)
    error = fails(UpstreamMissingError)
    assert "'gpt-test'" in str(error)
    assert "KB_CHAT_MODEL" in str(error)


@BOTH
def test_too_many_requests_are_told_at_once_with_the_time_to_wait(llmock: LLMock, fails: Any, answering: str) -> None:
    llmock.fail(429, times=None, retry_after=70)
    begun = time.monotonic()
    assert fails(UpstreamBusyError, answering=answering).retry_after == 70
    assert time.monotonic() - begun < 60
    assert len(llmock.requests) == 1


@pytest.mark.slow("waits for a silent or slow service")
def test_a_short_wait_is_waited_for(llmock: LLMock, ask: Ask) -> None:
    llmock.fail(429, times=1, retry_after=0.2).fail(500, times=1).reply("Answer.")
    assert ask("crop?", base_url=llmock.base_url(), answering="retrieve-first").text == "Answer."
    llmock.assert_resilient()


def test_an_endpoint_that_is_too_busy(llmock: LLMock, fails: Any) -> None:
    llmock.fail(503, times=None, retry_after=3)
    assert fails(UpstreamBusyError).retry_after == 3


@pytest.mark.slow("waits for a silent or slow service")
def test_an_endpoint_that_goes_on_failing(llmock: LLMock, fails: Any) -> None:
    llmock.outage(status=500)
    assert "(500)" in str(fails(AnswerError))
    assert len(llmock.requests) == 3


def test_a_quota_that_is_used_up(llmock: LLMock, fails: Any) -> None:
    llmock.fail(429, times=None, retry_after=9, code="insufficient_quota")
    assert "quota" in str(fails(UpstreamBusyError))


def test_a_conversation_that_is_too_long_names_its_setting(llmock: LLMock, fails: Any) -> None:
    llmock.context_overflow(times=None)
    assert "KB_HISTORY_TOKENS" in str(fails(NotAcceptedError))


@pytest.mark.slow("waits for a silent or slow service")
def test_nobody_there_names_the_setting(ask: Ask) -> None:
    with pytest.raises(AnswerError, match=r"cannot be reached; check KB_CHAT_BASE_URL"):
        ask("crop?", base_url="http://127.0.0.1:9/v1", answering="retrieve-first")


@BOTH
def test_an_answer_that_is_cut_off_is_no_answer(llmock: LLMock, fails: Any, answering: str) -> None:
    llmock.truncate(after_chunks=2, times=None)
    fails(UpstreamCutShortError, answering=answering)


def test_a_connection_that_breaks_in_the_middle_is_no_answer(llmock: LLMock, fails: Any) -> None:
    llmock.disconnect(after_chunks=3, times=None)
    fails(UpstreamCutShortError)


def test_a_chunk_that_cannot_be_read(llmock: LLMock, fails: Any) -> None:
    llmock.corrupt(after_chunks=2, times=None)
    assert "no chat completion" in str(fails(AnswerError))


@pytest.mark.parametrize("body", ["null", "{}", "[]", '{"choices": [{"message": null}]}', "<html>Sign in</html>"])
def test_what_is_no_chat_completion(body: str) -> None:
    with OwnModel(lambda *_: HTMLResponse(body)) as other:
        model = next(check_answering(AppSettings(chat_model="m", chat_base_url=other.base_url), Settings()))
    assert "no chat completion; check KB_CHAT_BASE_URL" in model.problem


@pytest.mark.slow("waits for a silent or slow service")
@BOTH
def test_silence_in_the_middle_of_an_answer(llmock: LLMock, fails: Any, answering: str) -> None:
    llmock.stall(after_chunks=2, seconds=3, times=None)
    error = fails(UpstreamTimeoutError, chat_timeout_seconds=0.6, answering=answering)
    assert "0.6 s" in str(error)


@pytest.mark.slow("waits for a silent or slow service")
def test_silence_before_an_answer_is_not_multiplied_by_trying_again(llmock: LLMock, fails: Any) -> None:
    llmock.delay(2, times=None)
    fails(UpstreamTimeoutError, chat_timeout_seconds=0.6)
    assert len(llmock.requests) == 1


@pytest.mark.slow("waits for a silent or slow service")
def test_a_slow_answer_that_keeps_coming_is_waited_for(llmock: LLMock, ask: Ask) -> None:
    llmock.reply("word " * 12).pace(200)
    asked = ask("crop?", base_url=llmock.base_url(), answering="retrieve-first", chat_timeout_seconds=2)
    assert asked.text.split() == ["word"] * 12


@pytest.mark.parametrize(
    "answer",
    [
        lambda *_: refused(400, "blocked", "content_filter"),
        lambda *_: streamed(chunk("Some words"), chunk(finish="content_filter")),
    ],
    ids=["before", "in the middle"],
)
def test_the_content_filter_is_named(ask: Ask, answer: Any) -> None:
    with OwnModel(answer) as model, pytest.raises(AnswerError, match="content filter"):
        ask("crop?", base_url=model.base_url, answering="retrieve-first")


@pytest.mark.parametrize(
    ("answering", "said", "hint"),
    [
        ("agent", "tool_choice is not supported", "KB_ANSWERING=retrieve-first"),
        ("retrieve-first", "image_url is not supported", "KB_VISION=false"),
    ],
)
def test_what_a_model_cannot_do_names_the_setting(ask: Ask, answering: str, said: str, hint: str) -> None:
    with OwnModel(lambda *_: refused(400, said)) as model, pytest.raises(AnswerError, match=f"{said}.*{hint}"):
        ask("crop?", base_url=model.base_url, answering=answering, vision=True)


def test_an_error_within_a_stream(ask: Ask) -> None:
    events = (chunk("Some words"), 'data: {"error": {"message": "the engine is overheated"}}\n\n')
    with OwnModel(lambda *_: streamed(*events)) as model, pytest.raises(AnswerError, match="engine is overheated"):
        ask("crop?", base_url=model.base_url, answering="retrieve-first")


def test_an_answer_without_words_is_no_answer(ask: Ask) -> None:
    silent = OwnModel(lambda *_: streamed(chunk("<think>hm"), chunk(finish="stop")))
    with silent as model, pytest.raises(AnswerError, match="gave no answer"):
        ask("crop?", base_url=model.base_url, answering="retrieve-first")


@BOTH
def test_an_answer_that_reached_its_limit_is_kept_and_says_so(aimock: Aimock, ask: Ask, answering: str) -> None:
    search = {"name": "search_knowledge_base", "arguments": {"query": "crop"}}
    aimock.says(
        {"match": {"toolName": search["name"], "hasToolResult": False}, "response": {"toolCalls": [search]}},
        {"match": {}, "response": {"content": "The first half", "finishReason": "length"}},
    )
    asked = ask("crop?", base_url=aimock.base_url, answering=answering)
    assert asked.text == "The first half" + OUT_OF_ROOM
    assert asked.end


def test_a_server_that_does_not_count_tokens_is_believed_nothing(ask: Ask) -> None:
    with OwnModel(lambda *_: streamed(chunk("Answer."), chunk(finish="stop"))) as model:
        assert ask("crop?", base_url=model.base_url, answering="retrieve-first").end.usage is None


def test_tokens_that_a_server_counts_while_it_answers_are_told_at_once(ask: Ask) -> None:
    counted = '{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": %s}'
    usage = counted % '{"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}'
    with OwnModel(lambda *_: streamed(chunk("One."), f"data: {usage}\n\n", chunk(" Two."))) as model:
        so_far = Asked()
        with pytest.raises(UpstreamCutShortError):
            ask("crop?", base_url=model.base_url, answering="retrieve-first", into=so_far)
    assert TokenUsage(input_tokens=9, output_tokens=1) in so_far.events


def test_what_was_said_before_a_failure_is_not_followed_by_an_end(llmock: LLMock, ask: Ask) -> None:
    llmock.reply("One two three four five six seven eight " * 30).truncate(after_chunks=200, times=None)
    so_far = Asked()
    with pytest.raises(UpstreamCutShortError):
        ask("crop?", base_url=llmock.base_url(), answering="retrieve-first", into=so_far)
    assert so_far.text
    assert all(not hasattr(event, "usage") for event in so_far.events)


def dawdling(left: threading.Event) -> OwnModel:
    """A model that says a few words and then takes its time, and notices when its client is gone."""

    async def words() -> AsyncIterator[str]:
        try:
            yield chunk("Many ")
            yield chunk("words " * 50)
            await asyncio.sleep(20)
        finally:
            left.set()

    def answer(body: dict[str, Any], _: object) -> Any:
        if body.get("tools") and body["messages"][-1]["role"] == "user":
            call = {"index": 0, "id": "1", "function": {"name": "search_knowledge_base", "arguments": '{"query": "x"}'}}
            return streamed(chunk(tool_calls=[call]), chunk(finish="tool_calls"))
        return StreamingResponse(words(), media_type="text/event-stream")

    return OwnModel(answer)


@BOTH
@pytest.mark.parametrize("way", ["closed", "cancelled"])
def test_who_stops_listening_stops_the_model(retrieval: Retrieval, answering: Any, way: str) -> None:
    left = threading.Event()

    async def listen_for_a_while(base_url: str) -> None:
        settings = AppSettings(chat_model="m", chat_base_url=base_url, answering=answering, vision=False)
        answerer = open_answerer(settings, retrieval, Articles(retrieval.workspace.layout))
        events = answerer.answer(Question("crop?", Principal(), 1), CitationBook())
        async for event in events:
            if isinstance(event, TextPart):
                break
        if way == "closed":
            await events.aclose()
        else:
            waiting = asyncio.create_task(_all_of(events))
            await asyncio.sleep(0.1)
            waiting.cancel()
            await asyncio.wait([waiting])
        assert await asyncio.to_thread(left.wait, 2), "the model went on"

    with dawdling(left) as model:
        asyncio.run(listen_for_a_while(model.base_url))


async def _all_of(events: AsyncIterator[object]) -> None:
    async for _ in events:
        pass
