import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.markers import ImageBlock
from kb_pipeline.steps.merge_images import merge_images
from kb_pipeline_tests.steps.html.pages import rendered

A = ImageBlock(stem="a", description="Shows a.")
B = ImageBlock(stem="b", description="Shows b.")
BLOCKS = {"a.png": A, "b.png": B}


def merged(text: str) -> str:
    wanted = {file: block for file, block in BLOCKS.items() if f"[[IMG:{file}]]" in text}
    return merge_images(text, wanted).markdown


def test_a_marker_on_its_own_line_becomes_the_block() -> None:
    assert merged("Before\n\n[[IMG:a.png]]\n\nAfter\n") == (
        "Before\n\n> **[Image: a](images/a.png)**\n> Shows a.\n\nAfter\n"
    )


def test_a_marker_inside_a_paragraph_splits_it() -> None:
    assert merged("One [[IMG:a.png]] two") == "One\n\n> **[Image: a](images/a.png)**\n> Shows a.\n\ntwo"


def test_several_markers_of_a_line_stand_in_their_order() -> None:
    assert re.findall(r"Shows \w|x|y|z", merged("x [[IMG:b.png]] y [[IMG:a.png]] z")) == [
        "x", "Shows b", "y", "Shows a", "z",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [[IMG:a.png]]\n- next", "- > **[Image: a](images/a.png)**\n  > Shows a.\n\n- next"),
        (
            "1. Click:\n\n   [[IMG:a.png]]\n2. Next",
            "1. Click:\n\n   > **[Image: a](images/a.png)**\n   > Shows a.\n\n2. Next",
        ),
        ("- x\n  - y [[IMG:a.png]] z", "- x\n  - y\n\n    > **[Image: a](images/a.png)**\n    > Shows a.\n\n    z"),
        ("> quoted [[IMG:a.png]]", "> quoted\n>\n> > **[Image: a](images/a.png)**\n> > Shows a."),
    ],
)
def test_the_block_stays_in_the_item_or_quote(text: str, expected: str) -> None:
    assert merged(text) == expected


@pytest.mark.parametrize("heading", ["## Save [[IMG:a.png]] as", "## [[IMG:a.png]] Save as"])
def test_a_heading_stays_whole_and_the_block_follows(heading: str) -> None:
    assert merged(f"{heading}\ntext") == "## Save as\n\n> **[Image: a](images/a.png)**\n> Shows a.\n\ntext"


def test_an_underlined_heading_stays_whole() -> None:
    assert merged("Save [[IMG:a.png]]\n===\n\ntext").startswith("Save\n===\n\n> **[Image: a]")


def test_a_table_keeps_links_and_its_blocks_follow_it() -> None:
    text = "| [[IMG:a.png]] | x |\n| --- | --- |\n| y [[IMG:b.png]] | [[IMG:b.png]] |\n\nAfter"
    assert merged(text) == (
        "| [Image: a](images/a.png) | x |\n| --- | --- |\n"
        "| y [Image: b](images/b.png) | [Image: b](images/b.png) |\n\n"
        "> **[Image: a](images/a.png)**\n> Shows a.\n\n> **[Image: b](images/b.png)**\n> Shows b.\n\nAfter"
    )


@pytest.mark.parametrize("text", ["a [label [[IMG:a.png]] more](x.html) b", "a **bold [[IMG:a.png]] text** b"])
def test_links_and_emphasis_are_not_torn_apart(text: str) -> None:
    whole = text.replace("[[IMG:a.png]] ", "")
    assert merged(f"{text}\nsame paragraph\n\nnext").startswith(f"{whole}\nsame paragraph\n\n> **[Image: a]")


def test_held_blocks_never_land_in_code() -> None:
    assert merged("**x [[IMG:a.png]] y**\n```\none\n\ntwo\n```\n").endswith("```\none\n\ntwo\n```\n")


@pytest.mark.parametrize("rest", ["- dash", "1. number", "# hash", "> greater"])
def test_words_after_a_split_do_not_turn_into_blocks(rest: str) -> None:
    html = rendered(merged(f"x [[IMG:a.png]] {rest}"))
    assert html.endswith(f"<p>{rest.replace('>', '&gt;')}</p>\n")


def test_an_image_shown_twice_has_its_block_twice() -> None:
    assert merged("[[IMG:a.png]]\n\nand\n\n[[IMG:a.png]]").count("Shows a.") == 2


def test_a_block_without_marker_stands_at_the_end_and_is_reported() -> None:
    result = merge_images("Text\n", {"a.png": A})
    assert result.markdown == "Text\n\n> **[Image: a](images/a.png)**\n> Shows a.\n"
    assert result.unplaced == ("a.png",)


def test_a_marker_without_block_goes_and_is_reported() -> None:
    result = merge_images("One [[IMG:gone.png]] two", {})
    assert (result.markdown, result.unknown) == ("One two", ("gone.png",))


def test_code_that_shows_a_marker_is_not_touched() -> None:
    text = "```\n[[IMG:a.png]]\n```\n"
    assert merge_images(text, {"a.png": A}).markdown.startswith(text)


_PIECES = st.lists(
    st.sampled_from(
        ["one", "two,", "[[IMG:a.png]]", "[[IMG:b.png]]", "\n", "\n\n", "\n- ", "\n> ", "\n## ", "*it*", "`c`"]
    ),
    max_size=25,
)


@given(_PIECES)
def test_the_merge_keeps_all_other_words(pieces: list[str]) -> None:
    text = " ".join(pieces)
    result = merge_images(text, BLOCKS)
    own = re.findall(r"one|two|it|c\b", result.markdown)
    assert own == re.findall(r"one|two|it|c\b", text.replace("[[IMG", ""))
    shown = result.markdown.count("Shows a.") + result.markdown.count("Shows b.")
    assert shown == text.count("[[IMG:") + len(result.unplaced)


@given(st.text("ab -#>|`*[]\n1.", max_size=60))
def test_an_article_without_markers_is_not_changed(text: str) -> None:
    assert merge_images(text, {}).markdown == text
