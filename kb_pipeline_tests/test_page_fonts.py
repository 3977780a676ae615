"""The fonts that the chat page sends first have every icon that it may show, and come from Streamlit's of now."""

from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from app.page.frame import ICONS, INSTEAD, LETTERS, SANS, SERIF
from kb_pipeline_tests.page_fonts import MEDIA, STREAMLIT, icons_in, icons_used


def test_every_icon_of_the_page_is_in_its_font() -> None:
    [original] = MEDIA.glob("MaterialSymbols-Rounded.*.woff2")
    used = icons_used()
    assert {"forum", "content_copy", "keyboard_double_arrow_left", "thumb_up"} <= used
    assert used & icons_in(original).keys() <= icons_in(ICONS).keys(), "run: make icons"


def test_the_icons_stand_in_for_the_font_that_streamlit_has() -> None:
    [address] = INSTEAD
    assert (STREAMLIT / "static" / address.strip("/")).is_file(), (
        "Streamlit has other icons: name them in app/page/frame.py"
    )


def test_letters_and_the_space_are_there_so_that_browsers_do_not_fetch_the_whole_font() -> None:
    assert {ord(" "), ord("_"), *range(ord("a"), ord("z") + 1)} <= TTFont(ICONS).getBestCmap().keys()


@pytest.mark.parametrize("file", [SANS, SERIF])
def test_the_letters_of_european_languages_are_there_under_a_name_of_our_own(file: Path) -> None:
    font = TTFont(file)
    has = font.getBestCmap().keys()
    assert {ord(letter) for letter in "aZäÖßéñçøłžő€„“–…"} <= has
    assert not any(first <= ord("я") <= last for first, last in LETTERS)  # they are fetched from Streamlit's font
    wanted = {code for first, last in LETTERS for code in range(first, last + 1)}
    assert len(wanted - has) < 20  # letters that hardly anybody writes
    assert not any("Source" in str(font["name"].getName(number, 3, 1)) for number in (1, 4, 6))


def test_they_are_small() -> None:
    sizes = {file.name: file.stat().st_size for file in (ICONS, SANS, SERIF)}
    assert sum(sizes.values()) < 70_000, sizes
