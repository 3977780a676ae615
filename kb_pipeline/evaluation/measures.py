"""The retrieval measures, computed by ir-measures: for each question, and as means over groups of questions.

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

from collections.abc import Callable, Iterable, Mapping, Sequence

from kb_pipeline.evaluation.records import QuestionOutcome, Score, Scores
from kb_pipeline.evaluation.statistics import mean_score, separation_score

_NOT_FOUND = " not found"
"""The right result when nothing right was found; no id begins with a space."""
_Judgements = tuple[Mapping[str, Mapping[str, int]], Mapping[str, Mapping[str, float]]]


def with_values(outcomes: Sequence[QuestionOutcome]) -> tuple[QuestionOutcome, ...]:
    """The outcomes with their value of each measure that applies to the question."""
    from ir_measures import RR, Success

    values: dict[str, dict[str, float]] = {}
    for names, judgements in (
        ({Success @ 1: "article@1", Success @ 5: "article@5", RR @ 10: "MRR@10"}, _articles(outcomes)),
        ({Success @ 5: "span@5"}, _chunks(outcomes, lambda one: one.answer_span, lambda one: one.span_rank)),
        ({Success @ 5: "image@5"}, _chunks(outcomes, lambda one: one.image, lambda one: one.image_rank)),
        ({Success @ 5: "page@5"}, _chunks(outcomes, lambda one: one.page, lambda one: one.page_rank)),
    ):
        for place, name, value in _calculated(names, *judgements):
            values.setdefault(place, {})[name] = value
    return tuple(one.model_copy(update={"values": values.get(str(place), {})}) for place, one in enumerate(outcomes))


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


def _articles(outcomes: Sequence[QuestionOutcome]) -> _Judgements:
    right, runs = {}, {}
    for place, one in enumerate(outcomes):
        if one.answerable:
            articles = list(dict.fromkeys(ranked.article_id for ranked in one.ranked))
            right[str(place)] = {articles[one.article_rank - 1] if one.article_rank else _NOT_FOUND: 1}
            runs[str(place)] = _as_run(articles)
    return right, runs


def _chunks(
    outcomes: Sequence[QuestionOutcome],
    sought: Callable[[QuestionOutcome], object],
    rank: Callable[[QuestionOutcome], int | None],
) -> _Judgements:
    right, runs = {}, {}
    for place, one in enumerate(outcomes):
        if one.answerable and sought(one):
            chunks, right_rank = [ranked.chunk_id for ranked in one.ranked], rank(one)
            right[str(place)] = {chunks[right_rank - 1] if right_rank else _NOT_FOUND: 1}
            runs[str(place)] = _as_run(chunks)
    return right, runs


def _as_run(ranking: Sequence[str]) -> dict[str, float]:
    """A ranking in the form of trec_eval: names with scores, higher is better."""
    return {name: float(len(ranking) - place) for place, name in enumerate(ranking)}


def _calculated(
    names: Mapping[object, str], right: Mapping[str, Mapping[str, int]], runs: Mapping[str, Mapping[str, float]]
) -> Iterable[tuple[str, str, float]]:
    """Question, measure and value. A question without results has the value 0."""
    from ir_measures import iter_calc

    if not right:
        return
    for metric in iter_calc(list(names), right, {place: run for place, run in runs.items() if run}):
        yield metric.query_id, names[metric.measure], float(metric.value)
