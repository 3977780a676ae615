"""The checks of a document's pages and outline."""

import pytest

from kb_pipeline.records import CheckResult, ConvertedArticle, OutlineEntry, PageInfo
from kb_pipeline.steps.checks import (
    Control,
    check_conversion,
    headings_follow_the_outline,
    pages_are_covered,
    pages_ascend,
)
from kb_pipeline.steps.html import convert_document
from kb_pipeline.steps.pages import page_element
from kb_pipeline_tests.steps.chunk.articles import sentence


def article(*pages: str, numbers: tuple[int, ...] = (), **info: object) -> ConvertedArticle:
    """A document of these pages, each HTML; ``numbers`` are those of their marks."""
    infos = tuple(PageInfo.model_validate({"number": number, **info}) for number in range(1, len(pages) + 1))
    marks = numbers or tuple(page.number for page in infos)
    html = "".join(f"{page_element(number)}{page}" for number, page in zip(marks, pages, strict=True))
    converted = convert_document("manual", "manual.pdf", html, {}, [*marks])
    return converted.model_copy(update={"pages": infos})


def covered(converted: ConvertedArticle, texts: dict[int, str], left_out: dict[int, str] | None = None) -> CheckResult:
    return pages_are_covered(converted, Control(texts, left_out or {}))


def test_pages_once_and_in_order_pass() -> None:
    result = pages_ascend(article("<p>a</p>", "", "<p>c</p>"))
    assert (result.passed, result.counts) == (True, {"pages": 3})


@pytest.mark.parametrize(
    ("numbers", "problem"),
    [
        ((1, 3, 2), "1 page before an earlier one: '3 before 2'"),
        ((1, 2, 2), "1 page missing: '3'; 1 page more than once: '2'"),
        ((1, 2, 4), "1 page missing: '3'; 1 page that the document does not have: '4'"),
    ],
)
def test_a_page_that_is_not_in_its_place_is_named(numbers: tuple[int, ...], problem: str) -> None:
    result = pages_ascend(article("<p>a</p>", "<p>b</p>", "<p>c</p>", numbers=numbers))
    assert not result.passed
    assert result.message.startswith(problem)


def test_pages_with_all_their_words_are_covered() -> None:
    first, second = sentence("a", 60), sentence("b", 60)
    converted = article(f"<h1>Title</h1><p>{first}</p>", f"<p>{second} <b>snake_case</b> ﬁn</p>")
    result = covered(converted, {1: f"Title\n{first}", 2: f"{second} snake_case fin"})
    assert (result.passed, result.counts["words"], result.counts["words_lost"]) == (True, 124, 0)


def test_a_page_that_lost_its_words_is_named() -> None:
    words, other = sentence("a", 100), sentence("b", 100)
    result = covered(article(f"<p>{words}</p>", "<p>b0 b1</p>", label="ii"), {1: words, 2: other})
    assert result.message.startswith(
        "98 of 200 words of the document lost; 1 page incomplete: '2 (ii): 98 of 100 words lost: b2 b3 b4 b5 b6'. "
    )


def test_a_page_is_judged_even_if_the_document_is_complete() -> None:
    texts = {page: sentence(f"p{page}x", 400) for page in range(1, 9)} | {9: sentence("lost", 60)}
    converted = article(*(f"<p>{texts[page]}</p>" for page in range(1, 9)), "<p>nothing</p>")
    assert covered(converted, texts).message.startswith("1 page incomplete: '9: 60 of 60 words lost: ")


def test_a_few_words_of_a_short_document_may_be_missing() -> None:
    assert covered(article("<p>Hello world</p>"), {1: "Hello world page 1 of 1"}).passed


def test_what_was_left_out_on_purpose_is_not_missed() -> None:
    words, contents = sentence("a", 100), " ".join(f"a{i} .... {i}" for i in range(60))
    converted = article("", f"<p>{words}</p><p>{' '.join(map(str, range(60)))}</p>", "<p>b</p>")
    texts = {1: contents, 2: f"Manual\n{words}", 3: "Manual b"}
    assert not covered(converted, texts).passed
    result = covered(converted, texts, {1: contents, 2: "Manual", 3: "Manual"})
    assert (result.passed, result.counts["words_left_out"], result.counts["words_lost"]) == (True, 122, 0)


def test_what_was_left_out_and_stands_nowhere_else_is_lost() -> None:
    rows = " ".join(f"payment{i} -{i},{i}" for i in range(1000, 1060))
    converted = article("<p>Statement</p>", "<p>Statement</p>")
    result = covered(converted, {1: f"Statement {rows}", 2: "Statement"}, {1: rows})
    assert result.message.startswith("180 of 182 words")


def test_words_that_are_no_text_are_counted_apart() -> None:
    words, hidden = sentence("a", 60), sentence("secret", 60)
    control = Control({1: f"{words} {hidden}"}, {1: hidden}, beside_text={1: hidden})
    result = pages_are_covered(article(f"<p>{words}</p>"), control)
    assert (result.passed, result.counts["words_beside_text"], result.counts["words_left_out"]) == (True, 60, 0)


def test_words_that_are_painted_twice_are_still_to_be_there_once() -> None:
    words = sentence("a", 60)
    control = Control({1: f"{words} {words}", 2: words}, {1: words}, beside_text={1: words})
    assert pages_are_covered(article(f"<p>{words}</p>", f"<p>{words}</p>"), control).counts["words_lost"] == 0
    assert pages_are_covered(article("<p>a0</p>", f"<p>{words}</p>"), control).counts["words_lost"] == 59


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("Revenue<sup>1</sup> 1000<sup>a</sup>, H<sub>2</sub>O", "Revenue1 1000a, H2O"),
        ("study<sup>0,1</sup> finds", "study0,1 finds"),
        ("a <b>bold</b>faced and a <code>po</code>tato", "a boldfaced and a potato"),
        ("the database is here", "the data base is here"),
        ("the data base is here", "the database is here"),
        ("x<sup>2n+1</sup>y is <a href='https://example.org/'>linked</a>er", "x2n+1y is linkeder"),
    ],
)
def test_words_that_markup_or_a_space_divides_are_not_lost(html: str, text: str) -> None:
    result = covered(article(f"<p>{html}</p>" * 30), {1: f"{text}\n" * 30})
    assert (result.passed, result.counts["words_lost"]) == (True, 0)


def test_a_word_is_found_once_for_each_time_that_it_stands_there() -> None:
    result = covered(article("<p>data base</p>"), {1: "database " * 3})
    assert result.counts["words_lost"] == 2


def test_words_that_go_on_over_a_page_are_found_on_its_neighbour() -> None:
    words, note = sentence("a", 60), sentence("note", 60)
    assert covered(article(f"<p>{words}</p>", f"<p>{note}</p>"), {1: words + note, 2: ""}).passed
    far = article(f"<p>{words}</p>", "<p>b</p>", f"<p>{note}</p>")
    assert not covered(far, {1: f"{words} {note}", 2: "b", 3: ""}).passed


@pytest.mark.parametrize("broken", ["infor-\nmation", "infor\x02mation", "infor\xad\nmation", "well-\nknown"])
def test_a_word_that_is_broken_at_a_line_is_whole(broken: str) -> None:
    converted = article(f"<p>{'information well-known ' * 20}</p>")
    result = covered(converted, {1: f"{broken} " * 20})
    assert result.counts["words_lost"] == 0


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    text = "設定を保存するにはボタンを押します"
    assert covered(article(f"<p>{text * 9}</p>"), {1: "\n".join([text[:7] + "\n" + text[7:]] * 9)}).passed
    assert not covered(article(f"<p>{text}</p>"), {1: text * 9}).passed


def test_a_scan_is_not_compared() -> None:
    result = covered(article("<p>read by OCR</p>", read_by="ocr"), {1: sentence("garbled", 90)})
    assert (result.passed, result.counts["pages"]) == (True, 0)


OUTLINE = (
    OutlineEntry(title="1 Overview", level=1, page=1),
    OutlineEntry(title="Setting up", level=2, page=1),
    OutlineEntry(title="", level=2),
    OutlineEntry(title="Lost: a & b", level=1, page=7),
)


def test_entries_of_the_outline_without_a_heading_are_named() -> None:
    converted = article("<h1>Overview</h1><h2>2.1 Setting  up</h2><p>Lost: a &amp; b</p>")
    result = headings_follow_the_outline(converted, OUTLINE)
    assert result.message.startswith("1 entry of the outline without a heading: 'Lost: a & b (page 7)'. ")
    assert headings_follow_the_outline(converted, OUTLINE[:3]).passed


def test_only_what_a_document_has_is_checked() -> None:
    def checked(converted: ConvertedArticle, control: Control) -> list[str]:
        return [result.name for result in check_conversion(converted, control)[7:]]

    page = article("<p>a</p>")
    assert checked(page.model_copy(update={"pages": ()}), Control()) == []
    assert checked(page, Control()) == ["pages_ascend", "pages_are_read"]
    assert checked(page, Control({1: "a"}, {}, OUTLINE)) == [
        "pages_ascend",
        "pages_are_covered",
        "pages_are_read",
        "headings_follow_the_outline",
    ]


def test_marks_of_pages_are_nothing_to_the_other_checks() -> None:
    converted = article("<h1>A</h1><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "", "")
    assert all(result.passed for result in check_conversion(converted))
    assert not check_conversion(article("", "<p>a</p>").model_copy(update={"markdown": "[[PAGE:1]]\n"}))[0].passed
