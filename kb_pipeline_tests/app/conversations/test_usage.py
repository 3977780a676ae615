"""What is counted of stored turns: by day, topic and article, with what it cost, and without a text of a person."""

import tracemalloc
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.conversations.base import ConversationStore
from app.conversations.entries import Entry
from app.conversations.loose_questions import LOOSE
from app.conversations.sqlite import SQLiteConversations
from app.conversations.usage import usage_since_weeks
from app.language.messages import Messages
from app.library.articles import ArticleListing
from app.schema.answers import ChatAnswer, Clarification, TokenUsage
from app.schema.articles import ArticleSummary
from app.schema.conversations import Feedback, Turn
from kb_pipeline.errors import StorageError
from kb_pipeline.evaluation.usage import UsageReport
from kb_pipeline.records import Price
from kb_pipeline_tests.app.grounding.passages import citation

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)  # a Thursday
TODAY, YESTERDAY, LAST_WEEK = (f"2026-11-{day}T09:00:00+00:00" for day in (26, 25, 19))
DOWN = Feedback(rating="down", comment="Zebulon")
PRICES = (Price(model="big", input_tokens=2.0, output_tokens=10.0),)


def listing(article_id: str, published_at: str | None, *topics: str) -> ArticleListing:
    summary = ArticleSummary(article_id=article_id, title=article_id, state="published", published_at=published_at)
    return ArticleListing(summary, (), topics=topics)


LISTINGS = (
    listing("guide", "2026-11-01T00:00:00+00:00", "Printing"),
    listing("old", "2025-11-26T00:00:00+00:00", "Printing"),
    listing("new", "2026-11-24T00:00:00+00:00"),
    listing("never published", None),
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ConversationStore]:
    opened = SQLiteConversations(tmp_path / "conversations.db")
    yield opened
    await opened.close()


async def keep(store: ConversationStore, response_id: str, at: str = TODAY, **facts: object) -> None:
    said = ChatAnswer.model_validate({"answer": "So.", "citations": (), "answered_by": "extractive", **facts})
    await store.keep_turn("ann", "c1", Turn(response_id=response_id, asked_at=at, question="Zebulon?", answer=said))


async def counted(store: ConversationStore, listings: Sequence[ArticleListing] = ()) -> UsageReport:
    return await usage_since_weeks(store, listings, PRICES, NOW)


async def test_nothing_was_asked(store: ConversationStore) -> None:
    found = await counted(store)
    assert (len(found.weeks), found.days[0].begins, found.days[-1].begins) == (12, "2026-09-07", "2026-11-26")
    assert (found.total.asked, found.total.cost, found.total.answered_share) == (0, 0, None)


async def test_what_became_of_questions_by_day_and_week(store: ConversationStore) -> None:
    for number in (1, 2):
        await keep(store, f"r{number}")
    await keep(store, "r3", refused=True)
    await keep(store, "r4", is_closest=True)
    await keep(store, "r5", clarification=Clarification(question="Which?", asked="it", options=()))
    await keep(store, "r6", YESTERDAY)
    await keep(store, "r7", LAST_WEEK, refused=True)
    await keep(store, "r8", "2026-09-06T23:59:59+00:00")
    await store.begin_turn("ann", "c1", "r9", "Never answered?")
    found = await usage_since_weeks(store, (), PRICES, NOW)
    today, yesterday = found.days[-1], found.days[-2]
    assert (today.asked, today.answered, today.closest, today.refused, today.asked_back) == (5, 2, 1, 1, 1)
    assert (yesterday.asked, yesterday.answered) == (1, 1)
    assert [(week.begins, week.asked, week.refused) for week in found.weeks[-2:]] == [
        ("2026-11-16", 1, 1),
        ("2026-11-23", 6, 1),
    ]
    assert (found.last_week.asked, found.week_before.asked, found.last_week.answered_share) == (6, 1, 0.6)
    assert "Zebulon" not in found.model_dump_json()


async def test_a_question_without_an_answer_failed(store: ConversationStore) -> None:
    await store.begin_turn("ann", "c1", "r1", "How?")
    stopped = Turn(response_id="r2", asked_at=datetime.now(UTC).isoformat(), question="How?", problem="stopped")
    await store.keep_turn("ann", "c1", stopped)
    found = await usage_since_weeks(store, (), PRICES)
    assert (found.total.asked, found.total.failed, found.total.answered) == (2, 2, 0)


async def test_greetings_and_questions_of_no_conversation_are_not_counted(store: ConversationStore) -> None:
    await keep(store, "r1", answer=Messages.of("en")("greeting"))
    await keep(store, f"{LOOSE}1", refused=True)
    assert (await counted(store)).total.asked == 0


async def test_the_last_rating_counts_on_the_day_of_its_question(store: ConversationStore) -> None:
    cited = (citation("Yes.", article_id="guide").model_copy(update={"used": True}),)
    await keep(store, "r1", YESTERDAY, citations=cited)
    await keep(store, "r2", YESTERDAY, refused=True)
    for response_id, rated in (("r1", DOWN), ("r1", Feedback(rating="up")), ("r2", DOWN)):
        await store.give_feedback("ann", response_id, rated)
    found = await counted(store, LISTINGS)
    assert (found.days[-2].up, found.days[-2].down, found.days[-1].up) == (1, 1, 0)
    assert "Zebulon" not in found.model_dump_json()
    assert [(each.topic, each.answers, each.up, each.down) for each in found.topics] == [("Printing", 1, 1, 0)]


async def test_articles_that_no_answer_used_are_named_with_their_age(store: ConversationStore) -> None:
    used = citation("Yes.", article_id="guide").model_copy(update={"used": True})
    near = citation("No.", 2, article_id="new")
    await keep(store, "r1", citations=(used, near))
    await keep(store, "r2", refused=True, citations=(used.model_copy(update={"article_id": "old"}),))
    found = await counted(store, LISTINGS)
    assert [(each.article_id, each.age) for each in found.unused] == [("old", 365), ("new", 2)]
    assert found.articles == 3


async def test_tokens_have_a_cost_if_the_price_of_their_model_is_known(store: ConversationStore) -> None:
    tokens = TokenUsage(input_tokens=1_000_000, output_tokens=100_000)
    await keep(store, "r1", model="big-2", usage=tokens)
    assert ((await counted(store)).days[-1].tokens, (await counted(store)).days[-1].cost) == (1_100_000, 3.0)
    await keep(store, "r2", YESTERDAY, model="unknown", usage=tokens)
    found = await counted(store)
    assert (found.days[-1].cost, found.days[-2].cost, found.total.cost) == (3.0, None, None)


async def test_a_damaged_entry_is_told_without_what_it_says(store: ConversationStore) -> None:
    await store.append("ann", "c1", [Entry("answer", "r1", "r1", '{"Zebulon": 1}', NOW.isoformat())], title="t")
    with pytest.raises(StorageError, match="entry of the response r1 is damaged") as raised:
        await counted(store)
    assert "Zebulon" not in str(raised.value)


@pytest.mark.slow("counts many turns")
async def test_many_turns_take_no_more_memory_than_few(store: ConversationStore) -> None:
    said = ChatAnswer(answer="So. " * 2000, citations=(), answered_by="extractive")
    body = Turn(response_id="r", asked_at=TODAY, question="How?", answer=said).model_dump_json()

    async def peak(count: int, name: str) -> int:
        for start in range(0, count, 1000):
            entries = [
                Entry(k, f"{name}{n + start}", name, body, TODAY) for n in range(1000) for k in ("question", "answer")
            ]
            await store.append("ann", "c1", entries, title="t")
        tracemalloc.start()
        await counted(store)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few = await peak(1000, "few")
    assert await peak(5000, "many") < 1.5 * few
