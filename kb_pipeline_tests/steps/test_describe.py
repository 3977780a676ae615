"""Lines of recognised text become a description in the order a person reads."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.describe import MAX_CHARACTERS, OcrLine, OcrWord, describe_lines
from kb_pipeline.steps.describe.elements import MAX_ELEMENTS


def at(x: float, y: float, text: str, score: float = 0.99, width: float | None = None) -> OcrLine:
    """A line of 10 pixels height whose characters are 5 pixels wide."""
    return OcrLine(text, score, x, y, x + (width or 5 * len(text)), y + 10)


def with_gaps(text: str, gap: float) -> OcrLine:
    """A line whose words stand ``gap`` line heights apart."""
    words, x = [], 0.0
    for word in text.split():
        words.append(OcrWord(word, x, x + 5 * len(word)))
        x = words[-1].right + 10 * gap
    return OcrLine(text, 0.99, 0, 0, words[-1].right, 10, tuple(words))


def says(*lines: OcrLine) -> str:
    return describe_lines(lines, 400, 300).description.removeprefix("Text on screen: ")


def elements(*lines: OcrLine) -> tuple[str, ...]:
    return describe_lines(lines, 400, 300).ui_elements


def column(texts: Sequence[str], x: float = 0, step: float = 16) -> list[OcrLine]:
    return [at(x, step * number, text) for number, text in enumerate(texts)]


def test_labels_are_read_with_their_values() -> None:
    form = [at(0, 0, "Width:"), at(0, 16, "Height:"), at(80, 1, "640"), at(80, 17, "480")]
    assert says(*form) == "Width: 640; Height: 480."


def test_a_side_bar_is_read_before_the_page_beside_it() -> None:
    side_bar = column(["Inbox", "Drafts", "Archive"], step=20)
    page = [at(150, y, text) for y, text in ((8, "Dear Jane"), (29, "the report is ready"), (52, "Best wishes"))]
    assert says(*page, *side_bar) == "Inbox; Drafts; Archive; Dear Jane; the report is ready; Best wishes."


def test_a_title_is_read_before_the_columns_below() -> None:
    assert says(*column(["Name", "Size"]), at(0, -60, "All files of this folder")).startswith(
        "All files of this folder;"
    )


def test_wrapped_sentences_are_joined() -> None:
    assert says(*column(["This will remove the file", "from all your devices"], step=12)) == (
        "This will remove the file from all your devices."
    )


def test_the_items_of_a_menu_bar_are_told_apart() -> None:
    assert elements(with_gaps("File Edit View", 0.7)) == ("File", "Edit", "View")
    assert elements(with_gaps("Save Project As", 0.3)) == ("Save Project As",)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("□ Show grid", "Show grid"),
        ("×Delete", "Delete"),
        ("Normal v", "Normal"),
        ("回Project", "Project"),
        ("Name：x1", "Name:x1"),
    ],
)
def test_icons_at_the_edge_of_a_text_are_dropped(text: str, cleaned: str) -> None:
    assert says(at(0, 0, text), at(0, 40, "Another line")) == f"{cleaned}; Another line."


@pytest.mark.parametrize("junk", ["X", "日", "▼", "←", "V"])
def test_icons_mistaken_for_letters_are_dropped(junk: str) -> None:
    assert says(at(0, 0, junk), at(0, 40, "Apply changes")) == "Apply changes."


def test_uncertain_text_is_dropped() -> None:
    assert says(at(0, 0, "Wqrlp", score=0.4), at(0, 40, "Apply changes")) == "Apply changes."


def test_chinese_screens_keep_their_characters() -> None:
    assert elements(at(0, 0, "确定"), at(60, 0, "取消")) == ("确定", "取消")


@pytest.mark.parametrize(
    ("size", "description"),
    [
        ((16, 16), "Icon without readable text (16 x 16 pixels)."),
        ((300, 200), "Picture without readable text (300 x 200 pixels)."),
    ],
)
def test_an_image_without_text_says_so(size: tuple[int, int], description: str) -> None:
    assert describe_lines([], *size).description == description
    assert describe_lines([at(0, 0, "0")], *size).description == description


def test_the_two_letters_of_a_button_are_text_those_of_a_photo_are_not() -> None:
    assert describe_lines([at(8, 4, "OK")], 26, 18).ui_elements == ("OK",)
    assert "without readable text" in describe_lines([at(8, 4, "IE")], 300, 300).description


@pytest.mark.parametrize("text", ["640", "12 px", "100 %", "logo.png", "C:\\data\\x", "/etc/hosts", "https://x.org"])
@pytest.mark.parametrize("other", ["Ctrl+S", "jane@x.org", "The file could not be saved.", "if (x == 1) {", "wqx"])
def test_values_sentences_and_code_are_no_elements(text: str, other: str) -> None:
    assert elements(at(0, 0, text), at(0, 40, "Save"), at(0, 80, other)) == ("Save",)


def test_elements_are_distinct_and_without_punctuation() -> None:
    assert elements(*column(["Name:", "Save as...", "NAME", "Mode: Normal"], step=30)) == ("Name", "Save as", "Mode")


def test_buttons_are_the_last_to_fall_to_the_limit() -> None:
    names = [f"Layer {chr(65 + number)}" for number in range(MAX_ELEMENTS + 10)]
    found = elements(*column([*names, "OK", "Cancel"]))
    assert len(found) == MAX_ELEMENTS
    assert found[-2:] == ("OK", "Cancel")


@pytest.mark.parametrize(
    "row",
    [
        [at(0, 0, "Settings > Users")],
        [at(0, 0, "Settings"), at(45, 0, ">"), at(55, 0, "Users")],
        [at(0, 0, "Settings › Users")],
    ],
)
def test_a_breadcrumb_is_the_navigation_path(row: list[OcrLine]) -> None:
    description = describe_lines([*row, at(0, 40, "Add a user")], 400, 300)
    assert description.navigation_path == ("Settings", "Users")


def test_menus_side_by_side_are_no_breadcrumb() -> None:
    assert describe_lines([at(0, 0, "Map"), at(90, 0, ">"), at(110, 0, "Paste as")], 400, 300).navigation_path == ()


boxes = st.floats(0, 1000)


@given(st.lists(st.builds(at, boxes, boxes, st.text(max_size=60), st.floats(0, 1), st.floats(1, 300)), max_size=60))
def test_any_layout_gives_a_bounded_description(lines: list[OcrLine]) -> None:
    description = describe_lines(lines, 1000, 1000)
    assert 0 < len(description.description) <= MAX_CHARACTERS + len("Text on screen: ")
    assert len(description.ui_elements) <= MAX_ELEMENTS
    assert describe_lines(lines, 1000, 1000) == description
