"""An index that somebody else's pipeline filled: searched under its own field names, never written."""

from collections.abc import Iterator
from typing import Any

import pytest

from kb_pipeline.errors import IndexMismatchError, IndexNotThereError, SearchError, ServiceRefusedError, SettingsError
from kb_pipeline.search import open_catalog
from kb_pipeline.search.base import SearchFilter, SearchIndex
from kb_pipeline.settings import Settings
from kb_pipeline_tests.contracts.search_samples import DIMENSIONS, article, embed, generation
from kb_pipeline_tests.search_service.app import QUERY_KEY
from kb_pipeline_tests.search_service.fixtures import search_settings
from kb_pipeline_tests.search_service.running import RunningService

FIELDS = {
    "id": "chunkId",
    "article_id": "parentId",
    "source_url": "sourcePath",
    "content_vector": "contentVector",
    "content": "chunk",
    "key_topics": "topics",
}


def field(name: str, kind: str = "Edm.String", **uses: object) -> dict[str, object]:
    return {"name": name, "type": kind, "retrievable": True, "searchable": kind == "Edm.String", **uses}


def definition(*more: dict[str, object], vectorizer: bool = False) -> dict[str, Any]:
    openai = {"name": "v", "kind": "azureOpenAI", "azureOpenAIParameters": {"modelName": "text-embedding-3-small"}}
    vectors = {
        "algorithms": [{"name": "h", "kind": "hnsw"}],
        "profiles": [{"name": "p", "algorithm": "h", "vectorizer": "v" if vectorizer else None}],
        "vectorizers": [openai] if vectorizer else [],
    }
    return {
        "name": "theirs",
        "fields": [
            field("chunkId", key=True, searchable=False),
            field("parentId", filterable=True),
            field("title"),
            field("chunk"),
            field("sourcePath", searchable=False),
            field("topics", "Collection(Edm.String)"),
            field(
                "contentVector",
                "Collection(Edm.Single)",
                searchable=True,
                retrievable=False,
                dimensions=DIMENSIONS,
                vectorSearchProfile="p",
            ),
            *more,
        ],
        "vectorSearch": vectors,
    }


def document(number: int, text: str, **fields: object) -> dict[str, object]:
    known = {"chunkId": f"_k{number}", "parentId": f"p{number // 2}", "title": f"Guide {number // 2}", "chunk": text}
    return {**known, "sourcePath": f"https://x/{number}", "contentVector": embed(text).tolist(), **fields}


@pytest.fixture
def theirs(fake: RunningService) -> RunningService:
    return fill(fake, definition())


def fill(fake: RunningService, defined: dict[str, Any], *documents: dict[str, object]) -> RunningService:
    fake.service.put("indexes", "theirs", defined, None, None)
    given = documents or tuple(
        document(number, text, topics=["fruit"] if "p" in text else [])
        for number, text in enumerate(("apple pie", "pear tart", "stone wall"))
    )
    for each in given:
        assert fake.service.documents["theirs"].apply(each) == (201, None)  # whose keys no check of ours has seen
    return fake


def settings(fake: RunningService, **changed: object) -> Settings:
    return search_settings(
        fake.url, **{"search_index": "theirs", "search_fields": FIELDS, "embedder": "any", **changed}
    )


def opened(fake: RunningService, **changed: object) -> SearchIndex:
    catalog = open_catalog(settings(fake, **changed))
    live = catalog.live()
    assert live is not None
    return catalog.open(live.generation)


class TestSearching:
    @pytest.mark.parametrize("key", [{}, {"search_api_key": QUERY_KEY}])
    @pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
    def test_hits_are_chunks_of_ours(self, theirs: RunningService, key: dict[str, str], mode: Any) -> None:
        told = {"search_fields": {**FIELDS, "title": "title"}, **key}
        hit = opened(theirs, **told).search("apple pie", embed("apple pie"), mode=mode)[0]
        chunk = hit.chunk
        assert (chunk.id, chunk.article_id, chunk.content) == ("_k0", "p0", "apple pie")
        assert (chunk.title, chunk.section_header, chunk.source_url) == ("Guide 0", "Guide 0", "https://x/0")
        assert hit.vector_score == (None if mode == "keyword" else pytest.approx(1, abs=1e-4))

    def test_all_their_texts_are_searched(self, theirs: RunningService) -> None:
        assert len(opened(theirs).search("guide", mode="keyword")) == 3

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            (SearchFilter(article_ids=("p0",)), {"_k0", "_k1"}),
            (SearchFilter(article_ids=()), set()),
            (SearchFilter(section_header="Guide 1"), {"_k2"}),
            (SearchFilter(key_topics=("fruit",)), {"_k0", "_k1"}),
            (SearchFilter(principals=()), {"_k0", "_k1", "_k2"}),
        ],
    )
    def test_filters_hold_also_where_it_cannot_filter(
        self, theirs: RunningService, filters: SearchFilter, expected: set[str]
    ) -> None:
        hits = opened(theirs).search("guide", mode="keyword", filters=filters)
        assert {hit.chunk.id for hit in hits} == expected

    def test_who_may_see_what_is_enforced_where_the_index_says_it(self, fake: RunningService) -> None:
        acl = field("groups", "Collection(Edm.String)", filterable=True)
        documents = (document(0, "apple", groups=["staff"]), document(1, "apple", groups=[]))
        fill(fake, definition(acl), *documents)
        index = opened(fake, search_fields={**FIELDS, "access_control_list": "groups"})
        for who, expected in ((("staff",), {"_k0", "_k1"}), (("guest",), {"_k1"}), ((), {"_k1"})):
            hits = index.search("apple", embed("apple"), filters=SearchFilter(principals=who))
            assert {hit.chunk.id for hit in hits} == expected

    @pytest.mark.parametrize("name", ["groups", "access_control_list"])
    @pytest.mark.parametrize("key", [{}, {"search_api_key": QUERY_KEY}], ids=["admin", "query"])
    def test_neither_is_it_forgotten_where_the_definition_cannot_be_read(
        self, fake: RunningService, key: dict[str, str], name: str
    ) -> None:
        acl = field(name, "Collection(Edm.String)", filterable=True, retrievable=False)
        fill(fake, definition(acl), document(0, "apple", **{name: ["staff"]}), document(1, "apple", **{name: []}))
        mapped = {"access_control_list": name} if name == "groups" else {}
        index = opened(fake, search_fields={**FIELDS, **mapped}, **key)
        hits = index.search("apple", embed("apple"), filters=SearchFilter(principals=("guest",)))
        assert [hit.chunk.id for hit in hits] == ["_k1"]

    @pytest.mark.parametrize("kind", ["Edm.String", "Edm.Int32"])
    def test_fields_that_only_sound_like_ours_are_theirs(self, fake: RunningService, kind: str) -> None:
        values = ["r1", "r2"] if kind == "Edm.String" else [1, 2]
        documents = [document(number, "apple", revision=value, overlong=value) for number, value in enumerate(values)]
        fill(fake, definition(field("revision", kind), field("overlong", kind)), *documents)
        assert len(opened(fake).search("apple", embed("apple"))) == 2

    def test_its_vectorizer_embeds_questions(self, fake: RunningService) -> None:
        fill(fake, definition(vectorizer=True))
        fake.service.vectorize = lambda text: embed(text).tolist()
        index = opened(fake, search_vectorizer=True)
        assert index.embeds_questions
        assert index.search("stone wall", mode="vector")[0].chunk.id == "_k2"

    def test_a_question_of_another_model_is_refused_with_the_setting(self, theirs: RunningService) -> None:
        with pytest.raises(IndexMismatchError, match=r"vectors with 64 dimensions; set KB_EMBEDDER"):
            opened(theirs).search("apple", [0.1] * 8)


class TestReading:
    def test_chunks_are_found_by_their_keys(self, theirs: RunningService) -> None:
        found = opened(theirs).find(["_k2", "gone", "", "' or true", "\ud800", "_k0", "_k2"])
        assert [each.chunk.content for each in found] == ["stone wall", "apple pie"]

    def test_its_articles_are_listed(self, theirs: RunningService) -> None:
        index = opened(theirs)
        assert index.entries() == {"p0": {"_k0": "", "_k1": ""}, "p1": {"_k2": ""}}
        assert index.entries(["p1", "x"]) == {"p1": {"_k2": ""}}
        assert (index.count(), index.doubled()) == (3, set())
        index.optimise()


class TestWriting:
    @pytest.fixture
    def index(self, theirs: RunningService) -> Iterator[SearchIndex]:
        yield opened(theirs)
        assert len(theirs.service.documents["theirs"].shown) == 3

    def test_is_refused(self, index: SearchIndex) -> None:
        with pytest.raises(SettingsError, match=r"KB_SEARCH_INDEX is theirs.*only read"):
            index.remove(["p0"])

    def test_is_refused_before_anything_was_built(self, theirs: RunningService) -> None:
        catalog = open_catalog(settings(theirs))
        for use in (
            lambda: catalog.open(generation()).publish(article("a", "x")),
            lambda: catalog.switch(generation(), at="now"),
            lambda: catalog.drop("g1"),
        ):
            with pytest.raises(SettingsError, match="KB_SEARCH_INDEX"):
                use()
        assert [each.id for each in catalog.generations()] == ["somebodys"]


class TestMapping:
    @pytest.mark.parametrize(
        ("changed", "says"),
        [
            ({"search_fields": {**FIELDS, "colour": "x"}}, "maps 'colour'; our fields are"),
            ({"search_fields": {**FIELDS, "title": "caption"}}, "maps title as caption.*no such field"),
            ({"search_fields": {"id": "chunkId"}}, "must say which field of KB_SEARCH_INDEX is content"),
            (
                {"search_fields": {"title": "title"}, "search_api_key": QUERY_KEY},
                "is id: its definition cannot be read",
            ),
            ({"search_fields": {**FIELDS, "access_control_list": "topics"}}, "not a filterable collection"),
            (
                {"search_fields": {**FIELDS, "access_control_list": "topics"}, "search_api_key": QUERY_KEY},
                "not a filterable collection",
            ),
            ({"search_semantic": True}, "no semantic configuration"),
        ],
    )
    def test_what_cannot_be_is_told(self, theirs: RunningService, changed: dict[str, object], says: str) -> None:
        with pytest.raises(SettingsError, match=says):
            opened(theirs, **changed).search("apple", mode="keyword")

    def test_an_index_that_is_not_there_is_told(self, fake: RunningService) -> None:
        with pytest.raises(IndexNotThereError, match="check KB_SEARCH_INDEX") as caught:
            opened(fake)
        assert "kb ingest" not in str(caught.value)

    def test_an_index_that_is_deleted_later_is_told_in_the_same_way(self, theirs: RunningService) -> None:
        index = opened(theirs)
        index.search("apple", mode="keyword")
        theirs.service.delete("indexes", index.name, None)
        with pytest.raises(IndexNotThereError, match="check KB_SEARCH_INDEX"):
            index.search("apple", mode="keyword")

    def test_a_wrong_key_is_told(self, theirs: RunningService) -> None:
        with pytest.raises(ServiceRefusedError, match=r"KB_SEARCH_API_KEY") as caught:
            opened(theirs, search_api_key="wrong").search("apple", mode="keyword")
        assert isinstance(caught.value, SearchError)

    def test_a_wrong_key_is_told_before_fields_that_are_not_mapped(self, theirs: RunningService) -> None:
        with pytest.raises(ServiceRefusedError, match=r"KB_SEARCH_API_KEY"):
            opened(theirs, search_api_key="wrong", search_fields={}).search("apple", mode="keyword")
