"""A page that could not be read completely says so where it begins; the rest of the article stays as it is."""

import pytest

from kb_pipeline.records import ConvertedArticle, PageInfo
from kb_pipeline.steps.checks import Control, check_conversion, incomplete_pages, pages_are_covered, pages_are_read
from kb_pipeline.steps.html import convert_document
from kb_pipeline.steps.pages import page_element, split_marks
from kb_pipeline.steps.unread_pages import with_unread_pages
from kb_pipeline_tests.steps.chunk.articles import sentence

NOTE = "*Page 2 could not be read completely. The original file shows it.*"


def article(html: str, pages: int = 3, **info: object) -> ConvertedArticle:
    infos = tuple(PageInfo.model_validate({"number": number, **info}) for number in range(1, pages + 1))
    converted = convert_document("manual", "manual.pdf", html, {}, [page.number for page in infos])
    return converted.model_copy(update={"pages": infos})


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>a</p>|2|<p>b</p><p>c</p>", f"[[PAGE:1]]\n\na\n\n[[PAGE:2]]\n\n{NOTE}\n\nb\n\nc\n"),
        ("<p>a |2| b</p><p>c</p>", f"[[PAGE:1]]\n\na [[PAGE:2]] b\n\n{NOTE}\n\nc\n"),
        ("<ul><li>a</li><li>|2|b</li></ul><p>c</p>", f"[[PAGE:1]]\n\n- a [[PAGE:2]]\n- b\n\n{NOTE}\n\nc\n"),
        ("<p>a</p>|2|", f"[[PAGE:1]]\n\na\n\n[[PAGE:2]]\n\n{NOTE}\n"),
    ],
)
def test_the_sentence_stands_behind_the_block_in_which_the_page_begins(html: str, markdown: str) -> None:
    made = article(page_element(1) + html.replace("|2|", page_element(2)), 2)
    assert with_unread_pages(made, [2]).markdown == markdown


def test_a_page_that_begins_in_a_table_or_in_code_leaves_it_whole() -> None:
    for block in ("<table><tr><th>a</th></tr><tr><td>|2|b</td></tr></table>", "<pre>a\n|2|b</pre>"):
        made = article(page_element(1) + block.replace("|2|", page_element(2)) + "<p>end</p>", 2)
        text = split_marks(with_unread_pages(made, [2]).markdown).text
        before = split_marks(made.markdown).text
        assert text.replace(f"{NOTE}\n\n", "") == before
        assert f"\n\n{NOTE}\n\nend" in text


def test_pages_of_which_nothing_was_read_keep_their_order() -> None:
    made = article("".join(page_element(page) for page in (1, 2, 3)) + "<p>a</p>")
    markdown = with_unread_pages(made, [1, 2]).markdown
    assert markdown == f"[[PAGE:1]]\n\n{NOTE.replace('2', '1')}\n\n[[PAGE:2]]\n\n{NOTE}\n\n[[PAGE:3]]\n\na\n"


def test_what_is_printed_on_the_page_is_said() -> None:
    made = with_unread_pages(article(page_element(1) + "<p>a</p>", 1, label="iv"), [1])
    assert "*Page 1 (printed: iv) could not be read completely." in made.markdown
    assert made.warnings == ("page 1 (printed: iv) could not be read completely, so that words of it are missing",)


def lacking(pages: int, lost: int) -> tuple[ConvertedArticle, Control]:
    """A document of which the last pages lost their words."""
    texts = {page: sentence(f"p{page}x", 100) for page in range(1, pages + 1)}
    kept = [page_element(page) + (f"<p>{text}</p>" if page <= pages - lost else "") for page, text in texts.items()]
    return article("".join(kept), pages), Control(texts)


def test_a_document_whose_unread_pages_are_named_passes_with_a_warning() -> None:
    made, control = lacking(30, 2)
    assert not pages_are_covered(made, control).passed
    assert incomplete_pages(made, control) == [29, 30]
    named = with_unread_pages(made, [29, 30])
    failed = [check for check in check_conversion(named, control) if not check.passed]
    assert [check.name for check in failed] == ["pages_are_read"]
    assert failed[0].message.startswith("2 pages not read completely: '29', '30'. ")
    assert failed[0].counts == {"pages": 30, "unread_pages": 2}
    assert named.markdown.count("could not be read completely") == 2
    assert [page.read_by for page in named.pages[-3:]] == ["text", "unread", "unread"]


def test_words_that_many_pages_lack_make_these_unread() -> None:
    texts = {page: sentence(f"p{page}x", 100) for page in range(1, 31)}
    cut = {page: text.rsplit(" ", 12)[0] if page > 20 else text for page, text in texts.items()}
    made = article("".join(f"{page_element(page)}<p>{text}</p>" for page, text in cut.items()), 30)
    assert incomplete_pages(made, Control(texts)) == list(range(21, 31))


def test_a_document_that_is_mostly_unread_is_not_published() -> None:
    assert incomplete_pages(*lacking(30, 20)) == []


def test_a_document_whose_pages_are_read_stays_as_it_is() -> None:
    made, control = lacking(30, 0)
    assert with_unread_pages(made, incomplete_pages(made, control)) is made
    assert pages_are_read(made).passed
