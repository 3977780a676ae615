"""The benchmark of contradictions plants what contradicts its original, and only from sentences that stand alone."""

import random
import re

import pytest

from benchmarks.planting import in_other_words, plants_of

EXPIRY = "The passwords of all agents expire after 90 days."


def planted(sentence: str, title: str = "Passwords") -> dict[str, str]:
    return {plant.kind: plant.planted for plant in plants_of("a", title, [sentence], random.Random(1))}


def test_a_plant_has_another_number() -> None:
    (number,) = re.findall(r"\d+", planted(EXPIRY)["number"])
    assert number != "90"


def test_a_plant_has_another_date_or_name() -> None:
    dated = planted("The old passwords of agents end on 3 March 2026.")
    assert dated.keys() == {"date"}
    assert "3 March 2026" not in dated["date"]
    assert "Berlin Office" not in planted("All passwords of the agents are made by the Berlin Office.")["name"]


@pytest.mark.parametrize(
    "sentence",
    [
        "It expires for all agents with passwords after 90 days.",
        "The invoices of all customers are due after 90 days.",
        "Passwords expire after 90 days.",
        "The rules for passwords of agents are told in Figure 2.",
    ],
    ids=["leans on another", "not of the title", "short", "a number of something"],
)
def test_what_does_not_stand_alone_is_not_planted(sentence: str) -> None:
    assert "number" not in planted(sentence)


def test_the_words_change_and_the_seed_decides_how() -> None:
    sentence = "If you use the old form, the portal shows 5 values."
    worded = [in_other_words(sentence, random.Random(7)) for _ in range(2)]
    assert worded[0] == worded[1] != sentence
