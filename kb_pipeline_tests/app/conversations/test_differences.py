"""How one text became another, in lines and words."""

import pytest

from app.conversations.differences import difference
from app.schema.conversations import TextPiece

STEPS = "Open the menu.\nChoose Crop.\nPress OK."
HOSTILE = "<script>alert(1)</script>"


def changes(before: str, after: str, *, is_excerpt: bool = False) -> list[tuple[str, str]]:
    """What was removed and added."""
    pieces = difference(before, after, is_excerpt=is_excerpt)
    return [(piece.change, piece.text) for piece in pieces if piece.change in ("removed", "added")]


def text(pieces: tuple[TextPiece, ...], *without: str) -> str:
    return "".join(piece.text for piece in pieces if piece.change not in without)


def test_texts_that_differ_in_blank_lines_and_spaces_at_line_ends_are_the_same() -> None:
    assert difference("Open it.\n\n\nClose it.  ", "Open it.\n\nClose it.\n") == ()


def test_a_changed_word_is_removed_and_added_within_its_line() -> None:
    assert changes(STEPS, STEPS.replace("Crop", "Trim")) == [("removed", "Crop."), ("added", "Trim.")]


def test_words_beside_one_another_change_together() -> None:
    assert changes(STEPS, STEPS.replace("Open the", "Go to the File")) == [
        ("removed", "Open"),
        ("added", "Go to"),
        ("added", "File "),
    ]


def test_an_added_line_is_added_and_a_removed_one_removed() -> None:
    longer = STEPS.replace("Press", "Set the size.\nPress")
    assert changes(STEPS, longer) == [("added", "Set the size.\n")]
    assert changes(longer, STEPS) == [("removed", "Set the size.\n")]


def test_lines_with_hardly_a_word_in_common_are_shown_whole() -> None:
    assert changes("Take a taxi home at night.", "Buses leave from platform nine.") == [
        ("removed", "Take a taxi home at night.\n"),
        ("added", "Buses leave from platform nine.\n"),
    ]


def test_both_texts_can_be_read_off_the_pieces() -> None:
    after = "Open the File menu.\nChoose Crop.\nPress OK twice."
    pieces = difference(STEPS, after)
    assert text(pieces, "added") == f"{STEPS}\n"
    assert text(pieces, "removed") == f"{after}\n"


def test_of_equal_lines_only_those_beside_a_change_are_shown() -> None:
    lines = [f"Line {number}." for number in range(20)]
    pieces = difference("\n".join(lines), "\n".join([*lines[:10], "New.", *lines[10:]]))
    assert [piece.change for piece in pieces] == ["skipped", "same", "added", "same", "skipped"]
    assert (pieces[1].text, pieces[3].text) == ("Line 8.\nLine 9.\n", "Line 10.\nLine 11.\n")


@pytest.mark.parametrize("around", ["{}\nAfter it.", "Before it.\n{}", "Before it.\n{}\nAfter it."])
def test_what_stands_around_an_excerpt_is_not_an_addition(around: str) -> None:
    assert difference(STEPS, around.format(STEPS), is_excerpt=True) == ()
    assert changes(STEPS, around.format(STEPS)) != []


def test_a_change_within_an_excerpt_is_one() -> None:
    whole = f"Before it.\n{STEPS.replace('Crop', 'Trim')}\nAfter it."
    assert changes(STEPS, whole, is_excerpt=True) == [("removed", "Crop."), ("added", "Trim.")]


def test_markup_stays_text() -> None:
    assert changes("A", HOSTILE) == [("removed", "A\n"), ("added", f"{HOSTILE}\n")]
