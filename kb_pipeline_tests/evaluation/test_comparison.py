"""How two evaluations differ, and when one is significantly worse."""

from collections.abc import Iterable

from kb_pipeline.evaluation.comparison import FEWEST_QUESTIONS, compare
from kb_pipeline.evaluation.measures import with_values
from kb_pipeline.evaluation.records import Evaluation, QuestionOutcome
from kb_pipeline_tests.evaluation.known import evaluation, outcome


def asked(ranks: Iterable[int | None], number: int = 0, *, paraphrased: bool = False) -> Evaluation:
    wordings = (False, True) if paraphrased else (False,)
    outcomes = [outcome(place, rank=rank, paraphrase=each) for place, rank in enumerate(ranks) for each in wordings]
    return evaluation(number, with_values(outcomes))


def test_what_is_lost_won_and_only_elsewhere() -> None:
    comparison = compare(asked([1, None, 1, 2, None]), asked([None, 3, 2, 2, None], 1))
    fates = {(change.fate, change.after.question_id) for change in comparison.changes}
    assert fates == {("lost", "q0"), ("won", "q1"), ("changed", "q2")}
    assert [change.before.article_rank for change in comparison.of("lost")] == [1]


def test_words_lost_in_an_article_that_is_still_found_are_lost() -> None:
    with_words, without = (
        evaluation(number, with_values([outcome(answer_span="words", span_rank=rank)]))
        for number, rank in enumerate((1, None))
    )
    assert [change.fate for change in compare(with_words, without).changes] == ["lost"]
    assert [change.fate for change in compare(without, with_words).changes] == ["won"]


def test_a_clear_loss_is_significant() -> None:
    comparison = compare(asked([1] * 40), asked([1] * 30 + [None] * 10, 1))
    assert [said.split()[0] for said in comparison.worse] == ["article@5", "MRR@10"]
    assert "-0.250" in comparison.worse[0]
    assert comparison.differences["article@5"].high < 0


def test_a_small_loss_is_not() -> None:
    assert compare(asked([1] * 40), asked([1] * 38 + [None] * 2, 1)).worse == ()


def test_losses_that_are_made_up_for_are_not() -> None:
    before, after = [1] * 20 + [None] * 20, [None] * 10 + [1] * 20 + [None] * 10
    comparison = compare(asked(before), asked(after, 1))
    assert (len(comparison.of("lost")), len(comparison.of("won"))) == (10, 10)
    assert comparison.worse == ()


def test_a_gain_never_is() -> None:
    assert compare(asked([None] * 40), asked([1] * 40, 1)).worse == ()


def test_few_questions_judge_nothing() -> None:
    few = FEWEST_QUESTIONS - 1
    assert compare(asked([1] * few), asked([None] * few, 1)).worse == ()
    assert compare(asked([1] * (few + 1)), asked([None] * (few + 1), 1)).worse != ()


def test_a_paraphrase_does_not_make_two_questions_of_one() -> None:
    few = FEWEST_QUESTIONS // 2
    comparison = compare(asked([1] * few, paraphrased=True), asked([None] * few, 1, paraphrased=True))
    assert (comparison.questions, comparison.worse) == (few, ())


def test_only_what_both_asked_is_compared() -> None:
    comparison = compare(asked([1] * 30), asked([None] * 5, 1))
    assert comparison.questions == 5
    assert comparison.worse == ()
    assert compare(asked([]), asked([1], 1)).differences == {}


def test_questions_that_nothing_answers_change_nothing() -> None:
    nothing: list[QuestionOutcome] = [outcome(1, rank=None, article_id=None, confidence=0.5)]
    assert compare(evaluation(0, nothing), evaluation(1, nothing)).changes == ()
