"""What readers see of an answer or an article: as it is written, and never more than text, links and our images."""

import re
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.grounding.references import MARKS
from app.page.markup import answer_blocks, passage_html, without_title

IMAGE = "/api/images/layers/images/crop.png"
TAGS = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
KNOWN = frozenset(
    "p br hr em strong s a img ul ol li h1 h2 h3 h4 h5 h6 blockquote pre code table thead tbody tr th td mark sup sub "
    "span button figure details summary".split()
)


def answer(markdown: str) -> str:
    return "".join(answer_blocks(markdown))


@pytest.mark.parametrize(
    "written",
    [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        "<svg/onload=alert(1)>",
        "a </div> b",
        "costs $5 to $9",
        ":smile: :material/home: :red[text]",
        "--> and -- and (c)",
        "a < b > c & d",
    ],
)
def test_text_is_shown_as_it_is_written(written: str) -> None:
    assert answer(f"x {written} y") == f"<p>x {escape(written)} y</p>\n"


@pytest.mark.parametrize(
    "target", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "//evil.example", "x.html"]
)
def test_links_lead_to_the_web_or_nowhere(target: str) -> None:
    assert "href" not in answer(f"[label]({target})")


def test_a_link_to_the_web_opens_beside_the_page() -> None:
    assert '<a href="https://example.org/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">label</a>' in answer(
        "[label](https://example.org/?a=1&b=2)"
    )


def test_images_are_those_of_the_service_and_others_are_their_words() -> None:
    assert f'<img src="{IMAGE}" alt="the menu" loading="lazy">' in answer(f"![the menu]({IMAGE})")
    assert answer("![their tracker](https://evil.example/x.png)") == "<p>their tracker</p>\n"


@given(st.text(alphabet=st.sampled_from("<>&\"'`[]()!#*_-|:$\\ \nab1R\U00010100\U00010101\U00010102"), max_size=60))
def test_no_text_becomes_a_tag_that_is_not_ours(text: str) -> None:
    for html in (answer(text), passage_html(text, [text[:9]])):
        assert {name for _, name in TAGS.findall(html)} <= KNOWN
        assert "\U00010100" not in html
        assert "\U00010101" not in html
        assert "\U00010102" not in html


def test_references_are_chips_by_their_number() -> None:
    html = "".join(answer_blocks("Crop it. [Ref #1][Ref #12]", chip=lambda number: f"<{number}>"))
    assert html == "<p>Crop it. <1><12></p>\n"


def test_a_reference_is_no_link_whatever_follows_it() -> None:
    html = answer("See [Ref #1](https://evil.example) and\n\n[Ref #1]: https://evil.example")
    assert "href" not in html
    assert html.count('<span class="kb-ref">1</span>') == 2


def test_a_reference_in_code_is_code() -> None:
    assert answer("`[Ref #1]`") == "<p><code>[Ref #1]</code></p>\n"


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_of_a_value_that_its_source_does_not_have_is_quiet(mark: str) -> None:
    marked = answer(f"Wait **6 s** {mark}.")
    assert marked == f'<p>Wait <strong>6 s</strong> <span class="kb-unsupported">{mark.strip("*()")}</span>.</p>\n'


def test_other_words_in_brackets_are_emphasis() -> None:
    assert answer("Wait *(a while)*.") == "<p>Wait <em>(a while)</em>.</p>\n"


def test_what_an_article_itself_calls_a_reference_is_none_of_ours() -> None:
    assert answer(r"as \[Ref #1] says") == "<p>as [Ref #1] says</p>\n"


def test_emphasis_beside_a_reference_stays_emphasis() -> None:
    assert answer("**Crop**[Ref #1]") == '<p><strong>Crop</strong><span class="kb-ref">1</span></p>\n'


def test_complete_blocks_do_not_change_while_more_is_written() -> None:
    text = "One.\n\n- a\n- b\n\n| x |\n| --- |\n| y |\n\nLast words"
    whole = answer_blocks(text)
    assert [block.split(">")[0] for block in whole] == ["<p", "<ul", "<table", "<p"]
    assert answer_blocks(f"{text} and more")[:-1] == whole[:-1]


def test_an_article_shows_its_images_where_they_stand_and_unfolds_what_they_show() -> None:
    html = passage_html(f"1. Choose it.\n\n   > **[Image: crop]({IMAGE})**\n   > A menu.\n   > UI elements: Crop\n")
    assert f'<figure class="kb-figure"><a class="kb-image" href="{IMAGE}"' in html
    assert '<img src="/api/images/layers/images/crop.png" alt="crop" loading="lazy">' in html
    assert "A menu.<br />\nUI elements: Crop" in html
    assert "blockquote" not in html


def test_a_quotation_that_is_no_image_stays_a_quotation() -> None:
    html = passage_html("> **[Image: x](https://evil.example/x.png)**\n> text")
    assert "<blockquote>" in html
    assert "<img" not in html


def test_links_between_articles_lead_to_them() -> None:
    html = passage_html("[Undo](../undo/index.html)", links={"../undo/index.html": "undo"})
    assert html == '<p><a href="knowledge-base?article=undo" data-kb="open">Undo</a></p>\n'


def test_line_breaks_and_raised_text_of_articles_are_kept() -> None:
    assert passage_html("10<sup>2</sup><br>x") == "<p>10<sup>2</sup><br>x</p>\n"


@pytest.mark.parametrize(
    ("markdown", "left"),
    [
        ("# Layers\n\nText", "\nText"),
        ("\n## Layers\nText", "Text"),
        ("# Layers 2\nText", "# Layers 2\nText"),
        ("Layers\nx",) * 2,
    ],
)
def test_a_title_is_not_said_twice(markdown: str, left: str) -> None:
    assert without_title(markdown, "Layers") == left
