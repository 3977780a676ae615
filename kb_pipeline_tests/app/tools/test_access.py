"""Nobody is told of a document that they may not see: every asker, every document, every tool, and hostile values."""

import asyncio
import random
from typing import Any

import pytest

from app.answering.base import AskedBack, Question
from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from app.settings import AppSettings
from kb_pipeline.records import may_read
from kb_pipeline_tests.app.answering.conftest import Asked, answer
from kb_pipeline_tests.app.tools.conftest import Call
from kb_pipeline_tests.app.tools.library import DATES, DEPARTMENTS, TYPES, library

ASKERS = {
    "the local user": Principal(),
    "ann": Principal.of("ann"),
    "somebody of finance": Principal.of("cho", department="finance"),
    "somebody of contoso": Principal.of("dee", org_id="contoso"),
    "hr": Principal("eve", ("eve", "group-hr")),
    "it and engineering": Principal("fay", ("fay", "group-it", "engineering")),
    "nobody": None,
}
HOSTILE = [
    "'",
    "' or 1 eq 1",
    "x') or (access_control_list/any(a: a ne 'x')",
    "' OR '1'='1",
    "%' --",
    '"; DROP TABLE chunks; --',
    "*",
    "\\",
    "a\x00b",
    "\ud800",
    "\u202e",
    "ann",
    "finance",
    "x" * 200,
]


ONE_OF_EACH = library()[::29]
"""A document with each list of readers, which repeat every seven documents."""


def visible(who: Principal | None) -> set[str]:
    return {each.doc_id for each in library() if may_read(each.readers, who.names if who else ())}


def named(value: Any) -> set[str]:
    """Every document that a value names or quotes."""
    told = str(value)
    return {each.doc_id for each in library() if each.doc_id in told or each.mark in told}


@pytest.mark.slow("asks every route")
@pytest.mark.parametrize("name", ASKERS)
def test_everybody_lists_and_gets_what_they_may_see(call: Call, name: str) -> None:
    who = ASKERS[name]
    expected = visible(who)
    listed = call("rag_list_documents", who, limit=500)
    assert (named(listed), listed["total"]) == (expected, len(expected))
    for each in ONE_OF_EACH:
        got = call("rag_get_document", who, doc_id=each.doc_id)
        assert got["success"] == (each.doc_id in expected)
        assert named(got) - {each.doc_id} == set()
        assert (each.mark in str(got)) == (each.doc_id in expected)


@pytest.mark.slow("asks every route")
@pytest.mark.parametrize("name", ASKERS)
def test_everybody_finds_what_they_may_see(call: Call, name: str) -> None:
    who = ASKERS[name]
    for each in ONE_OF_EACH:
        found = call("rag_semantic_search", who, query=each.mark, top_k=50, filters={"doc_id": each.doc_id})
        assert found["result_count"] == (2 if each.doc_id in visible(who) else 0)
        assert named(call("rag_semantic_search", who, query=each.mark, top_k=5)) <= visible(who)


@pytest.mark.slow("asks every route")
def test_no_combination_of_filters_finds_more(call: Call) -> None:
    chance = random.Random(7)
    for _ in range(150):
        who = ASKERS[chance.choice(list(ASKERS))]
        filters: dict[str, Any] = {
            "document_type": chance.choice([*TYPES, *HOSTILE]),
            "department": chance.sample([*DEPARTMENTS, *HOSTILE], 3),
            "author": ["Ann Lee", "Bo O'Brien", chance.choice(HOSTILE)],
            "doc_id": [f"doc-{chance.randrange(200):03}" for _ in range(20)],
            "upload_date": {"from": chance.choice(DATES)},
        }
        chosen = {key: filters[key] for key in chance.sample(list(filters), chance.randint(1, 3))}
        name, query = chance.choice([("rag_list_documents", {}), ("rag_semantic_search", {"query": "budget"})])
        value = call(name, who, filters=chosen, **query)
        assert named(value) <= visible(who) or not value["success"], chosen


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("fact", ["doc_id", "filename", "document_type", "department", "author", "language"])
def test_no_value_of_a_filter_is_more_than_a_value(call: Call, fact: str, value: str) -> None:
    for name, query in (("rag_list_documents", {}), ("rag_semantic_search", {"query": "budget"})):
        answered = call(name, filters={fact: value}, **query)
        if fact == "department" and value == "finance":
            assert named(answered) <= visible(None)
        elif answered["success"]:
            assert named(answered) == set()
        else:
            assert answered["type"] == "InvalidArgument"


@pytest.mark.parametrize("name", [name for name, who in ASKERS.items() if who])
def test_nobody_is_offered_a_document_that_they_may_not_see(finding: Retrieval, name: str) -> None:
    who = ASKERS[name]
    assert who
    offered: set[str] = set()
    for words in (
        "Summarise the manual",
        "Summarise the report of the finance department",
        "Which documents are there?",
    ):
        said = asyncio.run(answer(AppSettings(), finding, Question(words, who, 5), Asked()))
        asked = [event.clarification for event in said.events if isinstance(event, AskedBack)]
        offered |= {option.article_id for each in asked for option in each.options}
        assert named(said.text) | named(said.book.citations) <= visible(who)
    assert offered
    assert offered <= visible(who)
