import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import PageBreak
from kb_pipeline.steps.pages import PagedText, find_marks, marks_to_comments, page_mark, split_pages, without_marks
from kb_pipeline_tests.steps.html.pages import rendered


def pages_of(text: str) -> list[tuple[int, str, int]]:
    return [(mark.page, mark.label, mark.line) for mark in find_marks(text)]


@given(st.integers(1, 9_999_999), st.text(max_size=30), st.integers(0, 9_999_999))
def test_any_page_comes_back_from_its_mark_and_its_comment(number: int, label: str, line: int) -> None:
    mark = page_mark(number, label, line)
    shown = " ".join(label.split())
    assert pages_of(f"a {mark} b") == [(number, "" if shown == str(number) else shown, line)]
    paged = split_pages(marks_to_comments(f"a {mark} b"))
    assert paged == PagedText("a b", (PageBreak(offset=2, page=number, label=pages_of(mark)[0][1]),))


def test_a_label_is_shortened_and_left_out_if_it_is_the_number() -> None:
    assert page_mark(3, "3") == "[[PAGE:3]]"
    assert page_mark(3, "x" * 10_000) == f"[[PAGE:3|{'x' * 40}]]"


def test_a_mark_in_a_cell_has_escaped_signs() -> None:
    assert pages_of(r"| [[PAGE:12\|iv]] a |") == [(12, "iv", 0)]
    assert marks_to_comments(r"| [[PAGE:12\|iv]] a |") == "| <!-- page 12: iv --> a |"


@pytest.mark.parametrize(
    "literal",
    [
        r"\[\[PAGE:3\]\]",
        r"\[[PAGE:3]]",
        "`[[PAGE:3]]`",
        "```\n[[PAGE:3]]\n```",
        "[[PAGE:]]",
        "[[PAGE:x]]",
        "[[PAGE:12345678]]",
    ],
)
def test_an_authors_words_are_no_mark(literal: str) -> None:
    assert find_marks(literal) == []
    assert marks_to_comments(literal) == without_marks(literal) == literal


@pytest.mark.parametrize(
    "literal",
    [r"\<!-- page 3 -->", "`<!-- page 3 -->`", "```\n<!-- page 3 -->\n```", "<!-- page -->", "<!-- page x -->"],
)
def test_an_authors_words_are_no_comment(literal: str) -> None:
    assert split_pages(literal) == PagedText(literal, ())


@pytest.mark.parametrize(
    ("marked", "commented", "plain", "offset"),
    [
        ("[[PAGE:2]]\n\n# Title\n", "<!-- page 2 -->\n\n# Title\n", "# Title\n", 0),
        ("a\n\n[[PAGE:2]]\n\nb\n", "a\n\n<!-- page 2 -->\n\nb\n", "a\n\nb\n", 3),
        ("a\n\n[[PAGE:2]]\n", "a\n\n<!-- page 2 -->\n", "a\n", 2),
        ("a [[PAGE:2]] b\n", "a <!-- page 2 --> b\n", "a b\n", 2),
        ("hyphen[[PAGE:2]]ated\n", "hyphen<!-- page 2 -->ated\n", "hyphenated\n", 6),
        ("- a [[PAGE:2]]\n- b\n", "- a <!-- page 2 -->\n- b\n", "- a\n- b\n", 4),
        ("a [[PAGE:2]]  \nb\n", "a <!-- page 2 -->  \nb\n", "a  \nb\n", 4),
        ("> a\n>\n> [[PAGE:2]]\n>\n> b\n", "> a\n>\n> <!-- page 2 -->\n>\n> b\n", "> a\n>\n> b\n", 6),
        ("| a | [[PAGE:2]] b |\n", "| a | <!-- page 2 --> b |\n", "| a | b |\n", 6),
        ("a\n\n[[PAGE:2]] b\n", "a\n\n<!-- page 2 -->\n\nb\n", "a\n\nb\n", 3),
    ],
)
def test_without_marks_and_comments_the_text_is_as_if_there_were_no_pages(
    marked: str, commented: str, plain: str, offset: int
) -> None:
    assert marks_to_comments(marked) == commented
    assert without_marks(marked) == plain
    assert split_pages(commented) == PagedText(plain, (PageBreak(offset=offset, page=2),))
    assert "&lt;!--" not in rendered(commented)


def test_pages_that_begin_together_share_a_line() -> None:
    commented = marks_to_comments("a\n\n[[PAGE:2]] [[PAGE:3]]\n\nb\n")
    assert commented == "a\n\n<!-- page 2 --> <!-- page 3 -->\n\nb\n"
    assert split_pages(commented) == PagedText("a\n\nb\n", (PageBreak(offset=3, page=2), PageBreak(offset=3, page=3)))


def test_a_page_that_begins_in_code_is_found_at_its_line() -> None:
    article = "a\n\n<!-- page 2 from line 2: ii --> <!-- page 3 from line 3 -->\n\n```\none\ntwo\nthree\n```\n"
    paged = split_pages(article)
    assert paged.text == "a\n\n```\none\ntwo\nthree\n```\n"
    assert [(one.page, one.label, paged.text[one.offset :].split("\n")[0]) for one in paged.breaks] == [
        (2, "ii", "two"),
        (3, "", "three"),
    ]


def test_a_line_that_the_code_does_not_have_is_the_place_of_the_comment() -> None:
    article = "a\n\n<!-- page 2 from line 9 -->\n\n```\none\n```\n"
    assert split_pages(article).breaks == (PageBreak(offset=3, page=2),)
