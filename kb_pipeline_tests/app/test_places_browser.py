"""The navigation shows to each what is theirs: readers two places, authors a third, who answers for it a fourth.

Every address works for everybody, as links and bookmarks of former places lead there.
"""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from kb_pipeline.evaluation.gaps import save_gaps
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import signed_in
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.test_gaps_browser import GAPS
from kb_pipeline_tests.dagster_ui import browsing

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.slow("starts what it looks at, and a browser"),
]

READERS = ["Ask", "Knowledge base"]
WRITERS = [*READERS, "For authors"]
FURTHER = pytest.mark.rare("as the others, which are asked for in every run")


@pytest.fixture(scope="module")
def page(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    named = {"KB_REVIEWERS": ["rita"], "KB_UPLOADERS": ["otto"], "KB_ADMINISTRATORS": ["ada"]}
    settings = {name: json.dumps(people) for name, people in named.items()}
    place = Place(knowledge_base, tmp_path_factory.mktemp("place"), KB_EASY_AUTH="true", **settings)
    save_gaps(knowledge_base.model_copy(update={"home": place.environment["KB_HOME"]}), GAPS)
    with place.service(), place.page(), browsing(place.page_url) as opened:
        yield opened


def sign_in(page: Page, name: str) -> None:
    page.context.set_extra_http_headers(signed_in(name))


@pytest.mark.parametrize(
    ("who", "places"),
    [
        ("jane", READERS),
        pytest.param("otto", WRITERS, marks=FURTHER),
        pytest.param("rita", [*WRITERS, "Quality"], marks=FURTHER),
        ("ada", [*WRITERS, "Quality"]),
    ],
)
def test_each_sees_the_places_that_are_theirs(page: Page, who: str, places: list[str]) -> None:
    sign_in(page, who)
    page.goto("/")
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_text([re.compile(f"{each}$") for each in places])
    expect(page.get_by_role("button", name="Settings")).to_have_count(1 if who == "ada" else 0)


@pytest.mark.parametrize(
    ("address", "heading"),
    [
        ("/gaps", "Gaps"),
        pytest.param("/contributions?question=Who+may+crop%3F&article=layers", "Contributions", marks=FURTHER),
        pytest.param("/quality", "Quality", marks=FURTHER),
        pytest.param("/knowledge-base?article=layers", "Layers", marks=FURTHER),
    ],
)
def test_an_address_works_for_a_reader_whose_navigation_has_it_not(page: Page, address: str, heading: str) -> None:
    sign_in(page, "jane")
    page.goto(address)
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    expect(page.get_by_role("navigation", name="For authors")).to_have_count(0)


def test_an_article_has_for_readers_its_text_alone(page: Page) -> None:
    sign_in(page, "jane")
    page.goto("/knowledge-base?article=layers")
    expect(page.get_by_role("heading", name="Undo a crop")).to_be_visible()
    expect(page.get_by_role("tab")).to_have_count(0)
    sign_in(page, "otto")
    page.reload()
    expect(page.get_by_role("tab")).to_have_text(["Article", "For authors"])
    sign_in(page, "ada")
    page.reload()
    expect(page.get_by_role("tab").last).to_have_text("For engineers")


def test_the_pages_of_a_place_lead_to_each_other_and_back(page: Page) -> None:
    sign_in(page, "rita")
    page.goto("/")
    page.get_by_role("link", name="For authors").click()
    expect(page).to_have_url(re.compile("/gaps$"))
    views = page.get_by_role("navigation", name="For authors")
    expect(views.locator("[aria-current=page]")).to_have_text("Gaps")
    views.get_by_role("link", name="Contributions").click()
    expect(page.get_by_role("heading", name="Contributions")).to_be_visible()
    expect(page).to_have_title("Contributions · Knowledge base")
    expect(views.locator("[aria-current=page]")).to_have_text("Contributions")
    page.go_back()
    expect(page.get_by_role("heading", name="Gaps")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
