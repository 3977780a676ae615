"""What settings make of the index on Azure AI Search: its definition, scores, reranking, embedding of questions."""

from functools import partial
from typing import Any

import httpx
import pytest

from kb_pipeline.errors import SearchError, SettingsError
from kb_pipeline.records import SearchMode
from kb_pipeline.search.azure.catalog import AzureSearchCatalog
from kb_pipeline_tests.contracts.catalog_contract import G1
from kb_pipeline_tests.contracts.search_contract import Opener
from kb_pipeline_tests.contracts.search_samples import article, embed, entry
from kb_pipeline_tests.search_service.app import ADMIN_KEY
from kb_pipeline_tests.search_service.fixtures import open_generation, search_settings
from kb_pipeline_tests.search_service.running import RunningService

OPENAI = {"openai_azure_endpoint": "https://x.openai.azure.com/", "openai_deployments": {"text-embedding-3-small": "e"}}
MODEL = "openai/text-embedding-3-small/64"


@pytest.fixture
def opened(fake: RunningService) -> Opener:
    """Opens an index with other settings: ``opened(search_semantic=True)``; its embedder is one of OpenAI's."""

    def open_with(**settings: object) -> object:
        return open_generation(search_settings(fake.url, **{"embedder": MODEL, **settings}), embedder=MODEL)

    return open_with


def made(fake: RunningService) -> dict[str, Any]:
    return fake.service.indexes["kb-articles-g1"]


def fields(fake: RunningService, use: str) -> set[str]:
    return {field["name"] for field in made(fake)["fields"] if field.get(use)}


class TestDefinition:
    @pytest.fixture(autouse=True)
    def _made(self, opened: Opener) -> None:
        opened().publish(article("a", "apple"))

    def test_it_is_the_schema_of_the_design(self, fake: RunningService) -> None:
        assert fields(fake, "key") == {"id"}
        assert fields(fake, "filterable") >= {"article_id", "section_header", "key_topics", "access_control_list"}
        assert fields(fake, "searchable") >= {"title", "content", "content_vector"}
        assert fields(fake, "sortable") == {
            *("id", "chunk_index", "block_type", "filename", "document_type", "department", "author", "language"),
            *("upload_date", "page_start", "page_end", "title_order"),
        }
        assert {field["name"] for field in made(fake)["fields"]} >= {
            "image_urls",
            "source_url",
            "content_hash",
            "run_id",
        }

    def test_vectors_are_searched_by_cosine_and_not_kept_twice(self, fake: RunningService) -> None:
        (vector,) = (field for field in made(fake)["fields"] if field["name"] == "content_vector")
        (algorithm,) = made(fake)["vectorSearch"]["algorithms"]
        assert (vector["dimensions"], vector["stored"], vector["retrievable"]) == (64, False, False)
        assert (algorithm["kind"], algorithm["hnswParameters"]["metric"]) == ("hnsw", "cosine")

    def test_whether_somebody_wants_it_or_not_it_can_be_reranked(self, fake: RunningService) -> None:
        assert made(fake)["semantic"]["defaultConfiguration"] == "kb-semantic"

    def test_its_description_tells_how_it_was_made(self, fake: RunningService) -> None:
        assert '"embedding_model":"hashed/1"' in made(fake)["description"]


class TestScores:
    @pytest.mark.parametrize("mode", ["hybrid", "vector"])
    def test_the_vector_score_is_the_cosine(self, opened: Opener, mode: SearchMode) -> None:
        index = opened()
        index.publish(article("a", "apple pie", "stone"))
        asked = embed("apple tart")
        hits = index.search("apple", asked, mode=mode)
        cosines = {hit.chunk.content: float(asked @ embed(hit.chunk.content)) for hit in hits}
        assert {hit.chunk.content: hit.vector_score for hit in hits} == pytest.approx(cosines, abs=1e-4)

    def test_a_service_that_tells_no_subscores_tells_the_cosine_of_a_vector_search(
        self, opened: Opener, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("kb_pipeline_tests.search_service.querying._subscores", lambda *_: {})
        index = opened()
        index.publish(article("a", "apple pie"))
        (hit,) = index.search("", asked := embed("apple tart"), mode="vector")
        assert hit.vector_score == pytest.approx(float(asked @ embed("apple pie")), abs=1e-4)
        (hit,) = index.search("apple", asked)
        assert (hit.vector_score, hit.keyword_score) == (None, None)

    def test_the_keyword_score_is_that_of_the_words(self, opened: Opener) -> None:
        index = opened()
        index.publish(article("a", "apple pie", "stone"))
        by_words = {hit.chunk.id: hit.score for hit in index.search("apple", mode="keyword")}
        hybrid = {hit.chunk.id: hit.keyword_score for hit in index.search("apple", embed("stone"))}
        assert {key: score for key, score in hybrid.items() if score is not None} == pytest.approx(by_words)


class TestSemantic:
    def test_hybrid_hits_are_reranked(self, opened: Opener) -> None:
        opened().publish(article("a", "crop crop crop crop", "crop the whole picture"))
        plain = opened().search("crop picture whole", embed("crop crop crop crop"))
        ranked = opened(search_semantic=True).search("crop picture whole", embed("crop crop crop crop"))
        assert ranked[0].chunk.chunk_index == 1
        assert ranked[0].score > max(hit.score for hit in plain)
        assert ranked[0].vector_score is not None

    @pytest.mark.parametrize("mode", ["keyword", "vector"])
    def test_other_modes_are_not(self, opened: Opener, mode: SearchMode) -> None:
        opened().publish(article("a", "crop"))
        assert [
            hit.score for hit in opened(search_semantic=True).search("crop", embed("crop"), mode=mode)
        ] == pytest.approx([hit.score for hit in opened().search("crop", embed("crop"), mode=mode)])


class TestQuantisation:
    def test_vectors_are_kept_as_8_bit_integers_and_looked_at_again(self, opened: Opener, fake: RunningService) -> None:
        opened(search_quantization=True).publish(article("a", "apple"))
        (compression,) = made(fake)["vectorSearch"]["compressions"]
        assert compression["scalarQuantizationParameters"] == {"quantizedDataType": "int8"}
        assert compression["rescoringOptions"]["enableRescoring"]
        assert made(fake)["vectorSearch"]["profiles"][0]["compression"] == compression["name"]

    def test_an_index_that_is_there_keeps_its_vectors_as_they_are(self, opened: Opener, fake: RunningService) -> None:
        opened().publish(article("a", "apple"))
        opened(search_quantization=True).publish(article("b", "apple"))
        assert not made(fake)["vectorSearch"].get("compressions")
        assert opened().count() == 2


class TestVectorizer:
    @pytest.fixture(autouse=True)
    def _embeds(self, fake: RunningService) -> None:
        fake.service.vectorize = lambda text: embed(text).tolist()

    @pytest.mark.parametrize("mode", ["hybrid", "vector"])
    def test_the_service_embeds_questions(self, opened: Opener, fake: RunningService, mode: SearchMode) -> None:
        index = opened(search_vectorizer=True, **OPENAI)
        index.publish(article("a", "apple pie", "stone"))
        assert index.embeds_questions
        hits = index.search("apple pie", mode=mode)
        assert hits[0].vector_score == pytest.approx(1, abs=1e-4)
        (vectorizer,) = made(fake)["vectorSearch"]["vectorizers"]
        assert vectorizer["azureOpenAIParameters"] == {
            "resourceUri": "https://x.openai.azure.com",
            "deploymentId": "e",
            "modelName": "text-embedding-3-small",
        }

    def test_it_is_added_to_an_index_that_is_there_and_taken_away_again(
        self, opened: Opener, fake: RunningService
    ) -> None:
        opened().publish(article("a", "apple"))
        wanting = opened(search_vectorizer=True, **OPENAI)
        assert not wanting.embeds_questions
        wanting.publish(article("b", "apple"))
        assert wanting.embeds_questions
        assert len(opened(search_vectorizer=True, **OPENAI).search("apple")) == 2
        opened().publish(article("c", "apple"))
        assert not made(fake)["vectorSearch"].get("vectorizers")

    def test_without_the_setting_nobody_relies_on_it(self, opened: Opener) -> None:
        opened(search_vectorizer=True, **OPENAI).publish(article("a", "apple"))
        with pytest.raises(SearchError, match="needs the question's embedding"):
            opened(**OPENAI).search("apple")

    @pytest.mark.parametrize("lacking", [{}, {"openai_azure_endpoint": "https://x.openai.azure.com"}])
    def test_a_model_that_the_service_cannot_reach_is_refused_before_anything_is_built(
        self, opened: Opener, lacking: dict[str, object]
    ) -> None:
        embedder = "minilm" if lacking else MODEL
        with pytest.raises(SettingsError, match=r"KB_SEARCH_VECTORIZER.*KB_OPENAI_AZURE_ENDPOINT"):
            opened(search_vectorizer=True, embedder=embedder, **lacking)


def test_fields_that_an_older_version_did_not_know_are_added(opened: Opener, fake: RunningService) -> None:
    opened().publish(article("a", "apple"))
    definition = made(fake)
    definition["fields"] = [field for field in definition["fields"] if field["name"] != "overlong"]
    opened().publish({"b": [entry("b", "apple", section_header="h" * 40_000)]})
    assert "overlong" in {field["name"] for field in made(fake)["fields"]}


@pytest.mark.slow("many requests to the search's double")
class TestThroughTheContract:
    """Every request and every answer is checked by the contract proxy."""

    def test_all_that_settings_can_ask_for(self, fake: RunningService, checked_url: str) -> None:
        fake.service.vectorize = lambda text: embed(text).tolist()
        wanted = {"search_semantic": True, "search_quantization": True, "search_vectorizer": True, "embedder": MODEL}
        wanted |= OPENAI
        open_one = partial(open_generation, search_settings(checked_url, **wanted), embedder=MODEL)
        open_one().publish(article("a", "apple pie", "stone"))
        (hit, *_) = open_one().search("apple pie")
        assert (hit.chunk.content, hit.vector_score) == ("apple pie", pytest.approx(1, abs=1e-4))
        catalog = AzureSearchCatalog(search_settings(checked_url))
        catalog.switch(G1.model_copy(update={"embedder": MODEL}), at="now")
        assert catalog.open(G1.model_copy(update={"embedder": MODEL})).count() == 2

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            ("/indexes('x')/docs/search.post.search", {"search": "a", "queryType": "fuzzy"}),
            ("/indexes('x')/docs/search.post.search", {"vectorQueries": [{"kind": "vector", "vector": "0.1"}]}),
            ("/indexes('x')/docs/search.index", {"value": [{"@search.action": "replace"}]}),
        ],
    )
    def test_what_breaks_the_contract_does_not_pass(self, checked_url: str, path: str, body: dict[str, object]) -> None:
        headers = {"api-key": ADMIN_KEY}
        answer = httpx.post(f"{checked_url}{path}?api-version=2026-04-01", json=body, headers=headers)
        assert answer.status_code == 422
