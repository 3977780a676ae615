"""Finding sentences in the text of a page."""

from app.library.originals.marking import Quote, SearchablePage


def found(page: str, quote: str, before: str = "", after: str = "") -> list[str]:
    return [page[start:end] for start, end in SearchablePage(page).find(Quote(quote, before, after))]


def test_a_sentence_is_found_over_line_breaks_hyphens_and_ligatures() -> None:
    page = "Open the ﬁrst con-\r\nnection. Choose\r\nthe printer’s tray. Then"

    assert found(page, "Choose the printer's tray.") == ["Choose\r\nthe printer’s tray"]
    assert found(page, "Open the first connection.") == ["Open the ﬁrst con-\r\nnection"]


def test_the_markup_of_a_quote_does_not_matter() -> None:
    page = "Press Ctrl+Z in the Edit menu, see Undo a crop."

    quote = (
        r"Press `Ctrl+Z` in the **Edit** menu, see [Undo a crop](https://docs.example/undo_(1))\. ![x](images/x.png)"
    )
    assert found(page, quote) == ["Press Ctrl+Z in the Edit menu, see Undo a crop"]


def test_of_several_places_with_the_same_words_the_one_with_the_same_surroundings_is_found() -> None:
    page = "Paper: A4. Tray: Off. Duplex: Off. Toner: Off."
    text = SearchablePage(page)

    [(start, _)] = text.find(Quote("Off", before="| Paper | A4 |\n| Duplex | ", after=" |\n| Toner |"))

    assert start == page.index("Off. Toner")


def test_words_within_other_words_are_not_found() -> None:
    assert found("The configuration is done.", "On") == []
    assert found("It is on now.", "On") == ["on"]


def test_of_a_sentence_that_is_interrupted_its_longest_runs_of_words_are_found() -> None:
    page = "Open the rear tray and 12 Chapter 3 pull the paper out slowly."

    assert found(page, "Open the rear tray and pull the paper out slowly.") == [
        "Open the rear tray and",
        "pull the paper out slowly",
    ]


def test_nothing_is_found_of_a_sentence_of_which_less_than_half_is_there() -> None:
    page = "Open the rear tray. Something else is written here."

    assert found(page, "Open the rear tray and pull the paper out slowly until the light stops blinking.") == []
    assert found(page, "Quite another sentence about toner cartridges.") == []


def test_runs_far_apart_do_not_belong_together() -> None:
    page = "Open the rear tray " + "of this and that machine " * 60 + "pull the paper out slowly"

    assert found(page, "Open the rear tray, then pull the paper out slowly.") == ["pull the paper out slowly"]


def test_scripts_without_spaces_are_found_within_a_line() -> None:
    page = "用紙が詰まったときは、後ろのトレイを開きます。次に用紙を引き出します。"

    assert found(page, "後ろのトレイを開きます。") == ["後ろのトレイを開きます"]


def test_a_quote_without_letters_is_not_found() -> None:
    assert found("a --- b", "---") == []
    assert found("", "Open the tray.") == []


def test_the_row_of_a_table_is_found_across_its_cells() -> None:
    page = "Setting\tDefault\r\nKB_HOME\t.kb\r\nKB_INDEX lancedb\r\n"

    assert found(page, "| KB_INDEX | lancedb |") == ["KB_INDEX lancedb"]
