"""What `benchmarks.manuals` takes for the truth of a PDF manual, and what it asks about it."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.converters.documents import OURS, READERS
from benchmarks.manuals.__main__ import HALVES, half_of
from benchmarks.manuals.__main__ import READERS as COMPARED
from benchmarks.manuals.questions import questions_of
from benchmarks.manuals.truth import Entry, Kept, Line, Manual, kept_of, letters_of, read_manual, words_of
from kb_pipeline_tests.sources.pdfs import Sheet, Text, pdf

TEXT, LARGE = ("Times", 10), ("Times", 16)


def manual(*pages: str, entries: tuple[Entry, ...] = (), large: str = "") -> Manual:
    """A manual with these pages, of which one text is set in large letters."""
    letters = tuple(map(letters_of, pages))
    styles = tuple(
        tuple(
            LARGE
            if (start := page.find(letters_of(large))) >= 0 and start <= place < start + len(letters_of(large))
            else TEXT
            for place in range(len(page))
        )
        for page in letters
    )
    return Manual(tuple(tuple(map(Line, page.splitlines())) for page in pages), letters, styles, entries)


def test_a_word_of_a_script_without_spaces_is_a_sign() -> None:
    assert words_of("Ein Wort, 設定する") == ["ein", "wort", *"設定する"]


def test_running_heads_and_numbers_of_pages_are_no_words_but_rows_that_differ_in_a_number_are() -> None:
    page = "The clock {0}\nRow 7 of {0} costs 2\nsaid {0} of it\nonce\nmore\nRow {0} is 8 long\nPage {0} of 2"
    told = manual(*(page.format(number) for number in (1, 2))).words
    assert not {"clock", "page"} & told.keys()
    assert told["row"] == 4
    assert told["costs"] == 2


def test_contents_are_no_words() -> None:
    contents = "Things\nClocks . . . . . . 2\nBells . . . . . . 3\nWheels 4\nRow 5\nend\nof it"
    told = manual(contents, "A\nB\n1 Wheels\nTurn them\nE\nF")
    assert told.words == Counter("things row 5 end of it a b 1 wheels turn them e f".split())


def test_a_line_with_wide_gaps_is_a_row_and_an_item_too(tmp_path: Path) -> None:
    cells = [Text(cell, x, 600) for x, cell in ((72, "Road"), (230, "five"), (400, "1.50"))]
    file = tmp_path / "ways.pdf"
    file.write_bytes(pdf(Sheet([Text("Ways of our town", y=700), Text("1. Take a road", y=650), *cells])))
    told = read_manual(file)
    assert told.rows == (("takearoad",), ("road", "five", "150"))
    assert kept_of(told, "1. Take a *road*\n\n| Road | 5 |").rows == (1, 2)


def test_an_entry_counts_if_its_words_stand_on_its_page_and_a_heading_set_as_the_text_is_false() -> None:
    entries = (Entry("1.2 Set the clock", 1), Entry("Elsewhere", 1))
    told = manual(
        "Set the clock\nIt has a dial that turns.\nMind the glass\nof it", entries=entries, large="Mind the glass"
    )
    markdown = "# Set the **clock**\n\n## Mind the glass\n\n## It has a dial\n"
    kept = kept_of(told, markdown)
    assert (kept.headings, kept.false_headings) == ((1, 1), 1)
    assert kept.headings_f1 == pytest.approx(2 / 3)
    assert kept_of(told, "").headings == (0, 1)


def test_words_are_kept_whatever_marks_stand_in_them() -> None:
    told = manual("pressure1 of the\nwell-known bell <num>\nno more")
    assert kept_of(manual("3. bell"), "3. bell").words == (2, 2), "the number of an item is a word"
    markdown = "pressure<sup>1</sup> of the wellknown [bell](#the-bell) \\<num\\> <!-- page 2 -->"
    assert kept_of(told, markdown) == Kept(words=(6, 8), rows=(0, 0), headings=(0, 0), false_headings=0)


def test_headings_and_names_are_asked_for_by_page() -> None:
    below = "\n".join(f"Turn the wheel number {number} to the left until it clicks." for number in range(8))
    name = "the Winder, a Winder and my Winder.\nThe Winder is a wheel."
    told = manual("Cover\nof it", f"2 Setting the clock\n{below}", name, entries=(Entry("2 Setting the clock", 2),))
    asked = questions_of({"clock.pdf": told})
    assert [(one.question, one.page, one.kind) for one in asked] == [
        ("Setting the clock", 2, "heading"),
        ("What is Winder?", 3, "definition"),
    ]
    assert questions_of({"clock.pdf": told, "watch.pdf": told}) == [], "both manuals would be right"


def test_the_name_of_a_manual_alone_decides_who_may_look_at_it() -> None:
    assert {half_of(f"{number}.pdf") for number in range(20)} == set(HALVES)
    assert set(COMPARED) <= set(READERS)
    assert COMPARED[0] == OURS
