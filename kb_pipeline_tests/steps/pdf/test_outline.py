"""What is a heading: the titles of the outline, else lines that look like headings."""

from kb_pipeline.steps.pdf.model import PdfOutlineEntry, Style
from kb_pipeline.steps.pdf.outline import squash
from kb_pipeline.steps.pdf.study import study
from kb_pipeline_tests.steps.pdf.sheet_of_paper import WIDE, Paper, html_of

BOLD = {"bold": True, "font": "Bold"}


def outline(*titles):
    return tuple(PdfOutlineEntry(title, level, page) for level, title, page in titles)


def book():
    return outline((1, "Roads", 1), (2, "Surfaces", 1), (1, "Ships", 2))


def test_titles_are_found_on_their_pages_with_their_levels():
    first = Paper(1).line("1 Roads", size=16.0).lines(WIDE).line("1.1 Surfaces", gap=2).lines(WIDE)
    html = html_of(first, Paper(2).line("2 Ships", size=16.0).lines(WIDE), outline=book())
    assert "<h1>1 Roads</h1>" in html
    assert "<h2>1.1 Surfaces</h2>" in html
    assert "<h1>2 Ships</h1>" in html


def test_large_text_that_the_outline_lacks_is_no_heading():
    first = Paper(1).line("1 Roads", size=16.0).lines(WIDE).line("1.1 Surfaces", gap=2).lines(WIDE)
    second = Paper(2).line("2 Ships", size=16.0).lines(WIDE).line("Look here", gap=3, size=14.0).lines(WIDE)
    assert "<p>Look here</p>" in html_of(first, second, outline=book())


def test_a_title_over_two_lines():
    paper = Paper().line("The long way that leads", size=16.0).line("over the hills", size=16.0).lines(WIDE)
    assert "<h1>The long way that leads over the hills</h1>" in html_of(
        paper, outline=outline((1, "The long way that leads over the hills", 1))
    )


def test_a_title_in_one_line_with_its_text():
    paper = Paper().lines(WIDE)
    paper.put("Roads", 50, paper.y + 20, Style(font="Bold", bold=True))
    for place, word in enumerate("lead to towns".split()):
        paper.put(word, 82 + 35 * place, paper.y + 20, Style(font="Text"))
    html = html_of(paper, outline=outline((1, "Roads", 1)))
    assert "<h1>Roads</h1>" in html
    assert "<p>lead to towns</p>" in html


def test_the_line_that_counts_chapters_is_left_out():
    paper = Paper().line("CHAPTER", size=9.0, **BOLD).line("FOUR", size=9.0, **BOLD).line("ROADS", gap=3, size=20.0)
    html = html_of(paper.lines(WIDE), outline=outline((1, "Roads", 1)))
    assert html.startswith("<h1>ROADS</h1>")


def test_a_title_that_no_page_shows_is_told():
    known = study([Paper(1).lines(WIDE).page()], outline((1, "Lost", 1)))
    assert [entry.title for entry in known.missing] == ["Lost"]


class TestWithoutOutline:
    def test_larger_lines_are_headings_by_their_size(self):
        paper = (
            Paper().line("Roads", size=20.0).lines(WIDE, WIDE).line("Surfaces", gap=2.5, size=14.0).lines(WIDE, WIDE)
        )
        html = html_of(paper)
        assert "<h1>Roads</h1>" in html
        assert "<h2>Surfaces</h2>" in html

    def test_a_bold_line_apart_from_the_text_is_a_heading(self):
        paper = Paper().lines(WIDE, WIDE).line("Surfaces", gap=2.5, **BOLD).lines(WIDE)
        assert "<h1>Surfaces</h1>" in html_of(paper)

    def test_a_caption_is_none(self):
        paper = Paper().lines(WIDE, WIDE).line("Figure 3. A road", gap=2.5, **BOLD).lines(WIDE)
        assert "<h1>" not in html_of(paper)

    def test_a_bold_sentence_is_none(self):
        assert "<h1>" not in html_of(Paper().lines(WIDE, WIDE).line("Never do this.", gap=2.5, **BOLD).lines(WIDE))


def test_squash_compares_letters_only():
    assert squash("The “ﬁrst” way — on") == squash("the first way-on") == "thefirstwayon"
