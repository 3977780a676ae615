from app.grounding.citations import CitationBook, image_at, with_image_urls
from kb_pipeline_tests.app.grounding.hits import CROP, MENU, PRINTER_MENU, TRAY, book, hit


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
