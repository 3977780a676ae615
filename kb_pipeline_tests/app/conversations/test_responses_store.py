"""Responses are kept in conversations: what OpenAI's own client sees of that, through the protocol's own server."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx
import openai
import pytest
from openai import OpenAI

from app.callers.principal import LOCAL_USER
from app.conversations.sqlite import SQLiteConversations
from app.conversations.turns import FAILED, STOPPED
from app.schema.conversations import UNANSWERED, Conversation
from kb_pipeline_tests.app.conversations.responses_server import COUNT, FAIL, HANG, serving

Result = TypeVar("Result")
NOBODYS = "caresp_" + "a" * 50


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conversations.db"


@pytest.fixture
def base_url(path: Path) -> Iterator[str]:
    with serving(SQLiteConversations(path)) as url:
        yield url


@pytest.fixture
def client(base_url: str) -> OpenAI:
    return client_of(base_url, "ann")


def client_of(base_url: str, user: str) -> OpenAI:
    return OpenAI(base_url=base_url, api_key="-", max_retries=0, default_headers={"x-agent-user-id": user})


def stored(path: Path, work: Callable[[SQLiteConversations], Any]) -> Any:
    """What another process sees in the store."""

    async def look() -> Any:
        store = SQLiteConversations(path)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(look())


def conversations(path: Path, user: str = "ann") -> list[Conversation]:
    async def read(store: SQLiteConversations) -> list[Conversation]:
        page = await store.conversations(user)
        return [await store.conversation(user, each.id) for each in page.conversations]

    return list(stored(path, read))


def say(client: OpenAI, text: Any, **given: Any) -> Any:
    return client.responses.create(model="any", input=text, **given)


def stream(client: OpenAI, text: str, **given: Any) -> Any:
    """The final response of a stream."""
    for event in client.responses.create(model="any", input=text, stream=True, **given):
        if event.type in ("response.completed", "response.failed"):
            return event.response
    raise AssertionError("the stream has no end")


@pytest.fixture(params=[say, stream], ids=["at once", "streamed"])
def ask(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Both ways to be answered."""
    return request.param  # type: ignore[no-any-return]


# --- following up --------------------------------------------------------------------------------


def test_a_follow_up_knows_what_was_said(client: OpenAI, ask: Callable[..., Any]) -> None:
    first = ask(client, "one")
    second = ask(client, "two", previous_response_id=first.id)
    third = ask(client, "three", previous_response_id=second.id)
    assert second.output_text == "heard: one | heard: one | two"
    assert third.output_text == f"heard: one | heard: one | two | {second.output_text} | three"


@pytest.mark.parametrize("by", ["previous_response_id", "conversation"])
def test_a_failed_question_is_not_said_again(client: OpenAI, by: str) -> None:
    named = {"conversation": "talk"} if by == "conversation" else {}
    first = stream(client, "one", **named)
    failed = stream(client, FAIL, **(named or {by: first.id}))
    assert (first.status, failed.status) == ("completed", "failed")
    assert stream(client, "two", **(named or {by: failed.id})).output_text == "heard: one | heard: one | two"


def test_an_older_response_can_be_followed_another_way(client: OpenAI, path: Path) -> None:
    first = say(client, "one")
    say(client, "two", previous_response_id=first.id)
    other = say(client, "another two", previous_response_id=first.id)
    last = say(client, "three", previous_response_id=other.id)
    assert last.output_text.startswith("heard: one | heard: one | another two | ")
    (conversation,) = conversations(path)
    assert [turn.question for turn in conversation.turns] == ["one", "two", "another two", "three"]


def test_a_conversation_of_the_clients_own_is_continued(client: OpenAI, ask: Callable[..., Any], path: Path) -> None:
    ask(client, "one", conversation="my-conversation")
    second = ask(client, "two", conversation="my-conversation")
    assert second.output_text == "heard: one | heard: one | two"
    (conversation,) = conversations(path)
    assert (conversation.id, conversation.title) == ("my-conversation", "one")


def test_a_conversation_that_began_with_a_response_can_be_named(client: OpenAI, path: Path) -> None:
    say(client, "one")
    (begun,) = conversations(path)
    assert say(client, "two", conversation=begun.id).output_text == "heard: one | heard: one | two"


def test_two_questions_without_more_are_two_conversations(client: OpenAI, ask: Callable[..., Any], path: Path) -> None:
    ask(client, "one")
    assert ask(client, "two").output_text == "heard: two"
    assert [each.title for each in conversations(path)] == ["two", "one"]


def test_all_messages_can_be_sent_every_time(client: OpenAI, path: Path) -> None:
    messages = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "two"},
    ]
    assert say(client, messages).output_text == "heard: one | yes | two"
    assert [turn.question for turn in conversations(path)[0].turns] == ["two"]


def test_conversations_go_on_after_a_restart(path: Path) -> None:
    with serving(SQLiteConversations(path)) as url:
        first = say(client_of(url, "ann"), "one")
    with serving(SQLiteConversations(path)) as url:
        second = say(client_of(url, "ann"), "two", previous_response_id=first.id)
    assert second.output_text == "heard: one | heard: one | two"


@pytest.mark.slow("waits for a silent or slow service")
def test_a_long_conversation_is_all_known(client: OpenAI) -> None:
    last = say(client, COUNT)
    for _ in range(60):
        last = say(client, COUNT, previous_response_id=last.id)
    assert last.output_text == "121"


@pytest.mark.slow("waits for a silent or slow service")
def test_who_hears_the_end_of_a_stream_can_go_on_at_once_elsewhere(path: Path) -> None:
    class Slow(SQLiteConversations):
        async def append(self, user_id: str, conversation_id: str, entries: Any, **given: Any) -> None:
            if any(each.kind == "response" for each in entries):
                await asyncio.sleep(0.3)
            await super().append(user_id, conversation_id, entries, **given)

    with serving(Slow(path)) as slow, serving(SQLiteConversations(path)) as other:
        first = stream(client_of(slow, "ann"), "one")
        second = say(client_of(other, "ann"), "two", previous_response_id=first.id)
        third = stream(client_of(slow, "ann"), "three", conversation="mine")
        fourth = say(client_of(other, "ann"), "four", conversation="mine")
    assert (second.output_text, third.output_text) == ("heard: one | heard: one | two", "heard: three")
    assert fourth.output_text == "heard: three | heard: three | four"


# --- reading back ----------------------------------------------------------------------------------


def test_a_response_can_be_read_back(client: OpenAI, ask: Callable[..., Any]) -> None:
    made = ask(client, "one", metadata={"any": "thing"})
    found = client.responses.retrieve(made.id)
    assert (found.output_text, found.status, found.metadata) == (made.output_text, "completed", {"any": "thing"})


def test_what_went_in_can_be_read_back(client: OpenAI, ask: Callable[..., Any]) -> None:
    first = ask(client, "one")
    second = ask(client, "two", previous_response_id=first.id)

    def texts(**given: Any) -> list[str]:
        return [item.content[0].text for item in client.responses.input_items.list(second.id, **given).data]

    assert texts(order="asc") == ["one", "heard: one", "two"]
    assert texts() == ["two", "heard: one", "one"]
    newest = client.responses.input_items.list(second.id, limit=1)
    assert texts(after=newest.data[0].id) == ["heard: one", "one"]


def test_an_item_can_be_referred_to_and_stays_with_its_response(client: OpenAI) -> None:
    first = say(client, "one")
    item = first.output[0].id
    message = {"role": "user", "content": "two"}
    second = say(client, [{"type": "item_reference", "id": item}, message])
    assert second.output_text == "heard: heard: one | two"
    client.responses.delete(second.id)
    assert say(client, "three", previous_response_id=first.id).output_text == "heard: one | heard: one | three"


# --- deleting --------------------------------------------------------------------------------------


def test_with_its_only_response_a_conversation_is_deleted(client: OpenAI, path: Path, ask: Callable[..., Any]) -> None:
    made = ask(client, "needle")
    client.responses.delete(made.id)
    for gone in (
        lambda: client.responses.retrieve(made.id),
        lambda: client.responses.input_items.list(made.id),
        lambda: client.responses.delete(made.id),
        lambda: say(client, "two", previous_response_id=made.id),
    ):
        with pytest.raises(openai.NotFoundError):
            gone()
    assert conversations(path) == []
    assert b"needle" not in path.read_bytes()


def test_a_deleted_response_leaves_a_gap_that_is_bridged(client: OpenAI, path: Path) -> None:
    first = say(client, "one")
    second = say(client, "two", previous_response_id=first.id)
    third = say(client, "three", previous_response_id=second.id)
    client.responses.delete(second.id)
    assert say(client, "four", previous_response_id=third.id).output_text.startswith("heard: one | heard: one | three")
    with pytest.raises(openai.NotFoundError):
        say(client, "two again", previous_response_id=second.id)
    (conversation,) = conversations(path)
    assert [turn.question for turn in conversation.turns] == ["one", "three", "four"]


def test_a_title_goes_with_the_question_that_it_was_made_of(client: OpenAI, path: Path) -> None:
    first = say(client, "one")
    say(client, "two", previous_response_id=first.id)
    client.responses.delete(first.id)
    assert [each.title for each in conversations(path)] == ["two"]


def test_a_conversation_that_is_deleted_while_it_is_answered_stays_deleted(client: OpenAI, path: Path) -> None:
    events = client.responses.create(model="any", input=HANG, stream=True)
    next(iter(events))
    (begun,) = _soon(lambda: conversations(path))
    stored(path, lambda store: store.delete("ann", begun.id))
    events.close()
    time.sleep(0.3)
    assert conversations(path) == []


# --- not kept --------------------------------------------------------------------------------------


def test_what_is_not_to_be_stored_leaves_nothing(client: OpenAI, path: Path, ask: Callable[..., Any]) -> None:
    made = ask(client, "needle", store=False)
    assert made.output_text == "heard: needle"
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)
    with pytest.raises(openai.NotFoundError):
        say(client, "two", previous_response_id=made.id)
    assert conversations(path) == []
    assert all(b"needle" not in file.read_bytes() for file in path.parent.iterdir())


def test_a_follow_up_that_is_not_to_be_stored_is_not(client: OpenAI, path: Path) -> None:
    first = say(client, "one")
    assert say(client, "two", previous_response_id=first.id, store=False).output_text == "heard: one | heard: one | two"
    assert [turn.question for turn in conversations(path)[0].turns] == ["one"]


# --- unknown, and of others ----------------------------------------------------------------------------


def test_following_what_nobody_said_is_not_found(client: OpenAI, ask: Callable[..., Any], path: Path) -> None:
    with pytest.raises(openai.NotFoundError, match=r"there is no response caresp_a+; it may have been deleted") as told:
        ask(client, "two", previous_response_id=NOBODYS)
    assert told.value.code == "previous_response_not_found"
    assert told.value.param == "previous_response_id"
    assert conversations(path) == []


def test_what_is_unknown_is_not_found(client: OpenAI) -> None:
    for unknown in (client.responses.retrieve, client.responses.delete, client.responses.input_items.list):
        with pytest.raises(openai.NotFoundError):
            unknown(NOBODYS)


@pytest.mark.parametrize("conversation", ["../../etc/passwd", "a b", "x" * 129, "ä", "a'; --"])
def test_what_cannot_be_a_conversation_is_refused(
    client: OpenAI, ask: Callable[..., Any], conversation: str, path: Path
) -> None:
    with pytest.raises(openai.BadRequestError, match="letters, digits"):
        ask(client, "one", conversation=conversation)
    assert conversations(path) == []


def test_a_response_of_another_conversation_is_refused(client: OpenAI) -> None:
    first = say(client, "one", conversation="a")
    assert say(client, "two", conversation="a", previous_response_id=first.id)
    with pytest.raises(openai.BadRequestError, match="give previous_response_id or conversation, not both"):
        say(client, "two", conversation="b", previous_response_id=first.id)


def test_nobody_follows_reads_or_deletes_what_another_said(base_url: str, client: OpenAI, path: Path) -> None:
    bob = client_of(base_url, "bob")
    anns = say(client, "a secret", conversation="shared-name")
    item = anns.output[0].id
    for attempt in (
        lambda: say(bob, "two", previous_response_id=anns.id),
        lambda: stream(bob, "two", previous_response_id=anns.id),
        lambda: bob.responses.retrieve(anns.id),
        lambda: bob.responses.input_items.list(anns.id),
        lambda: bob.responses.delete(anns.id),
    ):
        with pytest.raises(openai.NotFoundError) as told:
            attempt()
        assert "secret" not in str(told.value.body)
    referring = say(bob, [{"type": "item_reference", "id": item}, {"role": "user", "content": "two"}])
    assert referring.output_text == "heard: two"
    assert say(bob, "mine", conversation="shared-name").output_text == "heard: mine"
    assert client.responses.retrieve(anns.id).output_text == "heard: a secret"
    assert [turn.question for turn in conversations(path)[0].turns] == ["a secret"]


def test_who_is_not_named_is_the_local_user(base_url: str, path: Path) -> None:
    say(OpenAI(base_url=base_url, api_key="-"), "one")
    assert [each.title for each in conversations(path, LOCAL_USER)] == ["one"]


def test_names_are_not_only_latin(base_url: str, path: Path) -> None:
    named = [(b"x-agent-user-id", "Øyvind Ω".encode())]
    httpx.post(f"{base_url}/responses", json={"model": "any", "input": "one"}, headers=named).raise_for_status()
    assert [each.title for each in conversations(path, "Øyvind Ω")] == ["one"]


def test_what_is_not_there_is_no_alarm(client: OpenAI, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(NOBODYS)
    with pytest.raises(openai.NotFoundError):
        say(client, "two", previous_response_id=NOBODYS)
    assert not [record for record in caplog.records if record.exc_info]


def test_a_store_that_fails_is_told_and_nothing_is_said_to_be_missing(path: Path) -> None:
    store = SQLiteConversations(path)
    with serving(store) as url:
        first = say(client_of(url, "ann"), "one")
    asyncio.run(store.close())
    path.write_bytes(b"no database" * 1000)
    with serving(SQLiteConversations(path)) as url:
        client = client_of(url, "ann")
        for attempt in (client.responses.retrieve, client.responses.delete, lambda _: say(client, "two")):
            with pytest.raises(openai.InternalServerError):
                attempt(first.id)
        with pytest.raises(openai.InternalServerError, match="it is damaged; put a backup in its place"):
            say(client, "two", previous_response_id=first.id)
        assert say(client, "two", store=False).output_text == "heard: two"


# --- turns -----------------------------------------------------------------------------------------


def test_a_turn_is_kept_as_it_was_answered(client: OpenAI, path: Path, ask: Callable[..., Any]) -> None:
    made = ask(client, "one")
    (turn,) = conversations(path)[0].turns
    assert turn.answer is not None
    assert (turn.response_id, turn.question, turn.answer.answer) == (made.id, "one", "heard: one")


def test_a_question_is_kept_before_it_is_answered(client: OpenAI, path: Path) -> None:
    with client.responses.create(model="any", input=HANG, stream=True) as events:
        next(iter(events))
        (conversation,) = _soon(lambda: conversations(path))
        assert [(turn.question, turn.problem) for turn in conversation.turns] == [(HANG, UNANSWERED)]
    (conversation,) = _soon(lambda: [each for each in conversations(path) if each.turns[0].problem != UNANSWERED])
    assert conversation.turns[0].problem == STOPPED


def test_a_failure_is_kept_as_one(client: OpenAI, path: Path) -> None:
    assert stream(client, FAIL).status == "failed"
    (turn,) = conversations(path)[0].turns
    assert (turn.answer, turn.problem) == (None, FAILED)


@pytest.mark.slow("waits for a silent or slow service")
def test_of_a_service_that_was_killed_the_question_is_left_and_can_be_followed(path: Path) -> None:
    command = [sys.executable, "-m", "kb_pipeline_tests.app.conversations.responses_server", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout
        client = client_of(service.stdout.readline().strip(), "ann")
        first = say(client, "one")
        with client.responses.create(model="any", input=HANG, stream=True, previous_response_id=first.id) as events:
            cut_off = next(iter(events)).response  # type: ignore[union-attr]
            _soon(lambda: len(conversations(path)[0].turns) == 2)
            service.kill()
    (conversation,) = conversations(path)
    assert [(turn.question, turn.problem) for turn in conversation.turns] == [("one", None), (HANG, UNANSWERED)]
    with serving(SQLiteConversations(path)) as url:
        client = client_of(url, "ann")
        again = say(client, "two", previous_response_id=cut_off.id)
        assert again.output_text == "heard: one | heard: one | two"
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(cut_off.id)
        client.responses.delete(cut_off.id)
    assert [turn.question for turn in conversations(path)[0].turns] == ["one", "two"]


def _soon(look: Callable[[], Result]) -> Result:
    """What there is once there is something."""
    end = time.monotonic() + 10
    while not (found := look()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)
    return found
