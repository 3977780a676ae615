"""Markdown: its text, its front matter, and what is refused."""

import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import ConvertedArticle
from kb_pipeline.sources import SourceDocument, source_of
from kb_pipeline.steps.html import convert_document


def read(text: str | bytes) -> SourceDocument:
    return source_of("markdown").read("faq", "faq.md", text if isinstance(text, bytes) else text.encode())


def converted(text: str) -> ConvertedArticle:
    return convert_document("faq", "faq.md", read(text).html, {})


@pytest.mark.parametrize(
    "text",
    [
        "# Refunds\n\nOpen the *order*, then press **Refund**.\n",
        "# A\n\n| Plan | Days |\n| --- | --- |\n| Free | 14 |\n",
        "# A\n\n1. One.\n2. Two.\n   - inner\n\n```python\nprint('*')\n```\n",
        "# A\n\n> Quoted, see [the guide](https://example.com/guide).\n",
    ],
)
def test_the_text_stays_as_it_was_written(text: str) -> None:
    assert converted(text).markdown.split() == text.split()


def test_front_matter_says_what_the_article_is_called_and_about() -> None:
    found = "---\ntitle: Frequently asked\ntags: [pay, leave]\nlang: de\nurl: https://example.com/faq\n---\n# One\n"
    article = converted(found)
    assert read(found).title == "Frequently asked"
    assert (article.key_topics, article.language, article.source_url) == (
        ("pay", "leave"),
        "de",
        "https://example.com/faq",
    )
    assert article.markdown == "# One\n"


def test_a_rule_at_the_beginning_is_no_front_matter() -> None:
    assert "Text." in converted("---\n\nText.\n\n---\n\nMore.\n").markdown


def test_line_ends_and_marks_of_other_systems_are_none_of_the_text() -> None:
    assert converted("\ufeff# A\r\n\r\nText.\r\n").markdown == "# A\n\nText.\n"


def test_what_looks_like_a_mark_of_ours_stays_text() -> None:
    article = converted("# A\n\nWrite [[PAGE:1]], [[PAGE:2|ii]] or [[IMG:x]].\n")
    assert article.markdown == "# A\n\nWrite \\[\\[PAGE:1\\]\\], \\[\\[PAGE:2|ii\\]\\] or \\[\\[IMG:x\\]\\].\n"
    assert not article.images


@pytest.mark.slow("builds a whole knowledge base")
def test_a_line_of_megabytes_is_read() -> None:
    assert converted("# A\n\n" + "word " * 400_000).markdown.count("word") == 400_000


def test_html_in_it_is_cleaned_like_a_page() -> None:
    markdown = converted(
        "# A\n\n<script>alert(1)</script>\n\nText <b>bold</b> [[IMG:x]] <img src=x onerror=y>\n"
    ).markdown
    assert "alert" not in markdown
    assert "onerror" not in markdown
    assert "**bold**" in markdown


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"\0" * 100 + b"x", "is binary"),
        ("---\ntitle: [open\n---\nText", "is not valid YAML"),
        ("---\ntitle: A\ntags: []\nTitle: B\n---\nText", "'title' and 'Title', on line 2 and on line 4"),
        ("---\naccess_control_list: [hr]\n---\nText", "access_control_list in metadata.json alone"),
        ("---\nacces_control_list: [hr]\n---\nText", "'acces_control_list'"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(text: str | bytes, problem: str) -> None:
    with pytest.raises(UnreadableArticleError, match=r"faq\.md") as refused:
        read(text)
    assert problem in str(refused.value)


@pytest.mark.parametrize("text", ["", " \n", "---\ntitle: A\n---\n"])
def test_an_empty_file_is_no_article(text: str) -> None:
    with pytest.raises(EmptyArticleError, match=r"faq\.md is empty"):
        read(text)
