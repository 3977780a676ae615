"""The benchmark of restoring counts what is in its place, and nothing else."""

import pytest

from benchmarks.restoring import placed_rightly, read, table

WHOLE = """# Set up

Open [your profile](profile.html) first of all.

[[IMG:menu.png]]

Then choose something new that nobody else can guess."""


@pytest.mark.parametrize(
    ("result", "right"),
    [
        (WHOLE, (1, 1)),
        (WHOLE.replace("# Set up", "## 1. SET UP"), (1, 1)),
        (WHOLE.replace("\n\n[[IMG:menu.png]]", ""), (0, 1)),
        (WHOLE.replace("menu.png", "other.png"), (0, 1)),
        (WHOLE.replace("[[IMG:menu.png]]\n\n", "") + "\n\n[[IMG:menu.png]]", (0, 1)),
        (WHOLE.replace("(profile.html)", "(other.html)"), (1, 0)),
        (WHOLE.replace("[your profile](profile.html)", "your profile") + "\n\n[your profile](profile.html)", (1, 0)),
    ],
)
def test_only_what_is_in_its_place_counts(result: str, right: tuple[int, int]) -> None:
    assert placed_rightly(read(WHOLE), read(result)) == right


def test_a_running_head_between_text_and_image_moves_neither() -> None:
    head = "Confidential\n\nPage 1 of 99\n\nUser guide, November 2026"
    result = WHOLE.replace("[[IMG:menu.png]]", f"[[IMG:menu.png]]\n\n{head}")
    assert placed_rightly(read(WHOLE), read(result)) == (1, 1)


def test_earlier_figures_stand_beside_the_newer() -> None:
    row = {"images": 9, "images_right": 9, "links": 3, "links_right": 3, "refused": 0, "wrong": 0, "wrong_published": 0}
    report = {"articles": {"samples": 2}, "at": "2026-11-25T00:00:00", "results": {"careful": row}}
    before = {**report, "results": {"careful": row | {"images_right": 4}}}
    assert "| careful | 4 → 9 of 9 | 3 of 3 | 0 | 0 | 0 |" in table(report, before)
