"""What a query's error says suffices to repair it: a scripted model, which knows SQL and nothing of the network, does
what the error tells it and succeeds at its second try."""

import difflib
import re
from collections.abc import Callable, Iterator

import pytest

from kb_pipeline_tests.app.api.generic_client import GenericClient
from kb_pipeline_tests.app.api.networks import client_of, with_network

WORDS_OF_SQL = ("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "LIMIT", "JOIN", "HAVING", "AND", "COUNT")
MISTAKES = """
query_graph SELECT nme FROM vertices
query_graph SELECT id FROM vertices WHERE typ = 'CoreRouter'
query_graph SELECT * FROM vertex
query_graph SELECT * FROM main.vertices
query_graph SELECT src, target FROM edges
query_graph SELECT v.id FROM vertices v JOIN edges e ON v.id = e.sorce
query_graph SELECT id FROM vertices v JOIN edges e ON v.id = e.source JOIN vertices w ON w.id = e.target
query_graph SELECT a.id FROM vertices v
query_graph SELECT id FROM vertices WHERE type = "CoreRouter"
query_graph SELECT type, count(*) FROM vertices
query_graph SELECT * FROM downstrem('LINK-SYD-MEL', 2)
query_graph SELECT * FROM downstream('LINK-SYD-MEL')
query_graph SELECT * FROM neighbors('LINK-SYD-MEL')
query_graph SELECT * FROM common_causes('VPN-ACME', 4)
query_graph MATCH (n) RETURN n
query_graph g.V().limit(3)
query_graph SELEC * FROM vertices
query_graph SELECT id FORM vertices
query_graph SELECT id FROM vertices WERE type = 'CoreRouter'
query_graph SELECT id FROM vertices; SELECT source FROM edges
query_graph EXPLAIN SELECT id FROM vertices
query_telemetry SELECT latency FROM link_metrics
query_telemetry SELECT latency_ms FROM alerts
query_telemetry SELECT * FROM metrics
query_telemetry SELECT * FROM alerts WHERE severity = CRITICAL
query_telemetry SELECT * FROM alerts WHERE raised_at > 'yesterday'
query_telemetry SELECT date_trunk('hour', raised_at) FROM alerts
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GenericClient]:
    with client_of(with_network(tmp_path_factory.mktemp("network"))) as client:
        yield GenericClient(client.get("/query/openapi.json").json(), client)


@pytest.mark.parametrize("mistake", MISTAKES.strip().splitlines())
def test_a_model_that_does_what_the_error_says_succeeds_at_its_second_try(tools: GenericClient, mistake: str) -> None:
    tool, _, query = mistake.partition(" ")
    first = tools.call(tool, query=query)
    assert first["error"] and not (first.get("data") or first.get("rows"))
    second = tools.call(tool, query=repaired(query, first["error"]))
    assert second["error"] is None
    assert second.get("data") or second.get("rows")


def repaired(query: str, error: str) -> str:
    """The query as the first rule has it that fits the error."""
    for says, repair in RULES:
        if (found := re.search(says, error, re.DOTALL)) and (better := repair(query, found, error)) != query:
            return better
    raise AssertionError(f"no rule knows what to do about: {error}")


def _nearest(word: str, known: list[str]) -> str:
    return difflib.get_close_matches(word.lower(), known, n=1, cutoff=0)[0]


def _words_of(error: str, after: str) -> list[str]:
    """The names that are listed after some words."""
    listed = re.search(rf"{after} ([^;]*)", error)
    return re.findall(r"\w+", listed[1]) if listed else []


def _known(error: str) -> list[str]:
    walks = re.findall(r"(\w+)\(ids?", error.partition("the walks are")[2])
    return [*_words_of(error, "the tables are"), *walks]


def _another_name(query: str, found: re.Match[str], error: str) -> str:
    return query.replace(found[1], _nearest(found[1], _known(error)))


def _its_table(query: str, found: re.Match[str], error: str) -> str:
    return re.sub(r"FROM \w+", f"FROM {found[1]}", query)


def _quoted(query: str, found: re.Match[str], error: str) -> str:
    """A word that something is compared with was meant as a text."""
    return re.sub(rf'= "?{found[1]}"?', f"= '{found[1]}'", query)


def _another_column(query: str, found: re.Match[str], error: str) -> str:
    known = [*re.findall(r'"(\w+)"', found[2]), *_words_of(error, r"the columns of \w+ are")]
    return re.sub(rf"\b{found[1]}\b", _nearest(found[1], known), query)


def _word_of_sql(query: str, found: re.Match[str], error: str) -> str:
    """What stands at the place of the error, or before it, was meant as a word of SQL."""
    words = query.split()
    place = next(number for number, word in enumerate(words) if found[1] in word)
    for number in (place, place - 1):
        if near := difflib.get_close_matches(words[number].upper(), WORDS_OF_SQL, n=1, cutoff=0.7):
            return " ".join([*words[:number], near[0], *words[number + 1 :]])
    return query


def _anew(query: str, found: re.Match[str], error: str) -> str:
    """It was another language, and the tables are told."""
    return f"SELECT * FROM {_words_of(error, 'the tables are')[-1]}"


Repair = Callable[[str, re.Match[str], str], str]
RULES: list[tuple[str, Repair]] = [
    (r"exactly one SELECT", lambda query, found, _: query.removeprefix("EXPLAIN ").partition(";")[0]),
    (r"there is no table '([\w.]+)'", _another_name),
    (r"^(\w+) cannot be read", _another_name),
    (r"\w+ is a column of (\w+)", _its_table),
    (r"single quotation marks, such as '(\w+)'", _quoted),
    (r'column(?: named)? "(\w+)".*Candidate bindings: ([^\n]*)', _another_column),
    (r"use: '([\w.]+)'", lambda query, found, _: query.replace("SELECT id", f"SELECT {found[1]}")),
    (r'table "(\w+)" not found.*Candidate tables: "(\w+)"', lambda query, found, _: query.replace(f"{found[1]}.", f"{found[2]}.")),  # noqa: E501
    (r'column "(\w+)" must appear in the GROUP BY', lambda query, found, _: f"{query} GROUP BY {found[1]}"),
    (r"name (\w+) does not exist.*Did you mean \"(\w+)\"", lambda query, found, _: query.replace(found[1], found[2])),
    (r"function (\w+) is not for.*similar ones are (\w+)", lambda query, found, _: query.replace(found[1], found[2])),
    (r"only be applied to lists.*common_causes\(\[", lambda query, found, _: re.sub(r"\(('[^']+')", r"([\1]", query)),
    (r"Candidate macros:\s+\w+\((\w+), (\w+)\)", lambda query, found, _: query.replace(")", ", 4)")),
    (r"'(\w+)'.*YYYY-MM-DD|\"(\w+)\", expected format is \(YYYY-MM-DD", lambda query, found, _: query.replace(found[2] or found[1], "2026-11-01 00:00")),  # noqa: E501
    (r'syntax error at or near "(\w+)"', _word_of_sql),
    (r"write one SELECT", _anew),
]  # fmt: skip
"""What a model makes of an error, in order: what it says, and what is then done. None knows a name of the network."""
