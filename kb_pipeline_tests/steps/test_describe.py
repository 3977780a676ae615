"""Lines of recognised text become a description; real screenshots are in ``test_describe_screens``."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.describe import MAX_CHARACTERS, OcrLine, OcrWord, PixelBox, describe_lines
from kb_pipeline.steps.describe.elements import MAX_ELEMENTS
from kb_pipeline.steps.describe.layout import rows_in_reading_order
from kb_pipeline.steps.describe.lines import cleaned

WHITE, BLUE = (255, 255, 255), (90, 140, 220)


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


def read(*lines: OcrLine) -> list[str]:
    """The rows in reading order."""
    return [" ".join(item.text for item in row) for row in rows_in_reading_order(cleaned(lines))]


def says(*lines: OcrLine) -> str:
    return describe_lines(lines, 400, 300).description


def elements(*lines: OcrLine) -> tuple[str, ...]:
    return describe_lines(lines, 400, 300).ui_elements


def column(texts: Sequence[str], x: float = 0, step: float = 16) -> list[OcrLine]:
    return [at(x, step * number, text) for number, text in enumerate(texts)]


def test_labels_are_read_with_their_values() -> None:
    form = [at(0, 0, "Width:"), at(0, 16, "Height:"), at(80, 1, "640"), at(80, 17, "480")]
    assert read(*form) == ["Width: 640", "Height: 480"]
    assert "Width: 640; Height: 480." in says(*form)


def test_a_side_bar_is_read_before_the_page_beside_it() -> None:
    side_bar = column(["Inbox", "Drafts", "Archive"], step=20)
    page = [at(150, y, text) for y, text in ((8, "Dear Jane"), (29, "the report is ready"), (52, "Best wishes"))]
    assert read(*page, *side_bar) == ["Inbox", "Drafts", "Archive", "Dear Jane", "the report is ready", "Best wishes"]


def test_two_tall_bars_close_beside_each_other_are_read_one_after_the_other() -> None:
    first = column(["Tickets", "Customers", "Reports", "Settings"], step=32)
    second = column(["General", "Email", "Chat", "Web forms", "Fields", "Rules"], x=55)
    second = [line._replace(top=line.top + 8, bottom=line.bottom + 8) for line in second]
    assert read(*first, *second) == [line.text for line in (*first, *second)]


def test_a_bar_at_the_top_is_read_before_what_is_below() -> None:
    bar = [at(0, 0, "Settings"), at(330, 0, "New ticket")]
    page = [*column([f"Entry {letter}" for letter in "ABCDEF"], step=20), at(330, 60, "Save")]
    below = [line._replace(top=line.top + 40, bottom=line.bottom + 40) for line in page]
    assert read(*bar, *below)[0] == "Settings New ticket"


def test_a_title_is_read_before_the_columns_below() -> None:
    assert read(*column(["Name", "Size"]), at(0, -60, "All files of this folder"))[0] == "All files of this folder"


def test_wrapped_sentences_are_joined() -> None:
    wrapped = column(["This will remove the file for", "all people, from all of your devices."], step=12)
    dialog = [at(0, -60, "Delete file"), *wrapped, at(0, 90, "Cancel"), at(60, 90, "OK")]
    assert "It says “This will remove the file for all people, from all of your devices.”" in says(*dialog)


def test_the_items_of_a_menu_bar_are_told_apart() -> None:
    assert elements(with_gaps("File Edit View", 0.7)) == ("File", "Edit", "View")
    assert elements(with_gaps("Save Project As", 0.3)) == ("Save Project As",)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("□ Show grid", "Show grid"),
        ("×Delete", "Delete"),
        ("Normal v", "Normal"),
        ("回Project", "Project"),
        ("Name：x1", "Name:x1"),
    ],
)
def test_icons_at_the_edge_of_a_text_are_dropped(text: str, shown: str) -> None:
    assert read(at(0, 0, text), at(0, 40, "Another line")) == [shown, "Another line"]


@pytest.mark.parametrize("text", ["Q Search", "v Status", "x Close", "® Preview", "+ New", "= Filter"])
def test_a_letter_that_an_icon_was_taken_for_is_dropped(text: str) -> None:
    assert elements(with_gaps(text, 0.7)) == (text.partition(" ")[2],)


def test_the_first_letter_of_a_name_stays() -> None:
    assert elements(with_gaps("X Offset", 0.2)) == ("X Offset",)


def test_an_icon_is_told_by_the_labels_in_line_with_its_own() -> None:
    icon, label = OcrWord("On", 0, 10), OcrWord("API", 20, 35)
    above = [
        OcrLine(text, 0.99, 20, y, 60, y + 10, (OcrWord(text, 20, 60),)) for y, text in ((0, "Chat"), (16, "Email"))
    ]
    assert read(*above, OcrLine("On API", 0.99, 0, 32, 35, 42, (icon, label)))[-1] == "API"


def test_an_underlined_letter_does_not_change_the_name_of_a_button() -> None:
    assert elements(at(0, 0, "Apply"), at(60, 0, "QK")) == ("Apply", "OK")


@pytest.mark.parametrize("junk", ["X", "日", "▼", "←", "V"])
def test_icons_mistaken_for_letters_are_dropped(junk: str) -> None:
    assert read(at(0, 0, junk), at(0, 40, "Apply changes")) == ["Apply changes"]


def test_uncertain_text_is_dropped() -> None:
    assert read(at(0, 0, "Wqrlp", score=0.4), at(0, 40, "Apply changes")) == ["Apply changes"]


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


@pytest.mark.parametrize(
    "text",
    [
        *("Jun 13, 2011", "11 March", "yesterday at 16:20", "Today 10:39 AM", "5 min ago", "Updated 12 minutes ago"),
        *(
            "#48213",
            "2 selected",
            "1-25 of 148",
            "42 responses in 5 folders",
            "EF",
            "Customer, today at 13:42",
            "(null)",
        ),
    ],
)
def test_dates_ages_counts_and_initials_are_no_elements(text: str) -> None:
    assert elements(at(0, 0, text), at(0, 40, "Save")) == ("Save",)


@pytest.mark.parametrize(
    "evidence",
    [
        at(-20, 2, "JD"),
        at(0, 14, "jane@x.org"),
        at(0, 90, "Last changed by Jane Doe on 4 March"),
        at(0, 90, "To: Jane Doe"),
    ],
)
def test_people_are_no_elements(evidence: OcrLine) -> None:
    assert "Jane Doe" in elements(at(0, 0, "Jane Doe"), at(0, 40, "Save"))
    assert "Jane Doe" not in elements(at(0, 0, "Jane Doe"), evidence, at(0, 40, "Save"))


def test_counts_beside_tabs_are_no_part_of_their_names() -> None:
    assert elements(at(0, 0, "Active 5"), at(60, 0, "Inactive 2")) == ("Active", "Inactive")
    assert elements(at(0, 0, "Heading 2"), at(0, 40, "Save")) == ("Heading 2", "Save")


def test_what_a_field_contains_is_no_element() -> None:
    label, field = at(0, 0, "Time zone"), at(6, 18, "Berlin")._replace(frame=PixelBox(0, 14, 200, 32))
    assert elements(label, field) == ("Time zone",)
    assert "Time zone: Berlin." in says(label, field)


def test_a_button_below_a_label_is_an_element() -> None:
    button = at(80, 18, "Shortcuts")._replace(frame=PixelBox(0, 14, 200, 32))
    assert elements(at(0, 0, "Keyboard"), button) == ("Keyboard", "Shortcuts")


def test_contents_of_tables_are_no_elements_but_buttons_in_them_are() -> None:
    rows = [("Name", "Kind", "Place"), ("Lamp", "Light", "Hall"), ("Sofa", "Seat", "Attic"), ("Bed", "Sleep", "Resend")]
    table = [at(70 * column, 16 * row, text) for row, texts in enumerate(rows) for column, text in enumerate(texts)]
    assert elements(*table) == ("Name", "Kind", "Place", "Resend")
    assert "A table lists Name, Kind and Place." in says(*table)
    assert "Lamp, Light, Hall; Sofa, Seat, Attic" in says(*table)


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
        [at(0, 0, "Settings » Users")],
        [at(0, 0, "Settings 〉Users")],
        [at(0, 0, "Settings > Users"), at(300, 0, "Search")],
    ],
)
def test_a_breadcrumb_is_the_navigation_path(row: list[OcrLine]) -> None:
    description = describe_lines([*row, at(0, 40, "Add a user")], 400, 300)
    assert description.navigation_path == ("Settings", "Users")


@pytest.mark.parametrize("separator", ["", ")"])
def test_a_breadcrumb_without_its_separators_is_told_by_the_title_below(separator: str) -> None:
    row = with_gaps(f"Settings {separator} Users", 0.7 if not separator else 0.5)
    title = OcrLine("Users", 0.99, 0, 30, 60, 48)
    text = [at(0, y, "Add people to this account, or remove them") for y in (60, 80)]
    assert describe_lines([row, title, *text], 400, 300).navigation_path == ("Settings", "Users")
    assert describe_lines([row, title._replace(text="People"), *text], 400, 300).navigation_path == ()


def test_the_record_at_the_end_of_a_breadcrumb_belongs_to_it() -> None:
    description = describe_lines([at(0, 0, "Tickets > All open > #48213"), at(0, 40, "Reply")], 400, 300)
    assert description.navigation_path == ("Tickets", "All open", "#48213")


def test_the_selected_entry_of_a_grouped_list_is_the_path() -> None:
    entries = [
        at(10 * (text != "Channels"), 16 * row, text) for row, text in enumerate(["Channels", "Email", "Chat", "Web"])
    ]
    on_white = [entry._replace(ground=WHITE) for entry in entries]
    on_white[2] = on_white[2]._replace(ground=BLUE)
    assert describe_lines(on_white, 80, 70).navigation_path == ("Channels", "Chat")
    assert describe_lines(entries, 80, 70).navigation_path == ()


def test_the_selected_tab_follows_the_title_of_its_dialog() -> None:
    tabs = [
        at(55 * number, 30, text)._replace(ground=WHITE) for number, text in enumerate(["General", "Colors", "Paths"])
    ]
    tabs[1] = tabs[1]._replace(ground=BLUE)
    dialog = [at(0, 0, "Preferences"), *tabs, at(0, 280, "Cancel"), at(80, 280, "OK")]
    assert describe_lines(dialog, 400, 300).navigation_path == ("Preferences", "Colors")


def test_open_menus_are_the_path_to_their_selected_entry() -> None:
    bar = [
        at(45 * number, 0, text)._replace(ground=WHITE) for number, text in enumerate(["File", "Edit", "View", "Help"])
    ]
    bar[1] = bar[1]._replace(ground=BLUE)
    texts = ["Undo", "Redo", "Fill selection", "Stroke path"]
    menu = [at(45, 20 + 16 * row, text)._replace(ground=WHITE) for row, text in enumerate(texts)]
    menu[2] = menu[2]._replace(ground=BLUE)
    assert describe_lines([*bar, *menu], 400, 300).navigation_path == ("Edit", "Fill selection")


def test_menus_side_by_side_are_no_breadcrumb() -> None:
    assert describe_lines([at(0, 0, "Map"), at(90, 0, ">"), at(110, 0, "Paste as")], 400, 300).navigation_path == ()


boxes = st.floats(0, 1000)


@pytest.mark.slow("builds a whole knowledge base")
@given(st.lists(st.builds(at, boxes, boxes, st.text(max_size=60), st.floats(0, 1), st.floats(1, 300)), max_size=60))
def test_any_layout_gives_a_bounded_description(lines: list[OcrLine]) -> None:
    description = describe_lines(lines, 1000, 1000)
    assert 0 < len(description.description) <= MAX_CHARACTERS
    assert len(description.ui_elements) <= MAX_ELEMENTS
    assert describe_lines(lines, 1000, 1000) == description
