"""Sources in words: written from references, and read back."""

import pytest

from app.grounding.citations import CitationBook
from app.grounding.source_style import SourceStyle, in_source_style, without_sources, write_source
from app.grounding.stream import Grounder
from app.schema.passages import Citation
from kb_pipeline_tests.app.grounding.hits import ground, hit, on_pages
from kb_pipeline_tests.growth import grows_in_proportion

MANUAL = "Open the rear tray. Pull the paper out slowly. Close the tray again."


def documents() -> CitationBook:
    book = CitationBook()
    book.add(
        [
            on_pages("1", "manual.pdf", MANUAL, (0, 12), (MANUAL.index("Close"), 13)),
            on_pages("2", "manual.pdf", "Replace the toner.", (0, 40, "A-3")),
            on_pages("3", "notes (final).docx", "The limit is ten.", *()),
            hit("4", "layers", "Choose Layer. (Source: Eurostat 2019)"),
        ]
    )
    return book


def citations(book: CitationBook | None = None) -> tuple[Citation, ...]:
    return (book or documents()).citations


# --- writing -------------------------------------------------------------------------------------


def test_a_source_names_file_and_pages() -> None:
    manual, *_ = citations()

    assert write_source(manual, (12,)) == "(Source: manual.pdf, S. 12)"
    assert write_source(manual) == "(Source: manual.pdf, S. 12-13)"
    assert write_source(manual, (15, 12, 13, 13)) == "(Source: manual.pdf, S. 12-13, 15)"


def test_a_source_without_pages_names_the_section_and_an_article_its_title() -> None:
    *_, notes, layers = citations()

    assert write_source(notes) == '(Source: notes (final).docx, section "Steps")'
    assert write_source(layers) == "(Source: Layers)"


def test_a_source_in_a_workbook_names_the_section_because_only_we_count_its_pages() -> None:
    book = CitationBook()
    book.add([on_pages("1", "prices.xlsx", "The seal costs 12.", (0, 4, "Pumps, rows 501-1000"))])
    assert write_source(*book.citations) == '(Source: prices.xlsx, section "Steps")'


def test_a_name_means_nothing_in_markdown() -> None:
    (named,) = citations_of(on_pages("1", "a[1]*`b`<i>.pdf", "Text.", (0, 1)))

    assert write_source(named) == r"(Source: a\[1\]\*\`b\`\<i\>.pdf, S. 1)"


def citations_of(*hits: object) -> tuple[Citation, ...]:
    book = CitationBook()
    book.add(hits)  # type: ignore[arg-type]
    return book.citations


def test_each_reference_becomes_the_source_of_the_sentence_before_it() -> None:
    text = "Open the rear tray. [Ref #1] Close the tray again. [Ref #1] Replace the toner. [Ref #2]"

    assert in_source_style(text, citations()) == (
        "Open the rear tray. (Source: manual.pdf, S. 12) Close the tray again. (Source: manual.pdf, S. 13) "
        "Replace the toner. (Source: manual.pdf, S. 40)"
    )


def test_references_beside_each_other_become_sources_beside_each_other_each_once() -> None:
    book = documents()
    book.add([on_pages("5", "manual.pdf", "Open the rear tray.", (0, 12))])

    assert in_source_style("Open the rear tray.[Ref #1][Ref #5][Ref #4]", book.citations) == (
        "Open the rear tray. (Source: manual.pdf, S. 12) (Source: Layers)"
    )


def test_a_reference_in_code_stays() -> None:
    assert in_source_style("Write `[Ref #1]`.", citations()) == "Write `[Ref #1]`."


def test_the_text_does_not_depend_on_how_it_arrives_and_places_are_known() -> None:
    text = "Open the rear tray. [Ref #1] Close the tray again.[Ref #1]\n\n[Re [Ref #2]"
    whole = in_source_style(text, citations())
    for size in (1, 2, 3, 7):
        style = SourceStyle(citations)
        pieces = [style.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert "".join([*pieces, style.finish()]) == whole
        assert [whole[start:end] for start, end, _ in style.placed] == [
            "(Source: manual.pdf, S. 12)",
            "(Source: manual.pdf, S. 13)",
            "(Source: manual.pdf, S. 40)",
        ]
        assert [number for *_, number in style.placed] == [1, 1, 2]


def test_an_answer_of_many_references_is_written_in_proportion_to_its_length() -> None:
    line = "Open the tray. `[Ref #1]` [Ref #1]\n"
    cited = citations()

    def by_line(lines: int) -> None:
        style = SourceStyle(lambda: cited)
        for _ in range(lines):
            style.feed(line)

    assert grows_in_proportion(by_line, 1_200)


def test_written_sources_can_be_taken_out_again() -> None:
    text = in_source_style("Open the rear tray. [Ref #1] It is ten. [Ref #3] Choose Layer. [Ref #4]", citations())

    assert without_sources(text) == "Open the rear tray. It is ten. Choose Layer."


# --- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Open it (Source: manual.pdf, S. 12).", "Open it [Ref #1]."),
        ("Open it (Source: manual.pdf, S. 12-13).", "Open it [Ref #1]."),
        ("Open it (source: MANUAL.pdf, p. 13)", "Open it [Ref #1]"),
        ("Open it (Quelle: manual.pdf, Seite 12)", "Open it [Ref #1]"),
        ("Open it (Sources: manual.pdf, pages 12, 40)", "Open it [Ref #1][Ref #2]"),
        ("Open it (Source: manual.pdf, S. 12; manual.pdf, S. A-3)", "Open it [Ref #1][Ref #2]"),
        ("Open it (Source: manual.pdf)", "Open it [Ref #1]"),
        ('Ten (Source: notes (final).docx, section "Steps")', "Ten [Ref #3]"),
        ("Choose it (Source: Layers)", "Choose it [Ref #4]"),
        ("Open it (Source: manual.pdf, S. 12) (Source: manual.pdf, S. 40)", "Open it [Ref #1] [Ref #2]"),
        ("Open it (Source: 1)", "Open it [Ref #1]"),
    ],
)
def test_a_source_that_a_passage_bears_out_becomes_a_reference(written: str, expected: str) -> None:
    assert ground(written, documents()) == expected


@pytest.mark.parametrize(
    "written",
    [
        "(Source: manual.pdf, S. 14)",
        "(Source: manual.pdf, S. 0)",
        "(Source: other.pdf, S. 12)",
        "(Source: other.pdf)",
        '(Source: notes (final).docx, section "Prices")',
        "(Source: notes (final).docx, S. 1)",
        "(Source: Wikipedia)",
        "(Source: manual.pdf, S. 99999999999)",
    ],
)
def test_a_source_that_no_passage_bears_out_is_removed(written: str) -> None:
    assert ground(f"Open it {written}.", documents()) == "Open it."


def test_a_source_that_is_never_closed_is_removed_with_its_line() -> None:
    assert ground("Open it (Source: other.pdf, S. 12\nThen close it.", documents()) == "Open it\nThen close it."


def test_a_source_that_an_article_names_itself_stays() -> None:
    assert ground("Choose Layer. (Source: Eurostat 2019)", documents()) == "Choose Layer. (Source: Eurostat 2019)"


def test_other_words_in_brackets_stay() -> None:
    text = "Open it (sourced from the tray) (source) (so: it) and (s"

    assert ground(text, documents()) == text


@pytest.mark.slow("builds a whole knowledge base")
def test_sources_are_read_wherever_the_stream_is_cut() -> None:
    text = "Open it (Source: manual.pdf, S. 12) and (Source: other.pdf, S. 1) so (Source: Eurostat 2019)."
    for cut in range(len(text) + 1):
        grounder = Grounder(documents())
        assert grounder.feed(text[:cut]) + grounder.feed(text[cut:]) + grounder.finish() == (
            "Open it [Ref #1] and so (Source: Eurostat 2019)."
        )


def test_what_is_written_is_read_back() -> None:
    book = documents()
    text = "Open the rear tray. [Ref #1] Ten. [Ref #3] Choose. [Ref #4] Toner. [Ref #2]"

    assert ground(in_source_style(text, book.citations), book) == text
