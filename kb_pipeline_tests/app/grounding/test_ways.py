"""What is read as a key combination and as a menu path, in the ways in which articles and models write them."""

import pytest

from app.grounding.ways import leads_elsewhere, ways_in
from kb_pipeline_tests.growth import grows_in_proportion


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("Press **Ctrl**+**Shift**+**Y**.", {("ctrl+shift", "y")}),
        ("Press Strg + Umschalt + Y.", {("ctrl+shift", "y")}),
        ("Shift-F5, not Shift-click.", {("shift", "f5")}),
        ("`Alt+F4` or Option+F4", {("alt", "f4")}),
        ("a + b, C++, x-ray, the Alt key", set()),
        ("File → *Export As...* → PNG", {("file", "export"), ("as", "png")}),
        ("**File** > [Open](open.html)", {("file", "open")}),
        ("Settings \\> Workspace › Hours", {("settings", "workspace"), ("workspace", "hours")}),
        ("> A quotation\n> goes on", set()),
        ("Nothing but words.", set()),
    ],
)
def test_keys_and_paths_are_read_in_every_notation(text: str, ways: set[tuple[str, str]]) -> None:
    assert set(ways_in(text)) == ways


def test_only_a_known_end_is_reached_another_way() -> None:
    known = {("ctrl", "z"), ("file", "open")}
    assert not leads_elsewhere({("ctrl", "z")}, known)
    assert leads_elsewhere({("alt", "z")}, known)
    assert not leads_elsewhere({("alt", "q")}, known)
    assert not leads_elsewhere(set(), known)


@pytest.mark.parametrize("unit", ["Ctrl+", "a > ", "**Alt**-", "[a](", "word "])
def test_hostile_text_takes_time_in_proportion(unit: str) -> None:
    assert grows_in_proportion(lambda size: list(ways_in(unit * size)), 20_000)
