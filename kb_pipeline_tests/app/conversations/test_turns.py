"""A turn is kept whatever happens to it, and to whoever waits for it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.conversations.base import InvalidRequestError
from app.conversations.sqlite import SQLiteConversations
from app.conversations.turns import FAILED, STOPPED, TurnRecorder
from app.errors import UpstreamTimeoutError
from app.schema.answers import ChatAnswer
from app.schema.conversations import Turn
from kb_pipeline.asking import AskOptions
from kb_pipeline.errors import StorageError
from kb_pipeline_tests.app.conversations.sayings import context

pytestmark = pytest.mark.anyio


class Broken(SQLiteConversations):
    async def finish_turn(self, *_: object) -> bool:
        raise StorageError("its disk is full")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SQLiteConversations]:
    opened = SQLiteConversations(tmp_path / "conversations.db")
    yield opened
    await opened.close()


def said(text: str) -> ChatAnswer:
    return ChatAnswer(answer=text, citations=(), answered_by="extractive")


async def only_turn(store: SQLiteConversations, conversation: str = "conv_1") -> Turn:
    (turn,) = (await store.conversation("ann", conversation)).turns
    return turn


async def test_what_was_answered_is_kept(store: SQLiteConversations) -> None:
    async with TurnRecorder(store, "ann", context(), "How?") as turn:
        turn.so_far = lambda: said("So.")
    kept = await only_turn(store)
    assert (kept.question, kept.answer, kept.problem) == ("How?", said("So."), None)
    assert kept.asked_at.startswith("20")


async def test_what_was_asked_for_beside_is_kept_also_without_an_answer(store: SQLiteConversations) -> None:
    options = AskOptions(document_ids=("printing",), mode="all")
    async with TurnRecorder(store, "ann", context(), "How?", options=options) as turn:
        assert (await only_turn(store)).options == options
        turn.so_far = lambda: said("So.")
    assert (await only_turn(store)).options == options


def test_a_stored_turn_outlives_options_that_are_gone() -> None:
    stored = {"response_id": "r1", "asked_at": "", "question": "How?", "options": {"web": True, "gone": 1}}
    assert Turn.model_validate(stored).options == AskOptions(web=True)


async def test_of_a_failure_its_reason_is_kept_and_no_half_answer(store: SQLiteConversations) -> None:
    with pytest.raises(UpstreamTimeoutError):
        async with TurnRecorder(store, "ann", context(), "How?") as turn:
            turn.so_far = lambda: said("Half an ans")
            raise UpstreamTimeoutError("the model was silent for 30 s; try again")
    kept = await only_turn(store)
    assert (kept.answer, kept.problem) == (None, "the model was silent for 30 s; try again")
    assert kept.rests_on == ()  # which is noted even so: the response has what was said until then


async def test_a_failure_that_should_not_be_tells_no_secrets(store: SQLiteConversations) -> None:
    with pytest.raises(RuntimeError):
        async with TurnRecorder(store, "ann", context(), "How?"):
            raise RuntimeError("key=secret")
    assert (await only_turn(store)).problem == FAILED


@pytest.mark.parametrize(("text", "kept"), [("Half an ans", said("Half an ans")), ("", None)])
async def test_who_stops_an_answer_keeps_what_was_said(
    store: SQLiteConversations, text: str, kept: ChatAnswer | None
) -> None:
    async with TurnRecorder(store, "ann", context(), "How?") as turn:
        turn.so_far = lambda: said(text)
        turn.problem = STOPPED
    turn_kept = await only_turn(store)
    assert (turn_kept.answer, turn_kept.problem) == (kept, STOPPED)


async def test_the_turn_is_kept_also_when_nobody_waits_any_more(store: SQLiteConversations) -> None:
    begun = asyncio.Event()

    async def answer() -> None:
        async with TurnRecorder(store, "ann", context(), "How?") as turn:
            turn.so_far = lambda: said("Half")
            begun.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(answer())
    await begun.wait()
    for _ in range(3):  # as a cancelled scope does, at every wait
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.3)
    kept = await only_turn(store)
    assert (kept.answer, kept.problem) == (said("Half"), STOPPED)


async def test_a_stream_that_is_closed_is_kept(store: SQLiteConversations) -> None:
    async def stream() -> AsyncIterator[str]:
        async with TurnRecorder(store, "ann", context(), "How?") as turn:
            turn.so_far = lambda: said("Half")
            yield "Half"
            yield "more"

    events = stream()
    assert await anext(events) == "Half"
    await events.aclose()  # type: ignore[attr-defined]
    assert (await only_turn(store)).problem == STOPPED


async def test_nothing_is_kept_that_is_not_to_be(store: SQLiteConversations) -> None:
    async with TurnRecorder(store, "ann", context(), "How?", keep=False) as turn:
        assert turn.conversation_id is None
    assert (await store.conversations("ann")).conversations == ()


async def test_what_cannot_be_kept_is_an_error_but_hides_no_other(tmp_path: Path) -> None:
    store = Broken(tmp_path / "conversations.db")
    with pytest.raises(StorageError, match="disk is full"):
        async with TurnRecorder(store, "ann", context(), "How?"):
            pass
    with pytest.raises(UpstreamTimeoutError):
        async with TurnRecorder(store, "ann", context("caresp_2"), "How?"):
            raise UpstreamTimeoutError("silent")
    await store.close()


async def test_a_turn_belongs_to_what_it_follows_else_to_what_the_client_says(store: SQLiteConversations) -> None:
    places = []
    for response, request in (
        ("caresp_1", {}),
        ("caresp_2", {"previous_response_id": "caresp_1"}),
        ("caresp_3", {"conversation": "mine"}),
        ("caresp_4", {"previous_response_id": "caresp_3"}),
        ("caresp_5", {"previous_response_id": "caresp_unknown"}),
    ):
        async with TurnRecorder(store, "ann", context(response, **request), "How?") as turn:
            places.append(turn.conversation_id)
    assert places == ["conv_1", "conv_1", "mine", "mine", "conv_5"]
    with pytest.raises(InvalidRequestError, match="conversation must be"):
        async with TurnRecorder(store, "ann", context("caresp_6", conversation="../x"), "How?"):
            pass
