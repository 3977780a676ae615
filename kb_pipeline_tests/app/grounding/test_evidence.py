"""A passage is read as places: units under the names above them, with what stands near."""

import pytest

from app.grounding.evidence import EvidencePassage, denials_in, denied_in
from app.grounding.words import words
from kb_pipeline_tests.app.grounding.passages import citation

OPTIONS = """Both options are in the dialog.

**Radius**

How far the blur reaches.

**Threshold**

Which pixels are blurred. Others stay.

**Figure 3. The dialog**

A picture of 300 pixels."""


def test_a_unit_stands_under_the_term_above_it() -> None:
    units = {unit.words: unit.names for unit in EvidencePassage.of(citation(OPTIONS)).units}
    assert {names for names in units.values() if names} == {frozenset({"radiu"}), frozenset({"threshold"})}


def test_a_caption_is_no_term() -> None:
    assert EvidencePassage.of(citation(OPTIONS)).terms == {"Radius", "Threshold"}


def test_units_are_near_in_a_paragraph_and_not_under_another_term() -> None:
    _, _, reaches, _, which, others, *_ = EvidencePassage.of(citation(OPTIONS)).units
    assert which.is_near(others)
    assert not reaches.is_near(which)


@pytest.mark.parametrize(
    ("text", "denials"),
    [
        ("The layer cannot be moved.", {"statement"}),
        ("If it is not there, click New.", {"condition"}),
        ("Click New unless it doesn't work, but not twice.", {"statement", "condition"}),
        ("Click New.", set()),
    ],
)
def test_a_text_denies_in_what_it_says_or_in_its_condition(text: str, denials: set[str]) -> None:
    assert denials_in(text) == denials


def test_the_word_after_a_denial_is_denied() -> None:
    assert list(denied_in("Data arrives without delay, and it is not copied. If it does not, wait.")) == words(
        "delay copied"
    )
