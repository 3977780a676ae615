"""Service and page on one port, as one process: a browser asks, sees pictures and a network; rights are as on two."""

from collections.abc import Iterator
from typing import get_args

import httpx
import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

from app.api.server import create_app
from app.one_port import OnePort
from app.page.places import Place as PageOfReaders
from app.page.server import create_page
from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.networks import hostile_scenario, load_scenario
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.page.test_server import knock
from kb_pipeline_tests.dagster_ui import browsing, picture

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

QUESTION = "How do I crop a layer to its content?"
READER, HR = {"x-ms-client-principal-id": "somebody"}, {"x-ms-client-principal-id": "group-hr"}


@pytest.fixture(scope="module")
def url(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    scenarios = hostile_scenario(tmp_path_factory.mktemp("scenarios"))
    place = Place(
        knowledge_base,
        tmp_path_factory.mktemp("one"),
        KB_ONE_PORT="true",
        KB_SCENARIOS=str(scenarios),
        KB_NETWORK="local",
    )
    load_scenario(scenarios, place.environment["KB_HOME"])
    with place.service_process() as url:
        yield url


@pytest.fixture(scope="module")
def page(url: str) -> Iterator[Page]:
    with browsing(url) as page:
        page.set_default_timeout(90_000)
        yield page


@pytest.mark.slow("starts what it looks at, and a browser")
def test_a_reader_asks_and_sees_the_picture_of_the_answer(page: Page) -> None:
    page.goto("/")
    box = page.get_by_test_id("stChatInputTextArea").and_(page.locator(":enabled"))
    box.fill(QUESTION)
    box.press("Enter")
    answer = page.locator(".st-key-turn-0 .kb-answer")
    expect(answer).to_contain_text("Crop to Content")
    image = answer.locator("img").first
    expect(image).to_be_visible()
    assert image.evaluate("async (image) => { await image.decode(); return image.naturalWidth }") > 0
    picture(page, "one-port")


@pytest.mark.rare("a further way through the page in a browser")
@pytest.mark.slow("starts what it looks at, and a browser")
def test_an_engineer_sees_the_network_whose_queries_the_same_port_answers(page: Page, url: str) -> None:
    page.goto("/network")
    expect(page.locator(".map[data-settled]")).to_be_attached()
    picture(page, "one-port-network")
    asked = httpx.post(f"{url}/query/graph", json={"query": "SELECT count(*) AS n FROM vertices"}).json()
    assert (asked["error"], asked["data"]) == (None, [{"n": 50}])


@pytest.mark.slow("starts what it looks at")
def test_both_answer_where_they_did_before(url: str) -> None:
    assert httpx.get(f"{url}/_stcore/health").text == "ok"
    assert "answered_by" in httpx.get(f"{url}/health").json()
    assert "/query/graph" in httpx.get(f"{url}/openapi.json").json()["paths"]
    nowhere = httpx.get(f"{url}/api/nowhere")
    assert (nowhere.status_code, nowhere.headers["content-type"]) == (404, "application/json")


@pytest.mark.slow("starts what it looks at")
@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_a_page_of_another_site_can_ask_neither(url: str, origin: str) -> None:
    foreign = {"origin": origin}
    assert httpx.post(f"{url}/chat", json={"question": QUESTION}, headers=foreign).status_code == 403
    assert httpx.post(f"{url}/query/graph", json={"query": "SELECT 1"}, headers=foreign).status_code == 403
    assert knock(url, origin) == 403
    assert knock(url, url) == 101


@pytest.mark.slow("starts what it looks at")
@pytest.mark.parametrize("path", ["/", "/api/articles", "/_stcore/stream"])
def test_it_is_called_by_its_names_only(url: str, path: str) -> None:
    assert httpx.get(f"{url}{path}", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.slow("loads the service and the page")
@pytest.mark.parametrize(
    ("path", "seen"), [("/api/images/layers/images/crop.png", 200), ("/api/images/secret/images/table.png", 404)]
)
def test_pictures_and_articles_are_for_their_readers(own: Settings, path: str, seen: int) -> None:
    settings = AppSettings(one_port=True, easy_auth=True)
    both = TestClient(OnePort(create_app(settings, own), create_page(settings)), "http://127.0.0.1")
    assert both.get(path).status_code == 401
    assert both.get(path, headers=READER).status_code == seen
    assert both.get(path, headers=HR).status_code == 200


@pytest.mark.slow("loads the service and the page")
def test_no_page_of_readers_has_the_address_of_a_route_of_the_service(own: Settings) -> None:
    settings = AppSettings(one_port=True)
    both = OnePort(create_app(settings, own), create_page(settings))
    assert {"api", "v1", "query", "mcp", "responses"} <= both.of_service
    assert both.of_service.isdisjoint({"", "_stcore", "static", "media", "component", *get_args(PageOfReaders)})
