"""Counts how the knowledge base is used, from the stored turns: no text of a person leaves them.

The turns are read one after the other and never all held, so that any number of them can be counted.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from pydantic import BaseModel

from app.answering.planning.manners import is_no_gap
from app.conversations.base import ConversationStore
from app.conversations.entries import Entry, Kind, damaged_entry
from app.conversations.loose_questions import LOOSE
from app.library.articles import ArticleListing
from app.schema.answers import TokenUsage
from kb_pipeline.evaluation.usage import (
    PublishedArticle,
    TopicUsage,
    UsageCounts,
    UsageReport,
    first_day,
    report_of,
)
from kb_pipeline.records import Price, Usage
from kb_pipeline.services.usage import priced

_Stored = TypeVar("_Stored", bound=BaseModel)
_ASKED: frozenset[Kind] = frozenset({"question", "answer"})
_RATED: frozenset[Kind] = frozenset({"feedback"})


async def usage_since_weeks(
    store: ConversationStore,
    listings: Iterable[ArticleListing],
    prices: Sequence[Price],
    now: datetime | None = None,
) -> UsageReport:
    """How these articles were used in the last weeks, and what became of all questions.

    Questions that belong to no conversation are left out: only those of them are kept that were not answered.

    Raises:
        KnowledgeBaseError: conversations cannot be read.
    """
    now = now or datetime.now(UTC)
    articles = [
        PublishedArticle(
            article_id=each.summary.article_id,
            title=each.summary.title,
            published_at=each.summary.published_at,
            topics=each.topics,
        )
        for each in listings
        if each.summary.published_at
    ]
    since = first_day(now).isoformat()
    ratings = _Ratings()
    async for entries in store.each_since(since, _RATED):
        ratings.add(entries)
    tally = _Tally(since, ratings, {each.article_id: each.topics for each in articles})
    async for entries in store.each_since(since, _ASKED):
        await asyncio.to_thread(tally.add, entries)
    return report_of(now, tally.days(prices), tally.topics(), tally.cited, articles)


class _Cited(BaseModel):
    article_id: str
    used: bool = False
    kind: str = ""


class _Said(BaseModel):
    """What is counted of an answer: reading all of it takes several times as long."""

    answer: str
    citations: tuple[_Cited, ...] = ()
    model: str | None = None
    usage: TokenUsage | None = None
    refused: bool = False
    is_closest: bool = False
    clarification: object = None

    @property
    def fate(self) -> str:
        """The count that it belongs to."""
        if self.clarification:
            return "asked_back"
        if self.refused:
            return "refused"
        return "closest" if self.is_closest else "answered"


class _Asked(BaseModel):
    asked_at: str
    answer: _Said | None = None
    problem: str | None = None


class _Rating(BaseModel):
    rating: str


class _Ratings:
    """The last rating of each answer that was rated."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, str]] = {}

    def add(self, entries: Iterable[Entry]) -> None:
        for each in entries:
            rated = (each.at, _read(_Rating, each).rating)
            self._last[each.response_id] = max(rated, self._last.get(each.response_id, rated))

    def of(self, response_id: str) -> str:
        return self._last.get(response_id, ("", ""))[1]


class _Tally:
    """Counts by day, topic and article."""

    def __init__(self, since: str, ratings: _Ratings, topics_of: Mapping[str, Sequence[str]]) -> None:
        self.cited = Counter[str]()
        self._since = since
        self._ratings = ratings
        self._topics_of = topics_of
        self._days: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._tokens: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._topics: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, entries: Iterable[Entry]) -> None:
        for each in entries:
            if each.response_id.startswith(LOOSE):
                continue
            turn = _read(_Asked, each)
            if turn.asked_at < self._since:
                continue
            counts = self._days[turn.asked_at[:10]]
            if each.kind == "question":
                counts["asked"] += 1
            else:
                self._answered(counts, each.response_id, turn)

    def _answered(self, counts: Counter[str], response_id: str, turn: _Asked) -> None:
        said = turn.answer
        if said and said.usage:
            tokens = self._tokens[turn.asked_at[:10], said.model or ""]
            tokens.update(input_tokens=said.usage.input_tokens, output_tokens=said.usage.output_tokens)
        if said is None or turn.problem:
            return
        if is_no_gap(said.answer):
            counts["asked"] -= 1
            return
        fate = said.fate
        counts[fate] += 1
        rating = self._ratings.of(response_id)
        if rating:
            counts[rating] += 1
        if fate == "answered":
            used = {each.article_id for each in said.citations if each.used and each.kind != "web"}
            self.cited.update(used)
            for topic in {topic for article_id in used for topic in self._topics_of.get(article_id, ())}:
                self._topics[topic].update(("answers", rating) if rating else ("answers",))

    def days(self, prices: Sequence[Price]) -> dict[str, UsageCounts]:
        return {day: self._counts(day, counts, prices) for day, counts in self._days.items()}

    def topics(self) -> list[TopicUsage]:
        return [
            TopicUsage(topic=topic, answers=counts["answers"], up=counts["up"], down=counts["down"])
            for topic, counts in self._topics.items()
        ]

    def _counts(self, day: str, counts: Counter[str], prices: Sequence[Price]) -> UsageCounts:
        with_reply = sum(counts[fate] for fate in ("answered", "closest", "refused", "asked_back"))
        used = priced((Usage(model=model, **n) for (of, model), n in self._tokens.items() if of == day), prices)
        costs = [each.cost for each in used]
        return UsageCounts(
            **counts,
            failed=max(counts["asked"] - with_reply, 0),
            input_tokens=sum(each.input_tokens for each in used),
            output_tokens=sum(each.output_tokens for each in used),
            cost=None if None in costs else sum(filter(None, costs)),
        )


def _read(kind: type[_Stored], entry: Entry) -> _Stored:
    try:
        return kind.model_validate_json(entry.body)
    except ValueError as exc:
        raise damaged_entry(entry.response_id) from exc
