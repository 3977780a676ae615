import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.markers import ImageBlock, block_lines, image_link
from kb_pipeline_tests.steps.html.pages import read_words, rendered


def test_the_block_has_a_line_for_each_part() -> None:
    block = ImageBlock(
        stem="save-dialog", description="A dialog.", ui_elements=("OK", "Cancel"), navigation_path=("File", "Save")
    )
    assert block_lines(block) == [
        "> **[Image: save-dialog](images/save-dialog.png)**",
        "> A dialog.",
        "> UI elements: OK, Cancel",
        "> Navigation: File > Save",
    ]


def test_parts_that_do_not_exist_have_no_line() -> None:
    assert len(block_lines(ImageBlock(stem="a", description="A dialog."))) == 2


def test_the_target_is_percent_encoded() -> None:
    assert image_link(ImageBlock(stem="a (1) ü", description="")) == "[Image: a (1) ü](images/a%20%281%29%20%C3%BC.png)"


@pytest.mark.parametrize(
    "hostile",
    [
        "# heading",
        "- item",
        "1. item",
        "> quote",
        "---",
        "===",
        "|---|",
        ":--",
        "```",
        "<script>alert(1)</script>",
        "[click](javascript:x)",
        "![x](y)",
        "**bold** _it_ `code`",
        "&lt;b&gt;",
        "[[IMG:a.png]]",
        "two\n\nparagraphs\n# heading",
        "\\",
        "~~gone~~",
    ],
)
def test_a_hostile_description_stays_words_on_its_line(hostile: str) -> None:
    text = "\n".join(block_lines(ImageBlock(stem="a", description=hostile, ui_elements=(hostile,))))
    words = " ".join(hostile.split())
    assert read_words(text) == f"Image: a {words} UI elements: {words}"


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["C", "Z"])), st.text("a#*_[]<>`|\\-=1. &~!"))
def test_no_description_breaks_out_of_the_block(word: str, line: str) -> None:
    html = rendered("\n".join(block_lines(ImageBlock(stem="a", description=line + word))))
    assert html.startswith("<blockquote>\n<p><strong><a href=")
    assert html.count("<") == html.count("</") * 2
    assert html.rstrip().endswith("</p>\n</blockquote>")
