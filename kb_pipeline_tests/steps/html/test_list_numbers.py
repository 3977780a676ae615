import re

import pytest

from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import markdown, rendered


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol><li>One<li value=4>Four<li>Five</ol>", "1. One\n\n4) Four\n5) Five"),
        ("<ol><li>One<li>Two</ol><p>x<ol><li value=3>Three<li>Four</ol>", "1. One\n2. Two\n\nx\n\n3. Three\n4. Four"),
        ("<ol reversed><li>Third<li>Second<li>First</ol>", "3. Third\n\n2) Second\n\n1. First"),
        ("<ol start=3 reversed><li>a<li value=9>b<li>c</ol>", "3. a\n\n9) b\n\n8. c"),
        ("<ol><li value=7><p>a</p><pre>x</pre><li><p>b</ol>", "7. a\n\n   ```\n   x\n   ```\n\n8. b"),
        ("<ol><li>a<ol><li value=3>b</ol><li value=5>c</ol>", "1. a\n\n   3. b\n\n5) c"),
        ("<ol><li>a</ol><ol><li>b</ol>", "1. a\n\n1) b"),
        ("<ol><li>a</ol><ol start=2><li>b</ol>", "1. a\n\n2) b"),
        ("<blockquote><ol><li>a<li value=3>b</ol></blockquote>", "> 1. a\n>\n> 3) b"),
        ("<ol start=0><li>a<li>b</ol>", "0. a\n1. b"),
        ("<ol><li value=x>a<li value=''>b</ol>", "1. a\n2. b"),
        ("<ul><li value=4>a</ul>", "- a"),
    ],
)
def test_items_have_the_numbers_of_their_page(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol type=a><li>One<li>Two</ol>", "- a. One\n- b. Two"),
        ("<ol type=A start=3><li>One</ol>", "- C. One"),
        ("<ol type=i><li><p>One</p><li value=9>Nine</ol>", "- i. One\n- ix. Nine"),
        ("<ol class='loweralpha simple'><li><b>One</b></ol>", "- a. **One**"),
        ("<ol style='list-style-type: upper-roman' start=14><li>One</ol>", "- XIV. One"),
        ("<ol type=a start=27><li>One</ol>", "- aa. One"),
        ("<ol type=a style='list-style: decimal'><li>One</ol>", "1. One"),
        ("<ol><li>One<ol type=a><li>Two</ol></ol>", "1. One\n   - a. Two"),
        ("<table><tr><th>a<th>b<tr><td>x<td><ol type=a><li>y</ol></table>", "| a | b |\n| --- | --- |\n| x | • a. y |"),
    ],
)
def test_items_counted_in_letters_have_them_as_words_since_markdown_has_digits_only(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_a_reader_of_the_markdown_sees_the_same_numbers() -> None:
    starts = re.findall(
        r"<ol(?: start=\"(\d+)\")?>", rendered(markdown("<ol><li>a<li value=4>b<li>c<li value=1>d</ol>"))
    )
    assert starts == ["", "4", ""]


def test_items_in_a_cell_have_the_numbers_of_their_page() -> None:
    first, second = "<ol start=5><li>five<li>six</ol>", "<ol><li value=9>nine<li>ten</ol>"
    html = f"<table><tr><th>a<th>b<tr><td>{first}<td>{second}</table>"
    assert markdown(html).split("\n")[-1] == "| 5. five<br>6. six | 9. nine<br>10. ten |"


def test_lists_are_split_in_proportion_to_their_length() -> None:
    assert grows_in_proportion(lambda count: markdown(f"<ol reversed>{'<li>x' * count}</ol>"), 800)
