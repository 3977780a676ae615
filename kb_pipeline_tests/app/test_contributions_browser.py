"""The page of contributions in a real browser, on a wide screen and on a phone."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app.client import Client
from app.schema.contributions import NewContribution
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.dagster_ui import browsing, picture

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.rare("a further way through the page"),
]

HOSTILE = "<img src=x onerror='window.hacked=1'> :smile: **b** $x$"


@pytest.fixture
def place(knowledge_base: Settings, tmp_path: Path) -> Iterator[Place]:
    shutil.copytree(knowledge_base.staging, tmp_path / "staging")
    place = Place(knowledge_base, tmp_path, KB_STAGING=str(tmp_path / "staging"))
    with place.service(), place.page():
        yield place


def test_a_reviewer_reads_edits_and_accepts_one_after_another(place: Place, tmp_path: Path) -> None:
    client = Client(place.service_url)
    for number, text in ((1, "First *text*."), (2, f"Second text. {HOSTILE}")):
        client.contribute(NewContribution(service="layers", description=f"Cropping {number}", content=text))
    with browsing(place.page_url) as page:
        for number, width, height in ((1, 1500, 900), (2, 390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            page.goto("/contributions")
            page.get_by_role("link", name=f"Cropping {number}").click()
            expect(page.get_by_role("heading", name=f"Cropping {number}")).to_be_visible()
            expect(page).to_have_url(f"{place.page_url}/contributions?contribution={_id(client, number)}")
            picture(page, f"contribution-{width}")
            page.get_by_role("tab", name="Change").click()
            expect(page.get_by_text(f"+### Cropping {number}")).to_be_visible()
            beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert page.evaluate(beyond) <= 0, "nothing sticks out"
            text = page.get_by_role("textbox", name="Text, as Markdown")
            expect(text).not_to_have_value("")  # the page fills it in after it shows it
            text.fill(f"{text.input_value()} Edited.")
            page.get_by_role("textbox", name="Section").fill("Limits")
            page.get_by_role("button", name="Accept").click()
            expect(page.get_by_text("Accepted by", exact=True)).to_be_visible()
            assert page.evaluate("window.hacked") is None
            page.get_by_role("button", name="All contributions").click()
            expect(page.get_by_text(f"Accepted ({number})")).to_be_visible()
    written = (tmp_path / "staging" / "layers-notes" / "index.md").read_text()
    assert "## Limits\n\n### Cropping 1\n\nFirst *text*. Edited.\n" in written
    assert "### Cropping 2\n\nSecond text. &lt;img" in written


WORDS = "Turn the red valve to the left before you start the pump."


def test_somebody_uploads_a_file_and_a_reviewer_sees_what_it_says_and_accepts_it(
    knowledge_base: Settings, tmp_path: Path
) -> None:
    shutil.copytree(knowledge_base.staging, tmp_path / "staging")
    settings = {"KB_STAGING": str(tmp_path / "staging"), "KB_UPLOADERS": '["local"]'}
    place = Place(knowledge_base, tmp_path, **settings)
    with place.service(), place.page(), browsing(place.page_url) as page:
        for number, width, height in ((1, 1500, 900), (2, 390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            page.goto("/contributions")
            page.get_by_text("Upload a file").click()
            markdown = f"# Pump guide {number}\n\n{WORDS} {HOSTILE}\n".encode()
            page.locator("input[type=file]").set_input_files(
                {"name": f"pumps {number}.md", "mimeType": "text/markdown", "buffer": markdown}
            )
            page.get_by_role("textbox", name="Topics").fill("valves, pumps")
            expect(page.get_by_text(f"pumps {number}.md")).to_be_visible()
            picture(page, f"upload-{width}")
            page.get_by_role("button", name="Upload", exact=True).click()
            expect(page.get_by_role("heading", name=f"Pump guide {number}").first).to_be_visible(timeout=60_000)
            expect(page.get_by_text(WORDS)).to_be_visible()
            expect(page.get_by_text("checks passed")).to_be_visible()
            beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert page.evaluate(beyond) <= 0, "nothing sticks out"
            assert page.evaluate("window.hacked") is None
            picture(page, f"uploaded-{width}")
            page.get_by_role("button", name="Accept", exact=True).click()
            expect(page.get_by_text("It stands in the staging folder")).to_be_visible()
            written = tmp_path / "staging" / f"pumps {number}"
            assert (written / f"pumps {number}.md").read_bytes() == markdown
            assert json.loads((written / "metadata.json").read_text()) == {"key_topics": ["valves", "pumps"]}


def _id(client: Client, number: int) -> str:
    [one] = [each.id for each in client.contributions().contributions if each.description == f"Cropping {number}"]
    return one
