"""The choice of where the next questions are searched: in the address, kept with the conversation, left by a button."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from app.api.server import create_app
from app.client import Client
from app.page import scope
from app.settings import AppSettings
from kb_pipeline_tests.app.collections import publish_collections
from kb_pipeline_tests.app.page.conftest import Open, ask_at, html
from kb_pipeline_tests.app.serving import serving_app

CLEAN = "How do I clean the oven?"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = AppSettings(_env_file=None)  # type: ignore[call-arg]
    with serving_app(create_app(settings, publish_collections(tmp_path_factory.mktemp("collections")))) as url:
        yield url


@pytest.fixture(autouse=True)
def _asked_of(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    ask_at(url, monkeypatch)
    scope._collections.clear()
    yield
    scope._collections.clear()


def options(page: AppTest) -> list[str]:
    return list(page.selectbox[0].options)


def ask(page: AppTest, question: str) -> AppTest:
    return page.chat_input[0].set_value(question).run()


@pytest.mark.slow("publishes what it asks about")
def test_everything_is_searched_until_a_collection_is_chosen(open_page: Open) -> None:
    page = open_page()
    assert options(page)[:2] == ["Search in: everything", "Search in: type Manual (2 documents)"]
    assert "warm water" in html(ask(page, CLEAN))
    assert "in" not in page.query_params


def test_a_chosen_collection_is_in_the_address_and_limits_the_answer(open_page: Open) -> None:
    page = open_page().selectbox[0].select("type:Report").run()
    assert page.query_params["in"] == "type:Report"
    page = ask(page, CLEAN)
    assert "Only documents of type Report were searched." in html(page)
    assert "warm water" not in html(page)


def test_a_link_begins_in_its_collection_and_a_conversation_goes_on_in_its_own(open_page: Open, url: str) -> None:
    page = ask(open_page(**{"in": "type:Manual"}), CLEAN)
    assert "Searched in type Manual only" in html(page)
    conversation = str(page.query_params["conversation"])
    again = open_page(conversation=conversation)
    assert again.selectbox[0].value == "type:Manual"
    assert Client(url).conversation(conversation).turns[0].answer.scope.type == ("Manual",)  # type: ignore[union-attr]


def test_ask_everywhere_asks_again_and_stays_everywhere(open_page: Open) -> None:
    page = ask(open_page(**{"in": "type:Report"}), CLEAN)
    (button,) = [button for button in page.main.button if button.label == "Ask everywhere"]
    page = button.click().run()
    assert "warm water" in html(page)
    assert page.selectbox[0].value == "" and page.query_params["in"] == "everything"
    assert not [button for button in page.main.button if button.label == "Ask everywhere"]


def test_a_collection_that_is_not_there_is_everything(open_page: Open) -> None:
    assert open_page(**{"in": "type:<script>"}).selectbox[0].value == ""


def test_without_collections_there_is_no_choice(service: Client, open_page: Open) -> None:
    assert not open_page().selectbox
