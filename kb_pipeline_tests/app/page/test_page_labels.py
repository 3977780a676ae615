"""Labels of pages in the text of an article or a passage."""

import pytest

from app.page.markup import passage_html
from kb_pipeline.records import PageBreak

LABEL = '<span class="kb-page" data-page="2">Page ii</span>'


def html(markdown: str, word: str, *quotes: str, label: str = "ii") -> str:
    return passage_html(markdown, quotes, breaks=[PageBreak(offset=markdown.index(word), page=2, label=label)])


@pytest.mark.parametrize(
    ("markdown", "word", "expected"),
    [
        ("One.\n\nTwo.", "Two", f"<p>{LABEL}Two.</p>"),
        ("One two.", "two", f"<p>One {LABEL}two.</p>"),
        ("One.\n\n## Two", "##", f"<h2>{LABEL}Two</h2>"),
        ("- one\n- two", "- two", f"<li>{LABEL}two</li>"),
        ("| a |\n| --- |\n| 1 |\n| 2 |", "| 2", f"<td>{LABEL}2</td>"),
        ("```\none\ntwo\n```", "two", f"<pre><code>one\n{LABEL}two\n</code></pre>"),
        ("One.\n\n```text\ntwo\n```", "```", f"<pre><code>{LABEL}two\n</code></pre>"),
    ],
)
def test_a_label_stands_before_the_first_word_of_its_page(markdown: str, word: str, expected: str) -> None:
    assert expected in html(markdown, word)


def test_a_sentence_that_goes_on_over_a_page_is_marked_on_both() -> None:
    assert html("Pull the paper out slowly.", "out", "Pull the paper out slowly.") == (
        f"<p><mark>Pull the paper </mark>{LABEL}<mark>out slowly.</mark></p>\n"
    )


def test_a_label_means_nothing_in_html_or_markdown() -> None:
    assert "Page &lt;b&gt;*x*</span>" in html("One two.", "two", label="<b>*x*")
    assert "Page 2</span>" in html("One two.", "two", label=" ")


def test_signs_of_ours_in_an_authors_text_are_no_labels() -> None:
    forged = "One \U000101032 6969\U00010103 two."

    assert "kb-page" not in passage_html(forged)
    assert html(forged, "two").count("kb-page") == 1


@pytest.mark.parametrize(("part", "shown"), [("slide", "Slide ii</span>"), ("", '"2">ii</span>')])
def test_a_label_says_what_a_page_is_called(part: str, shown: str) -> None:
    assert shown in passage_html("One.", breaks=[PageBreak(offset=0, page=2, label="ii")], part=part)
