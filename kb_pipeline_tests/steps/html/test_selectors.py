"""Selectors hold for the elements that they hold for in browsers, whether names answer them or soupsieve."""

import pytest
import soupsieve
from bs4 import BeautifulSoup

from kb_pipeline.steps.html.dom import parse
from kb_pipeline.steps.html.selectors import Selectors, selectors_in

PAGE = """
<html><body id=top><div class='a b' data-kind=box><p class=a>1<p class='b c' hidden>2<span class=a>3</span></div>
<section class=b><div class=a><ul><li class=a>4<li>5<li class=c title='x y'>6</ul></div><p>7</section>
<form><input type=TEXT name=q><input type=checkbox checked><input class='md:w-1/2' disabled></form></body></html>
"""


def found(selector: str, page: str = PAGE) -> list[str]:
    root = parse(page)
    assert root is not None
    selectors = Selectors(root, str)
    assert selectors.may_match(selector) or not selectors.matching(selector)
    return [root.getroottree().getpath(element) for element in selectors.matching(selector)]


@pytest.mark.parametrize(
    ("selector", "count"),
    [
        ("p", 3),
        ("*.a", 5),
        (".a.b", 1),
        ("div.a .a", 3),
        ("div > .a", 1),
        (".a + .b", 2),
        ("li ~ li", 2),
        ("ul>:first-child", 1),
        (".b  >  .a li:last-child", 1),
        (":root #top > section p", 1),
        ("[hidden]", 1),
        ("[data-kind=box] > *", 2),
        ("[title = 'x y']", 1),
        ("[title~=y]", 1),
        ("input[type=text]", 1),
        ("li:not(.a)", 2),
        ("li:not(.a, .c)", 1),
        ("li:not(:first-child):not(.c)", 1),
        ("p:not(div p)", 1),
        (":where(.c)", 2),
        (":is(ul, form) > *", 6),
        (":is(section .a) li", 3),
        ("section:has(li) > p", 1),
        ("li:nth-child(2)", 1),
        (":checked", 1),
        ("input:disabled", 1),
        (r".md\:w-1\/2", 1),
    ],
)
def test_a_selector_holds_for_what_soupsieve_finds_on_the_same_page(selector: str, count: int) -> None:
    soup = BeautifulSoup(PAGE, "lxml")
    assert len(found(selector)) == len(soupsieve.select(selector, soup)) == count


@pytest.mark.parametrize(
    "selector",
    [
        "a:hover",
        ".a:hover",
        ".a::before",
        ".a:before",
        ".gone",
        "> .a",
        ".a >",
        ".5",
        "# .a",
        ".a .",
        ".a div*",
        "",
        "p:foo(",
    ],
)
def test_nothing_is_in_a_state_that_a_reader_brings_about_or_matches_what_is_invalid(selector: str) -> None:
    assert found(selector) == []


def test_a_selector_without_a_name_costs_nothing() -> None:
    root = parse("<p class=a>" * 100)
    assert root is not None
    selectors = Selectors(root, str)
    assert not selectors.may_match("# .a")
    assert selectors.work == 0


def test_elements_are_named_in_the_case_of_the_page_if_it_is_an_old_one() -> None:
    root = parse("<p class=Note>")
    assert root is not None
    assert len(Selectors(root, str.lower).matching(".note")) == 1
    assert Selectors(root, str).matching(".note") == []


def test_a_list_of_selectors_is_split_outside_of_brackets_and_strings() -> None:
    assert list(selectors_in("a, b:is(c, d), [e='f,g']")) == ["a", "b:is(c, d)", "[e='f,g']"]


def test_what_stands_after_a_combinator_may_be_an_attribute_alone() -> None:
    assert [path.rpartition("/")[2] for path in found("body [hidden]")] == ["p[2]"]
