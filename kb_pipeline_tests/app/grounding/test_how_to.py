"""Which questions ask how to do something, and which ask what is the case."""

import pytest

from app.grounding.how_to import asks_how_to


@pytest.mark.parametrize(
    "question",
    [
        "How do I crop?",
        "And how do you undo it?",
        "How would one fix it?",
        "How to reset a password",
        "How do people sign in?",
        "How are we to measure it?",
        "How can the output be diverted to a file?",
        "How should functions be documented?",
        "I lost my phone. How can I sign in?",
        "Tell me how to measure the density",
        "What are the steps?",
        "Which instructions are there for the printer?",
        "how configure the proxy",
        "Wie schneide ich zu?",
        "Wie kann ein VPN eingerichtet werden?",
        "Wie lässt sich die Dichte messen?",
        "Wie richtet man ein VPN ein?",
        "Wie richten Sie den Drucker ein?",
        "Zeig mir, wie ich den Drucker einrichte",
        "Wie VPN einrichten?",
    ],
)
def test_how_something_is_to_be_done_is_asked(question: str) -> None:
    assert asks_how_to(question)


@pytest.mark.parametrize(
    "question",
    [
        "How is the density measured?",
        "How are tickets assigned?",
        "How was it computed, and why?",
        "How does the cache work?",
        "How do the two plans differ?",
        "Explain how the cache works",
        "How fast are urgent tickets answered?",
        "How many layers are there?",
        "How come it is white?",
        "What is a layer?",
        "crop a layer",
        "How",
        "Wie wird die Dichte gemessen?",
        "Wie werden Tickets zugewiesen?",
        "Wie funktioniert der Cache?",
        "Wie funktionieren Automatisierungen?",
        "Wie unterscheiden sich Berichte von Ansichten?",
        "Wie viele Ebenen gibt es?",
        "Wie schnell werden dringende Tickets beantwortet?",
        "Was ist so groß wie ein Berg?",
        "Wie?",
    ],
)
def test_what_is_the_case_is_asked(question: str) -> None:
    assert not asks_how_to(question)
