"""What the embedder gets to see."""

import time

import pytest

from kb_pipeline.steps.chunk import embedding_text
from kb_pipeline.steps.chunk.plain import plain_text
from kb_pipeline_tests.steps.chunk.articles import chunk, image, sentence


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("see [the **guide**](https://example.org/a_(b).html) now", "see the guide now"),
        ('[a](<x y.html>) [b](z.html "Title")', "a b"),
        ("![a\nb](x.png) and \\\\[c](d)", "a\nb and \\c"),
        (r"\[a](b) \[Image: c](images/c.png) \[d [e](f)\]", "[a](b) [Image: c](images/c.png) [d e]"),
        ("press [Image: icon-12](images/icon-12.png) twice", "press  twice"),
        ("at [Image: a\\[1\\]](images/a%5B1%5D.png) once", "at  once"),
        (image("shot-1"), "A dialog.\nUI elements: OK, Cancel"),
        ("1. Go\n\n   " + image("s").replace("\n>", "\n   >"), "1. Go\nA dialog.\nUI elements: OK, Cancel"),
        ("| Key | Use |\n|:--- | ---:|\n| `F1` | help<br>me |", "Key | Use\n`F1` | help me"),
        (r"### \# 1\. snake\_case", "# 1. snake_case"),
        ("> quoted\n> > twice", "quoted\ntwice"),
        ("```py\na = b ** [c](d)  # e\n```", "a = b ** [c](d)  # e"),
        ("Title\n===\n\n---\n\ntext", "Title\n===\ntext"),
    ],
)
def test_markup_without_meaning_is_left_out(markdown: str, plain: str) -> None:
    assert plain_text(markdown) == plain


def test_the_text_says_where_it_stands() -> None:
    last = chunk("# Tools\n\na\n\n## Brush\n\nPaint.", title="GIMP")[-1]
    assert embedding_text(last) == "GIMP > Tools > Brush\nPaint."


def test_a_title_that_is_the_first_heading_is_said_once() -> None:
    assert embedding_text(chunk("# Tools\n\nText.", title="Tools")[0]) == "Tools\nText."


def test_every_part_of_a_long_section_says_where_it_stands() -> None:
    parts = chunk("# Tools\n\n" + sentence("a", 50), title="GIMP", max_tokens=20)
    assert all(embedding_text(part).startswith("GIMP > Tools\n") for part in parts)


def test_a_heading_as_long_as_a_page_leaves_room_for_the_text() -> None:
    (only,) = chunk(f"# {sentence('h', 60)}\n\ntext", title="T")
    assert len(embedding_text(only).splitlines()[0]) < 100


@pytest.mark.parametrize(
    "unit",
    [
        *("[", r"\[", "](", "[a](", "[a](b ", r'\[{"a": \[1\]}, ', "**[Image: ", r"\[Image: ", "[Image: x](images/"),
        *("|", "| - |", "> ", " ", "\\", "<br", "#"),
    ],
)
def test_hostile_markup_takes_linear_time(unit: str) -> None:
    started = time.process_time()
    plain_text(unit * (200_000 // len(unit)))
    assert time.process_time() - started < 3


def test_a_row_of_many_empty_cells_takes_linear_time() -> None:
    started = time.process_time()
    assert plain_text("| - |" + " |" * 1000 + " x |").endswith("x")
    assert time.process_time() - started < 1
