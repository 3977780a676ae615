"""What every search index promises about rows that are no sections, facts to filter by, and the list of documents.

A part of ``search_contract``, whose fixtures it uses.
"""

import pytest
from pydantic import ValidationError

from kb_pipeline.errors import SearchError
from kb_pipeline.records import Chunk, DocumentEntry, DocumentSort, DocumentSummary, PageBreak, Quoted, SearchMode
from kb_pipeline.search.base import IndexEntry, SearchFilter, SearchIndex
from kb_pipeline_tests.contracts.search_samples import article, embed, entry, with_words, words_of

MODES: tuple[SearchMode, ...] = ("keyword", "vector", "hybrid")


def manual(article_id: str, *contents: str, title: str = "Guide", **facts: object) -> dict[str, list[IndexEntry]]:
    """A document with a section for each content, an image row and its document row; all rows contain "apple"."""
    access = facts.pop("access_control_list", ())
    known = DocumentEntry.model_validate({"filename": f"{article_id}.pdf", "upload_date": "2024-05-31", **facts})
    shared = {"access_control_list": access, "title": title}
    sections = [
        entry(article_id, f"apple {content}", number, page_breaks=(PageBreak(offset=0, page=number + 1),), **shared)
        for number, content in enumerate(contents)
    ]
    image = entry(
        article_id,
        "apple picture",
        len(contents),
        block_type="image",
        part_of=sections[0].chunk.id if sections else "",
        image_urls=(f"{article_id}/images/a.png",),
        page_breaks=(PageBreak(offset=0, page=2),),
        **shared,
    )
    about = entry(article_id, "apple summary", len(contents) + 1, block_type="document", document=known, **shared)
    return {article_id: [*sections, image, about]}


def kinds_found(index: SearchIndex, filters: SearchFilter, mode: SearchMode = "hybrid") -> list[str]:
    hits = index.search("apple", embed("apple"), mode=mode, top=50, filters=filters)
    return sorted(f"{hit.chunk.article_id} {hit.chunk.block_type}" for hit in hits)


def listed(index: SearchIndex, filters: SearchFilter | None = None, **options: object) -> list[str]:
    return [row.article_id for row in index.documents(filters, **options).documents]  # type: ignore[arg-type]


class DocumentRowsContract:
    def test_every_row_comes_back_as_it_was(self, index: SearchIndex) -> None:
        summary = DocumentSummary(brief=(Quoted(text="It's “so”.", page=3),), standard=((Quoted(text="So."),),))
        rows = manual("a", "one", author="Ünï O'Code", page_count=7, summary=summary, headings=(Quoted(text="H"),))
        index.publish(rows)
        expected = {each.chunk.id: each.chunk for each in rows["a"]}
        assert {hit.chunk.id: hit.chunk for hit in index.search("apple", embed("apple"))} == expected
        assert {each.chunk.id: each.chunk for each in index.find(list(expected))} == expected
        assert index.mismatched(rows["a"]) == set()

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(
        ("kinds", "expected"),
        [
            (("text",), ["a text"]),
            (("image",), ["a image"]),
            (("document",), ["a document"]),
            (("image", "document"), ["a document", "a image"]),
            (None, ["a document", "a image", "a text"]),
            ((), []),
        ],
    )
    def test_kinds_of_rows(
        self, index: SearchIndex, mode: SearchMode, kinds: tuple[str, ...] | None, expected: list[str]
    ) -> None:
        index.publish(manual("a", "one"))
        for _ in range(2):
            assert kinds_found(index, SearchFilter.model_validate({"block_type": kinds}), mode) == expected
            index.optimise()

    def test_rows_are_counted_by_kind(self, index: SearchIndex) -> None:
        index.publish(manual("a", "one", "two") | article("b", "three"))
        counts = [index.count(), index.count_of("text"), index.count_of("image"), index.count_of("document")]
        assert counts == [5, 3, 1, 1]

    def test_other_rows_change_no_score_of_a_section(self, index: SearchIndex) -> None:
        told = with_words(article("a", "apple fig", "apple pear", "sand") | article("b", "apple fig fig"))
        index.publish(told)
        only_sections = SearchFilter(block_type=("text",))

        def scores(mode: SearchMode) -> dict[str, tuple[float | None, float]]:
            hits = index.search("apple fig", embed("apple fig"), mode=mode, filters=only_sections)
            return {hit.chunk.id: (hit.keyword_score, round(hit.score, 5)) for hit in hits}

        before = [scores(mode) for mode in MODES]
        about = {key: [each for each in rows if each.chunk.block_type != "text"] for key, rows in manual("a").items()}
        beside = {f"x{i}": manual(f"x{i}", summary=DocumentSummary())[f"x{i}"] for i in range(20)}
        index.publish({"a": [*told["a"], *_renumbered(about["a"])]} | beside)
        assert [scores(mode) for mode in MODES] == before

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({"document_type": ("manual",)}, {"a", "c"}),
            ({"document_type": ("MANUAL", "report")}, {"a", "b", "c"}),
            ({"document_type": ()}, set()),
            ({"department": ("o'brien & söhne",)}, {"b"}),
            ({"author": ("Ann",), "document_type": ("Manual",)}, {"a"}),
            ({"language": ("de-AT",)}, {"c"}),
            ({"filename": ("B.pdf",)}, {"b"}),
            ({"upload_date": ("2024-02-01", "2024-03-31")}, {"b"}),
            ({"upload_date": ("2024-03-31", "")}, {"b", "c"}),
            ({"upload_date": ("", "2024-03-30T12:00:00Z")}, {"a"}),
            ({"department": ("nobody",)}, set()),
        ],
    )
    def test_every_row_is_filtered_by_the_facts_of_its_document(
        self, index: SearchIndex, mode: SearchMode, filters: dict[str, object], expected: set[str]
    ) -> None:
        index.publish(
            manual("a", "one", document_type="Manual", author="ann", upload_date="2024-01-15")
            | manual(
                "b",
                "one",
                document_type="Report",
                department="O'Brien &  Söhne",
                author="Ann",
                upload_date="2024-03-31",
            )
            | manual("c", "one", document_type="Manual", language="de-at", upload_date="2025-01-01")
            | article("bare", "apple")
        )
        wanted = SearchFilter.model_validate(filters)
        kinds = ("document", "image", "text")
        assert kinds_found(index, wanted, mode) == sorted(f"{key} {kind}" for key in expected for kind in kinds)
        assert set(listed(index, wanted)) == expected

    @pytest.mark.parametrize(
        ("pages", "expected"),
        [
            ({"page_start": 3}, [3]),
            ({"page_end": 1}, [1]),
            ({"page_start": 2, "page_end": 2}, [2]),
            ({"page_end": 9}, [1, 2, 3]),
        ],
    )
    def test_pages(self, index: SearchIndex, pages: dict[str, int], expected: list[int]) -> None:
        index.publish(manual("a", "one", "two", "three") | article("b", "apple"))
        filters = SearchFilter.model_validate({"block_type": ("text",), **pages})
        hits = index.search("apple", embed("apple"), filters=filters)
        assert sorted(hit.chunk.pages[0] for hit in hits) == expected

    def test_facts_change_with_their_document(self, index: SearchIndex) -> None:
        index.publish(manual("a", "one", department="Sales"))
        index.publish(manual("a", "one", department="Support"))
        assert kinds_found(index, SearchFilter(department=("sales",))) == []
        assert len(kinds_found(index, SearchFilter(department=("support",)))) == 3

    @pytest.mark.parametrize("mode", MODES)
    def test_rows_are_for_the_readers_of_their_document(self, index: SearchIndex, mode: SearchMode) -> None:
        index.publish(manual("open", "one") | manual("closed", "one", access_control_list=("hr",)))
        for principals, expected in (((), {"open"}), (("hr",), {"open", "closed"})):
            filters = SearchFilter(principals=principals)
            assert {found.partition(" ")[0] for found in kinds_found(index, filters, mode)} == expected
            assert set(listed(index, filters)) == expected
            assert index.documents(filters).total == len(expected)
        index.set_readers({"closed": (), "open": ("hr",)})
        assert listed(index, SearchFilter(principals=())) == ["closed"]
        assert listed(index, SearchFilter(principals=(), granted_articles=("open",), denied_articles=("closed",))) == [
            "open"
        ]

    @pytest.mark.parametrize(
        "hostile", ["' OR '1'='1", "x') OR true --", "\\'; DROP TABLE x --", "%", "\ud800", "a or true", "null", "🦄"]
    )
    @pytest.mark.parametrize("name", ["filename", "document_type", "department", "author", "language"])
    def test_hostile_facts_match_only_themselves(self, index: SearchIndex, name: str, hostile: str) -> None:
        stored = hostile.encode("utf-8", "replace").decode()
        index.publish(manual("a", "one", **{name: stored}) | manual("b", "one"))
        assert listed(index, SearchFilter.model_validate({name: (stored,)})) == ["a"]
        if hostile != stored:
            assert listed(index, SearchFilter.model_validate({name: (hostile,)})) == []

    @pytest.mark.parametrize(
        "wrong",
        [
            {"block_type": ("page",)},
            {"upload_date": ("yesterday", "")},
            {"upload_date": ("2024-01-01' OR '1'='1", "")},
            {"page_start": 0},
            {"page_end": "1 or 1=1"},
            {"departments": ("x",)},
        ],
    )
    def test_a_filter_that_means_nothing_is_refused(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ValidationError):
            SearchFilter.model_validate(wrong)

    # --- the list of documents -------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("sort", "descending", "expected"),
        [
            ("title", False, ["b", "a", "c"]),
            ("title", True, ["c", "a", "b"]),
            ("upload_date", True, ["b", "c", "a"]),
            ("page_count", False, ["c", "a", "b"]),
            ("page_count", True, ["a", "c", "b"]),
            ("department", False, ["b", "c", "a"]),
        ],
    )
    def test_documents_are_sorted(
        self, index: SearchIndex, sort: DocumentSort, descending: bool, expected: list[str]
    ) -> None:
        index.publish(
            manual("a", "one", title="beta", upload_date="2023-01-01", page_count=12)
            | manual("b", "one", title="Alpha", upload_date="2024-01-01", department="Sales")
            | manual("c", "one", title="gamma", upload_date="2023-06-01", page_count=3, department="support")
            | article("bare", "apple")
        )
        assert listed(index, sort=sort, descending=descending) == expected
        index.optimise()
        assert [listed(index, sort=sort, descending=descending, limit=1, offset=at)[0] for at in range(3)] == expected
        assert index.documents(sort=sort, limit=1, offset=2).total == 3
        assert listed(index, sort=sort, limit=0) == listed(index, sort=sort, offset=3) == []

    def test_documents_that_are_alike_keep_their_order_from_page_to_page(self, index: SearchIndex) -> None:
        index.publish({key: rows for i in range(7) for key, rows in manual(f"m{i}", "one").items()})
        pages = [listed(index, sort="author", limit=2, offset=at) for at in (0, 2, 4, 6)]
        assert sorted(each for page in pages for each in page) == [f"m{i}" for i in range(7)]

    def test_a_listed_document_is_its_row(self, index: SearchIndex) -> None:
        rows = manual("a", "one", document_type="Manual", page_count=3)
        index.publish(rows)
        (row,) = index.documents(SearchFilter(document_type=("manual",))).documents
        assert isinstance(row, Chunk)
        assert row == rows["a"][-1].chunk

    def test_a_missing_index_lists_nothing(self, index: SearchIndex) -> None:
        assert index.documents().total == 0
        assert index.count_of("document") == 0

    @pytest.mark.parametrize("wrong", [{"sort": "content"}, {"limit": -1}, {"offset": -1}])
    def test_a_list_that_cannot_be_made_is_refused(self, index: SearchIndex, wrong: dict[str, object]) -> None:
        with pytest.raises(SearchError):
            index.documents(**wrong)  # type: ignore[arg-type]

    def test_words_find_documents_by_their_summaries(self, index: SearchIndex) -> None:
        index.publish(manual("a", "one") | {"b": [entry("b", "pear tart", 0, block_type="document")]})
        filters = SearchFilter(block_type=("document",))
        question = "pear tart"
        hits = index.search(question, embed(question), word_vectors=words_of(question), filters=filters)
        assert hits[0].chunk.article_id == "b"


def _renumbered(entries: list[IndexEntry]) -> list[IndexEntry]:
    return [
        IndexEntry(each.chunk.model_copy(update={"id": f"{each.chunk.id}-beside"}), each.passages) for each in entries
    ]
