"""How the knowledge base is used and what its answers cost: counts by day, week and topic, and the articles that no
answer used. There is no word of a person in it.

Counting is the task of the application, see :mod:`kb_pipeline.application`.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from itertools import groupby

from pydantic import ConfigDict

from kb_pipeline.records import Record, Scalar
from kb_pipeline.wording import counted

WEEKS = 12
"""Weeks that are counted, the present one included: a quarter of a year."""
WEEK = 7
_MOST_TOPICS = 50
"""Topics that are told, those of most answers."""
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What begins a formula in a spreadsheet."""


class _Counted(Record):
    model_config = ConfigDict(frozen=True, extra="ignore")  # a page may be older than its service


class UsageCounts(_Counted):
    """What became of questions; a greeting is none. ``asked_back``: it was asked which document is meant.

    ``closest``: only what is close was shown. ``failed``: there is no answer, because it was stopped or a service
    failed. ``up`` and ``down`` are thumbs. ``cost`` is that of the tokens, in the currency of the configured prices;
    ``None`` if the price of a model is not known.
    """

    asked: int = 0
    answered: int = 0
    closest: int = 0
    refused: int = 0
    asked_back: int = 0
    failed: int = 0
    up: int = 0
    down: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.input_tokens + self.output_tokens

    @property
    def answered_share(self) -> float | None:
        """The share of the questions that got an answer or none which were answered; ``None`` if there was none."""
        said = self.answered + self.closest + self.refused
        return self.answered / said if said else None


class UsageOfTime(UsageCounts):
    """The counts of the day, or of the week, that begins on this day (ISO 8601, UTC)."""

    begins: str


class TopicUsage(_Counted):
    """How many answers cite articles of a topic, and how they were rated."""

    topic: str
    answers: int
    up: int = 0
    down: int = 0


class UnusedArticle(_Counted):
    """A published article that no answer used; ``age`` are the days since it was published last."""

    article_id: str
    title: str
    published_at: str
    age: int


class PublishedArticle(_Counted):
    """An article as far as usage is counted by it."""

    article_id: str
    title: str
    published_at: str
    topics: tuple[str, ...] = ()


class UsageReport(_Counted):
    """The use of the last :data:`WEEKS` weeks; ``days`` and ``weeks`` are all of them, oldest first.

    ``articles`` counts all published ones. ``unused`` are those of them that no answer cites, the oldest first.
    """

    made_at: str
    days: tuple[UsageOfTime, ...]
    weeks: tuple[UsageOfTime, ...]
    total: UsageCounts
    topics: tuple[TopicUsage, ...] = ()
    articles: int = 0
    unused: tuple[UnusedArticle, ...] = ()

    @property
    def last_week(self) -> UsageCounts:
        """The last seven days, today included."""
        return added(self.days[-WEEK:])

    @property
    def week_before(self) -> UsageCounts:
        """The seven days before those."""
        return added(self.days[-2 * WEEK : -WEEK])

    def in_words(self) -> list[str]:
        """What the counts say, in sentences."""
        return list(_sentences(self))

    def rows_of(self, times: Sequence[UsageOfTime]) -> list[dict[str, Scalar]]:
        """Days or weeks as the rows of a table, the newest first."""
        costs = self.total.tokens > 0
        return [
            {
                "from": each.begins,
                "asked": each.asked,
                "answered": each.answered,
                "closest": each.closest,
                "refused": each.refused,
                "asked back": each.asked_back,
                "failed": each.failed,
                "up": each.up,
                "down": each.down,
                **({"tokens": each.tokens, "cost": money(each.cost)} if costs else {}),
            }
            for each in reversed(times)
        ]

    def topic_rows(self) -> list[dict[str, Scalar]]:
        """The topics as the rows of a table."""
        return [each.model_dump() for each in self.topics]

    def unused_rows(self) -> list[dict[str, Scalar]]:
        """The unused articles as the rows of a table."""
        return [{"article": each.article_id, "title": each.title, "days": each.age} for each in self.unused]

    def csv(self) -> str:
        """:meth:`csv_rows` as the text of a file."""
        rows, text = self.csv_rows(), StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def csv_rows(self) -> list[dict[str, Scalar]]:
        """Everything as the rows of one table; ``of`` tells what a row is about."""
        times = (("all", (self.total,)), ("week", self.weeks), ("day", self.days))
        counts: list[dict[str, Scalar | None]] = [
            {"of": of, "name": getattr(each, "begins", ""), **each.model_dump(exclude={"begins"})}
            for of, several in times
            for each in several
        ]
        topics: list[dict[str, Scalar | None]] = [
            {"of": "topic", "name": each.topic, "answered": each.answers, "up": each.up, "down": each.down}
            for each in self.topics
        ]
        unused: list[dict[str, Scalar | None]] = [
            {"of": "unused article", "name": each.article_id, "title": each.title, "age in days": each.age}
            for each in self.unused
        ]
        blank: dict[str, Scalar | None] = dict.fromkeys((*counts[0], "title", "age in days"), "")
        rows = (*counts, *topics, *unused)
        return [{name: _cell(value) for name, value in (blank | row).items()} for row in rows]


def first_day(now: datetime) -> date:
    """The Monday on which the time that is counted begins."""
    today = now.astimezone(UTC).date()
    return today - timedelta(days=today.weekday(), weeks=WEEKS - 1)


def report_of(
    now: datetime,
    days: Mapping[str, UsageCounts],
    topics: Iterable[TopicUsage],
    cited: Mapping[str, int],
    articles: Sequence[PublishedArticle],
) -> UsageReport:
    """Make the report of what was counted by day (ISO 8601, UTC), by topic, and by the ids of cited articles."""
    first, today = first_day(now), now.astimezone(UTC).date()
    dates = [first + timedelta(days=day) for day in range((today - first).days + 1)]
    by_day = [_at(each, days.get(each.isoformat(), UsageCounts())) for each in dates]
    weeks = [(begins, list(group)) for begins, group in groupby(by_day, key=lambda each: _monday(each.begins))]
    unused = [
        UnusedArticle(
            article_id=each.article_id,
            title=each.title,
            published_at=each.published_at,
            age=max((now - datetime.fromisoformat(each.published_at)).days, 0),
        )
        for each in articles
        if not cited.get(each.article_id)
    ]
    return UsageReport(
        made_at=now.astimezone(UTC).isoformat(timespec="seconds"),
        days=tuple(by_day),
        weeks=tuple(_at(begins, added(group)) for begins, group in weeks),
        total=added(by_day),
        topics=tuple(sorted(topics, key=lambda each: (-each.answers, each.topic.casefold()))[:_MOST_TOPICS]),
        articles=len(articles),
        unused=tuple(sorted(unused, key=lambda each: (each.published_at, each.article_id))),
    )


def added(several: Sequence[UsageCounts]) -> UsageCounts:
    """The sums; the cost is only known if all of it is."""
    sums = {name: sum(getattr(each, name) for each in several) for name in UsageCounts.model_fields if name != "cost"}
    costs = [each.cost for each in several]
    return UsageCounts(**sums, cost=None if None in costs else sum(filter(None, costs)))


def money(cost: float | None) -> str:
    """A cost for people; a dash if it is not known."""
    return "-" if cost is None else f"{cost:,.2f}"


def _at(begins: date, counts: UsageCounts) -> UsageOfTime:
    return UsageOfTime(begins=begins.isoformat(), **counts.model_dump(include=set(UsageCounts.model_fields)))


def _monday(day: str) -> date:
    at = date.fromisoformat(day)
    return at - timedelta(days=at.weekday())


def _sentences(report: UsageReport) -> Iterator[str]:
    last, before = report.last_week, report.week_before
    share, share_before = last.answered_share, before.answered_share
    yield f"{counted(last.asked, 'question')} in the last 7 days, {before.asked:,} in the 7 days before."
    if share is not None:
        said = last.answered + last.closest + last.refused
        points = round(100 * share) - round(100 * share_before) if share_before is not None else 0
        trend = f", {counted(abs(points), 'point')} {'more' if points > 0 else 'less'} than before" if points else ""
        answered = counted(last.answered, "was answered", "were answered")
        yield f"Of {said:,} that got a reply, {answered} ({share:.0%}{trend})."
    if last.tokens:
        cost = f", which cost {last.cost:,.2f}" if last.cost else ""
        yield f"Their answers took {counted(last.tokens, 'token')}{cost}."
    if report.articles:
        used = counted(report.articles - len(report.unused), "was used", "were used")
        yield f"Of {counted(report.articles, 'article')}, {used} by an answer in {WEEKS} weeks."


def _cell(value: Scalar | None) -> Scalar:
    """A cell that no spreadsheet takes for a formula; empty if the value is not known."""
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value
