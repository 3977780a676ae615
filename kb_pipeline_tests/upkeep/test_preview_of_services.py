"""Another prompt or analyzer, tried on sample articles first: the full run does what was shown, and pays nothing twice.

Pages, images and texts go to servers that speak the protocols of Mistral and OpenAI. What is said of an image depends
on the prompt.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.preview import SettingsPreview, changed_settings, preview
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.conftest import Ledger
from kb_pipeline_tests.mistral_service import DocumentService, document_service
from kb_pipeline_tests.openai_server import OpenAIServer, openai_server
from kb_pipeline_tests.upkeep.test_preview import HERE, SAMPLES, changes_of, section_counts, versions

WITH_IMAGES = ("write-an-article", "webhooks")
BY_SERVICE = {"KB_ANALYZER": "mistral-doc-ai"}


class Paid(NamedTuple):
    """What services were asked for."""

    conversions: int
    images: int
    texts: int


class Services:
    """The servers, and what they were asked since somebody wanted to know."""

    def __init__(self, documents: DocumentService, models: OpenAIServer) -> None:
        self.documents, self.models = documents, models

    def paid(self) -> Paid:
        """How many articles were read, images described and texts embedded since this was asked last."""
        bodies = self.models.requests
        texts = sum(len(body["input"]) for body in bodies if "input" in body)
        paid = Paid(len(self.documents.requests), sum("messages" in body for body in bodies), texts)
        self.documents.requests.clear()
        bodies.clear()
        return paid


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    with document_service() as documents, openai_server() as models:
        yield Services(documents, models)


@pytest.fixture
def staged(settings: Settings, services: Services) -> Settings:
    """Two sample articles with screenshots and one without; the services could be asked."""
    return _staged(settings, services)


def _staged(settings: Settings, services: Services) -> Settings:
    for name in (*WITH_IMAGES, "rest-api"):
        shutil.copytree(SAMPLES / name, Path(settings.staging) / name)
    models = {"vision_model": "gpt-4.1", "embedder": "openai/text-embedding-3-small"}
    places = services.documents.settings | services.models.settings
    return Settings.model_validate(settings.model_dump() | places | models | {"analyzer": "local", "engine": HERE})


@pytest.fixture(scope="module")
def made(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of the articles as the services made them."""
    folder = tmp_path_factory.mktemp("made")
    settings = Settings(
        staging=str(folder / "staging"), home=str(folder / "home"), workers=2, chunk_min_tokens=4, analyzer="local"
    )
    build_here(_staged(settings, services).model_copy(update={"analyzer": "mistral-doc-ai"}))
    assert min(services.paid()) > 0
    return Path(settings.home)


@pytest.fixture
def live(staged: Settings, made: Path) -> Settings:
    """The articles as the services made them, in a home of one's own."""
    shutil.copytree(made, staged.home)
    return staged.model_copy(update={"analyzer": "mistral-doc-ai"})


@pytest.fixture
def prompt(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "prompt.txt").write_text("Say in German what the image shows, and quote at most 3 lines of it.")
    return {"KB_IMAGE_PROMPT_FILE": str(tmp_path / "prompt.txt")}


def shown(found: SettingsPreview) -> Paid:
    """What the preview says that it paid for; conversions are not among its counts."""
    return Paid(0, sum(one.described for one in found.articles), sum(one.embedded for one in found.articles))


@pytest.mark.slow("prints pages with a browser")
def test_with_another_prompt_the_full_run_does_what_was_shown(
    live: Settings, prompt: dict[str, str], services: Services
) -> None:
    found = preview(Workspace(live), prompt)
    articles = {one.article_id: one for one in found.articles}
    assert "Bildschirmfoto eines Programms. Darauf steht:" in articles["webhooks"].diff
    assert articles["rest-api"].diff == ""
    assert services.paid() == shown(found)
    assert (found.full.images, found.full.texts) == (0, 0), "what was paid for is not paid for again"

    published = versions(Workspace(live))
    full = changed_settings(live, prompt)
    build_here(full)
    assert services.paid() == Paid(0, 0, 0)
    assert {key: one.diff for key, one in articles.items()} == changes_of(Workspace(full), published)
    assert {key: one.after.count for key, one in articles.items() if one.after} == section_counts(full)


@pytest.mark.slow("prints pages with a browser")
def test_with_another_analyzer_the_full_run_does_what_was_shown(
    staged: Settings, services: Services, ledger: Ledger
) -> None:
    staged = staged.model_copy(update={"analyzer": "kb_pipeline_tests.doubles:PaidAnalyzer"})
    build_here(staged)
    services.paid()
    found = preview(Workspace(staged), BY_SERVICE)
    paid = services.paid()
    assert paid == shown(found)._replace(conversions=3)
    assert (found.full.images, found.full.texts) == (0, 0)
    assert "converted_markdown" not in {use.layer for use in found.full.models}

    published = versions(Workspace(staged))
    full = changed_settings(staged, BY_SERVICE)
    build_here(full)
    assert services.paid() == Paid(0, 0, 0)
    assert {one.article_id: one.diff for one in found.articles} == changes_of(Workspace(full), published)
    left = [path for path in Path(full.home, "previewed").rglob("*") if path.is_file()]
    assert left == [], "the run took over what it used"


@pytest.mark.slow("prints pages with a browser")
def test_what_the_sample_does_not_hold_is_counted(live: Settings, prompt: dict[str, str], services: Services) -> None:
    found = preview(Workspace(live), prompt, WITH_IMAGES[:1])
    assert services.paid() == shown(found)
    again = preview(Workspace(live), prompt, WITH_IMAGES[:1])
    assert services.paid() == Paid(0, 0, 0), "a second preview is free"
    assert (again.full.images, again.full.texts) == (found.full.images, found.full.texts)
    build_here(changed_settings(live, prompt))
    paid = services.paid()
    assert found.full.images == paid.images > 0
    assert found.full.texts == pytest.approx(paid.texts, rel=0.05)


@pytest.mark.slow("prints pages with a browser")
def test_a_change_that_is_not_adopted_leaves_all_as_it_was(
    live: Settings, prompt: dict[str, str], services: Services
) -> None:
    published = versions(Workspace(live))
    preview(Workspace(live), prompt)
    preview(Workspace(live), {"KB_CHUNK_MAX_TOKENS": "120"})
    services.paid()
    build_here(live)
    assert services.paid() == Paid(0, 0, 0)
    assert versions(Workspace(live)) == published
