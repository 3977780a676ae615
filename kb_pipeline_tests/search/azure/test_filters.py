"""Filters as OData: whatever the values are, they match themselves and nothing else, by the parser of the fake."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kb_pipeline.search.azure.documents import LONGEST_TERM, OUR_FIELDS, Fields, after, literal, odata, term
from kb_pipeline.search.base import SearchFilter
from kb_pipeline_tests.search_service.odata import FilterError, parse

HOSTILE = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["'", "''", "' or true or '", "a,b", "|", "a|b", " a", "a ", "", ")", "x') or (article_id eq 'y"]),
    st.sampled_from(
        [
            "\ue000",
            ",|;" + "".join(map(chr, range(0xE000, 0xE100))),
            "null",
            "true",
            "each",
            "any()",
            "\0",
            "🦄",
            "x" * 40_000,
        ]
    ),
)
VALUES = st.lists(HOSTILE, max_size=4)
DOCUMENT = st.fixed_dictionaries(
    {"article_id": HOSTILE, "section_header": HOSTILE, "key_topics": VALUES, "access_control_list": VALUES}
)
OPTIONAL = st.none() | VALUES.map(tuple)
FILTERS = st.builds(
    SearchFilter,
    article_ids=OPTIONAL,
    section_header=st.none() | HOSTILE,
    key_topics=OPTIONAL,
    principals=OPTIONAL,
    granted_articles=VALUES.map(tuple),
    denied_articles=VALUES.map(tuple),
)


def admits(filters: SearchFilter, document: dict[str, Any]) -> bool:
    """What the filter means."""
    acl, article_id = document["access_control_list"], document["article_id"]
    named = not acl or bool(set(filters.principals or ()) & set(acl))
    return (
        (filters.article_ids is None or document["article_id"] in filters.article_ids)
        and (filters.section_header is None or document["section_header"] == filters.section_header)
        and (filters.key_topics is None or bool(set(filters.key_topics) & set(document["key_topics"])))
        and (
            filters.principals is None
            or article_id in filters.granted_articles
            or (named and article_id not in filters.denied_articles)
        )
    )


def stored(document: dict[str, Any]) -> dict[str, Any]:
    """As it lies in the index: terms of legal length."""
    return {name: term(value) if isinstance(value, str) else [*map(term, value)] for name, value in document.items()}


@given(FILTERS, st.lists(DOCUMENT, max_size=6), st.data())
def test_a_filter_finds_exactly_what_it_means(filters: SearchFilter, documents: list[Any], data: st.DataObject) -> None:
    own = {
        "article_id": data.draw(
            st.sampled_from(filters.article_ids or filters.denied_articles or filters.granted_articles or ("a",))
        ),
        "section_header": filters.section_header or "",
        "key_topics": list(filters.key_topics or ()),
        "access_control_list": list(filters.principals or ()),
    }
    condition = odata(filters, OUR_FIELDS)
    for document in [*documents, own]:
        found = condition is None or parse(condition).test(stored(document))
        assert found == admits(filters, document), condition


@given(HOSTILE)
@example("it's")
def test_a_literal_is_one_string(value: str) -> None:
    parsed = parse(f"title eq {literal(value)}")
    assert parsed.test({"title": value})
    assert parsed.fields == {"title"}


def test_a_half_of_a_character_is_not_sent() -> None:
    assert literal("\ud800'").strip("\ufffd'") == ""
    assert literal("\ud800'").encode()


@given(st.text(max_size=5).map(lambda text: text * 20_000))
def test_terms_are_short_enough_and_differ(text: str) -> None:
    assert len(term(text).encode("utf-8", "replace")) <= LONGEST_TERM
    assert term(text) != term(text + "!")


def test_thousands_of_values_are_one_condition() -> None:
    condition = odata(SearchFilter(article_ids=tuple(f"a{number}" for number in range(5000))), OUR_FIELDS)
    assert condition is not None
    assert (condition.count("search.in"), condition.count(" or ")) == (1, 0)
    assert parse(condition).test({"article_id": "a4999"})


def test_nothing_is_asked_where_nothing_is_restricted() -> None:
    assert odata(SearchFilter(), OUR_FIELDS) is None
    assert after("", None, OUR_FIELDS) is None


def test_fields_have_the_names_of_the_index_and_those_it_lacks_are_left_out() -> None:
    theirs = Fields({"id": "chunkId", "article_id": "parentId"})
    filters = SearchFilter(article_ids=("a",), key_topics=("t",), principals=("p",))
    assert odata(filters, theirs) == "parentId eq 'a'"
    assert after("k", "parentId eq 'a'", theirs) == "chunkId gt 'k' and parentId eq 'a'"


@pytest.mark.parametrize(
    "no_filter",
    ["", "a eq", "a eq 'b' or", "a = 'b'", "a eq 'b", "search.in(a)", "a/any(b: c eq 'd')", "not a eq 'b'"],
)
def test_the_fake_takes_nothing_but_filters(no_filter: str) -> None:
    with pytest.raises(FilterError):
        parse(no_filter)
