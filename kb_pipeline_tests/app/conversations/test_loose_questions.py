"""Questions of no conversation: kept for the gaps if they were not answered, and found by nobody who asks."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from app.application import AgentApplication
from app.callers.principal import Principal, principal_of
from app.conversations.base import ConversationStore
from app.conversations.loose_questions import NOBODY, SOMEBODY, LooseQuestions, take_over
from app.conversations.sqlite import SQLiteConversations
from app.schema.answers import ChatAnswer, Clarification
from app.schema.conversations import Turn
from app.settings import AppSettings
from kb_pipeline.asking import AskOptions
from kb_pipeline.errors import StorageError
from kb_pipeline.settings import Settings

ANN = Principal("ann", ("ann",))
LOCAL = Principal()
REFUSED = ChatAnswer(answer="Nothing says it.", citations=(), answered_by="extractive", refused=True)

Asking = Callable[[LooseQuestions], None]


@pytest.fixture
def keep(tmp_path: Path) -> Iterator[Callable[..., tuple[Turn, ...]]]:
    """Let questions be asked; gives the turns that are kept afterwards, of one name or of all."""

    def kept(
        asking: Asking, *, records_content: bool = False, keeps_whole: bool = False, of: str | None = None
    ) -> tuple[Turn, ...]:
        async def run() -> tuple[Turn, ...]:
            store = SQLiteConversations(tmp_path / "conversations.db")
            await take_over(store, keeps_whole=keeps_whole)
            questions = LooseQuestions(store, records_content=records_content, keeps_whole=keeps_whole)
            asking(questions)
            await questions.close()
            try:
                return await store.turns_since("2000", of)
            finally:
                await store.close()

        return asyncio.run(run())

    yield kept


Keep = Callable[..., tuple[Turn, ...]]


def test_a_question_that_was_refused_is_kept_without_its_answer(keep: Keep) -> None:
    (turn,) = keep(lambda questions: questions.answered("Is there an app?", LOCAL, REFUSED), of=NOBODY)
    assert turn.answer and (turn.question, turn.answer.refused, turn.answer.answer) == ("Is there an app?", True, "")


def test_what_makes_no_sense_alone_is_kept_with_what_it_continues(keep: Keep) -> None:
    refused = REFUSED.model_copy(update={"continues": ("Is there an app?",)})
    (turn,) = keep(lambda questions: questions.answered("And on Windows?", LOCAL, refused))
    assert turn.answer and turn.answer.continues == ("Is there an app?",)


def test_what_is_close_only_is_kept_without_what_it_quotes(keep: Keep) -> None:
    close = ChatAnswer(answer="> The director earns 9.", citations=(), answered_by="extractive", is_closest=True)
    (turn,) = keep(lambda questions: questions.answered("What does she earn?", LOCAL, close))
    assert turn.answer
    assert (turn.answer.answer, turn.answer.is_closest) == ("", True)


@pytest.mark.parametrize(
    "answer",
    [
        REFUSED.model_copy(update={"refused": False, "answer": "So it is. [Ref #1]"}),
        REFUSED.model_copy(update={"clarification": Clarification(question="Which?", asked="Why?", options=())}),
    ],
)
def test_a_question_that_was_answered_or_asked_back_is_not_kept(keep: Keep, answer: ChatAnswer) -> None:
    assert keep(lambda questions: questions.answered("Why?", LOCAL, answer)) == ()


def test_words_of_somebody_who_signed_in_are_kept_only_where_content_is_recorded(keep: Keep) -> None:
    def asking(questions: LooseQuestions) -> None:
        questions.answered("Is Zebulon paid more?", ANN, REFUSED)

    assert keep(asking) == ()
    (turn,) = keep(asking, records_content=True, of=SOMEBODY)
    assert turn.question == "Is Zebulon paid more?" and "ann" not in turn.model_dump_json()


MAIL = """Dear Ms Smith,
this is Jane Doe. Our replies bounce since Monday.
Which records does jane@example.com need?
Kind regards
Jane Doe"""


def test_of_a_mail_only_the_question_is_kept_and_masked(keep: Keep, tmp_path: Path) -> None:
    (turn,) = keep(lambda questions: questions.answered(MAIL, LOCAL, REFUSED))
    assert turn.question == "Which records does [e-mail address] need?"
    assert b"Jane" not in (tmp_path / "conversations.db").read_bytes()


def test_names_of_somebody_who_signed_in_are_masked(keep: Keep) -> None:
    (turn,) = keep(lambda questions: questions.answered("Is Ann there?", ANN, REFUSED), records_content=True)
    assert turn.question == "Is [name] there?"


def test_where_whole_questions_are_kept_they_are_masked_once_they_are_not_any_more(keep: Keep, tmp_path: Path) -> None:
    (turn,) = keep(lambda questions: questions.answered(MAIL, LOCAL, REFUSED), keeps_whole=True)
    assert turn.question == MAIL
    [again] = keep(lambda questions: None, keeps_whole=True)
    assert again == turn
    (masked,) = keep(lambda questions: None)
    assert masked == turn.model_copy(update={"question": "Which records does [e-mail address] need?"})
    assert keep(lambda questions: None) == (masked,)
    for file in tmp_path.glob("conversations.db*"):
        assert b"Jane" not in file.read_bytes(), file


def test_no_caller_can_have_the_names_under_which_they_are_kept() -> None:
    for name in (NOBODY, SOMEBODY):
        caller = principal_of({"x-ms-client-principal-id": name}, easy_auth=True)
        assert caller and caller.user_id not in (NOBODY, SOMEBODY)


def test_days_that_are_too_old_for_a_gap_are_deleted(
    keep: Keep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def long_ago() -> None:
        store = SQLiteConversations(tmp_path / "conversations.db")
        turn = Turn(response_id="r1", asked_at="2020-01-01T00:00:00+00:00", question="Old?", answer=REFUSED)
        with monkeypatch.context() as then:
            then.setattr("app.conversations.entries.now", lambda: turn.asked_at)
            await store.keep_turn(NOBODY, "asked-2020-01-01", turn)
        await store.close()

    asyncio.run(long_ago())
    assert [turn.question for turn in keep(lambda questions: None)] == ["Old?"]
    kept = keep(lambda questions: questions.answered("Is there an app?", LOCAL, REFUSED))
    assert [turn.question for turn in kept] == ["Is there an app?"]


def test_a_flood_is_not_kept(keep: Keep) -> None:
    def flood(questions: LooseQuestions) -> None:
        for number in range(150):
            questions.answered(f"Is there an app {number}?", LOCAL, REFUSED)

    assert len(keep(flood)) == 100


class Broken(SQLiteConversations):
    """A store that fails, or that never ends."""

    def __init__(self, failing: Callable[[], Awaitable[None]]) -> None:
        super().__init__(Path("unused"))
        self._failing = failing

    async def keep_turn(self, user_id: str, conversation_id: str, turn: Turn) -> None:
        await self._failing()


async def _fails() -> None:
    raise StorageError("the disk is full")


@pytest.mark.parametrize(("failing", "logged"), [(_fails, "the disk is full"), (lambda: asyncio.sleep(3600), "")])
def test_a_store_that_fails_or_hangs_fails_nothing(
    failing: Callable[[], Awaitable[None]],
    logged: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.conversations.loose_questions._CLOSING_SECONDS", 0.05)

    async def run() -> None:
        store: ConversationStore = Broken(failing)
        questions = LooseQuestions(store, records_content=False)
        questions.answered("Is there an app?", LOCAL, REFUSED)
        await questions.close()

    asyncio.run(run())
    assert logged in caplog.text


def test_kb_ask_leaves_its_question_among_the_gaps(own: Settings) -> None:
    from app.application import terminal

    asyncio.run(terminal.ask("zxqv wvut", AskOptions(top_k=5), AppSettings(), own, None))
    assert [each.question for each in AgentApplication(own).asked("2000").unanswered] == ["zxqv wvut"]
