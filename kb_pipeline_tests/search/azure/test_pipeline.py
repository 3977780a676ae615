"""The pipeline on Azure AI Search: built, published, edited, removed and reconciled as on the embedded index."""

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from app.settings import AppSettings
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.search.azure.catalog import AzureSearchCatalog
from kb_pipeline.search.azure.index import AzureSearchIndex
from kb_pipeline.search.azure.publish import Publisher
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import load_state
from kb_pipeline.upkeep.reconcile import compare, repair
from kb_pipeline.upkeep.remove import remove_all
from kb_pipeline_tests.app.api.conftest import serving
from kb_pipeline_tests.building import build_here, forbid_models, page
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.managed_identity import ManagedIdentity, signed_in
from kb_pipeline_tests.openai_server import AUDIENCE, OpenAIServer, openai_server
from kb_pipeline_tests.search_service.app import ADMIN_KEY
from kb_pipeline_tests.search_service.running import RunningService


@pytest.fixture
def on_azure(settings: Settings, fake: RunningService) -> Settings:
    changed = {"index": "azure-ai-search", "search_endpoint": fake.url, "search_api_key": ADMIN_KEY}
    return Settings.model_validate({**settings.model_dump(), **changed})


@pytest.fixture
def published(article: Article, on_azure: Settings) -> Settings:
    for name in ("one", "two"):
        article(name, page(name))
    assert all(result.error is None for result in build_here(on_azure).values())
    return on_azure


def test_articles_are_published_and_live(published: Settings) -> None:
    workspace = Workspace(published)
    live = workspace.catalog.live()
    assert live is not None
    assert live.generation == workspace.generation.model_copy(update={"created_at": live.generation.created_at})
    assert compare(workspace).is_good
    assert workspace.index.entries().keys() == {"one", "two"}


def test_publishing_again_sends_nothing(published: Settings, fake: RunningService) -> None:
    before = fake.app.counts["POST indexes/docs/search.index"]
    assert all(result.error is None for result in build_here(published).values())
    assert fake.app.counts["POST indexes/docs/search.index"] == before


@pytest.mark.slow("many requests to the search's double")
def test_a_publication_that_was_killed_is_healed_by_reconciling(
    published: Settings, article: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    article("one", page("one").replace("<h2>", "<h2>New "))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Publisher, "_delete", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        build_here(published, "one")
    assert compare(Workspace(published)).stale == ("one",)
    repair(Workspace(published))
    assert compare(Workspace(published)).is_good


def test_a_removed_article_is_gone(published: Settings) -> None:
    workspace = Workspace(published)
    remove_all(workspace, ["one"])
    assert workspace.index.entries().keys() == {"two"}


def test_a_service_that_is_busy_fails_the_article_for_now(
    on_azure: Settings, article: Article, fake: RunningService
) -> None:
    article("one", page("one"))
    fake.faults.coming.append(("search.index", 503, {"Retry-After": "60"}))
    (result,) = build_here(on_azure.model_copy(update={"attempts": 1})).values()
    assert result.transient
    assert "Azure AI Search at http://127" in (result.error or "")
    state = load_state(Workspace(on_azure).layout, "one")
    assert state.failure is not None
    assert state.failure.transient
    assert build_here(on_azure)["one"].error is None


@pytest.mark.slow("many requests to the search's double")
def test_readers_do_not_wait_for_each_others_searches(published: Settings, fake: RunningService) -> None:
    retrieval = Retrieval(Workspace(published.model_copy(update={"workers": 1})))

    async def search(times: int) -> None:
        await asyncio.gather(*(retrieval.search("plain words", Principal(), top=1) for _ in range(times)))

    asyncio.run(search(1))
    fake.app.most_busy, fake.faults.latency = 0, 1.0
    asyncio.run(search(6))
    assert fake.app.most_busy == 6


def test_readers_go_on_while_nobody_can_tell_which_index_is_live(
    published: Settings, fake: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AzureSearchCatalog, "look_again_seconds", 0.0)
    retrieval = Retrieval(Workspace(published))
    for _ in range(2):
        assert asyncio.run(retrieval.search("plain words", Principal(), top=1))
        fake.faults.coming.append(("GET aliases", 503, {"Retry-After": "60"}))
    asyncio.run(retrieval.search("plain words", Principal(), top=1))
    assert not fake.faults.coming


def test_the_app_embeds_questions(published: Settings) -> None:
    hits = asyncio.run(Retrieval(Workspace(published)).search("plain words about one", Principal(), top=3))
    assert hits[0].chunk.article_id == "one"
    assert hits[0].vector_score is not None


def test_the_app_embeds_nothing_for_an_index_that_does(
    published: Settings, fake: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    fake.service.vectorize = lambda text: asked.append(text) or [0.5] * HashingEmbedder.dimensions  # type: ignore[func-returns-value]
    (definition,) = fake.service.indexes.values()
    definition["vectorSearch"]["profiles"][0]["vectorizer"] = "somebody gave it one"
    monkeypatch.setattr(AzureSearchIndex, "embeds_questions", True)
    forbid_models(monkeypatch)
    hits = asyncio.run(Retrieval(Workspace(published)).search("What about one?", Principal(), top=3))
    assert asked == ["What about one?"]
    assert all(hit.vector_score is not None for hit in hits)


@pytest.fixture
def embeddings(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """Azure OpenAI with one deployment, which lets identities in, and nobody by a key."""
    with signed_in(monkeypatch) as identity, openai_server(identity) as server:
        server.deployments["ours"] = "text-embedding-3-small"
        yield server


def embedded_by_the_index(fake: RunningService, identity: ManagedIdentity, question: str) -> list[float]:
    """What the search service does with a question: it asks the deployment in the index's definition, as itself."""
    (definition,) = fake.service.indexes.values()
    (vectorizer,) = definition["vectorSearch"]["vectorizers"]
    asked = vectorizer["azureOpenAIParameters"]
    assert "apiKey" not in asked
    _, token = identity.answer(
        f"/metadata/identity/oauth2/token?resource={AUDIENCE}", {"Metadata": "true", "X-IDENTITY-HEADER": ""}
    )
    answer = httpx.post(
        f"{asked['resourceUri']}/openai/deployments/{asked['deploymentId']}/embeddings?api-version=2024-10-21",
        json={"input": [question], "model": asked["modelName"]},
        headers={"Authorization": f"Bearer {token['access_token']}"},
    )
    vector: list[float] = answer.raise_for_status().json()["data"][0]["embedding"]
    return vector


@pytest.mark.slow("many requests to the search's double")
def test_a_question_is_embedded_once_by_the_search_service(
    article: Article, on_azure: Settings, fake: RunningService, embeddings: OpenAIServer
) -> None:
    settings = Settings.model_validate(
        {
            **on_azure.model_dump(),
            **embeddings.settings,
            "embedder": "openai/text-embedding-3-small",
            "openai_deployments": {"text-embedding-3-small": "ours"},
            "search_vectorizer": True,
        }
    )
    for name in ("one", "two"):
        article(name, page(name))
    assert all(result.error is None for result in build_here(settings).values())
    identity = embeddings.identity
    assert identity
    asked: list[str] = []

    def embed(text: str) -> list[float]:
        asked.append(text)
        return embedded_by_the_index(fake, identity, text)

    fake.service.vectorize = embed
    question = "What are the plain words about one?"
    with serving(AppSettings(), settings) as url:
        (best, *_) = httpx.get(f"{url}/api/search", params={"q": question}).raise_for_status().json()["results"]
    assert best["article_id"] == "one"
    assert asked == [question]
    assert [request["input"] for request in embeddings.requests].count([question]) == 1, "nobody else embeds it"
