"""The page offers the web where nothing answers, and shows what is from it as such."""

from collections.abc import Iterator

import pytest

from app.client import Client
from app.page import source
from app.page.chat import answer_html
from app.page.sections import cited_sections
from app.page.templates import render
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.answering.extractive.test_web import SAMPLES
from kb_pipeline_tests.app.page.citing import answer, citation
from kb_pipeline_tests.app.page.conftest import Open, ask_at, html
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.page.test_chat import ask

QUESTION = "What does code 9 of the Splunk collector mean?"
PAGE = citation(
    kind="web",
    article_id="web:0123456789abcdef",
    title="Collector",
    section="Collector",
    heading_path=("Collector",),
    source_url="https://docs.example.com/collector",
    fetched_at="2026-03-04T10:41:00+00:00",
    images=(),
    passage="Code 9 means that the collector is busy.",
    quotes=("Code 9 means that the collector is busy.",),
)


@pytest.fixture(scope="module")
def on_web(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place = Place(knowledge_base, tmp_path_factory.mktemp("web"), KB_WEB_SEARCH="local", KB_WEB_FOLDER=str(SAMPLES))
    with place.service() as url:
        yield url


@pytest.mark.slow("starts a service and loads what draws the page")
def test_where_nothing_answers_one_click_searches_the_web(
    on_web: str, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    client: Client = ask_at(on_web, monkeypatch)
    page = ask(open_page(), QUESTION)
    assert "The collector is busy" not in html(page)
    [offer] = [button for button in page.main.button if button.label == "Search the saved pages for this"]
    shown = html(offer.click().run())
    assert "The collector is busy" in shown
    assert "from the web, fetched" in shown
    [summary] = client.conversations().conversations
    assert [turn.question for turn in client.conversation(summary.id).turns] == [QUESTION, QUESTION]
    assert not [button for button in page.main.button if button.label == "Search the saved pages for this"]


def test_where_the_web_is_off_nothing_is_offered(service: Client, open_page: Open) -> None:
    page = ask(open_page(), QUESTION)
    assert not [button for button in page.main.button if button.label.startswith("Search ")]


def test_a_source_of_the_web_says_so_with_its_time() -> None:
    shown = answer_html(answer("It is busy [Ref #1].", PAGE), 0)
    assert "<i>from the web, fetched 10:41 UTC on 2026-03-04</i>" in shown


def test_the_panel_shows_passage_time_and_a_link_that_reveals_nothing() -> None:
    [section] = cited_sections(answer("It is busy [Ref #1].", PAGE))
    assert "<mark" in source.source_html(section, 1)
    shown = render("source", "of_web", PAGE.source_url, PAGE.fetched)
    assert "From the web, fetched 10:41 UTC on 2026-03-04." in shown
    assert '<a href="https://docs.example.com/collector" target="_blank" rel="noopener noreferrer">' in shown


def test_an_address_that_is_none_is_no_link() -> None:
    assert "<a" not in render("source", "of_web", "javascript:alert(1)", PAGE.fetched)
