"""Documents as a service reads them: its structure stands; pages, images and links are those of our own reading."""

import pytest

from kb_pipeline.errors import EmptyArticleError
from kb_pipeline.records import ImageInfo, PageInfo
from kb_pipeline.steps.pages import split_marks
from kb_pipeline.steps.restore import own_reading, restore_document
from kb_pipeline.steps.restore.document import OwnReading

FIGURE = "manual.pdf/figure-p2-1.png"
PAGES = (
    '<kb-page data-number="1" data-label="i"></kb-page><h1>Manual</h1><p>The gauge shows the pressure of the <a '
    'href="boiler.html">boiler</a>, and it goes on to say that'
    '<kb-page data-number="2" data-label="1"></kb-page> it must never be red.</p>'
    f'<p>Look at the picture of the gauge first.</p><img src="{FIGURE}"><p>Then open the valve slowly.</p>'
    '<kb-page data-number="3" data-label="2"></kb-page><p>Close it again after three minutes exactly.</p>'
)
TEXTS = [
    "# Manual\n\nThe gauge shows the pressure of the boiler, and it goes on to say that",
    "it must never be red.\n\n## Look at the picture of the gauge first.\n\nThen open the valve slowly.",
    "Close it again after three minutes exactly.",
]
IMAGES = {FIGURE: ImageInfo(file=FIGURE, width=300, height=200, sha256="0" * 64)}


def own(html: str = PAGES, left_out: dict[int, str] | None = None, count: int = 3) -> OwnReading:
    pages = [PageInfo(number=number, label=label) for number, label in zip(range(1, count + 1), "i12", strict=False)]
    return own_reading("manual", "manual.pdf", f"<html><body>{html}</body></html>", IMAGES, pages, left_out or {})


def texts_of_pages(markdown: str) -> list[str]:
    paged = split_marks(markdown)
    return [" ".join(paged.of_page(page_break.page).split()) for page_break in paged.breaks]


def test_pages_begin_where_the_texts_of_the_service_do() -> None:
    found = restore_document(own(), TEXTS, "a-service-1")
    assert texts_of_pages(found.markdown) == [
        "# Manual The gauge shows the pressure of the [boiler](boiler.html), and it goes on to say that",
        f"it must never be red. Look at the picture of the gauge first. [[IMG:{FIGURE}]] Then open the valve slowly.",
        "Close it again after three minutes exactly.",
    ]
    assert [(mark.page, mark.label) for mark in split_marks(found.markdown).breaks] == [(1, "i"), (2, "1"), (3, "2")]
    assert (found.unplaced, found.converter) == ((), "a-service-1")


def test_without_a_text_for_each_page_pages_begin_where_our_own_reading_says() -> None:
    whole = restore_document(own(), ["\n\n".join(TEXTS)], "a-service-1")
    paged = restore_document(own(), TEXTS, "a-service-1")
    assert texts_of_pages(whole.markdown) == texts_of_pages(paged.markdown)


def test_a_document_without_pages_has_no_marks() -> None:
    html = "<h1>Guide</h1><p>Read the house rules on the first day.</p>"
    reading = own_reading("guide", "guide.docx", f"<html><body>{html}</body></html>", {}, (), {})
    found = restore_document(reading, ["# Guide\n\nRead the house rules on the first day."], "a-service-1")
    assert found.markdown == "# Guide\n\nRead the house rules on the first day.\n"


def test_running_heads_at_the_edges_of_a_page_are_left_out() -> None:
    texts = [f"Boiler manual\n\n{text}\n\n{number}" for number, text in enumerate(TEXTS, 1)]
    left_out = {number: f"Boiler manual {number}" for number in (1, 2, 3)}
    found = restore_document(own(left_out=left_out), texts, "a-service-1")
    assert texts_of_pages(found.markdown) == texts_of_pages(restore_document(own(), TEXTS, "a").markdown)


def test_a_page_that_is_left_out_as_a_whole_stays_empty() -> None:
    contents = "Manual 1 The gauge 1 The valve 2"
    texts = [contents, *TEXTS[1:]]
    found = restore_document(own(left_out={1: contents}), texts, "a-service-1")
    assert texts_of_pages(found.markdown)[0] == ""


def test_what_only_the_service_can_read_is_the_article() -> None:
    scanned = own('<kb-page data-number="1" data-label="i"></kb-page>', count=1)
    found = restore_document(
        scanned, ["# Service agreement\n\n| Day | Hours |\n| --- | --- |\n| 1 | 8 |"], "a-service-1"
    )
    assert found.markdown.startswith("[[PAGE:1|i]]\n\n# Service agreement\n\n| Day | Hours |")
    assert (found.counts.headings, found.counts.tables) == (1, 1)


def test_a_table_over_two_pages_is_one_and_its_page_begins_in_it() -> None:
    row = "<tr><td>Agents of the night {0}</td><td>{0} hours of work</td></tr>"
    rows = [row.format(number) for number in range(1, 5)]
    mark = '<kb-page data-number="2" data-label="1"></kb-page>'
    html = (
        '<kb-page data-number="1" data-label="i"></kb-page><table><tr><th>Who works</th><th>How long</th></tr>'
        f"{rows[0]}{rows[1]}{rows[2].replace('<td>', '<td>' + mark, 1)}{rows[3]}</table>"
    )
    head = "| Who works | How long |\n| --- | --- |\n"
    lines = [f"| Agents of the night {number} | {number} hours of work |" for number in range(1, 5)]
    found = restore_document(
        own(html, count=2), [head + "\n".join(lines[:2]), head + "\n".join(lines[2:])], "a-service-1"
    )
    assert found.counts.tables == 1
    assert "Agents of the night 3" in texts_of_pages(found.markdown)[1]
    assert "Agents of the night 2" in texts_of_pages(found.markdown)[0]


def test_a_document_in_which_nobody_finds_anything_is_refused() -> None:
    with pytest.raises(EmptyArticleError, match=r"manual: manual\.pdf holds no text and no image"):
        restore_document(own('<kb-page data-number="1" data-label="i"></kb-page>', count=1), ["", " "], "a-service-1")
