"""What every search index promises.

A backend's test module subclasses the contract and has a fixture ``opened`` that opens an index, again and again at
one place: ``opened()``, ``opened(embedding_model="other")``, ``opened(dimensions=3)``, ``opened(chunker="other")``,
``opened(word_vectors=PACKING)``.
"""

from collections.abc import Callable, Collection

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kb_pipeline.errors import IndexMismatchError, IndexMissingError, SearchError
from kb_pipeline.records import HIDDEN, Chunk, SearchMode
from kb_pipeline.search.base import IndexEntry, SearchFilter, SearchIndex, Vector
from kb_pipeline.steps.chunk import with_readers
from kb_pipeline.steps.late_interaction import PACKING
from kb_pipeline_tests.contracts.documents_contract import DocumentRowsContract
from kb_pipeline_tests.contracts.search_samples import (
    DIMENSIONS,
    article,
    embed,
    embedded,
    entry,
    hashes,
    with_words,
    words_of,
)
from kb_pipeline_tests.search.losing import lose

Opener = Callable[..., SearchIndex]
MODES: tuple[SearchMode, ...] = ("keyword", "vector", "hybrid")
MANY = settings(
    max_examples=25,
    deadline=None,
    # every backend runs the same test, in its own time
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.differing_executors,
        HealthCheck.too_slow,
    ],
)


def found(index: SearchIndex, text: str, mode: SearchMode = "hybrid", **options: object) -> list[Chunk]:
    hits = index.search(text, embed(text), mode=mode, **options)  # type: ignore[arg-type]
    return [hit.chunk for hit in hits]


def articles_found(index: SearchIndex, filters: SearchFilter, mode: SearchMode = "hybrid") -> set[str]:
    return {chunk.article_id for chunk in found(index, "apple", mode, top=50, filters=filters)}


class SearchIndexContract(DocumentRowsContract):
    @pytest.fixture
    def index(self, opened: Opener) -> SearchIndex:
        return opened()

    # --- publishing ------------------------------------------------------------------------------

    def test_a_published_chunk_comes_back_as_it_was(self, index: SearchIndex) -> None:
        full = entry(
            "Ünïcode 'article'",
            'apple \u2028 "日本"',
            title="Früchte & 'Obst'",
            heading_path=("A", "B 'c'"),
            image_urls=("x/images/a.png", "x/images/b.png"),
            source_url="https://example.org/?a=b'c",
            key_topics=("fruit", "o'clock"),
            access_control_list=("staff",),
            converter="local/1",
            run_id="r",
        )
        index.publish({full.chunk.article_id: [full]})
        (hit,) = index.search("apple", embed("apple"))
        assert hit.chunk == full.chunk
        assert hit.embedding_model == index.embedding_model

    def test_publishing_replaces_the_article_as_a_whole(self, index: SearchIndex) -> None:
        index.publish(article("a", "apple one", "apple two", "apple three") | article("b", "apple"))
        index.publish(shrunk := article("a", "pear one"))
        assert index.entries() == {"a": hashes(shrunk["a"]), "b": hashes(article("b", "apple")["b"])}
        assert [c.article_id for c in found(index, "apple", "keyword")] == ["b"]
        assert index.count() == 2

    def test_publishing_twice_changes_nothing(self, index: SearchIndex) -> None:
        for _ in range(2):
            index.publish(article("a", "apple", "pear"))
        assert index.count() == 2
        assert index.entries() == {"a": hashes(article("a", "apple", "pear")["a"])}

    def test_publishing_doubles_nothing(self, index: SearchIndex) -> None:
        for _ in range(2):
            index.publish(article("a", "apple", "pear") | article("b", "apple"))
        assert index.doubled() == set()

    def test_an_article_without_entries_is_removed(self, index: SearchIndex) -> None:
        index.publish(article("a", "apple") | article("b", "apple"))
        index.publish({"a": []} | article("c", "pear"))
        assert index.entries().keys() == {"b", "c"}

    def test_removing_takes_only_these_articles(self, index: SearchIndex) -> None:
        index.publish(article("a", "apple") | article("b", "apple") | article("it's", "apple"))
        index.remove(["it's", "a", "never there"])
        assert index.entries().keys() == {"b"}

    def test_entries_can_be_asked_for_some_articles(self, index: SearchIndex) -> None:
        index.publish(article("a", "apple") | article("it's", "pear", "plum") | article("c", "fig"))
        assert index.entries(["it's", "unknown"]) == {"it's": hashes(article("it's", "pear", "plum")["it's"])}
        assert index.entries([]) == {}

    def test_chunks_are_found_by_their_ids_as_they_were(self, index: SearchIndex) -> None:
        index.publish(article("a", "apple", "pear", run_id="r1", converter="local/1", access_control_list=("staff",)))
        index.publish(article("b", "fig"))
        pear, fig = entry("a", "pear", 1), entry("b", "fig")
        found = index.find([fig.chunk.id, "gone", pear.chunk.id, fig.chunk.id])
        assert [each.chunk.content for each in found] == ["fig", "pear"]
        assert (found[0].chunk, found[0].embedding_model) == (fig.chunk, index.embedding_model)
        assert (found[1].chunk.run_id, found[1].chunk.converter) == ("r1", "local/1")
        assert found[1].chunk.content_hash == pear.chunk.content_hash

    @pytest.mark.parametrize(
        "hostile", ["", "' OR '1'='1", "x') OR true --", "\\'", "%", "\0", "\ud800", "🦄", "x" * 100_000]
    )
    def test_hostile_chunk_ids_find_nothing(self, index: SearchIndex, hostile: str) -> None:
        index.publish(article("a", "apple"))
        assert index.find([hostile]) == []

    def test_many_chunks_are_found_at_once(self, index: SearchIndex) -> None:
        index.publish(chunks := article("a", *(f"apple {i}" for i in range(300))))
        ids = [each.chunk.id for each in chunks["a"]]
        assert [each.chunk.id for each in index.find(ids[::-1])] == ids[::-1]

    @pytest.mark.parametrize(
        ("bad", "says"),
        [
            ({"b": article("a", "apple")["a"]}, "given for 'b'"),
            ({"a": article("a", "apple")["a"] * 2}, "two chunks"),
            ({"a": [embedded(entry("a", "x").chunk, np.ones(3, np.float32))]}, "dimensions"),
            ({"a": [embedded(entry("a", "x").chunk, np.full(DIMENSIONS, np.nan, np.float32))]}, "not finite"),
            ({"a": [embedded(entry("a", "x").chunk, embed("x"), b"cut")]}, "take 3 bytes"),
        ],
    )
    def test_bad_entries_are_refused_and_nothing_is_published(
        self, index: SearchIndex, bad: dict[str, list[IndexEntry]], says: str
    ) -> None:
        with pytest.raises(SearchError, match=says):
            index.publish(article("good", "apple") | bad)
        assert index.count() == 0

    # --- searching -------------------------------------------------------------------------------

    @pytest.mark.parametrize("mode", MODES)
    def test_the_best_chunk_comes_first_before_and_after_optimising(self, index: SearchIndex, mode: SearchMode) -> None:
        index.publish(article("fruit", "apple pear plum", "apple fig kiwi", "stone sand clay"))
        for _ in range(2):
            assert found(index, "apple fig kiwi", mode)[0].chunk_index == 1
            index.optimise()

    def test_hybrid_prefers_what_words_and_vector_agree_on(self, index: SearchIndex) -> None:
        both, words_only = entry("a", "apple pear", 0), entry("a", "apple tart", 1)
        vector_only = embedded(entry("a", "stone", 2).chunk, embed("apple"))
        index.publish({"a": [words_only, vector_only, both]})
        hits = index.search("apple", embed("apple pear"))
        assert hits[0].chunk == both.chunk
        assert hits[0].keyword_score is not None
        assert hits[0].vector_score == pytest.approx(1, abs=1e-3)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    def test_top_limits_the_hits(self, index: SearchIndex) -> None:
        index.publish(article("a", *(f"apple number{i}" for i in range(70))))
        assert [len(found(index, "apple", top=top)) for top in (0, 1, 70)] == [0, 1, 70]

    @pytest.mark.parametrize("asked", ["selected layer", "How do I select the layers?", "SELECTING", "layér"])
    def test_words_match_in_other_forms(self, index: SearchIndex, asked: str) -> None:
        index.publish(article("a", "Selects a layer of the picture") | article("b", "Nothing about it"))
        assert {c.article_id for c in found(index, asked, "keyword")} == {"a"}

    def test_title_and_headings_are_searched_but_no_link_targets(self, index: SearchIndex) -> None:
        chunk = entry("a", "see the [manual](https://hidden.example)", title="Gimp", heading_path=("Brushes",))
        index.publish({"a": [chunk]})
        assert [len(found(index, word, "keyword")) for word in ("gimp", "brush", "manual", "hidden")] == [1, 1, 1, 0]

    @pytest.mark.parametrize(
        "hostile",
        [
            "",
            "   ",
            "?!.,;",
            "the of",
            "\0",
            "word " * 10_000,
            " ".join(f"word{i}" for i in range(10_000)),
            "\ud800",
            "🦄",
            "界面",
        ],
    )
    def test_any_question_gets_an_answer(self, index: SearchIndex, hostile: str) -> None:
        index.publish(article("a", "apple"))
        hits = {mode: len(index.search(hostile, embed("apple"), mode=mode)) for mode in MODES}
        assert hits == {"keyword": 0, "vector": 1, "hybrid": 1}

    @pytest.fixture
    def apple(self, index: SearchIndex) -> SearchIndex:
        index.publish(article("a", "apple"))
        return index

    @MANY
    @given(st.text(st.characters(exclude_categories=()), max_size=60))
    @example('content:apple" OR 1=1 --')
    def test_no_question_is_an_error(self, apple: SearchIndex, question: str) -> None:
        assert len(apple.search(question, embed("apple"))) == 1

    @pytest.mark.parametrize(
        "syntax", ["NOT apple", "-apple", "+stone apple", '"apple tart"', "title:apple", "app* apple"]
    )
    def test_question_syntax_is_only_words(self, index: SearchIndex, syntax: str) -> None:
        index.publish(article("a", "apple pie"))
        assert len(found(index, syntax, "keyword")) == 1

    @pytest.mark.parametrize("mode", ["vector", "hybrid"])
    @pytest.mark.parametrize("vector", [None, [1.0, 2.0], [float("nan")] * DIMENSIONS])
    def test_an_unusable_question_vector_is_refused(
        self, index: SearchIndex, mode: SearchMode, vector: list[float] | None
    ) -> None:
        index.publish(article("a", "apple"))
        with pytest.raises(SearchError):
            index.search("apple", vector, mode=mode)

    @pytest.mark.parametrize("words", [np.ones((2, 3)), np.ones(DIMENSIONS), np.full((2, DIMENSIONS), np.nan)])
    def test_unusable_vectors_of_words_are_refused(self, index: SearchIndex, words: Vector) -> None:
        index.publish(article("a", "apple"))
        with pytest.raises(SearchError, match="question's words"):
            index.search("apple", embed("apple"), word_vectors=words)

    @pytest.fixture
    def wordy(self, opened: Opener) -> SearchIndex:
        """An index that holds the vectors of words, if it can."""
        return opened(word_vectors=PACKING)

    @pytest.mark.parametrize("question", ["apple fig", "", "stone"])
    def test_vectors_of_words_hide_no_hit(self, wordy: SearchIndex, question: str) -> None:
        told = with_words(article("a", "apple pear", "apple fig", "sand"))
        wordy.publish(told | article("b", "apple") | with_words(article("empty", "")))
        for mode in MODES:
            plain = wordy.search(question, embed(question), mode=mode)
            hits = wordy.search(question, embed(question), word_vectors=words_of(question), mode=mode)
            assert {hit.chunk.id for hit in hits} == {hit.chunk.id for hit in plain}, mode
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True), mode

    # --- filters ---------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({}, {"a", "b", "c"}),
            ({"article_ids": ("a", "c", "x")}, {"a", "c"}),
            ({"article_ids": ()}, set()),
            ({"section_header": "Options"}, {"b"}),
            ({"key_topics": ("print", "scan")}, {"a", "b"}),
            ({"key_topics": ()}, set()),
            ({"key_topics": ("scan",), "section_header": "Options"}, {"b"}),
        ],
    )
    def test_filters(self, index: SearchIndex, filters: dict[str, object], expected: set[str]) -> None:
        index.publish(
            article("a", "apple", key_topics=("print",))
            | article("b", "apple", key_topics=("scan", "fax"), section_header="Options")
            | article("c", "apple")
        )
        asked = SearchFilter.model_validate(filters)
        assert {mode: articles_found(index, asked, mode) for mode in MODES} == dict.fromkeys(MODES, expected)

    @pytest.mark.parametrize("mode", MODES)
    def test_deferred_sections_are_left_out_before_the_best_are_chosen(
        self, index: SearchIndex, mode: SearchMode
    ) -> None:
        later = {key: value for n in range(9) for key, value in article(f"later-{n}", "apple", deferred=True).items()}
        index.publish(article("first", "apple and pear and plum"))
        index.publish(later)
        index.publish(article("second", "apple and pear and plum"))
        now = found(index, "apple", mode, top=2, filters=SearchFilter(deferred=False))
        assert {chunk.article_id for chunk in now} == {"first", "second"}
        assert articles_found(index, SearchFilter(deferred=True), mode) == set(later)
        assert articles_found(index, SearchFilter(), mode) == {"first", "second", *later}

    def test_a_section_can_be_deferred_and_taken_back(self, index: SearchIndex) -> None:
        for deferred in (False, True, False):
            index.publish(article("a", "apple", deferred=deferred))
            assert articles_found(index, SearchFilter(deferred=False)) == (set() if deferred else {"a"})
            (chunk,) = found(index, "apple")
            assert chunk.deferred is deferred

    def test_the_first_deferred_section_makes_no_earlier_entry_another_one(self, index: SearchIndex) -> None:
        entries = article("first", "apple")
        index.publish(entries)
        index.publish(article("later", "apple", deferred=True))
        assert index.mismatched(entries["first"]) == set()

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(
        ("principals", "expected"),
        [
            (None, {"open", "staff", "both"}),
            ((), {"open"}),
            (("guest",), {"open"}),
            (("staff",), {"open", "staff", "both"}),
            (("guest", "boss"), {"open", "both"}),
        ],
    )
    def test_a_chunk_with_an_access_list_is_for_those_on_it(
        self, index: SearchIndex, mode: SearchMode, principals: tuple[str, ...] | None, expected: set[str]
    ) -> None:
        index.publish(
            article("open", "apple")
            | article("staff", "apple", access_control_list=("staff",))
            | article("both", "apple", access_control_list=("staff", "boss"))
        )
        assert articles_found(index, SearchFilter(principals=principals), mode) == expected

    def test_vectors_of_words_open_no_chunk_to_others(self, wordy: SearchIndex) -> None:
        wordy.publish(with_words(article("open", "pear") | article("staff", "apple", access_control_list=("staff",))))
        for optimised in (False, True):
            for principals, expected in (((), {"open"}), (("staff",), {"open", "staff"})):
                filters = SearchFilter(principals=principals)
                hits = wordy.search("apple", embed("apple"), word_vectors=words_of("apple"), filters=filters)
                assert {hit.chunk.article_id for hit in hits} == expected, optimised
            wordy.optimise()

    def test_readers_are_replaced_and_nothing_else(self, index: SearchIndex) -> None:
        restricted = article("a", "apple one", "apple two", access_control_list=("old",))
        index.publish(restricted | article("b", "apple three"))
        for _ in range(2):  # saying it again changes nothing
            index.set_readers({"a": ("hr", "boss"), "absent": ("hr",)})
        assert articles_found(index, SearchFilter(principals=("hr",))) == {"a", "b"}
        assert articles_found(index, SearchFilter(principals=("old",))) == {"b"}
        chunks = [entry.chunk for entry in restricted["a"]]
        changed = [found.chunk for found in index.find([chunk.id for chunk in chunks])]
        assert changed == [with_readers(chunk, ("hr", "boss")) for chunk in chunks]
        assert index.entries(["a"])["a"] == {chunk.id: chunk.content_hash for chunk in changed}
        assert index.count() == 3
        index.set_readers({"a": ()})
        assert articles_found(index, SearchFilter(principals=())) == {"a", "b"}

    @pytest.mark.parametrize("mode", MODES)
    def test_articles_whose_lists_changed_are_granted_and_denied_whatever_their_entries_say(
        self, index: SearchIndex, mode: SearchMode
    ) -> None:
        index.publish(article("public", "apple") | article("closed", "apple", access_control_list=("hr",)))
        assert (
            articles_found(index, SearchFilter(principals=("x",), denied_articles=("public", "o'clock")), mode) == set()
        )
        granted = SearchFilter(principals=("x",), granted_articles=("closed", "o'clock"), denied_articles=("public",))
        assert articles_found(index, granted, mode) == {"closed"}
        within = SearchFilter(principals=("x",), granted_articles=("closed",), article_ids=("public",))
        assert articles_found(index, within, mode) == {"public"}

    def test_nobody_is_the_reader_of_what_is_hidden(self, index: SearchIndex) -> None:
        index.publish(article("a", "apple", access_control_list=(HIDDEN,)))
        assert articles_found(index, SearchFilter(principals=(HIDDEN, "hr"))) == set()

    @MANY
    @given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))
    @example("' OR '1'='1")
    @example("\\'; DROP TABLE x --")
    @example("%")
    @pytest.mark.slow("an index with many hostile names")
    def test_hostile_filter_values_match_only_themselves(self, index: SearchIndex, value: str) -> None:
        own = article(value, "apple", section_header=value, key_topics=(value,), access_control_list=(value,))
        index.publish(own | article(f"{value}-not", "apple", access_control_list=(f"{value}-not",)))
        for filters in (
            SearchFilter(article_ids=(value,)),
            SearchFilter(section_header=value),
            SearchFilter(key_topics=(value,)),
            SearchFilter(principals=(value,)),
        ):
            assert articles_found(index, filters) == {value}
        index.remove([value, f"{value}-not"])
        assert index.count() == 0

    # --- life of an index ------------------------------------------------------------------------

    def test_searching_without_an_index_says_what_to_do(self, index: SearchIndex) -> None:
        with pytest.raises(IndexMissingError, match="kb ingest"):
            index.search("apple", mode="keyword")

    def test_a_missing_index_is_empty_to_everything_else(self, index: SearchIndex) -> None:
        index.remove(["a"])
        index.publish({})
        index.optimise()
        assert (index.entries(), index.entries(["a"]), index.find(["a"]), index.count()) == ({}, {}, [], 0)
        assert index.doubled() == set()

    def test_an_index_outlives_its_handle(self, opened: Opener) -> None:
        opened().publish(article("a", "apple"))
        opened().optimise()
        assert [c.article_id for c in found(opened(), "apple")] == ["a"]

    @pytest.mark.parametrize(
        "other",
        [
            {"embedding_model": "other"},
            {"dimensions": DIMENSIONS * 2},
            {"embedder": "other"},
            {"chunker": "other"},
            {"word_vectors": "other"},
        ],
    )
    def test_entries_made_in_another_way_are_refused_until_the_index_is_gone(
        self, opened: Opener, other: dict[str, object]
    ) -> None:
        opened().publish(article("a", "apple"))
        stranger = opened(**other)
        uses: Collection[Callable[[], object]] = (
            lambda: stranger.search("apple", mode="keyword"),
            lambda: stranger.remove(["a"]),
            lambda: stranger.find(["a"]),
            stranger.entries,
            stranger.count,
            stranger.optimise,
        )
        for use in uses:
            with pytest.raises(IndexMismatchError, match=opened().embedding_model):
                use()
        lose(stranger)
        assert stranger.count() == 0
