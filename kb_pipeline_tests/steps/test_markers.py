import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kb_pipeline.steps.markers import find_markers, image_marker, replace_markers


@given(st.text(min_size=1))
def test_any_file_name_comes_back_from_its_marker(file: str) -> None:
    assert [marker.file for marker in find_markers(f"a {image_marker(file)} b")] == [file]


def test_a_name_that_is_no_valid_unicode_comes_back() -> None:
    name = b"caf\xe9.image".decode("utf-8", "surrogateescape")
    assert find_markers(image_marker(name))[0].file == name


def test_markers_are_found_in_their_order_with_their_place() -> None:
    text = "x [[IMG:a.png]][[IMG:sub/b%20c.png]]"
    assert [(marker.file, text[marker.start : marker.end]) for marker in find_markers(text)] == [
        ("a.png", "[[IMG:a.png]]"),
        ("sub/b c.png", "[[IMG:sub/b%20c.png]]"),
    ]


@pytest.mark.parametrize(
    "literal",
    [
        r"\[[IMG:a.png]]",
        r"\[\[IMG:a.png\]\]",
        "`[[IMG:a.png]]`",
        "`` ` [[IMG:a.png]] ``",
        "```\n[[IMG:a.png]]\n```",
        "- ~~~\n  [[IMG:a.png]]\n  ~~~",
        "> ```html\n> [[IMG:a.png]]\n> ```",
        "````\n```\n[[IMG:a.png]]\n````",
        "```\n[[IMG:a.png]]",
        "[[IMG:]]",
        "[[IMG:a b]]",
    ],
)
def test_literal_text_and_code_are_no_markers(literal: str) -> None:
    assert find_markers(literal) == []


@pytest.mark.parametrize("text", ["a ` b [[IMG:a]]", "```\ncode\n```\n[[IMG:a]]", "`x` [[IMG:a]] `y`", r"\\[[IMG:a]]"])
def test_code_around_a_marker_does_not_hide_it(text: str) -> None:
    assert [marker.file for marker in find_markers(text)] == ["a"]


def test_a_text_takes_the_place_of_the_markers_of_its_file_alone() -> None:
    text = "a [[IMG:x.png]] b [[IMG:y.png]] c [[IMG:x.png]] `[[IMG:x.png]]`"
    assert replace_markers(text, {"x.png": "menu"}) == "a menu b [[IMG:y.png]] c menu `[[IMG:x.png]]`"


@pytest.mark.parametrize("prefix", ["", "> ", "- ", "1. ", "> - ", "[[IMG:empty.png]]"])
@pytest.mark.parametrize("text", ["# Big heading", "> quote", "- item", "1. item", "*bold* [l](x)", "[[IMG:a]]", "---"])
def test_a_text_that_looks_like_markdown_stays_text(prefix: str, text: str) -> None:
    replaced = replace_markers(f"{prefix}[[IMG:x.png]]", {"x.png": text, "empty.png": ""})
    tokens = MarkdownIt("commonmark").parse(replaced)
    (inline,) = (token for token in tokens if token.type == "inline")
    assert "".join(child.content for child in inline.children or ()) == text
    assert "heading_open" not in {token.type for token in tokens}
    assert find_markers(replaced) == []
