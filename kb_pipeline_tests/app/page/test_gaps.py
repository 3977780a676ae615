"""The page of knowledge gaps."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from app.api.server import create_app
from app.page.gaps import gaps_html, head_html
from app.schema.gaps import KnowledgeGap, KnowledgeGapList
from app.settings import AppSettings
from kb_pipeline.evaluation.gap_decisions import load_decisions
from kb_pipeline.evaluation.gaps import KnowledgeGaps, save_gaps
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.test_gaps import GAPS
from kb_pipeline_tests.app.page.conftest import ask_at, html
from kb_pipeline_tests.app.page.test_shown import EVIL
from kb_pipeline_tests.app.serving import serving_app

Look = Callable[[], AppTest]
GAP = KnowledgeGap(question=EVIL, count=2, refused=2, last_asked="2026-02-01T00:00:00+00:00")
LISTED = KnowledgeGapList(
    made_at="2026-02-02T00:00:00+00:00", days=30, questions=2, is_reviewer=True, records_content=True, gaps=(GAP,)
)


@pytest.fixture
def own(knowledge_base: Settings, tmp_path: Path) -> Settings:
    """A copy of the knowledge base that may be written to."""
    shutil.copytree(knowledge_base.home, tmp_path / "home")
    return knowledge_base.model_copy(update={"home": str(tmp_path / "home")})


@pytest.fixture
def look(own: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Look]:
    """Open the page, on a service of the test's own."""

    def script() -> None:
        from app.page import gaps

        gaps.show()

    with serving_app(create_app(AppSettings(), own)) as url:
        ask_at(url, monkeypatch)
        yield lambda: AppTest.from_function(script, default_timeout=30).run()


def opened(look: Look, gap_id: str) -> AppTest:
    """The page of one gap."""
    page = look()
    page.query_params["gap"] = gap_id
    return page.run()


def test_a_gap_is_assigned_dismissed_with_a_reason_and_opened_again(look: Look, own: Settings) -> None:
    save_gaps(own, GAPS)
    gap_id = GAPS.gaps[1].id
    page = opened(look, gap_id)
    assert "jam alarm" in html(page) and "nobody" in html(page)
    page.text_input(key=f"assigned-{gap_id}").input("bob")
    button(page, "Assign").click().run()
    assert load_decisions(own)[gap_id].assigned_to == "bob"
    button(page, "Dismiss").click().run()
    assert "Say why it is no gap." in html(page) and not load_decisions(own)[gap_id].dismissed_at
    page.text_input(key=f"reason-{gap_id}").input("We <b>sell</b> none.")
    button(page, "Dismiss").click().run()
    assert "We &lt;b&gt;sell&lt;/b&gt; none." in html(page)
    listed = look()
    assert "jam alarm" not in html(listed) and "director" in html(listed)
    listed.segmented_control(key="gaps-which").set_value("Dismissed").run()
    assert "jam alarm" in html(listed) and "Assigned to bob" in html(listed)
    page.button(key="reopen").click().run()
    assert "jam alarm" in html(look())


def button(page: AppTest, label: str) -> Button:
    return next(each for each in page.button if each.label == label)


def test_what_was_written_is_shown_only_on_request_and_where_it_is_kept(look: Look, own: Settings) -> None:
    save_gaps(own, GAPS)
    page = opened(look, GAPS.gaps[0].id)
    assert not page.toggle and "Smith" not in html(page)
    assert "This gap is not shown" in html(opened(look, "0" * 16))


def test_a_gap_that_was_dismissed_and_is_asked_again_says_so() -> None:
    again = GAP.model_copy(update={"dismissed_at": "2026-02-01T00:00:00+00:00", "reason": "It is sold <out>."})
    assert "it was asked again since" in head_html(again) and "&lt;out&gt;" in head_html(again)
    listed = LISTED.model_copy(update={"gaps": (again,)})
    assert "Asked again since it was dismissed" in gaps_html(listed)


def test_the_page_says_how_to_begin_and_then_lists_what_was_asked_most(look: Look, own: Settings) -> None:
    nobody_looked = html(look())
    assert "Nobody has looked for gaps yet" in nobody_looked
    assert "questions that nothing answered" in nobody_looked
    save_gaps(own, KnowledgeGaps(made_at=GAPS.made_at))
    assert "Every question of the last 30 days was answered" in html(look())
    save_gaps(own, GAPS)
    shown = html(look())
    assert shown.index("director earn") < shown.index("jam alarm")
    assert "3×" in shown and "2 refused" in shown and "1 disliked" in shown and "1 only something close" in shown
    assert 'href="knowledge-base?article=printing"' in shown and "Salaries" not in shown


def test_a_question_is_text() -> None:
    assert "<script" not in gaps_html(LISTED) and "<img" not in gaps_html(LISTED)


def test_it_is_said_why_there_are_no_words() -> None:
    hidden = LISTED.model_copy(update={"is_reviewer": False, "gaps": (GAP.model_copy(update={"question": ""}),)})
    assert "KB_REVIEWERS" in gaps_html(hidden)
    assert "KB_RECORD_CONTENT" in gaps_html(hidden.model_copy(update={"is_reviewer": True}))
    assert "KB_" not in gaps_html(LISTED)


def test_what_is_missing_can_be_contributed_where_there_is_a_page_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Contribute" not in gaps_html(LISTED)
    monkeypatch.setattr(st, "session_state", {"pages": {"contributions": None}})
    gap = GAP.model_copy(update={"question": "Why & how?", "article_id": "printing", "title": "Printing"})
    shown = gaps_html(LISTED.model_copy(update={"gaps": (gap,)}))
    assert 'href="contributions?question=Why+%26+how%3F&amp;article=printing"' in shown
