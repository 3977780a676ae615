"""Quotations: what the article says, and nothing that acts."""

import pytest
from markdown_it import MarkdownIt

from app.answering.extractive.blocks import blocks_of
from app.answering.extractive.quoting import inline, plain, quotation
from app.language.sentences import units_of
from kb_pipeline_tests.app.grounding.passages import citation, image


def quoted(passage: str, *kinds: str) -> str:
    return quotation([u for u in units_of(passage) if u.kind in (kinds or ("sentence", "term"))], "[Ref #1]")


def as_html(markdown: str) -> str:
    return str(MarkdownIt("commonmark").enable("table").render(markdown))


def test_a_paragraph_is_quoted_with_its_reference() -> None:
    assert quoted("One. Two\non two lines.") == "> One. Two on two lines. [Ref #1]"


def test_what_was_left_out_shows() -> None:
    one, _, three = units_of("One. Here is something else. Three.")
    assert quotation([one, three], "[Ref #1]") == "> One. … Three. [Ref #1]"


def test_steps_keep_their_numbers_and_nesting() -> None:
    passage = "1. Go.\n\n   Then stop.\n   - left\n2. End:\n\n   ```\n   run\n   ```\n\n   Done."
    assert quoted(passage, "sentence", "code") == "\n".join(
        [
            "> 1. Go. Then stop.",
            ">     - left",
            "> 2. End:",
            ">",
            ">     ```",
            ">     run",
            ">     ```",
            ">",
            ">     Done. [Ref #1]",
        ]
    )


@pytest.mark.parametrize("kept", [{"4.", "6."}, {"9.", "11."}, {"6.", "7.", "9."}])
def test_steps_keep_their_numbers_where_others_are_left_out(kept: set[str]) -> None:
    steps = [u for u in units_of("\n".join(f"{n}. s" for n in range(4, 12))) if u.label in kept]
    html = as_html(quotation(steps, "r"))
    shown = [int(part.partition('"')[0]) for part in html.split('start="')[1:]]
    numbers = [int(step.label[:-1]) for step in steps]
    gaps = [number for number in numbers if number - 1 not in numbers]
    assert shown == gaps


def test_a_table_is_quoted_with_its_head() -> None:
    passage = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    units = [u for u in units_of(passage) if u.text != "| 1 | 2 |"]
    assert quotation(units, "[Ref #1]") == "> | a | b |\n> |---|---|\n> | 3 | 4 |\n>\n> [Ref #1]"


@pytest.mark.parametrize("code", ["```\na\n```", "~~~\n```\n~~~", "    a\n    ```"])
def test_code_stays_code(code: str) -> None:
    html = as_html(quoted(code, "code"))
    assert html.count("<pre>") == 1
    assert html.endswith("<p>[Ref #1]</p>\n</blockquote>\n")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("See [Layers](layers.html).", "See Layers."),
        ("See [us](https://example.com/a_(b)).", "See [us](https://example.com/a_(b))."),
        ("Go <https://example.com> now", "Go https://example.com now"),
        ("Sinc[<sup>\\[10\\]</sup>](#ftn.10) is", "Sinc is"),
        ("H<sub>2</sub>O<br>and **bold** `a<b>`", "H2O and **bold** `a<b>`"),
        ("Click [Image: pen](/api/images/a/images/pen.png) here", "Click ![pen](/api/images/a/images/pen.png) here"),
        ("A ![spy](https://evil.example/x.png) here", "A  here"),
        ("[evil](javascript:alert)", "evil"),
    ],
)
def test_text_reads_well_outside_of_its_article(written: str, shown: str) -> None:
    assert inline(written) == shown


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!-- x", "a <b\nc>"])
def test_html_does_not_act(hostile: str) -> None:
    parsed = MarkdownIt("commonmark").parse(quoted(hostile))
    kinds = {token.type for block in parsed for token in (block, *(block.children or ()))}
    assert not kinds & {"html_block", "html_inline"}


@pytest.mark.parametrize("forged", ["See [Ref #2].", "See [2].", "[Ref #2]: x"])
def test_an_article_cannot_refer_to_another_passage_in_our_name(forged: str) -> None:
    assert "[" not in inline(forged).replace("\\[", "")


@pytest.mark.parametrize("text", ["# Not a title", "- no list", "1. no list", "> no quote", "+ x", "2024. A year"])
def test_a_sentence_cannot_begin_a_block(text: str) -> None:
    html = as_html(quotation(units_of("A. " + text)[-1:], "r"))
    assert html.startswith("<blockquote>\n<p>")


def test_a_title_is_no_markdown() -> None:
    assert as_html(plain("*a* [b](c) <d> `e` #\n1")) == "<p>*a* [b](c) &lt;d&gt; `e` # 1</p>\n"


def test_the_name_of_a_table_in_bold_names_nothing_behind_the_table() -> None:
    table, text = blocks_of(citation("**Prices**\n\n| part | price |\n| --- | --- |\n| P-1 | 2 EUR |\n\nCall us."))
    assert ([unit.text for unit in table.terms], text.terms) == (["**Prices**"], ())


def test_lines_that_were_left_out_of_code_show() -> None:
    passage = "```\n" + "".join(f"option {number} does something else\n" for number in range(30)) + "```"
    (block,) = blocks_of(citation(passage))
    first, second, *_, last = block.units
    assert quotation([first, second], "[Ref #1]").startswith("> ```\n> option 0 does")
    assert "\n> …\n> ```\n" in quotation([first, second], "[Ref #1]")
    assert quotation([second], "[Ref #1]").startswith("> ```\n> …\n> option")
    assert quotation([last], "[Ref #1]").endswith("> option 29 does something else\n> ```\n>\n> [Ref #1]")


def test_images_are_not_quoted_as_text() -> None:
    assert quoted(image("a") + "\n\nText.") == "> Text. [Ref #1]"
