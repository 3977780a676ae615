"""What every store of conversations promises.

A backend's test module subclasses the contract and has a fixture ``stores`` that opens the store, again and again at
one place, each as if in another process: ``stores()``.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.callers.picture import Picture
from app.conversations.base import (
    ConversationStore,
    InvalidRequestError,
    UnknownConversationError,
    UnknownShareError,
    asked_picture,
)
from app.conversations.entries import UNTITLED, entry, now, whole_text
from app.conversations.turns import pending_clarification
from app.schema.conversations import UNANSWERED, Feedback
from kb_pipeline_tests.app.conversations.sayings import (
    HOSTILE,
    Stores,
    answered,
    ask,
    asked_back,
    context,
    listed,
    titles,
)

UP = Feedback(rating="up", comment="thanks")
BAD_IDS = ["", "../../etc/passwd", "a/b", "a b", "a\x00", "ä", "x" * 129, "a'--", "conversation:a", "\ud800"]
BAD_USERS = ["", "a\x00b", "x" * 257, "\ud800", "a\nb"]


@pytest.mark.anyio
class ConversationsContract:
    @pytest.fixture
    async def store(self, stores: Stores) -> AsyncIterator[ConversationStore]:
        opened = stores()
        yield opened
        await opened.close()

    # --- turns -----------------------------------------------------------------------------------

    async def test_nothing_is_there_at_first(self, store: ConversationStore) -> None:
        assert await listed(store, "ann") == []
        with pytest.raises(UnknownConversationError, match="no conversation c1"):
            await store.conversation("ann", "c1")

    async def test_turns_are_read_as_they_were_answered(self, store: ConversationStore) -> None:
        for number in (1, 2, 3):
            await ask(store, "ann", "c1", f"r{number}", f"How {number}?")
        found = await store.conversation("ann", "c1")
        assert [(turn.response_id, turn.question) for turn in found.turns] == [
            ("r1", "How 1?"),
            ("r2", "How 2?"),
            ("r3", "How 3?"),
        ]
        assert [turn.answer for turn in found.turns] == [answered("r1").answer] * 3
        assert found.created_at < found.updated_at

    async def test_what_all_users_asked_since_a_time_does_not_tell_who(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1", "Old?")
        since = now()
        await ask(store, "ann", "c1", "r2", "New?")
        await ask(store, "bob", "c2", "r3", "Also new?")
        await store.give_feedback("bob", "r3", UP)
        await store.give_feedback("ann", "r1", UP)
        found = {turn.question: turn for turn in await store.turns_since(since)}
        assert found.keys() == {"New?", "Also new?"}
        assert found["Also new?"].feedback == UP and found["New?"].answer == answered("r2").answer
        assert not any(name in turn.model_dump_json() for turn in found.values() for name in ("ann", "bob"))
        assert await store.turns_since("9999") == ()
        assert {turn.question for turn in await store.turns_since(since, "bob")} == {"Also new?"}

    async def test_the_entries_of_all_users_since_a_time_come_some_at_once(self, store: ConversationStore) -> None:
        assert [each async for each in store.each_since("2000", {"question"})] == []
        await ask(store, "ann", "c1", "r1", "Old?")
        since = now()
        await ask(store, "ann", "c1", "r2", "New?")
        await ask(store, "bob", "c2", "r3", "Also new?")
        await store.give_feedback("bob", "r3", UP)
        found = [entry async for some in store.each_since(since, {"question", "feedback"}) for entry in some]
        assert sorted((each.kind, each.response_id) for each in found) == [
            ("feedback", "r3"),
            ("question", "r2"),
            ("question", "r3"),
        ]
        assert [each async for each in store.each_since("9999", {"question"})] == []

    async def test_a_turn_can_be_kept_with_its_answer_at_once(self, store: ConversationStore) -> None:
        turn = answered("r1", question="Is there an app?")
        await store.keep_turn("ann", "c1", turn)
        found = await store.conversation("ann", "c1")
        assert (found.turns, found.title) == ((turn,), "Is there an app?")

    async def test_the_picture_of_a_question_is_kept_for_its_asker_until_the_question_goes(
        self, store: ConversationStore
    ) -> None:
        picture = Picture(bytes(range(256)) * 4000, "image/png", 1100, 640, "Webhook switched off")
        for response_id in ("r1", "r2"):
            await store.begin_turn("ann", "c1", response_id, "What is this?", picture=picture)
        found = (await store.conversation("ann", "c1")).turns
        assert [turn.picture for turn in found] == [asked_picture(picture)] * 2
        assert found[0].in_words == "What is this?\nWebhook switched off"
        assert await store.picture("ann", "r1") == (picture.data, "image/png")
        await store.forget("ann", "c1", "r1")
        assert await store.picture("ann", "r2") == (picture.data, "image/png")
        await store.delete("ann", "c1")
        for user, response_id in (("bob", "r2"), ("ann", "r1"), ("ann", "r2"), ("ann", "r3")):
            with pytest.raises(UnknownConversationError, match="no picture"):
                await store.picture(user, response_id)

    async def test_a_question_without_answer_says_that_it_was_cut_off(self, store: ConversationStore) -> None:
        await store.begin_turn("ann", "c1", "r1", "How?")
        (turn,) = (await store.conversation("ann", "c1")).turns
        assert (turn.question, turn.answer, turn.problem) == ("How?", None, UNANSWERED)

    async def test_what_was_asked_back_is_found_by_the_next_question_also_in_another_process(
        self, stores: Stores
    ) -> None:
        first = stores()
        await ask(first, "ann", "c1", "r1")
        await first.begin_turn("ann", "c1", "r2", "the report", "r1")
        await first.finish_turn("ann", "c1", asked_back("r2"))
        await first.begin_turn("ann", "c1", "r3", "never answered", "r2")
        await first.close()
        second = stores()
        expected = asked_back("r2").answer.clarification
        assert await pending_clarification(second, "ann", context("r4", conversation="c1")) == expected
        assert await pending_clarification(second, "ann", context("r4", previous_response_id="r3")) == expected
        for other in ({"previous_response_id": "r1"}, {"conversation": "c2"}, {}):
            assert await pending_clarification(second, "ann", context("r4", **other)) is None
        assert await pending_clarification(second, "bob", context("r4", conversation="c1")) is None
        await ask(second, "ann", "c1", "r5")
        assert await pending_clarification(second, "ann", context("r6", conversation="c1")) is None
        await second.close()

    async def test_an_answer_replaces_that(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1")
        assert (await store.conversation("ann", "c1")).turns[0].problem is None

    async def test_feedback_goes_with_its_answer_and_the_last_word_holds(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1")
        await ask(store, "ann", "c1", "r2")
        await store.give_feedback("ann", "r1", Feedback(rating="down"))
        await store.give_feedback("ann", "r1", UP)
        assert [turn.feedback for turn in (await store.conversation("ann", "c1")).turns] == [UP, None]

    async def test_each_source_that_was_opened_counts_once_and_goes_with_its_answer(
        self, store: ConversationStore
    ) -> None:
        await ask(store, "ann", "c1", "r1")
        for number in (1, 1, 2):
            await store.source_opened("ann", "r1", number)
        assert await store.sources_opened_since("2000") == 2
        assert await store.sources_opened_since("2999") == 0
        with pytest.raises(UnknownConversationError):
            await store.source_opened("bob", "r1", 1)
        await store.delete("ann", "c1")
        assert await store.sources_opened_since("2000") == 0

    async def test_feedback_does_not_move_a_conversation_up(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1")
        await ask(store, "ann", "c2", "r2")
        await store.give_feedback("ann", "r1", UP)
        assert await listed(store, "ann") == ["c2", "c1"]

    async def test_feedback_needs_an_answer(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1")
        for user, response in (("ann", "r9"), ("bob", "r1")):
            with pytest.raises(UnknownConversationError):
                await store.give_feedback(user, response, UP)

    async def test_what_comes_of_a_question_after_it_was_deleted_is_not_kept(self, store: ConversationStore) -> None:
        await store.begin_turn("ann", "c1", "r1", "How?")
        await store.delete("ann", "c1")
        assert not await store.finish_turn("ann", "c1", answered("r1"))
        with pytest.raises(UnknownConversationError):
            await store.append("ann", "c1", [entry("step", "r1", {})])
        assert await listed(store, "ann") == []

    # --- links to answers ------------------------------------------------------------------------

    async def test_whoever_has_the_link_of_an_answer_gets_it_with_what_came_before(self, stores: Stores) -> None:
        store = stores()
        for number in (1, 2, 3):
            await ask(store, "ann", "c1", f"r{number}", f"How {number}?")
        await ask(store, "bob", "c1", "r2", "Of Bob?")
        await store.give_feedback("ann", "r2", UP)
        share = await store.share("ann", "c1", "r2")
        assert len(share.id) > 32 and share.response_id == "r2"
        await store.close()
        other = stores()
        assert [turn.question for turn in await other.shared(share.id)] == ["How 1?", "How 2?"]
        assert not any(turn.feedback or turn.share for turn in await other.shared(share.id))
        await other.close()

    async def test_an_answer_has_one_link_of_which_only_its_asker_knows(self, store: ConversationStore) -> None:
        for conversation, response in (("c1", "r1"), ("c1", "r2"), ("c2", "r3")):
            await ask(store, "ann", conversation, response)
        first, again, other = [await store.share("ann", "c1", response) for response in ("r1", "r1", "r2")]
        assert first == again and first.id != other.id
        turns = (await store.conversation("ann", "c1")).turns
        assert [turn.share for turn in turns] == [first.id, other.id]
        assert await listed(store, "ann") == ["c2", "c1"]
        assert first.id not in str(await store.turns_since("2000"))

    async def test_a_link_that_was_taken_back_leads_nowhere_and_a_new_one_is_another(
        self, store: ConversationStore
    ) -> None:
        await ask(store, "ann", "c1", "r1")
        first = await store.share("ann", "c1", "r1")
        await store.take_back("ann", "c1", "r1")
        await store.take_back("ann", "c1", "r1")
        assert (await store.conversation("ann", "c1")).turns[0].share is None
        second = await store.share("ann", "c1", "r1")
        assert [turn.response_id for turn in await store.shared(second.id)] == ["r1"]
        with pytest.raises(UnknownShareError, match="nothing is shared by this link"):
            await store.shared(first.id)

    async def test_every_link_of_an_answer_is_taken_back_also_of_those_that_were_made_at_once(
        self, store: ConversationStore
    ) -> None:
        await ask(store, "ann", "c1", "r1")
        links = {each.id for each in await asyncio.gather(*(store.share("ann", "c1", "r1") for _ in range(3)))}
        await store.take_back("ann", "c1", "r1")
        for link in links:
            with pytest.raises(UnknownShareError):
                await store.shared(link)

    async def test_a_link_goes_with_its_answer_and_with_its_conversation(self, store: ConversationStore) -> None:
        for number in (1, 2):
            await ask(store, "ann", "c1", f"r{number}")
        links = [await store.share("ann", "c1", response) for response in ("r1", "r2")]
        await store.forget("ann", "c1", "r1")
        with pytest.raises(UnknownShareError):
            await store.shared(links[0].id)
        assert len(await store.shared(links[1].id)) == 1
        await store.delete("ann", "c1")
        with pytest.raises(UnknownShareError):
            await store.shared(links[1].id)

    async def test_only_its_asker_shares_an_answer_or_takes_it_back(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1")
        await store.begin_turn("ann", "c1", "r2", "Not answered?")
        await ask(store, "bob", "c2", "r3")
        share = await store.share("ann", "c1", "r1")
        for user, conversation, response in (
            *(("bob", "c1", "r1"), ("bob", "c2", "r1"), ("ann", "c2", "r1")),
            *(("ann", "c1", "r2"), ("ann", "c1", "r9"), ("ann", "c1", share.id)),
        ):
            for attempt in (store.share, store.take_back):
                with pytest.raises(UnknownConversationError):
                    await attempt(user, conversation, response)
        assert await store.shared(share.id)

    @pytest.mark.parametrize("guess", [*BAD_IDS, "r1", "c1", "share", "share r1", "%", "_" * 38, "share_" + "A" * 32])
    async def test_a_link_cannot_be_guessed(self, store: ConversationStore, guess: str) -> None:
        await ask(store, "ann", "c1", "r1")
        await store.share("ann", "c1", "r1")
        with pytest.raises(UnknownShareError):
            await store.shared(guess)

    # --- the list --------------------------------------------------------------------------------

    async def test_it_is_searched_by_the_words_of_titles_and_questions(self, stores: Stores) -> None:
        store = stores()
        await ask(store, "ann", "c1", "r1", "How do I crop a layer?")
        await ask(store, "ann", "c1", "r2", 'And how is the Überschrift "undone"?')
        await ask(store, "ann", "c2", "r3", "Where are the layers?")
        await store.rename("ann", "c2", "Question of Monday")
        await ask(store, "bob", "c3", "r4", "How do I crop a layer?")
        for words, found in {
            "LAYER": ["c2", "c1"],
            "layer  crop": ["c1"],
            "überSCHRIFT": ["c1"],
            '"undone"': ["c1"],
            "monday": ["c2"],
            "crop undone": [],  # of two questions
            "tray": [],  # of an answer
            "asked_at": [],
            "%": [],
            "_": [],
            "' OR 1=1 --": [],
            "": ["c2", "c1"],
            "\ud800": [],
        }.items():
            page = await store.conversations("ann", containing=words)
            assert [each.id for each in page.conversations] == found, words
        first = await store.conversations("ann", 1, containing="layer")
        second = await store.conversations("ann", 1, first.next, containing="layer")
        assert [each.id for each in (*first.conversations, *second.conversations)] == ["c2", "c1"]
        assert second.next is None
        await store.close()

    async def test_the_first_question_is_the_title(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1", "How do I\n crop a layer?")
        await ask(store, "ann", "c1", "r2", "And undo it?")
        assert await titles(store, "ann") == ["How do I crop a layer?"]

    async def test_the_conversation_last_continued_comes_first(self, store: ConversationStore) -> None:
        for number in (1, 2, 3):
            await ask(store, "ann", f"c{number}", f"r{number}")
        await ask(store, "ann", "c1", "r4")
        assert await listed(store, "ann") == ["c1", "c3", "c2"]
        first = (await store.conversations("ann")).conversations[0]
        assert (first.id, first.turns) == ("c1", 2)

    async def test_two_hundred_conversations_come_page_by_page(self, store: ConversationStore) -> None:
        wanted = [f"c{number}" for number in range(200)]
        for number, conversation in enumerate(wanted):
            await store.begin_turn("ann", conversation, f"r{number}", "How?")
        for at_once in (1, 7, 50, 200):
            assert await listed(store, "ann", at_once) == wanted[::-1]

    async def test_a_page_that_is_just_full_is_the_last(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1")
        assert (await store.conversations("ann", 1)).next is None

    @pytest.mark.parametrize("after", ["", "x", "bm9uZQ==", "W10=", "WzEsMl0=", "ä", "\ud800", "A" * 5000])
    async def test_a_place_that_was_never_given_is_refused(self, store: ConversationStore, after: str) -> None:
        with pytest.raises(InvalidRequestError, match="position in the list is not valid; start again"):
            await store.conversations("ann", 10, after)

    @pytest.mark.parametrize("limit", [0, -1, 201])
    async def test_pages_have_a_size(self, store: ConversationStore, limit: int) -> None:
        with pytest.raises(InvalidRequestError, match="1 to 200"):
            await store.conversations("ann", limit)

    async def test_a_new_title_stays_and_moves_nothing(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1")
        await ask(store, "ann", "c2", "r2")
        await store.rename("ann", "c1", "  Printing\n& more ")
        await store.rename("ann", "c2", "\x00")
        await ask(store, "ann", "c2", "r3")
        assert await titles(store, "ann") == [UNTITLED, "Printing & more"]

    # --- one user and another ----------------------------------------------------------------------

    async def test_users_do_not_see_each_other(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1", "a secret of Ann's")
        assert await listed(store, "bob") == []
        assert await store.conversation_of("bob", "r1") is None
        assert await store.entries("bob", "c1", {"question"}) == []
        assert await store.find("bob", "question", ["r1"]) == {}
        with pytest.raises(UnknownConversationError):
            await store.conversation("bob", "c1")

    async def test_users_do_not_change_each_other(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1", "How?")
        before = await store.conversation("ann", "c1")
        for attack in (
            store.rename("bob", "c1", "mine"),
            store.delete("bob", "c1"),
            store.give_feedback("bob", "r1", UP),
            store.append("bob", "c1", [entry("answer", "r1", {})]),
        ):
            with pytest.raises(UnknownConversationError):
                await attack
        assert not await store.finish_turn("bob", "c1", answered("r1", "lies"))
        await store.forget("bob", "c1", "r1")
        assert await store.conversation("ann", "c1") == before

    async def test_the_same_ids_of_two_users_are_two_conversations(self, store: ConversationStore) -> None:
        for user in ("ann", "bob"):
            await ask(store, user, "c1", "r1", f"{user}'s question")
        before = await store.conversations("ann")
        await store.give_feedback("bob", "r1", UP)
        await store.forget("bob", "c1", "r1")
        await store.delete("bob", "c1")
        (turn,) = (await store.conversation("ann", "c1")).turns
        assert (turn.question, turn.feedback) == ("ann's question", None)
        assert await store.conversations("ann") == before

    @pytest.mark.parametrize("user", ["ann@example.com", "Ann%", "ann_", "*", "Änn Østergård", "' OR 1=1 --", "[]"])
    async def test_any_name_is_only_itself(self, store: ConversationStore, user: str) -> None:
        await ask(store, "ann", "c1", "r1")
        await ask(store, user, "c2", "r2")
        assert (await listed(store, user), await listed(store, "ann")) == (["c2"], ["c1"])

    @pytest.mark.parametrize("user", BAD_USERS)
    async def test_what_cannot_be_a_user_is_refused(self, store: ConversationStore, user: str) -> None:
        with pytest.raises(InvalidRequestError, match="user id"):
            await store.conversations(user)
        with pytest.raises(InvalidRequestError, match="user id"):
            await store.begin_turn(user, "c1", "r1", "How?")

    @pytest.mark.parametrize("bad", BAD_IDS)
    async def test_what_cannot_be_an_id_is_refused(self, store: ConversationStore, bad: str) -> None:
        for attempt in (
            store.begin_turn("ann", bad, "r1", "How?"),
            store.begin_turn("ann", "c1", bad, "How?"),
            store.conversation("ann", bad),
            store.rename("ann", bad, "title"),
            store.delete("ann", bad),
            store.forget("ann", "c1", bad),
        ):
            with pytest.raises(InvalidRequestError, match="id must be"):
                await attempt
        assert await store.conversation_of("ann", bad) is None

    # --- any text --------------------------------------------------------------------------------

    @pytest.mark.parametrize("name", HOSTILE)
    async def test_any_text_is_kept(self, store: ConversationStore, name: str) -> None:
        text = HOSTILE[name]
        await store.begin_turn("ann", "c1", "r1", text)
        await store.finish_turn("ann", "c1", answered("r1", whole_text(text), whole_text(text)))
        (turn,) = (await store.conversation("ann", "c1")).turns
        assert turn.answer is not None
        assert (turn.question, turn.answer.answer) == (whole_text(text), whole_text(text))
        (title,) = await titles(store, "ann")
        assert title and len(title) <= 80 and title.isprintable() | ("\u200d" in title)

    # --- entries ---------------------------------------------------------------------------------

    async def test_entries_keep_their_order_and_are_found_by_key(self, store: ConversationStore) -> None:
        await store.begin_turn("ann", "c1", "r1", "How?")
        for version in (1, 2):
            items = [entry("item", "r1", {"version": version, "n": n}, key=f"i{n}") for n in (1, 2, 3)]
            await store.append("ann", "c1", [*items, entry("response", "r1", {"version": version})])
        said = await store.entries("ann", "c1", {"item", "response"})
        assert [(each.kind, each.key, each.value["version"]) for each in said] == [
            (kind, key, version)
            for version in (1, 2)
            for kind, key in (("item", "i1"), ("item", "i2"), ("item", "i3"), ("response", "r1"))
        ]
        found = await store.find("ann", "item", ["i3", "i1", "i9", "\ud800", "i1"])
        assert {key: (filed.conversation_id, filed.entry.value) for key, filed in found.items()} == {
            "i1": ("c1", {"version": 2, "n": 1}),
            "i3": ("c1", {"version": 2, "n": 3}),
        }
        assert await store.find("ann", "response", ["i1"]) == {}

    async def test_many_entries_at_once(self, store: ConversationStore) -> None:
        await store.begin_turn("ann", "c1", "r1", "How?")
        keys = [f"i{number}" for number in range(500)]
        await store.append("ann", "c1", [entry("item", "r1", {"n": key}, key=key) for key in keys])
        assert [each.key for each in await store.entries("ann", "c1", {"item"})] == keys
        assert len(await store.find("ann", "item", keys)) == 500

    async def test_entries_that_are_added_at_once_are_added_all_or_none(self, store: ConversationStore) -> None:
        await store.begin_turn("ann", "c1", "r1", "How?")
        with pytest.raises(InvalidRequestError):
            await store.append("ann", "c1", [entry("item", "r1", {}, key="i1"), entry("item", "r1", {}, key="ä")])
        with pytest.raises(ValueError, match="must belong to one response"):
            await store.append("ann", "c1", [entry("response", "r1", {}), entry("response", "r2", {})])
        assert await store.entries("ann", "c1", {"item", "response"}) == []

    async def test_a_response_is_forgotten_with_everything_of_it(self, store: ConversationStore) -> None:
        for number in (1, 2):
            await ask(store, "ann", "c1", f"r{number}", f"How {number}?")
            await store.append("ann", "c1", [entry("item", f"r{number}", {}, key=f"i{number}")])
            await store.give_feedback("ann", f"r{number}", UP)
        await store.forget("ann", "c1", "r1")
        await store.forget("ann", "c1", "r1")
        assert [turn.response_id for turn in (await store.conversation("ann", "c1")).turns] == ["r2"]
        assert list(await store.find("ann", "item", ["i1", "i2"])) == ["i2"]
        assert (await store.conversations("ann")).conversations[0].turns == 1

    # --- deleting --------------------------------------------------------------------------------

    async def test_what_was_deleted_is_gone(self, store: ConversationStore) -> None:
        for number in range(130):
            await ask(store, "ann", "c1", f"r{number}")
        await store.delete("ann", "c1")
        assert await listed(store, "ann") == []
        assert await store.find("ann", "question", ["r1"]) == {}
        assert await store.entries("ann", "c1", {"question", "answer"}) == []
        with pytest.raises(UnknownConversationError):
            await store.delete("ann", "c1")

    async def test_a_deleted_conversation_can_begin_anew(self, store: ConversationStore) -> None:
        await ask(store, "ann", "c1", "r1", "First?")
        await store.delete("ann", "c1")
        await ask(store, "ann", "c1", "r2", "Second?")
        assert [turn.question for turn in (await store.conversation("ann", "c1")).turns] == ["Second?"]
        assert await titles(store, "ann") == ["Second?"]

    # --- several at once ---------------------------------------------------------------------------

    async def test_conversations_survive_a_restart(self, stores: Stores) -> None:
        before = stores()
        await ask(before, "ann", "c1", "r1", "How?")
        seen = await before.conversation("ann", "c1")
        await before.close()
        after = stores()
        assert await after.conversation("ann", "c1") == seen
        await after.close()

    async def test_what_many_add_at_once_is_all_there_and_in_order(self, stores: Stores) -> None:
        services = [stores() for _ in range(3)]

        async def talk(writer: int) -> None:
            for number in range(10):
                await ask(services[writer % 3], "ann", "c1", f"r{writer}-{number}", f"{writer} {number}?")

        await asyncio.gather(*(talk(writer) for writer in range(6)))
        turns = (await services[0].conversation("ann", "c1")).turns
        for writer in range(6):
            mine = [turn.response_id for turn in turns if turn.response_id.startswith(f"r{writer}-")]
            assert mine == [f"r{writer}-{number}" for number in range(10)]
        assert all(turn.answer for turn in turns)
        assert (await services[1].conversations("ann")).conversations[0].turns == len(turns) == 60
        for service in services:
            await service.close()

    async def test_who_renames_takes_nothing_back_that_others_add(self, stores: Stores) -> None:
        writer, other = stores(), stores()
        await ask(writer, "ann", "c1", "r0")
        talk = [ask(writer, "ann", "c1", f"r{number}") for number in range(1, 9)]
        await asyncio.gather(*talk, *(other.rename("ann", "c1", f"title {number}") for number in range(8)))
        (found,) = (await other.conversations("ann")).conversations
        assert (found.turns, found.title[:5]) == (9, "title")
        assert found.updated_at == max(e.at for e in await other.entries("ann", "c1", {"ended"}))
        await writer.close()
        await other.close()

    async def test_nothing_outlives_a_conversation_that_is_deleted_while_others_add(self, stores: Stores) -> None:
        writer, other = stores(), stores()
        for attempt in range(5):
            await ask(writer, "ann", "c1", "r0")
            said = [writer.append("ann", "c1", [entry("item", "r0", {}, key=f"i{n}")]) for n in range(8)]
            await asyncio.gather(other.delete("ann", "c1"), *said, return_exceptions=True)
            assert await listed(writer, "ann") == [], attempt
            assert await writer.find("ann", "item", [f"i{n}" for n in range(8)]) == {}
        await writer.close()
        await other.close()

    async def test_all_conversations_of_all_users_are_counted_and_cleared(self, store: ConversationStore) -> None:
        assert await store.count() == 0
        for user in ("ann", "ben"):
            for number in range(3):
                await ask(store, user, f"c{number}", f"r{user}{number}")
                await ask(store, user, f"c{number}", f"s{user}{number}")
        assert await store.count() == 6
        for _ in range(2):
            await store.clear()
            assert await store.count() == 0
        assert await listed(store, "ann") == []
        assert await store.find("ben", "question", ["rben1"]) == {}
        await ask(store, "ann", "c1", "r1", "Again?")
        assert await titles(store, "ann") == ["Again?"]
