"""What an answer claims, and whether its passages bear it out."""

import pytest

from app.evaluating.claims import Claim, claims_of, supporters
from app.grounding.references import MARKS
from app.language.messages import in_every_language
from kb_pipeline_tests.app.page.citing import IMAGE, citation

CROP = citation(1, passage="Choose Layer, then Crop to Content, to crop a layer to what it shows.")
UNDO = citation(2, passage="Press Ctrl+Z to undo the last crop of a layer.")


def read(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.numbers) for claim in claims_of(answer)]


def test_a_reference_stands_for_its_sentence_and_those_before_without_one() -> None:
    assert read("Open the menu. Choose Crop. [Ref #1] Press Ctrl+Z now. [Ref #2][Ref #3] Save the file.") == [
        ("Open the menu.", (1,)),
        ("Choose Crop.", (1,)),
        ("Press Ctrl+Z now.", (2, 3)),
        ("Save the file.", ()),
    ]


def test_a_reference_inside_of_a_sentence_stands_for_all_of_it() -> None:
    assert read("Press Ctrl+Z [Ref #2] to undo it. Save the file.") == [
        ("Press Ctrl+Z  to undo it.", (2,)),
        ("Save the file.", ()),
    ]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_is_no_part_of_a_claim(mark: str) -> None:
    assert read(f"Press Ctrl+Y {mark} to undo it. [Ref #2] Save {mark} the file.") == [
        ("Press Ctrl+Y to undo it.", (2,)),
        ("Save the file.", ()),
    ]


def test_what_needs_no_evidence_is_a_claim_only_with_a_reference() -> None:
    assert read("Hello! Which layer do you mean?") == []
    assert read("Which layer do you mean? [Ref #1]") == [("Which layer do you mean?", (1,))]


def test_a_reference_behind_an_image_stands_for_that_and_for_no_sentence() -> None:
    answer = f"> Choose Crop. [Ref #1]\n\n![The menu. Open]({IMAGE}) [Ref #2]\n\nPress ![key]({IMAGE}) Ctrl+Z. [Ref #3]"
    assert read(answer) == [("Choose Crop.", (1,)), ("Press  Ctrl+Z.", (3,))]


def test_lists_quotations_and_tables_are_read_line_by_line() -> None:
    answer = (
        "1. Open the menu. [Ref #1]\n   - Choose Crop.\n\n> Press Ctrl+Z. [Ref #2]\n\n"
        "| Key | Meaning |\n|---|---|\n| F1 | shows help |"
    )
    assert [text for text, _ in read(answer)] == [
        *("Open the menu.", "Choose Crop.", "Press Ctrl+Z.", "| F1 | shows help |")
    ]


def test_the_place_before_a_lead_is_no_part_of_what_it_claims() -> None:
    assert read("- *Layers › Undo a crop*: Press Ctrl+Z. [Ref #2]") == [("Press Ctrl+Z.", (2,))]


@pytest.mark.parametrize(
    "silent",
    [
        "## How to crop layers",
        "**See also**",
        "From *Layers › Crop a layer*:",
        "The procedure has more steps: *Layers › Crop a layer* [Ref #1]",
        f"![the crop menu]({IMAGE})",
        "Yes.",
        *in_every_language("closest"),
        *in_every_language("made_of_quotations"),
        *in_every_language("quoted_as_model_is_away"),
    ],
)
def test_what_only_leads_to_something_claims_nothing(silent: str) -> None:
    assert read(silent) == []


def test_a_claim_is_supported_by_the_passages_of_its_own_that_hold_its_words() -> None:
    both = Claim("Press Ctrl+Z to undo the crop of the layer.", (1, 2))
    assert supporters(both, (CROP, UNDO)) == {2}
    assert supporters(Claim(both.text, (1,)), (CROP, UNDO)) == frozenset()
    assert supporters(Claim("Cropping costs five euros a month.", (1, 2)), (CROP, UNDO)) == frozenset()


def test_what_is_written_on_a_picture_supports_as_well() -> None:
    shown = citation(1, passage=f"> **[Image: scale]({IMAGE})**\n> Text on screen: Interpolation: Cubic; Width: 640")
    assert supporters(Claim("Written on the picture: Interpolation: Cubic", (1,)), (shown,)) == {1}
    assert supporters(Claim("Written on the picture: Height: millimeters", (1,)), (shown,)) == frozenset()
