"""Which pictures are shown beside what is quoted."""

import pytest

from app.answering.extractive.quoting import (
    asked_picture,
    pictures_beside,
    pictures_of,
    pictures_of_screens,
    relevant_pictures,
)
from app.grounding.sentences import units_of
from app.grounding.words import parse_question
from kb_pipeline_tests.app.grounding.passages import citation, image

SCALE = (
    "The scale dialog: for images. On the picture: Dialog “Scale”. Width: 200; Interpolation: Cubic. "
    "Text on screen: Quality: high; Reset, Cancel.\nUI elements: Scale"
)


def beside(passage: str, first: str, last: str = "", reach: int = 3) -> list[str]:
    units = [unit for unit in units_of(passage) if unit.text in (first, last)]
    return [picture.url.rpartition("/")[2] for picture in pictures_beside(citation(passage), units, reach)]


def test_all_pictures_between_quoted_steps_belong_to_them() -> None:
    passage = f"1. One.\n\n{image('a', indent='   ')}\n\n2. Two.\n\n{image('b', indent='   ')}\n\n3. Three."
    assert beside(passage, "One.", "Three.") == ["a.png", "b.png"]


def test_the_picture_after_a_sentence_is_nearer_than_the_one_before() -> None:
    assert beside(f"{image('a')}\n\nText.\n\n{image('b')}", "Text.") == ["b.png"]
    assert beside(f"{image('a')}\n\nText.\n\nOther.\n\n{image('b')}", "Text.") == ["a.png"]


def test_a_picture_out_of_reach_is_not_shown() -> None:
    passage = f"Text. One. Two. Three.\n\n{image('a')}"
    assert beside(passage, "Text.", reach=3) == []
    assert beside(passage, "Text.", reach=4) == ["a.png"]


@pytest.mark.parametrize(
    ("description", "alt"),
    [
        ("The [scale] dialog. More.", "The scale dialog"),
        ("Shown at the step: Open it. On the picture: Dialog “A”.", "Open it"),
        ("Dialog “Scale”. Width: 200.", "Dialog “Scale”"),
        ("UI elements: a, b", "pen"),
        ("Text on screen: a; b.", "pen"),
        ("word " * 40, ("word " * 20).strip()),
        ("The list\nUI elements: a, b", "The list"),
        ("h…\nUI elements: a, b", "pen"),
    ],
)
def test_a_picture_says_what_it_shows(description: str, alt: str) -> None:
    (picture,) = pictures_of(citation(image("pen", description)))
    assert picture.markdown == f"![{alt}](/api/images/guide/images/pen.png)"


def test_what_is_written_on_a_picture_answers_a_question_about_it() -> None:
    passages = [citation(image("scale", SCALE)), citation("Text about something else.", 2)]
    ((picture, written),) = relevant_pictures(
        passages, parse_question("Which interpolation is set in the scale dialog?")
    )
    assert picture.url.endswith("/scale.png")
    assert written == "Interpolation: Cubic"


def test_a_label_answers_a_question_that_names_it_not_one_that_names_its_value() -> None:
    passages = [citation(image("scale", SCALE)), citation("Text about something else.", 2)]
    ((_, written),) = relevant_pictures(passages, parse_question("Is cubic the best in the scale dialog?"))
    assert written == ""


@pytest.mark.parametrize("description", [SCALE, SCALE.partition("On the picture: ")[2]])
def test_only_what_was_read_from_the_pixels_is_written_on_a_picture(description: str) -> None:
    (picture,) = pictures_of(citation(image("scale", description)))
    assert picture.pieces == ("Dialog “Scale”", "Width: 200", "Interpolation: Cubic", "Quality: high", "Reset, Cancel")


def test_a_picture_that_says_little_of_the_question_is_not_telling() -> None:
    passages = [citation(image("scale", SCALE)), citation("How layers are merged.", 2)]
    assert relevant_pictures(passages, parse_question("How do I merge visible layers into a new scale?")) == []


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("What does the scale dialog look like?", "scale.png"),
        ("What does the crop dialog look like?", "crop.png"),
        ("What does the image window look like?", "window.png"),
        ("What does the printer look like?", None),
    ],
)
def test_the_picture_is_shown_whose_description_caption_or_heading_is_asked_for(asked: str, shown: str | None) -> None:
    passages = [
        citation(f"The scale dialog and the crop dialog.\n\n{image('start', 'Logo.')}"),
        citation(f"{image('scale', SCALE)}\n\nText.\n\n**Figure 2. The crop dialog**\n\n{image('crop', 'Dialog.')}", 2),
        citation(f"Text.\n\nText.\n\n{image('window', 'Menu.')}", 3, "Image windows"),
    ]
    picture = asked_picture(passages, parse_question(asked))
    assert (picture and picture.url.rpartition("/")[2]) == shown


def test_the_picture_of_a_window_is_one_of_each_passage_by_its_caption_then_by_the_place_of_its_passage() -> None:
    examples = citation(f"{image('before', 'A leaf.')}\n\n{image('wand', 'Options of the wand.')}", 1)
    other = citation(image("leaf", "A leaf."), 2)
    named = citation(image("threshold", "The threshold dialog."), 3)
    asked = parse_question("Which threshold is set in the dialog?")
    found = [picture.url.rpartition("/")[2] for picture in pictures_of_screens([examples, other, named], asked)]
    assert found == ["threshold.png", "wand.png", "leaf.png"]
