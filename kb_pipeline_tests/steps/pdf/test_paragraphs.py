"""Which lines make a paragraph, an item, a term, or code."""

import pytest

from kb_pipeline.steps.pdf.model import Box, Drawing
from kb_pipeline_tests.steps.pdf.sheet_of_paper import WIDE, Paper, html_of

FULL = WIDE


def test_a_line_goes_on_if_its_first_word_had_no_room_before():
    assert html_of(Paper().lines(FULL, "and ends here.")) == f"<p>{FULL} and ends here.</p>"


def test_a_line_that_ends_early_ends_the_paragraph():
    paper = Paper().lines(FULL, "and ends.").line("Another one begins right below.").line(FULL)
    assert html_of(paper).startswith(f"<p>{FULL} and ends.</p><p>Another one begins right below.</p>")


def test_a_wider_gap_parts_paragraphs():
    assert html_of(Paper().lines(FULL).lines(FULL)) == f"<p>{FULL}</p><p>{FULL}</p>"


def test_an_indented_first_line_belongs_to_its_paragraph():
    paper = Paper().line(FULL[5:], x=75).line(FULL).line("the end.")
    assert html_of(paper).count("<p>") == 1


def test_a_paragraph_goes_on_over_the_page_with_the_mark_inside():
    first = Paper(1).lines(FULL, FULL)
    second = Paper(2).line("goes on here and ends.").lines(FULL, "Another.")
    assert f"{FULL} |2|goes on here and ends.</p>" in html_of(first, second, marks=True)


def test_a_finished_paragraph_does_not_go_on():
    first = Paper(1).lines(FULL, "and ends.")
    second = Paper(2).lines("Here is another one.")
    assert html_of(first, second, marks=True).endswith("and ends.</p>|2|<p>Here is another one.</p>")


def test_bullets_make_a_list_and_deeper_ones_a_list_inside():
    paper = Paper().lines("Take:").line("• bread", 60).line("• fruit:", 60).line("– apples", 80).line("– pears", 80)
    paper.line("• milk", 60).lines(FULL)
    assert html_of(paper) == (
        "<p>Take:</p><ul><li><p>bread</p></li><li><p>fruit:</p><ul><li><p>apples</p></li><li><p>pears</p></li></ul>"
        f"</li><li><p>milk</p></li></ul><p>{FULL}</p>"
    )


def test_numbers_make_an_ordered_list_that_may_begin_late():
    paper = Paper().lines(FULL).line("3. Stir", 60, gap=2).line("4. Bake", 60)
    assert html_of(paper).endswith('<ol start="3"><li><p>Stir</p></li><li><p>Bake</p></li></ol>')


def test_items_keep_their_numbers_where_these_do_not_go_on_by_one():
    paper = Paper().lines(FULL).line("1. Stir", 60, gap=2).line("4. Bake", 60).line("5. Eat", 60)
    assert html_of(paper).endswith('<ol><li><p>Stir</p></li><li value="4"><p>Bake</p></li><li><p>Eat</p></li></ol>')


def test_a_paragraph_below_the_text_of_an_item_belongs_to_it():
    paper = Paper().line("• bread", 60).line("More about bread.", 70, gap=2).lines(FULL)
    assert html_of(paper) == f"<ul><li><p>bread</p><p>More about bread.</p></li></ul><p>{FULL}</p>"


def test_an_item_on_the_next_page_has_its_mark_inside():
    html = html_of(Paper(1).lines(FULL).line("• one", 60), Paper(2).line("• two", 60).lines(FULL), marks=True)
    assert "<li><p>one</p></li><li>|2|<p>two</p></li></ul>" in html


def test_a_short_bold_line_above_an_indented_text_is_a_term():
    paper = Paper().lines(FULL).line("Menus", gap=2, bold=True, font="Bold").line("hold commands.", 70)
    paper.line("Toolbars", bold=True, font="Bold").line("hold buttons.", 70)
    assert html_of(paper).endswith(
        "<dl><dt><strong>Menus</strong></dt><dd><p>hold commands.</p></dd>"
        "<dt><strong>Toolbars</strong></dt><dd><p>hold buttons.</p></dd></dl>"
    )


def test_discs_that_are_drawn_before_lines_are_bullets():
    paper = Paper().lines(WIDE)
    for number in range(7):
        paper.line(f"item {number}", 70)
        paper.drawings.append(Drawing(Box(60, paper.y - 5, 64, paper.y - 1), filled=True))
    assert html_of(paper).count("<li>") == 7


def test_a_dash_inside_of_text_is_no_mark():
    assert "<li>" not in html_of(
        Paper().lines(FULL, "- and this goes on with the sentence above it.".replace("- ", "-"))
    )


class TestCode:
    def test_lines_of_a_fixed_font_are_code_with_their_indentation_and_blank_lines(self):
        paper = Paper().lines(FULL).code("if x:", "    go()").line("end", 70, gap=2.4, font="Mono", fixed_pitch=True)
        assert html_of(paper).endswith("<pre><code>if x:\n    go()\n\nend</code></pre>\n")

    def test_words_of_a_fixed_font_in_prose_are_inline_code(self):
        paper = Paper().line("Call").line("now", 120, y=112)
        paper.put("go()", 80, 112, paper.words[0].style.__class__(font="Mono", fixed_pitch=True))
        assert "<code>go()</code>" in html_of(paper)

    def test_a_wrapped_line_of_code_words_stays_in_its_sentence(self):
        paper = (
            Paper().lines(FULL).line("/usr/share/doc/name", font="Mono", fixed_pitch=True).line("holds it.", gap=1.2)
        )
        assert "<pre>" not in html_of(paper)

    def test_code_goes_on_over_the_page(self):
        html = html_of(Paper(1).lines(FULL).code("one", "two"), Paper(2).code("three").lines(FULL), marks=True)
        assert "<pre><code>one\ntwo\n|2|three</code></pre>" in html

    def test_another_distance_parts_two_blocks(self):
        paper = Paper().lines(FULL).code("one", "two").line("three", 70, gap=1.7, font="Mono", fixed_pitch=True)
        assert html_of(paper).count("<pre>") == 2

    def test_the_sign_of_a_wrapped_line_is_taken_away(self):
        paper = Paper().lines(FULL).code("a very long␣", "˓→li", "˓→ne")
        assert "<pre><code>a very long line</code></pre>" in html_of(paper)

    def test_a_star_in_code_is_no_item(self):
        assert "<pre><code>* fixed\n* mended</code></pre>" in html_of(Paper().lines(FULL).code("* fixed", "* mended"))


@pytest.mark.parametrize(
    "text", ["A. Lovelace and B. Sample", "J. Smith signs.", "I. Introduction to it", "(c) The shop", "a) alone"]
)
def test_a_letter_that_begins_a_line_by_itself_marks_no_item(text):
    assert html_of(Paper().lines(FULL).line(text, gap=3).lines(FULL)) == f"<p>{FULL}</p><p>{text}</p><p>{FULL}</p>"


@pytest.mark.parametrize(
    "marks", [("a)", "b)", "c)"), ("(A)", "(B)"), ("i.", "ii.", "iii."), ("I.", "II."), ("iv)", "v)")]
)
def test_letters_that_follow_each_other_make_a_list(marks):
    paper = Paper().lines(FULL)
    for mark in marks:
        paper.line(f"{mark} word", 60)
    assert html_of(paper).endswith("<ol>" + "</li>".join(["<li><p>word</p>"] * len(marks)) + "</li></ol>")


def test_letters_that_may_be_initials_stay_readable():
    paper = Paper().lines(FULL).line("A. Lovelace", 60).line("B. Sample", 60)
    assert html_of(paper).endswith("<ul><li><p>A. Lovelace</p></li><li><p>B. Sample</p></li></ul>")


def test_initials_below_each_other_are_no_list():
    paper = Paper().lines(FULL).line("J. Smith signs.", gap=3).line("I. Newton signs, too.", gap=3)
    assert "<li>" not in html_of(paper)
