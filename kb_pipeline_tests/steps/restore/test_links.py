"""Hyperlinks, put back by their labels."""

import pytest

from kb_pipeline.steps.checks import check_conversion
from kb_pipeline_tests.steps.html.pages import convert, image, markdown
from kb_pipeline_tests.steps.restore.services import restored, restored_text


@pytest.mark.parametrize(
    "html",
    [
        "<p>See <a href='a.html'>the guide</a> and <a href='b.html'>the list</a>.</p>",
        "<p>Click <a href='a.html'>here</a>, or <a href='b.html'>here</a>, but not here.</p>",
        "<h2>About <a href='a.html'>frames</a></h2><p>Text</p>",
        "<p><a href='a.html'>Whole line</a></p>",
        "<p>See <a href='a.html'>Section 2, “Files (new)”</a>.</p>",
        "<p>Go to <a href='https://example.com/x(1)'>https://example.com/</a>!</p>",
        "<p>Wait! <a href='a.html'>Read this</a></p>",
        "<p>Call <a href='a.html'><code>open()</code></a> or <a href='b.html'>the <b>bold</b> one</a>.</p>",
        "<ul><li><a href='a.html'>One</a></li><li><a href='b.html'>Two</a></li></ul>",
        "<table><tr><th>A</th><th>B</th></tr><tr><td><a href='a|b.html'>x y</a></td><td>z</td></tr></table>",
        "<p>Ask <a href='a b.html'>us [now]</a>.</p>",
        "<p>日本語の<a href='a.html'>設定</a>を開く</p>",
    ],
)
def test_a_lost_link_is_back_at_its_label(html: str) -> None:
    whole = markdown(html)
    without = markdown(html.replace("<a ", "<span ").replace("</a>", "</span>"))
    assert restored_text(html, without) == whole
    assert restored_text(html, whole) == whole


def test_a_misread_label_is_the_link_s() -> None:
    html = "<p>Please read <a href='a.html'>the important instructions</a> first.</p>"
    assert restored_text(html, "Please read the irnportant lnstructions first.") == (
        "Please read [the irnportant lnstructions](a.html) first."
    )


def test_a_link_follows_its_label_to_another_place() -> None:
    bird, book = "https://bird.example/debian", "https://book.example/debian"
    html = f"<p>News:</p><ul><li><a href='{bird}'>{bird}</a></li><li><a href='{book}'>{book}</a></li></ul>"
    assert restored_text(html, f"News:\n\n- {book}\n- {bird}") == f"News:\n\n- [{book}]({book})\n- [{bird}]({bird})"


@pytest.mark.parametrize("read", ["See the guide » and go.", "See the guide [»](a.html) and go."])
def test_a_label_without_words_is_found_behind_the_word_before_it(read: str) -> None:
    html = "<p>See the guide <a href='a.html'>»</a> and go.</p>"
    assert restored_text(html, read) == markdown(html)


def test_targets_are_those_of_the_page() -> None:
    html = "<p>See <a href='a.html'>the guide</a> and the rest.</p>"
    assert restored_text(html, "See [the guide](https://evil.example) and [the rest](javascript:x).") == (
        "See [the guide](a.html) and the rest."
    )


def test_no_link_is_made_of_words_that_are_none() -> None:
    html = "<p>First save. Then <a href='a.html'>save</a> again and save.</p>"
    assert (
        restored_text(html, "First save. Then save again and save.")
        == "First save. Then [save](a.html) again and save."
    )


def test_links_are_not_put_into_code() -> None:
    html = "<p>See <a href='a.html'>save_all</a>.</p><pre>save_all()</pre>"
    assert "[" not in restored_text(html, "```\nsave_all()\n```").partition("\n```")[0]
    assert "[save_all](a.html)" in restored_text(html, "See save_all.\n\n```\nsave_all()\n```")


def test_a_link_without_a_place_is_at_the_end_of_its_section_and_told() -> None:
    html = "<h1>One</h1><p>Some words stay here.</p><p>Lost <a href='a.html'>label</a></p><h1>Two</h1><p>The end.</p>"
    article = restored(html, "# One\n\nSome words stay here.\n\n# Two\n\nThe end.")
    assert article.markdown.strip() == "# One\n\nSome words stay here.\n\n[label](a.html)\n\n# Two\n\nThe end."
    assert article.warnings[0] == "1 link without a place put at the end of the section: 'label -> a.html'"
    assert [check.name for check in check_conversion(article) if not check.passed] == ["positions_are_known"]


def test_a_link_that_stands_elsewhere_is_found_by_its_own_target() -> None:
    html = "<h1>One</h1><p>See <a href='a.html'>the guide</a>.</p><p>Many other words follow after that.</p>"
    text = "# One\n\nMany other words follow after that.\n\n[the guide](a.html)"
    assert restored_text(html, text).count("](a.html)") == 1
    assert "[the guide](a.html)" in restored_text(html, text)


def test_the_records_are_those_of_the_page() -> None:
    html = "<p>See <a href='a.html'>it</a> <img src='a.png'></p>"
    article, local = restored(html, "See it", image("a.png")), convert(html, image("a.png"))
    assert (article.links, article.images, article.counts) == (local.links, local.images, local.counts)
    assert article.converter == "a-service-1"
