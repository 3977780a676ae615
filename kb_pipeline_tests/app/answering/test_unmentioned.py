"""Words of a question that no article has, and what follows from them."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from app.answering.extractive.selection import Evidence
from app.answering.unmentioned import names_among, names_beyond, unmentioned_words, weakened
from app.principal import Principal
from app.retrieval import Retrieval
from kb_pipeline.records import SearchHit
from kb_pipeline_tests.app.answering.extractive.asking import ask
from kb_pipeline_tests.app.answering.extractive.staging import searching
from kb_pipeline_tests.app.grounding.passages import citation

ARTICLES = {
    "connect": "<h1>Connect to a server</h1><p>To connect to a server, choose Connect and enter its address.</p>",
    "print": "<h1>Print labels</h1><p>Printed labels go to the tray.</p>",
}


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retrieval]:
    yield from searching(tmp_path_factory.mktemp("labels"), ARTICLES)


def unmentioned(retrieval: Retrieval, question: str) -> list[str]:
    async def found() -> list[str]:
        hits = await retrieval.search(question, Principal("ann"), top=1)
        return await unmentioned_words(question, hits, Principal("ann"), retrieval)

    return asyncio.run(found())


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How do I connect to Splunk?", ["Splunk"]),
        ("How do I connect to the server?", []),
        ("How do I connect to a printing tray?", []),  # another article has these words
        ("How can I schedule labels?", ["schedule"]),
    ],
)
def test_they_are_in_no_article_at_all(labels: Retrieval, question: str, words: list[str]) -> None:
    assert unmentioned(labels, question) == words


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How do I connect it to Splunk?", ["Splunk"]),
        ("Splunk: how do I connect to it?", []),
        ("Connecting fails. Splunk is slow.", []),
        ("how do i connect to splunk", []),
        ("How Do You Connect Splunk", []),
    ],
)
def test_a_name_is_capitalised_inside_a_sentence(question: str, names: list[str]) -> None:
    words = [word for word in ("Splunk", "splunk") if word in question]
    assert names_among(words, question) == names


@pytest.mark.parametrize(
    ("evidence", "words", "names", "left"),
    [
        ("strong", ["Splunk"], ["Splunk"], "unlikely"),
        ("weak", ["Splunk"], ["Splunk"], "unlikely"),
        ("strong", ["schedule"], [], "weak"),
        ("strong", [], [], "strong"),
        ("none", ["Splunk"], ["Splunk"], "none"),
    ],
)
def test_they_weaken_the_evidence(evidence: Evidence, words: list[str], names: list[str], left: Evidence) -> None:
    assert weakened(evidence, words, names) == left


def test_a_question_about_something_unknown_is_refused_by_its_name(labels: Retrieval) -> None:
    refused = ask(labels, "How do I connect to a server of Splunk?")
    assert refused.text.startswith("No article mentions *Splunk*. The closest sections are:")
    assert "Connect to a server" in refused.text


def test_an_answer_that_lacks_a_word_of_the_question_is_called_the_closest(labels: Retrieval) -> None:
    assert ask(labels, "How do I connect remotely to a server?").text.startswith(
        "No article says this in so many words"
    )
    assert ask(labels, "How do I connect to a server?").text.startswith("From *Connect to a server*")


def test_what_a_model_could_not_answer_is_not_quoted_on_weak_evidence(labels: Retrieval) -> None:
    unlikely = ask(labels, "How do I connect remotely to a server?", is_unlikely=True)
    assert unlikely.text.startswith("No article says this in these words")
    assert ask(labels, "How do I connect to a server?", is_unlikely=True).text.startswith("From *Connect to a server*")


def test_names_may_be_in_other_passages_than_those_that_were_found() -> None:
    found = [citation("To connect to a server, choose Connect in the menu File.")]
    assert names_beyond(found, "How do I connect the server to Splunk with File?") == ["Splunk"]
    assert names_beyond(found, "How do I connect to a server?") == []


def test_a_long_text_is_not_searched_for_word_by_word(labels: Retrieval, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    search = labels.search

    async def counted(text: str, *args: Any, **options: Any) -> list[SearchHit]:
        searched.append(text)
        return await search(text, *args, **options)

    monkeypatch.setattr(labels, "search", counted)
    unmentioned(labels, " ".join(f"nothing{letter}thing" for letter in "abcdefghijklmnopqrstuvwxyz"))
    assert len(searched) == 1 + 12
