"""Somebody else's two indexes, of blocks and of documents, read as they are."""

from typing import Any

import pytest

from kb_pipeline.errors import IndexMismatchError, IndexNotThereError, SearchError, ServiceRefusedError, SettingsError
from kb_pipeline.records import HIDDEN, Chunk, DocumentSort
from kb_pipeline.search import open_catalog
from kb_pipeline.search.base import SearchFilter, SearchIndex
from kb_pipeline_tests.contracts.search_samples import DIMENSIONS, embed
from kb_pipeline_tests.search_service.app import QUERY_KEY
from kb_pipeline_tests.search_service.content_blocks import (
    BLOCKS,
    BUDGET,
    DIAGRAM,
    DIAGRAM_URL,
    RING,
    block_fields,
    changed,
    document_fields,
    field,
    fill_blocks,
    fill_documents,
    vector_field,
    without,
)
from kb_pipeline_tests.search_service.fixtures import search_settings
from kb_pipeline_tests.search_service.running import RunningService

ANYBODY = SearchFilter(principals=(), block_type=("text", "image"))
FINANCE = ANYBODY.model_copy(update={"principals": ("finance",)})


def vectors(text: str) -> list[float]:
    return [float(value) for value in embed(text)]


def opened(url: str, **told: object) -> SearchIndex:
    settings = search_settings(url, **{"search_layout": "content-blocks", "embedder": "any", **told})
    catalog = open_catalog(settings)
    live = catalog.live()
    assert live is not None
    return catalog.open(live.generation)


@pytest.fixture
def theirs(fake: RunningService) -> RunningService:
    fill_blocks(fake, block_fields(DIMENSIONS), vectors)
    fill_documents(fake)
    return fake


@pytest.fixture
def index(theirs: RunningService) -> SearchIndex:
    return opened(theirs.url)


def found(index: SearchIndex, text: str, filters: SearchFilter = ANYBODY, **how: Any) -> list[str]:
    return [hit.chunk.id for hit in index.search(text, embed(text), filters=filters, **how)]


def listed(index: SearchIndex, filters: SearchFilter = FINANCE, **how: Any) -> list[str]:
    return [row.article_id for row in index.documents(filters, **how).documents]


@pytest.mark.parametrize("key", [{}, {"search_api_key": QUERY_KEY}], ids=["admin", "query"])
class TestAccordingToTheContract:
    """Through the proxy that refuses what the service's own SDK does not describe; also where no definition is read."""

    @pytest.fixture
    def index(self, theirs: RunningService, checked_url: str, key: dict[str, str]) -> SearchIndex:
        return opened(checked_url, **key)

    def test_blocks_are_rows_of_ours(self, index: SearchIndex) -> None:
        text, image = index.find(["b1", "b2"])
        assert text.chunk == Chunk(
            id="b1",
            article_id="d1",
            chunk_index=3,
            title="Crane Handbook",
            section_header="Crane Handbook",
            heading_path=("Crane Handbook",),
            content=RING,
            content_hash="",
            filename="crane.pdf",
            page_breaks=text.chunk.page_breaks,
        )
        assert text.chunk.pages == (3,)
        row = image.chunk
        assert (row.block_type, row.content, row.image_urls, row.pages) == ("image", DIAGRAM, (DIAGRAM_URL,), (4,))

    def test_one_search_finds_text_and_images_each_once(self, index: SearchIndex) -> None:
        hits = index.search("slewing ring", embed(RING), filters=ANYBODY)
        assert {hit.chunk.id for hit in hits} == {"b1", "b2"}
        assert len(hits) == 2
        assert hits[0].vector_score == pytest.approx(1, abs=1e-4)

    def test_documents_are_listed(self, index: SearchIndex) -> None:
        page = index.documents(FINANCE, descending=True)
        assert [row.article_id for row in page.documents] == ["d1", "d2"]
        assert page.total == 2
        entry = page.documents[0].document
        assert entry
        assert (entry.filename, entry.document_type, entry.department) == ("crane.pdf", "Manual", "engineering")
        assert (entry.author, entry.upload_date, entry.page_count) == ("Ann Lee", "2024-05-31", 12)
        assert entry.summary.standard_text == "How to keep the crane.\n\nAnd its ring."

    def test_blocks_are_limited_by_facts_that_only_documents_have(self, index: SearchIndex) -> None:
        limits = FINANCE.model_copy(update={"department": ("finance",), "upload_date": ("2024-03-01", "2024-03-01")})
        assert found(index, "crane", limits) == ["b3"]

    def test_documents_are_searched(self, index: SearchIndex) -> None:
        limits = ANYBODY.model_copy(update={"block_type": ("document",)})
        (hit,) = index.search("keep crane", embed("crane"), filters=limits)
        assert (hit.chunk.id, hit.chunk.title, hit.chunk.block_type) == ("document:d1", "Crane Handbook", "document")
        assert [each.chunk for each in index.find(["document:d1"])] == [hit.chunk]


class TestBlocks:
    @pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
    def test_captions_are_searched_like_texts(self, index: SearchIndex, mode: Any) -> None:
        assert found(index, DIAGRAM, mode=mode)[0] == "b2"

    def test_both_vectors_are_asked_in_one_request(self, theirs: RunningService, index: SearchIndex) -> None:
        assert index.shape.options.fields["content_vector"] == "content_vector,image_caption_vector"  # type: ignore[attr-defined]
        theirs.app.counts.clear()
        hits = index.search("", embed(DIAGRAM), mode="vector", filters=ANYBODY)
        assert (hits[0].chunk.id, round(hits[0].vector_score or 0, 3)) == ("b2", 1.0)
        assert len({hit.chunk.id for hit in hits}) == len(hits) == 2
        assert theirs.app.counts["POST indexes/docs/search.post.search"] == 2, "one for blocks, one for their titles"

    @pytest.mark.parametrize(
        ("limits", "expected"),
        [
            ({"block_type": ("image",)}, {"b2"}),
            ({"block_type": ("text",)}, {"b1", "b3"}),
            ({"page_start": 4, "page_end": 9}, {"b2"}),
            ({"page_start": 1, "page_end": 3}, {"b1", "b3"}),
            ({"article_ids": ("d2",)}, {"b3"}),
            ({"filename": ("CRANE.pdf", "crane.pdf")}, {"b1", "b2"}),
            ({"document_type": ("Report",), "author": ("Bo Chen",)}, {"b3"}),
            ({"document_type": ("Report",), "article_ids": ("d1",)}, set()),
            ({"upload_date": ("", "2024-05-31")}, {"b1", "b2", "b3"}),
            ({"upload_date": ("2024-06-01", "")}, set()),
        ],
    )
    def test_filters(self, index: SearchIndex, limits: dict[str, Any], expected: set[str]) -> None:
        assert set(found(index, "crane slewing ring", FINANCE.model_copy(update=limits))) == expected

    @pytest.mark.parametrize("value", ["' or true or '", "x') or doc_id ne ('", "d1'", "search.in(doc_id, 'd1')", "\n"])
    def test_values_of_filters_are_only_values(self, index: SearchIndex, value: str) -> None:
        for name in ("article_ids", "filename", "department"):
            limits = FINANCE.model_copy(update={name: (value,)})
            assert (found(index, "crane", limits), listed(index, limits)) == ([], [])
        nobody = ANYBODY.model_copy(update={"principals": (value,)})
        assert (set(found(index, "crane", nobody)), listed(index, nobody)) == ({"b1", "b2"}, ["d1"])

    def test_lists_of_readers_are_enforced_in_both_indexes(self, index: SearchIndex) -> None:
        for who, documents in (((), {"d1"}), (("finance",), {"d1", "d2"}), (("ann",), {"d1", "d3"})):
            limits = ANYBODY.model_copy(update={"principals": who})
            assert {hit.chunk.article_id for hit in index.search("crane", mode="keyword", filters=limits)} == documents
            assert set(listed(index, limits)) == documents
            whole = limits.model_copy(update={"block_type": ("document",)})
            hits = index.search("crane costs travel", mode="keyword", filters=whole)
            assert {hit.chunk.article_id for hit in hits} <= documents

    def test_a_document_that_may_not_be_seen_lends_no_title_to_its_blocks(self, fake: RunningService) -> None:
        fill_blocks(fake, without(block_fields(DIMENSIONS), "access_control_list"), vectors)
        fill_documents(fake)
        index = opened(fake.url, search_fields={"access_control_list": ""})
        titles = {hit.chunk.id: hit.chunk.title for hit in index.search("crane", mode="keyword", filters=ANYBODY)}
        assert titles == {"b1": "Crane Handbook", "b3": "", "b4": ""}

    def test_their_own_file_names_are_taken(self, fake: RunningService) -> None:
        fill_blocks(fake, [*block_fields(DIMENSIONS), field("filename", filterable=True)], vectors)
        fill_documents(fake)
        fake.service.documents["content-blocks"].apply({"@search.action": "merge", "block_id": "b1", "filename": "f"})
        index = opened(fake.url)
        assert [each.chunk.filename for each in index.find(["b1", "b2"])] == ["f", "crane.pdf"]
        assert found(index, "ring", ANYBODY.model_copy(update={"filename": ("f",)})) == ["b1"]

    def test_rows_of_both_kinds_are_merged_by_rank(self, index: SearchIndex) -> None:
        kinds = ANYBODY.model_copy(update={"block_type": ("text", "document")})
        hits = index.search("crane", embed("crane"), filters=kinds)
        assert {hit.chunk.block_type for hit in hits} == {"text", "document"}
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    def test_many_blocks_are_read_at_once_where_the_key_can_be_filtered_by(self, fake: RunningService) -> None:
        fill_blocks(fake, changed(block_fields(DIMENSIONS), "block_id", filterable=True), vectors)
        fill_documents(fake)
        index = opened(fake.url)
        index.find(["b1"])
        fake.app.counts.clear()
        assert [each.chunk.id for each in index.find(["b3", "gone", "", "' or true", "b1", "b3"])] == ["b3", "b1"]
        assert fake.app.counts.total() == 2, "the blocks, and the titles of their documents"

    def test_they_are_counted_by_kind(self, index: SearchIndex) -> None:
        assert [index.count_of(kind) for kind in ("text", "image", "document")] == [3, 1, 3]
        assert index.entries(["d1"]) == {"d1": {"b1": "", "b2": ""}}


class TestDocuments:
    @pytest.mark.parametrize(
        ("sort", "expected"),
        [
            ("title", ["d2", "d1", "d3"]),
            ("filename", ["d2", "d1", "d3"]),
            ("document_type", ["d1", "d3", "d2"]),
            ("department", ["d1", "d2", "d3"]),
            ("author", ["d1", "d2", "d3"]),
            ("upload_date", ["d2", "d1", "d3"]),
            ("page_count", ["d2", "d1", "d3"]),
        ],
    )
    @pytest.mark.parametrize("sorts", ["the index", "we"])
    def test_they_are_sorted_and_those_without_the_fact_come_last(
        self, fake: RunningService, sort: DocumentSort, expected: list[str], sorts: str
    ) -> None:
        fields = document_fields()
        fill_blocks(fake, block_fields(DIMENSIONS), vectors)
        fill_documents(fake, fields if sorts == "the index" else [{**each, "sortable": False} for each in fields])
        index, everybody = opened(fake.url), SearchFilter()
        assert listed(index, everybody, sort=sort) == expected
        gaps = ["d3"] if sort in ("author", "upload_date", "page_count") else []
        backwards = [*reversed([each for each in expected if each not in gaps]), *gaps]
        assert listed(index, everybody, sort=sort, descending=True) == backwards
        page = index.documents(everybody, sort=sort, limit=1, offset=1)
        assert ([row.article_id for row in page.documents], page.total) == (expected[1:2], 3)

    @pytest.mark.parametrize(
        ("limits", "expected"),
        [
            ({"department": ("finance", "hr")}, ["d2"]),
            ({"upload_date": ("2024-03-01", "2024-03-01")}, ["d2"]),
            ({"upload_date": ("2024-05-31", "")}, ["d1"]),
            ({"filename": ("crane.pdf",), "author": ("Ann Lee",)}, ["d1"]),
            ({"article_ids": ("d1", "d3")}, ["d1"]),
            ({"article_ids": ()}, []),
            ({"page_start": 5}, ["d1"]),
        ],
    )
    @pytest.mark.parametrize("key_is_filterable", [True, False])
    def test_filters(
        self, fake: RunningService, limits: dict[str, Any], expected: list[str], key_is_filterable: bool
    ) -> None:
        fill_blocks(fake, block_fields(DIMENSIONS), vectors)
        fill_documents(fake, changed(document_fields(), "doc_id", filterable=key_is_filterable, sortable=False))
        assert listed(opened(fake.url), FINANCE.model_copy(update=limits)) == expected

    def test_they_are_found_by_their_ids(self, index: SearchIndex) -> None:
        sought = ["document:d2", "document:no", "b1", "document:' or true", "document:", "document:d2"]
        assert [each.chunk.id for each in index.find(sought)] == ["document:d2", "b1"]

    def test_days_may_be_texts(self, fake: RunningService) -> None:
        fill_blocks(fake, block_fields(DIMENSIONS), vectors)
        rows = [{"doc_id": "d1", "filename": "crane.pdf", "upload_date": "2024-05-31"}]
        fill_documents(fake, changed(document_fields(), "upload_date", type="Edm.String"), rows)
        index = opened(fake.url)
        for days, expected in ((("2024-05-31", "2024-05-31"), ["d1"]), (("2024-06-01", ""), [])):
            assert listed(index, SearchFilter(upload_date=days)) == expected

    def test_too_many_to_look_up_are_told(self, fake: RunningService) -> None:
        fill_blocks(fake, block_fields(DIMENSIONS), vectors)
        rows = [{"doc_id": f"d{number}", "title": "x", "department": "it"} for number in range(1001)]
        fill_documents(fake, rows=rows)
        index = opened(fake.url)
        with pytest.raises(SearchError, match=r"1,001 documents of the index documents-metadata meet .* by department"):
            index.search("crane", mode="keyword", filters=SearchFilter(department=("it",)))
        with pytest.raises(SearchError, match=r"1,001 documents .* cannot sort them by title; at most 1,000"):
            index.documents(sort="title")
        assert index.documents(limit=2).total == 1001

    def test_what_they_cannot_be_filtered_by_is_told(self, index: SearchIndex) -> None:
        for asking in (index.documents, lambda limits: index.search("x", mode="keyword", filters=limits)):
            with pytest.raises(SearchError, match=r"documents-metadata cannot be filtered by language; name a filter"):
                asking(SearchFilter(language=("en",)))

    def test_a_list_of_readers_that_cannot_be_read_hides_what_is_read_by_key(self, fake: RunningService) -> None:
        hidden = {"retrievable": False}
        fill_blocks(fake, changed(block_fields(DIMENSIONS), "access_control_list", **hidden), vectors)
        keyed = changed(document_fields(), "doc_id", filterable=False)
        fill_documents(fake, changed(keyed, "access_control_list", **hidden))
        index = opened(fake.url)
        assert [each.chunk.access_control_list for each in index.find(["b1", "document:d1"])] == [(HIDDEN,)] * 2
        assert listed(index, FINANCE.model_copy(update={"article_ids": ("d1", "d2")})) == []
        assert listed(index, FINANCE) == ["d2", "d1"], "here the service enforces it"


class TestSettings:
    def test_explicit_names_win(self, fake: RunningService) -> None:
        fill_blocks(fake, block_fields(DIMENSIONS), vectors)
        renamed = [{**each, "name": "kind"} if each["name"] == "document_type" else each for each in document_fields()]
        fill_documents(fake, renamed, [{"doc_id": "d1", "filename": "crane.pdf", "kind": "Manual"}])
        index = opened(fake.url, search_document_fields={"document_type": "kind"})
        assert listed(index, SearchFilter(document_type=("Manual",))) == ["d1"]

    def test_both_can_be_mapped_without_a_layout(self, theirs: RunningService) -> None:
        index = opened(
            theirs.url,
            search_layout="",
            search_index="content-blocks",
            search_fields={
                **{"block_id": "block_id", "doc_id": "doc_id", "page_number": "page_number", "image_url": "image_url"},
                **{"block_type": "block_type", "content_vector": "content_vector, image_caption_vector"},
            },
            search_documents_index="documents-metadata",
        )
        assert found(index, DIAGRAM)[0] == "b2"
        assert found(index, "crane", ANYBODY.model_copy(update={"page_start": 3, "page_end": 3})) == ["b1"]
        assert listed(index) == ["d2", "d1"]

    def test_blocks_alone_know_no_documents(self, theirs: RunningService) -> None:
        index = opened(
            theirs.url,
            search_layout=None,
            search_index="content-blocks",
            search_fields={"id": "block_id", "article_id": "doc_id"},
        )
        assert listed(index) == []
        with pytest.raises(SearchError, match="content-blocks cannot be filtered by department"):
            found(index, "crane", SearchFilter(department=("hr",)))

    def test_documents_without_blocks_are_refused(self) -> None:
        settings = search_settings("http://127.0.0.1:1", search_documents_index="documents-metadata")
        with pytest.raises(SettingsError, match=r"KB_SEARCH_DOCUMENTS_INDEX is documents-metadata.*KB_SEARCH_INDEX"):
            open_catalog(settings)


class TestWhatIsWrong:
    @pytest.mark.parametrize("key", [{}, {"search_api_key": QUERY_KEY}], ids=["admin", "query"])
    @pytest.mark.parametrize(
        ("lost", "says"),
        [
            ("page_number", r'layout is content-blocks, so page_number must be.*content-blocks.*\{"page_number": ""\}'),
            ("image_caption", r'so image_caption must be a field of.*\{"image_caption": ""\}'),
        ],
    )
    def test_a_block_field_that_is_missing(
        self, fake: RunningService, lost: str, says: str, key: dict[str, str]
    ) -> None:
        fill_blocks(fake, without(block_fields(DIMENSIONS), lost), vectors)
        fill_documents(fake)
        with pytest.raises(SettingsError, match=f"(?i){says}"):
            opened(fake.url, **key).find(["b1"])
        index = opened(fake.url, search_fields={lost: ""}, **key)
        assert found(index, RING)[0] == "b1", "it can be done without"

    @pytest.mark.parametrize("key", [{}, {"search_api_key": QUERY_KEY}], ids=["admin", "query"])
    def test_a_document_field_that_is_missing(self, fake: RunningService, key: dict[str, str]) -> None:
        fill_blocks(fake, block_fields(DIMENSIONS), vectors)
        fill_documents(fake, without(document_fields(), "department"))
        with pytest.raises(SettingsError, match=r"department must be.*documents-metadata.*KB_SEARCH_DOCUMENT_FIELDS"):
            opened(fake.url, **key).documents()
        index = opened(fake.url, search_document_fields={"department": ""}, **key)
        assert listed(index, sort="department") == ["d1", "d2"], "nobody knows it, so their order is fixed"

    @pytest.mark.parametrize("key", [{}, {"search_api_key": QUERY_KEY}], ids=["admin", "query"])
    def test_lists_of_readers_that_are_missing(self, fake: RunningService, key: dict[str, str]) -> None:
        fill_blocks(fake, without(block_fields(DIMENSIONS), "access_control_list"), vectors)
        fill_documents(fake)
        with pytest.raises(SettingsError, match="access_control_list"):
            opened(fake.url, **key).find(["b1"])
        index = opened(fake.url, search_fields={"access_control_list": ""}, **key)
        assert index.without_access_lists == ("content-blocks",)
        assert {hit.chunk.id for hit in index.search("crane", mode="keyword", filters=ANYBODY)} == {"b1", "b3", "b4"}

    @pytest.mark.parametrize(
        ("name", "kind", "says"),
        [
            (
                "page_number",
                "Edm.String",
                "our page_number, which must be Edm.Int32, and it is Edm.String; map",
            ),
            ("block_type", "Edm.Int32", "our block_type, which must be Edm.String, and it is Edm.Int32"),
            ("content_vector", "Edm.String", "our content_vector, which must be a field of vectors"),
            ("access_control_list", "Edm.String", "must say who may read a document, but it is not"),
        ],
    )
    def test_a_field_of_another_type(self, fake: RunningService, name: str, kind: str, says: str) -> None:
        fields = [field(name, kind, filterable=True) if each["name"] == name else each for each in block_fields(64)]
        fake.service.put("indexes", "content-blocks", {"name": "content-blocks", **_searchable(fields)}, None, None)
        with pytest.raises(SettingsError, match=says):
            opened(fake.url).find(["b1"])

    def test_a_date_of_another_type(self, fake: RunningService) -> None:
        fill_blocks(fake, block_fields(DIMENSIONS), vectors)
        fill_documents(fake, changed(document_fields(), "upload_date", type="Edm.Int32"), [])
        with pytest.raises(SettingsError, match=r"our upload_date, which must be Edm.DateTimeOffset, and it is"):
            opened(fake.url).documents()

    def test_vectors_of_two_models(self, fake: RunningService) -> None:
        fields = without(block_fields(DIMENSIONS), "image_caption_vector")
        fake.service.put(
            "indexes",
            "content-blocks",
            {"name": "content-blocks", **_searchable([*fields, vector_field("image_caption_vector", 8)])},
            None,
            None,
        )
        with pytest.raises(SettingsError, match="content_vector with 64 and image_caption_vector with 8 dimensions"):
            opened(fake.url)

    def test_a_question_of_another_model(self, index: SearchIndex) -> None:
        with pytest.raises(IndexMismatchError, match=r"vectors with 64 dimensions; set KB_EMBEDDER"):
            index.search("crane", [0.1] * 8)

    def test_an_index_that_is_not_there(self, fake: RunningService) -> None:
        with pytest.raises(IndexNotThereError, match=r"no search index content-blocks .* check KB_SEARCH_INDEX"):
            opened(fake.url)
        fill_blocks(fake, block_fields(DIMENSIONS), vectors)
        for key in ({}, {"search_api_key": QUERY_KEY}):
            with pytest.raises(IndexNotThereError, match=r"documents-metadata .* check KB_SEARCH_DOCUMENTS_INDEX"):
                opened(fake.url, **key).documents()

    def test_a_wrong_key(self, theirs: RunningService) -> None:
        with pytest.raises(ServiceRefusedError, match="KB_SEARCH_API_KEY"):
            opened(theirs.url, search_api_key="wrong").documents()

    def test_a_name_that_is_no_field_of_ours(self, theirs: RunningService) -> None:
        with pytest.raises(SettingsError, match=r"KB_SEARCH_DOCUMENT_FIELDS maps 'colour'; our fields are: .*doc_id"):
            opened(theirs.url, search_document_fields={"colour": "x"}).documents()


def _searchable(fields: list[dict[str, Any]]) -> dict[str, Any]:
    vectors = {"algorithms": [{"name": "h", "kind": "hnsw"}], "profiles": [{"name": "p", "algorithm": "h"}]}
    return {"fields": fields, "vectorSearch": vectors}


def test_the_samples_say_of_every_block_what_it_is() -> None:
    assert [block["block_type"] for block in BLOCKS] == ["text", "image", "text", "text"]
    assert BUDGET in {block.get("content") for block in BLOCKS}
