"""Which pictures are shown beside what is quoted."""

import pytest

from app.answering.extractive.quoting import pictures_beside, pictures_of
from app.language.sentences import units_of
from kb_pipeline_tests.app.grounding.passages import citation, image


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
