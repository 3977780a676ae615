"""Published question sets are counted as their authors count, and their documents become articles."""

import pytest

from app.language.words import words
from app.schema.answers import ChatAnswer
from app.schema.passages import Citation, CitationOrigin
from benchmarks.public.cited_pages import Cited, cited_pages, matched, telling_pages
from benchmarks.public.sections_found import article_id_of, article_of, distinct, measures, section_key, sections_in
from kb_pipeline_tests.app.grounding.hits import hit

TRUTH = "Hearing aids are covered. [plan.pdf#page=7][plus.pdf#page=30]"


def citation(number: int, pages: tuple[int, ...]) -> Citation:
    return Citation(
        number=number,
        chunk_id=f"c{number}",
        article_id="plan.pdf",
        title="Plan",
        section="Hearing",
        heading_path=("Hearing",),
        passage="Hearing aids are covered.",
        filename="plan.pdf",
        pages=pages,
        origin=CitationOrigin(run_id="r", converter="c", content_hash="h", embedding_model="m"),
    )


@pytest.mark.parametrize(
    ("cited", "share"),
    [
        ([Cited("plan.pdf", 7)], 0.5),
        ([Cited("plan.pdf", 7), Cited("plus.pdf", 30), Cited("plus.pdf", 1)], 1.0),
        ([Cited("plan.pdf", 70)], 0.0),
        ([], 0.0),
    ],
)
def test_a_citation_matches_if_file_and_page_are_those_of_the_truth(cited: list[Cited], share: float) -> None:
    assert matched(TRUTH, cited) == share


def test_what_is_referred_to_behind_the_fold_counts_only_if_that_is_asked_for() -> None:
    own = "Hearing aids are covered. [Ref #1]\n\n"
    answer = ChatAnswer(
        answer=f"{own}Tests, too. [Ref #2]",
        citations=(citation(1, (7, 8)), citation(2, (9,)), citation(3, (10,))),
        answered_by="extractive",
        folded=(len(own), len(own) + 20),
    )
    assert cited_pages(answer, folded=False) == [Cited("plan.pdf", 7), Cited("plan.pdf", 8)]
    assert cited_pages(answer, folded=True, one_each=True) == [Cited("plan.pdf", 7), Cited("plan.pdf", 9)]


def test_the_limit_is_the_page_with_the_rarest_words_of_the_true_answer() -> None:
    held = {1: "the hearing plan", 2: "the plan for hearing aids", 3: "the plan"}
    pages = {Cited("plan.pdf", number): frozenset(words(text)) for number, text in held.items()}
    assert telling_pages(TRUTH, pages, 1) == [Cited("plan.pdf", 2)]


def test_recall_precision_and_reciprocal_rank_are_those_of_the_links() -> None:
    assert measures(["a", "b", "c"], ["b", "d"]) == (1 / 2, 1 / 3, 1 / 2)
    assert measures([], ["b"]) == (0.0, 0.0, 0.0)


def test_a_section_that_is_found_twice_takes_one_place() -> None:
    assert distinct(["a", None, "a", "b", "c"], 2) == ["a", "b"]


@pytest.mark.parametrize(
    ("passage", "headings"),
    [
        ("## Text delta\n\nWords.\n\n## Input \\_json\\_ delta\n\nMore.", ["Text delta", "Input _json_ delta"]),
        ("The second part of a long section.", ["lamp"]),
    ],
)
def test_small_sections_of_one_passage_are_found_together(passage: str, headings: list[str]) -> None:
    chunk = hit("1", "lamp", passage).chunk.model_copy(update={"section_header": "lamp"})
    assert sections_in(chunk) == [section_key("lamp", heading) for heading in headings]


def test_a_page_becomes_an_article_whose_text_is_not_markup() -> None:
    link = "https://docs.example.com/en/docs/tool-use#next-steps"
    sections = [{"chunk_link": link, "chunk_heading": "Next steps", "text": "Next steps\n\n\n# not a heading\n<tag>\n"}]
    assert article_id_of(link) == "docs-tool-use"
    assert article_of(sections) == "# Tool use\n\n## Next steps\n\n\\# not a heading\n\n\\<tag\\>\n"
