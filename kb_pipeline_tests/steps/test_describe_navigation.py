"""Paths through menus are recognised where they are one, and nowhere else."""

import pytest

from kb_pipeline.steps.describe.navigation import breadcrumb, path_in_prose


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Go to Settings > Users.", ("Settings", "Users")),
        ("Open **Filters → Blur → Gaussian Blur** and click OK.", ("Filters", "Blur", "Gaussian Blur")),
        ("Go to Settings > SLA policies and click New policy.", ("Settings", "SLA policies")),
        ("Then select File > Save As... and a name.", ("File", "Save As")),
        ("From the main menu: Colors → Light and Shadow", ("Colors", "Light and Shadow")),
        ("First File > New, then Edit > Paste", ("Edit", "Paste")),
        ("设置 > 用户", ("设置", "用户")),
    ],
)
def test_paths_in_instructions(text: str, path: tuple[str, ...]) -> None:
    assert path_in_prose(text) == path


@pytest.mark.parametrize(
    "text",
    ["", "Click Save.", "if a > b then", "The value 5 > 3", "x -> y", "Press Ctrl > 5", "<b>Bold</b> Text > Text"],
)
def test_prose_without_a_path(text: str) -> None:
    assert path_in_prose(text) == ()


@pytest.mark.parametrize(
    ("text", "path"),
    [("A › B / C", ("A", "B", "C")), ("Home / Docs / API", ("Home", "Docs", "API")), ("Home » News", ("Home", "News"))],
)
def test_breadcrumbs(text: str, path: tuple[str, ...]) -> None:
    assert breadcrumb(text) == path


@pytest.mark.parametrize("text", ["Users", "and / or", "10 > 5", "< Back Next >", "a > b; c > d", "Copy, Paste > Cut"])
def test_no_breadcrumbs(text: str) -> None:
    assert breadcrumb(text) == ()
