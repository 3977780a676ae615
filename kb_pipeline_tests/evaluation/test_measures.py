"""What counts as found, and the measures made of it."""

import pytest

from kb_pipeline.evaluation.asking import Wording, confidence_of, outcome_of
from kb_pipeline.evaluation.measures import mean_scores, scores_of, with_values
from kb_pipeline.evaluation.questions import EvaluationQuestion
from kb_pipeline.evaluation.records import QuestionOutcome
from kb_pipeline.records import Chunk, PageBreak, SearchHit
from kb_pipeline_tests.evaluation.known import outcome


def hit(article_id: str, content: str = "words", *images: str, **scores: float) -> SearchHit:
    chunk = Chunk(
        id=f"{article_id}-{content}",
        article_id=article_id,
        chunk_index=0,
        title="Title",
        section_header="",
        heading_path=(),
        content=content,
        image_urls=tuple(f"{article_id}/images/{name}.png" for name in images),
        content_hash="",
    )
    return SearchHit(chunk=chunk, score=1.0, **scores)


def found(hits: list[SearchHit], **fields: object) -> QuestionOutcome:
    asked = EvaluationQuestion.model_validate({"question": "Where?", "article_id": "a", **fields})
    return with_values([outcome_of(Wording(asked, "set", "Where?", paraphrase=False), hits)])[0]


def test_each_article_counts_once_at_its_best_chunk() -> None:
    one = found([hit("b", "1"), hit("b", "2"), hit("c"), hit("a"), hit("a", "2")])
    assert one.article_rank == 3
    assert one.values == {"article@1": 0, "article@5": 1, "MRR@10": pytest.approx(1 / 3)}


def test_another_article_can_be_right_as_well() -> None:
    assert found([hit("b")], also_in=("b",)).values["article@1"] == 1


def test_what_is_not_found_counts_nothing() -> None:
    for hits in ([], [hit("b")]):
        one = found(hits, answer_span="words", image="a.image")
        assert set(one.values.values()) == {0}
        assert (one.article_rank, one.span_rank, one.image_rank) == (None, None, None)


@pytest.mark.parametrize(
    ("span", "content", "holds"),
    [
        ("choose Save view", "Then choose **Save view**.", True),
        ("choose save view", "then choose\n> Save\n> view", True),
        ("tags contain delivery", "tags contain “delivery”", True),
        ("the ﬁle 10", "the file 10", True),
        ("Save view", "Save views", False),
        ("Save view", "Save a view", False),
        ("other", "[words](other.html)", False),
    ],
)
def test_the_answer_is_its_words_in_their_order_whatever_the_markup(span: str, content: str, holds: bool) -> None:
    assert found([hit("a", content)], answer_span=span).values["span@5"] == holds


def test_the_answers_words_in_another_article_are_no_answer() -> None:
    one = found([hit("b", "the words"), hit("a", "else")], answer_span="words")
    assert one.values["span@5"] == 0


def test_only_the_first_five_chunks_are_looked_at_for_words_and_pictures() -> None:
    others = [hit("a", str(number)) for number in range(5)]
    one = found([*others, hit("a", "the words", "form")], answer_span="words", image="form.image")
    assert (one.span_rank, one.image_rank) == (6, 6)
    assert (one.values["span@5"], one.values["image@5"]) == (0, 0)


def test_a_chunk_is_right_for_every_page_on_which_it_stands() -> None:
    on_pages = hit("a", "two pages of text")
    breaks = (PageBreak(offset=0, page=4), PageBreak(offset=9, page=5))
    on_pages = on_pages.model_copy(update={"chunk": on_pages.chunk.model_copy(update={"page_breaks": breaks})})
    for page, is_right in ((3, False), (4, True), (5, True)):
        assert found([hit("a"), on_pages], page=page).values["page@5"] == is_right
    assert found([hit("a"), on_pages], page=5).page_rank == 2
    assert "page@5" not in found([on_pages]).values


@pytest.mark.parametrize("image", ["form.image", "Form.PNG", "pictures/form.gif"])
def test_the_screenshot_is_known_by_the_name_it_is_served_under(image: str) -> None:
    assert found([hit("a", "words", "other", "form")], image=image).values["image@5"] == 1
    assert found([hit("a", "words", "reform")], image=image).values["image@5"] == 0


def test_a_question_without_words_or_picture_is_not_measured_by_them() -> None:
    assert found([hit("a")]).values.keys() == {"article@1", "article@5", "MRR@10"}


def test_a_question_that_nothing_answers_has_confidence_only() -> None:
    one = found([hit("b", vector_score=0.25)], article_id=None)
    assert (one.values, one.confidence) == ({}, 0.25)


@pytest.mark.parametrize(
    ("hits", "confidence"),
    [
        ([], 0.0),
        ([hit("a", keyword_score=7.0)], 7.0),
        ([hit("a", keyword_score=7.0), hit("b", vector_score=0.5)], 0.5),
        ([hit("a", vector_score=0.4, word_score=0.8, weakest_word=0.6), hit("b", vector_score=0.9)], 0.7),
    ],
    ids=["nothing found", "by words alone", "by vectors", "by words' own vectors"],
)
def test_confidence_is_the_best_that_the_search_tells(hits: list[SearchHit], confidence: float) -> None:
    assert confidence_of(hits) == pytest.approx(confidence)


def test_scores_are_in_total_by_kind_and_in_other_words() -> None:
    outcomes = with_values(
        [
            outcome(1, kind="how-to"),
            outcome(2, rank=None, kind="lookup"),
            outcome(1, rank=2, kind="how-to", paraphrase=True),
        ]
    )
    scores = mean_scores(outcomes)
    assert {group: (score.value, score.n) for group, score in scores["article@1"].items()} == {
        "all": (0.5, 2),
        "paraphrase": (0.0, 1),
        "how-to": (1.0, 1),
        "lookup": (0.0, 1),
    }
    assert scores["MRR@10"]["paraphrase"].value == 0.5
    assert "AUC" not in scores


def test_answerable_is_told_from_unanswerable_in_each_group() -> None:
    nothing = {"article_id": None, "rank": None, "kind": "unanswerable"}
    outcomes = with_values(
        [
            outcome(1, confidence=0.9),
            outcome(2, confidence=0.5, kind="how-to"),
            outcome(2, confidence=0.1, paraphrase=True),
            outcome(3, confidence=0.5, **nothing),
            outcome(4, confidence=0.2, **nothing),
        ]
    )
    areas = scores_of(outcomes)["AUC"]
    assert {group: score.value for group, score in areas.items()} == {
        "all": 0.875,
        "paraphrase": 0.0,
        "lookup": 1.0,
        "how-to": 0.75,
    }
    assert areas["all"].n == 4


def test_without_questions_there_are_no_scores() -> None:
    assert scores_of(with_values([])) == {}
