"""The retrieval measures: for each question, and as means over groups of questions.

article@k
    A right article is among the first k articles (Success@k).
MRR@10
    One over the rank of the first right article (RR@10). In both, each article counts once, at its best chunk.
span@5, image@5
    One of the first five chunks contains the answer's words, or shows the right screenshot (Success@5).
page@5
    One of the first five chunks belongs to the right document and has content of the right page (Success@5).
AUC
    For an answerable and an unanswerable question, how often the search is more confident of the first.
"""

from collections.abc import Iterable, Sequence

from kb_pipeline.evaluation.records import QuestionOutcome, Score, Scores
from kb_pipeline.evaluation.statistics import mean_score, separation_score


def with_values(outcomes: Iterable[QuestionOutcome]) -> tuple[QuestionOutcome, ...]:
    """The outcomes with their value of each measure that applies to the question."""
    return tuple(one.model_copy(update={"values": _values(one)}) for one in outcomes)


def _values(one: QuestionOutcome) -> dict[str, float]:
    if not one.answerable:
        return {}
    rank = one.article_rank
    values = {
        "article@1": _success(rank, 1),
        "article@5": _success(rank, 5),
        "MRR@10": 1 / rank if rank and rank <= 10 else 0.0,
    }
    in_chunks = (
        ("span@5", one.answer_span, one.span_rank),
        ("image@5", one.image, one.image_rank),
        ("page@5", one.page, one.page_rank),
    )
    return values | {name: _success(rank, 5) for name, sought, rank in in_chunks if sought}


def _success(rank: int | None, depth: int) -> float:
    return float(rank is not None and rank <= depth)


def scores_of(outcomes: Sequence[QuestionOutcome]) -> Scores:
    """The retrieval scores, for every group of questions."""
    scores = mean_scores(outcomes)
    if separation := _separation(outcomes):
        scores["AUC"] = separation
    return scores


def mean_scores(outcomes: Sequence[QuestionOutcome]) -> Scores:
    """The mean of each measure, for every group of questions that has values of it."""
    names = dict.fromkeys(name for one in outcomes for name in one.values)
    scores: Scores = {name: {} for name in names}
    for group, members in groups_of(outcomes).items():
        for name in names:
            values = [one.values[name] for one in members if name in one.values]
            if values:
                scores[name][group] = mean_score(values)
    return scores


def groups_of(outcomes: Iterable[QuestionOutcome]) -> dict[str, list[QuestionOutcome]]:
    """Group outcomes: "all" original questions, their "paraphrase", and the original questions by kind."""
    groups: dict[str, list[QuestionOutcome]] = {"all": [], "paraphrase": []}
    for one in outcomes:
        for group in ("paraphrase",) if one.paraphrase else ("all", one.kind):
            groups.setdefault(group, []).append(one)
    return {group: members for group, members in groups.items() if members}


def _separation(outcomes: Sequence[QuestionOutcome]) -> dict[str, Score]:
    """AUC for every group of answerable questions, each against all unanswerable questions."""
    rated = [one for one in outcomes if one.confidence is not None]
    unanswerable = [one.confidence or 0.0 for one in rated if not one.answerable and not one.paraphrase]
    answerable = groups_of(one for one in rated if one.answerable)
    return {
        group: separation_score([one.confidence or 0.0 for one in members], unanswerable)
        for group, members in answerable.items()
        if unanswerable
    }
