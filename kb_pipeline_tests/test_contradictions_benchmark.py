"""The benchmark of contradictions has articles that say what they are said to say, and counts what tells of it."""

from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from benchmarks import contradictions
from benchmarks.contradictions import Pair
from kb_pipeline.steps.agreement.findings import Finding, Place

FOLDER = Path(contradictions.__file__).parent / "agreement"
PAIR = Pair("contradicting", "duration", frozenset({"a", "b"}), {}, ("90 days", "60 days"))


@pytest.mark.parametrize("name", ["contradicting", "unseen"])
def test_each_article_of_a_contradiction_says_its_value(name: str) -> None:
    for entry in yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")):
        for side, value in zip("ab", entry["values"], strict=True):
            assert all(word in entry[side] for word in value.split(" x ")), entry


def test_what_agrees_names_no_values_to_find() -> None:
    entries = yaml.safe_load((FOLDER / "agreeing.yaml").read_text(encoding="utf-8"))
    assert all(entry.keys() == {"kind", "a", "b"} for entry in entries)


def place(article_id: str, says: str) -> Place:
    return Place(article_id=article_id, title="", chunk_id="", text="", says=says)


@pytest.mark.parametrize(
    ("here", "there", "found"),
    [
        (place("b", "60 days"), place("a", "90 days"), True),
        (place("a", "90"), place("b", "60"), True),
        (place("a", "90 days"), place("c", "60 days"), False),
        (place("a", "90 days"), place("b", "24 hours"), False),
    ],
    ids=["both", "without units", "another article", "another value"],
)
def test_a_contradiction_is_found_by_what_tells_of_both_values(here: Place, there: Place, found: bool) -> None:
    assert PAIR.is_found_by(Finding(kind="number", here=here, there=there)) == found
