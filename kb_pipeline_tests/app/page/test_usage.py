"""The page of usage: for reviewers, in figures that need no explanation."""

from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from app.api.server import create_app
from app.page.usage import chart, figures_html, parts_of, unused_html
from app.settings import AppSettings
from kb_pipeline.evaluation.usage import PublishedArticle, UsageCounts, UsageReport, report_of
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.conftest import ask_at, html
from kb_pipeline_tests.app.page.test_shown import EVIL
from kb_pipeline_tests.app.serving import serving_app

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
USED = {"2026-11-26": UsageCounts(asked=4, answered=3, refused=1, up=2), "2026-11-18": UsageCounts(asked=1, failed=1)}


def report(days: dict[str, UsageCounts], count: int = 1) -> UsageReport:
    articles = [
        PublishedArticle(article_id=f"a{number}", title=EVIL, published_at="2026-11-25T00:00:00+00:00")
        for number in range(count)
    ]
    return report_of(NOW, days, [], {}, articles)


def script() -> None:
    from app.page import usage

    usage.show()


def test_before_anything_was_asked_the_articles_are_named(
    knowledge_base: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving_app(create_app(AppSettings(), knowledge_base)) as url:
        ask_at(url, monkeypatch)
        shown = html(AppTest.from_function(script, default_timeout=30).run())
    assert "0 questions in the last 7 days" in shown and "Articles that no answer used" in shown
    assert 'href="knowledge-base?article=printing"' in shown


def test_others_are_told_whom_it_is_for(knowledge_base: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    others = knowledge_base.model_copy(update={"reviewers": ("ann",)})
    with serving_app(create_app(AppSettings(), others)) as url:
        ask_at(url, monkeypatch)
        page = AppTest.from_function(script, default_timeout=30).run()
    assert "KB_REVIEWERS" in html(page) and not page.exception


def test_the_last_week_stands_beside_the_one_before() -> None:
    shown = figures_html(report(USED))
    assert "75 %" in shown and "1 in the 7 days before" in shown
    assert "Cost" not in shown
    assert "Cost" in figures_html(report({"2026-11-26": UsageCounts(input_tokens=1, cost=None)}))


def test_a_title_is_text_and_of_many_articles_the_first_are_listed() -> None:
    shown = unused_html(report({}, 60))
    assert "<script" not in shown and "<img" not in shown
    assert "60 articles of 60" in shown and "10 more are in the file" in shown


def test_bars_have_only_parts_that_there_are() -> None:
    weeks = report(USED).weeks
    assert chart(weeks)["encoding"]["color"]["scale"]["domain"] == ["answered", "refused", "failed"]
    assert chart(weeks)["encoding"]["y"]["scale"]["domain"] == [0, 4]
    parts = parts_of(weeks)
    assert parts[parts["from"] == "2026-11-23"]["questions"].sum() == 4
