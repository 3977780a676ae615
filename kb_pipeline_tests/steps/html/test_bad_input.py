import pytest

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import markdown


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 5000 + "deep" + "</div>" * 5000 + "<p>after</p>",
        "<font>" * 5000 + "deep after",
        "<ul><li>" * 3000 + "deep" + "</ul>" * 3000 + "after",
        "<blockquote>" * 500 + "deep" + "</blockquote>" * 500 + "after",
        "<table><tr><td>a<td>b<tr><td>c<td>" * 100 + "deep after",
    ],
)
def test_no_nesting_is_too_deep(html: str) -> None:
    text = markdown(html)
    assert "deep" in text
    assert "after" in text


@pytest.mark.slow("tries what is hostile at the sizes that count")
@pytest.mark.parametrize(
    "part",
    [
        "<b>x</b> ",
        "<a href=x>y</a> ",
        "<a name=x></a>w ",
        "<code>x</code> ",
        "a<br>",
        "<dt>a<dd>b",
        "<img src=x.png> w",
        "` `` ",
        "&lt;a *",
        "<div class=note>x</div>",
        "<p>x</p>",
        "<hr>",
        "<br>",
        "<img src=x alt='a b'>",
        "<pre>\n",
        "&#32;",
    ],
)
def test_the_time_grows_with_the_page_only(part: str) -> None:
    assert grows_in_proportion(lambda times: markdown("<p>x " + part * times), 6_400)


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_spans_cannot_make_a_table_out_of_nothing() -> None:
    cells = "<td colspan=1000 rowspan=1000>a" * 10
    assert len(markdown(f"<table>{f'<tr>{cells}' * 300}</table>")) < 2_000_000


def test_a_table_that_is_too_wide_to_write_is_refused() -> None:
    assert markdown("<table>" + ("<tr>" + "<td>a" * 1000) * 2).count("a") == 2000
    with pytest.raises(UnreadableArticleError, match="a table has 1,001 columns, at most 1,000"):
        markdown("<table>" + ("<tr>" + "<td>a" * 1001) * 2)


def test_items_in_a_cell_are_numbered_list_by_list() -> None:
    items = "<ol>" + "<li>a" * 3_000 + "</ol><ol><li>b<ul><li>c</ul><li>d</ol>"
    text = markdown(f"<table><tr><td>x<td>{items}<tr><td>y<td>z</table>")
    assert "3000. a<br>1. b<br>• c<br>2. d" in text


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_a_page_of_twenty_megabytes() -> None:
    section = "<h2>Head</h2><p>" + "lorem ipsum " * 80 + "</p><ul><li>one<li>two</ul>"
    assert markdown(section * 2_000).count("## Head") == 2_000


def test_an_article_of_sixty_thousand_words() -> None:
    assert markdown("<p>" + "word " * 60_000).count("word") == 60_000


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<p>b <b>c", "a\n\nb **c**"),
        ("<h1>a</h1><h1>b</h1>", "# a\n\n# b"),
        ("just text", "just text"),
        ("<?xml version='1.0'?><html><head><script src='x'/><title/></head><body><a id='x'/>t <dfn/>u</body>", "t u"),
        ("<p>a</p><script>never closed", "a"),
        ("<p>a</p><!-- never closed", "a"),
        ("<td>a<td>b", "a\n\nb"),
        ("<dd>a<dt>b", "a\n\n**b**"),
        ("<p " + "a=b " * 1000 + ">x", "x"),
        ("<body><p>a</body></html><p>b", "a\n\nb"),
        ("<p>&#xE000;0&#xE001; \ue0001\ue001", "0 1"),
    ],
)
def test_faulty_markup_is_read_as_meant(html: str, expected: str) -> None:
    assert markdown(html) == expected
