"""A reader asks the live generation by what its embedder makes of a question."""

from collections.abc import Sequence

import pytest

from kb_pipeline.errors import MissingLayerError, SettingsError
from kb_pipeline.flow.layers.search_index import SearchIndexLayer
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.models.base import Vectors
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.records import SearchMode
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.settings import Settings
from kb_pipeline.steps.late_interaction import PACKING
from kb_pipeline.store.state import load_state
from kb_pipeline_tests.building import build_here, page
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.flow.layers.test_chunk_embeddings import WORDY

QUESTION = "what is bread"


@pytest.fixture(autouse=True)
def _staged(article: Article) -> None:
    article("bread", page("Bread"))
    article("bread-2", page("Bread"))
    article("wine", page("Wine"))


@pytest.fixture
def wordy(settings: Settings) -> Settings:
    return settings.model_copy(update={"embedder": WORDY})


def test_hits_are_ordered_by_the_words_that_were_published(wordy: Settings) -> None:
    build_here(wordy)
    hits = Workspace(wordy).reader().search(QUESTION, top=3)
    assert hits[0].chunk.title == "Bread"
    confidences = [hit.confidence for hit in hits]
    assert None not in confidences
    assert confidences[0] == max(confidences, key=lambda each: each or 0)


def test_copies_of_a_page_take_one_place_in_every_mode(settings: Settings) -> None:
    build_here(settings)
    reader = Workspace(settings).reader()
    modes: tuple[SearchMode, ...] = ("hybrid", "keyword", "vector")
    for mode in modes:
        hits = reader.search("words about bread and wine", top=4, mode=mode)
        said = [(hit.chunk.title, hit.chunk.section_header) for hit in hits]
        assert sorted(said) == [("Bread", "Bread"), ("Bread", "More"), ("Wine", "More"), ("Wine", "Wine")]


def test_only_as_many_hits_as_wanted_and_allowed(settings: Settings) -> None:
    build_here(settings)
    reader = Workspace(settings).reader()
    assert [len(reader.search(QUESTION, top=top)) for top in (0, 1, 3)] == [0, 1, 3]
    hits = reader.search(QUESTION, filters=SearchFilter(article_ids=("wine",)))
    assert {hit.chunk.article_id for hit in hits} == {"wine"}


def test_hits_name_the_generation_that_they_are_from(settings: Settings) -> None:
    build_here(settings)
    reader = Workspace(settings).reader()
    assert {hit.generation for hit in reader.search(QUESTION)} == {reader.generation.id}


def test_words_alone_need_no_embedding(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    build_here(settings)

    def refuse(_self: object, _texts: Sequence[str]) -> Vectors:
        raise AssertionError("embedded")

    monkeypatch.setattr(HashingEmbedder, "embed_batch", refuse)
    assert Workspace(settings).reader().search(QUESTION, mode="keyword")


def test_vectors_of_words_make_another_generation(settings: Settings) -> None:
    plain, told = Workspace(settings), Workspace(settings)
    told.embedder.word_vectors = True
    assert (plain.generation.word_vectors, told.generation.word_vectors) == ("", PACKING)
    assert plain.generation.id != told.generation.id


def test_an_index_that_keeps_no_words_gets_no_new_generation(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, told = Workspace(settings), Workspace(settings)
    told.embedder.word_vectors = True
    monkeypatch.setattr(type(told.catalog), "keeps_word_vectors", False)
    assert told.generation.made_like(plain.generation)


def test_addresses_of_images_make_another_generation_where_they_are_kept(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    addressed = settings.model_copy(update={"search_image_url": "https://kb.example.com/api/images/"})
    assert Workspace(addressed).generation.made_like(Workspace(settings).generation)
    monkeypatch.setattr(type(Workspace(settings).catalog), "keeps_addresses", True)
    assert Workspace(addressed).generation.image_url == "https://kb.example.com/api/images"
    assert Workspace(addressed).generation.id != Workspace(settings).generation.id


@pytest.mark.parametrize("wrong", ["kb.example.com/api/images", "https://x.blob.core.windows.net/serving?sig=s3cret"])
def test_an_address_that_would_not_do_or_holds_a_signature_is_refused(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setattr(type(Workspace(settings).catalog), "keeps_addresses", True)
    with pytest.raises(SettingsError, match="KB_SEARCH_IMAGE_URL") as caught:
        _ = Workspace(settings.model_copy(update={"search_image_url": wrong})).generation
    assert "s3cret" not in str(caught.value)


def test_vectors_without_those_of_words_are_not_published(settings: Settings, wordy: Settings) -> None:
    build_here(settings)
    workspace = Workspace(wordy)
    version = load_state(workspace.layout, "wine").version
    with pytest.raises(MissingLayerError, match="materialize chunk_embeddings"):
        SearchIndexLayer(workspace).publish({"wine": version}, {"wine": version})
