import pytest

from app.grounding.citations import CitationBook, image_at, with_image_urls
from app.grounding.support import mark_used
from kb_pipeline_tests.app.grounding.hits import CROP, MENU, PRINTER_MENU, TRAY, book, hit, on_pages


def test_passages_are_numbered_as_they_are_found_and_keep_their_number() -> None:
    made = CitationBook()
    first, second = hit("a", "layers"), hit("b", "toner")

    assert [citation.number for citation in made.add([first, second])] == [1, 2]
    assert [citation.number for citation in made.add([hit("c", "layers"), first])] == [3, 1]
    assert [citation.chunk_id for citation in made.citations] == ["a", "b", "c"]
    assert made.numbers() == {1, 2, 3}


def test_a_citation_says_where_its_passage_comes_from() -> None:
    made = CitationBook(run_url=lambda run_id: f"http://dagster/runs/{run_id}")

    (citation,) = made.add([hit("a", "layers", "Text.", source_url="https://docs.example/layers")])

    assert (citation.article_id, citation.section, citation.passage) == ("layers", "Steps", "Text.")
    assert citation.source_url == "https://docs.example/layers"
    assert citation.origin.run_url == "http://dagster/runs/run-1"
    assert (citation.origin.converter, citation.origin.embedding_model) == ("local-1", "hashing")
    assert not citation.used


def test_images_are_known_by_name_best_passage_first() -> None:
    assert book().image_urls() == {
        "crop.png": (CROP,),
        "menu.png": (MENU, PRINTER_MENU),
        "tray%20%281%29.png": (TRAY,),
    }


def test_image_urls_are_percent_encoded_and_lead_below_the_service() -> None:
    assert image_at("my printer/images/tray (1).png").url == TRAY
    assert with_image_urls("[Image: a](images/a.png) and [b](images.html)", "my printer") == (
        "[Image: a](/api/images/my%20printer/images/a.png) and [b](images.html)"
    )


def test_a_citation_of_a_document_names_its_file_and_its_pages_by_number_and_by_what_is_printed() -> None:
    (citation,) = CitationBook().add([on_pages("1", "user guide.pdf", "One. Two.", (0, 3, "iii"), (5, 4))])

    assert (citation.kind, citation.filename) == ("document", "user guide.pdf")
    assert (citation.pages, citation.page_labels) == ((3, 4), ("iii", "4"))
    assert citation.document_url == "/api/documents/user%20guide/user%20guide.pdf#page=3"
    assert (citation.page_at(0), citation.page_at(5), citation.label_of(3)) == (3, 4, "iii")


def test_a_label_of_ten_thousand_characters_is_cut() -> None:
    (citation,) = CitationBook().add([on_pages("1", "a.pdf", "One.", (0, 1, "x" * 10_000))])

    assert citation.page_labels == ("x" * 40,)


def test_the_files_of_documents_are_not_linked_if_readers_may_not_open_them() -> None:
    (citation,) = CitationBook(links_documents=False).add([on_pages("1", "a.pdf", "One.", (0, 1))])

    assert (citation.pages, citation.document_url) == ((1,), None)


def test_page_breaks_move_with_the_urls_of_the_images_before_them() -> None:
    content = "[a](images/a.png) First. [b](images/b.png) Second."
    (citation,) = CitationBook().add([on_pages("1", "a.pdf", content, (0, 1), (content.index("Second"), 2))])

    assert citation.passage[citation.page_breaks[1].offset :] == "Second."


PRINTER = "Open the rear tray. Pull the paper out slowly. Close the tray again."


def test_each_quote_has_its_page_and_the_link_leads_to_that_of_the_one_that_answers() -> None:
    found = on_pages("1", "printer.pdf", PRINTER, (0, 7), (PRINTER.index("Pull"), 8), (PRINTER.index("Close"), 9))
    answer, passages = "Pull the paper out slowly. Close the tray. [Ref #1]", CitationBook().add([found])

    (cited,) = mark_used(answer, passages, "What do I do with the tray?")

    assert cited.quotes == ("Pull the paper out slowly.", "Close the tray again.")
    assert cited.quote_pages == (8, 9)
    assert cited.answer_page == 9
    assert cited.document_url == "/api/documents/printer/printer.pdf#page=9"
    assert [each.answer_page for each in mark_used(answer, passages)] == [8], "the first, if nothing tells them apart"


def test_the_link_leads_to_what_is_quoted_first_whatever_the_rest_of_the_section_says() -> None:
    content = "Pull the paper out slowly.\n\nA tray of paper is a part of the printer."
    found = on_pages("1", "printer.pdf", content, (0, 7), (content.index("A tray"), 8))
    answer = "> Pull the paper out slowly. [Ref #1]\n\n**More**\n\n> A tray of paper is a part of the printer. [Ref #1]"

    (cited,) = mark_used(answer, CitationBook().add([found]), "How do I get paper out of the tray of the printer?")

    assert (cited.quote_pages, cited.pages_for_readers) == ((7, 8), (7, 8))


@pytest.mark.parametrize(("turn", "page"), [("Pull the", 8), ("slowly", 7)])
def test_a_quote_that_goes_on_over_a_page_has_the_page_on_which_most_of_it_stands(turn: str, page: int) -> None:
    at = PRINTER.index(turn) + (len(turn) if page == 8 else 0)
    found = on_pages("1", "printer.pdf", PRINTER, (0, 7), (at, 8))

    (cited,) = mark_used("> Pull the paper out slowly. [Ref #1]", CitationBook().add([found]))

    assert cited.quote_pages == (page,)


def test_what_a_passage_says_several_times_is_on_the_page_of_what_is_quoted_before_it() -> None:
    content = "Example:\n\nOpen the tray.\n\nPull the paper out slowly.\n\nExample:\n\nPull with both hands."
    found = on_pages("1", "printer.pdf", content, (0, 7), (content.index("Pull the"), 8))

    (cited,) = mark_used(
        "> Pull the paper out slowly.\n>\n> Example:\n>\n> Pull with both hands. [Ref #1]", CitationBook().add([found])
    )

    assert cited.quotes == ("Pull the paper out slowly.", "Example:", "Pull with both hands.")
    assert cited.quote_pages == (8, 8, 8)


def test_the_json_of_a_citation_of_an_article_says_nothing_about_documents() -> None:
    (citation,) = mark_used("Text. [Ref #1]", CitationBook().add([hit("1", "layers", "Text.")]))

    assert set(citation.model_dump()) == {
        *("chunk_id", "article_id", "title", "section", "heading_path", "passage", "images"),
        *("number", "source_url", "origin", "used", "quotes"),
    }
