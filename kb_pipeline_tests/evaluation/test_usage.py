"""What the counts of usage say, in sentences and as tables."""

import csv
from datetime import UTC, datetime
from io import StringIO

from kb_pipeline.evaluation.usage import PublishedArticle, TopicUsage, UsageCounts, UsageReport, report_of

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


def report(days: dict[str, UsageCounts], title: str = "Printing", topic: str = "Paper") -> UsageReport:
    article = PublishedArticle(article_id="printing", title=title, published_at="2026-11-25T00:00:00+00:00")
    return report_of(NOW, days, [TopicUsage(topic=topic, answers=2, up=1)], {}, [article])


def test_a_trend_is_told_in_words() -> None:
    days = {
        "2026-11-26": UsageCounts(asked=8, answered=6, refused=2, failed=0, input_tokens=1500, cost=0.5),
        "2026-11-19": UsageCounts(asked=2, answered=1, refused=1),
    }
    assert report(days).in_words() == [
        "8 questions in the last 7 days, 2 in the 7 days before.",
        "Of 8 that got a reply, 6 were answered (75%, 25 points more than before).",
        "Their answers took 1,500 tokens, which cost 0.50.",
        "Of 1 article, 0 were used by an answer in 12 weeks.",
    ]
    assert report({}).in_words()[0] == "0 questions in the last 7 days, 0 in the 7 days before."


def test_a_table_of_weeks_begins_with_the_newest_and_has_a_cost_only_if_there_is_one() -> None:
    free = report({"2026-11-26": UsageCounts(asked=1, answered=1)})
    assert free.rows_of(free.weeks)[0] == {
        "from": "2026-11-23",
        "asked": 1,
        "answered": 1,
        "closest": 0,
        "refused": 0,
        "asked back": 0,
        "failed": 0,
        "up": 0,
        "down": 0,
    }
    paid = report({"2026-11-26": UsageCounts(input_tokens=5, cost=None), "2026-11-18": UsageCounts(cost=1.5)})
    assert [(row["tokens"], row["cost"]) for row in paid.rows_of(paid.weeks)[:2]] == [(5, "-"), (0, "1.50")]


def test_no_cell_of_the_csv_is_a_formula() -> None:
    rows = list(csv.DictReader(StringIO(report({}, title="=1+1", topic="@x").csv())))
    assert {row["of"] for row in rows} == {"all", "week", "day", "topic", "unused article"}
    assert [(row["name"], row["title"], row["age in days"]) for row in rows[-1:]] == [("printing", "'=1+1", "1")]
    assert [row["name"] for row in rows if row["of"] == "topic"] == ["'@x"]
