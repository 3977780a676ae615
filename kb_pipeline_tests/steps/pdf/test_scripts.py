"""Exponents, indices, and letters of logos: what touches at another height is one word."""

import pytest

from kb_pipeline.steps.pdf.model import Style
from kb_pipeline_tests.steps.pdf.sheet_of_paper import Paper, html_of

Parts = list[tuple[str, float, float, float]]
"""Text, size, how far above the ground, and the gap before it, both in points."""


def line(*parts: tuple[str, float, float, float]) -> str:
    paper, x = Paper(), 50.0
    for text, size, up, gap in parts:
        x += gap
        paper.put(text, x, 112 - up, Style(font="Text", size=size), glued=gap <= -1)
        x = paper.words[-1].box.right
    return html_of(paper)


def formula(*parts: str) -> str:
    """A formula whose small parts begin with ``_`` or ``^``."""
    heights = {"_": -2.0, "^": 4.0}
    return line(*((part.strip("_^"), 7.0 if part[0] in "_^" else 10.0, heights.get(part[0], 0), 0.1) for part in parts))


@pytest.mark.parametrize(
    ("parts", "html"),
    [
        (("H", "_2", "O"), "H<sub>2</sub>O"),
        (("CO", "_2"), "CO<sub>2</sub>"),
        (("x", "^2"), "x<sup>2</sup>"),
        (("E=mc", "^2", "+1"), "E=mc<sup>2</sup>+1"),
        (("Ca", "^2+"), "Ca<sup>2+</sup>"),
        (("C", "_6", "H", "_12", "O", "_6"), "C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>"),
        (("pressure", "^1"), "pressure<sup>1</sup>"),
    ],
)
def test_small_letters_above_and_below_are_marked_and_part_of_their_word(parts: tuple[str, ...], html: str) -> None:
    assert formula(*parts) == f"<p>{html}</p>"


def test_an_index_below_an_exponent_belongs_to_the_same_letter() -> None:
    parts = (("x", 10.0, 0.0, 0.0), ("12", 7.0, -2.0, 0.1), ("3", 7.0, 4.0, -7.0), ("+", 10.0, 0.0, 3.6))
    assert line(*parts) == "<p>x<sub>12</sub><sup>3</sup>+</p>"


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        ((("L", 10.0, 0.0, 0.0), ("A", 7.0, 2.1, -3.6), ("T", 10.0, 0.0, -1.5), ("E", 10.0, -2.2, -1.7)), "LATE"),
        ((("T", 10.0, 0.0, 0.0), ("E", 10.0, -2.2, -1.7), ("X", 10.0, 0.0, -1.2)), "TEX"),
        ((("METAP", 10.0, 0.0, 0.0), ("O", 10.0, 2.1, -1.0), ("ST", 10.0, 0.0, -1.0)), "METAPOST"),
    ],
)
def test_the_letters_of_a_logo_are_one_word_without_marks(
    parts: tuple[tuple[str, float, float, float], ...], word: str
) -> None:
    assert line(
        ("By", 10.0, 0.0, 0.0), *((text, s, up, gap + 3 * (n == 0)) for n, (text, s, up, gap) in enumerate(parts))
    ) == (f"<p>By {word}</p>")


def test_smaller_words_on_the_same_ground_and_words_behind_a_space_are_not_marked() -> None:
    assert line(("Go", 10.0, 0.0, 0.0), ("on", 7.0, 0.0, 2.5)) == "<p>Go on</p>"
    assert line(("Note", 10.0, 0.0, 0.0), ("1", 7.0, 4.0, 2.5)) == "<p>Note 1</p>"


def test_a_line_below_a_larger_one_is_no_index_of_it() -> None:
    paper = Paper().line("Index", size=16.0).line("entries", 60, gap=1.2)
    assert "<sub>" not in html_of(paper)


def test_text_beside_a_large_initial_is_no_exponent() -> None:
    paper = Paper().put("S", 50, 130, Style(font="Text", size=30.0))
    for place, word in enumerate(("calable", "systems", "are")):
        paper.put(word, paper.words[-1].box.right + (2.5 if place else 0.5), 116, Style(font="Text", size=10.0))
    assert "<sup>" not in html_of(paper)


def test_words_of_a_recognised_scan_that_stand_unevenly_are_not_joined() -> None:
    paper = Paper()
    for place, word in enumerate(("Par", "MVENG.", "Paris:")):
        paper.put(
            word, paper.words[-1].box.right - 1.0 if place else 50, 112 + place % 2, Style(font="Text", size=10.0)
        )
    assert html_of(paper) == "<p>Par MVENG. Paris:</p>"
