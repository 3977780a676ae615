"""The measures of what is found, by ir-measures: of each question, then over all, by kind, and over the paraphrases.

article@k
    A right article is among the first k articles (Success@k).
MRR@10
    One over the place of the first right article (RR@10). In both, each article counts once, at its best chunk.
span@5, image@5
    One of the first five chunks holds the answer's words, or shows the right screenshot (Success@5).
AUC
    Of a question that is answered and one that is not, how often the search is surer of the first.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from kb_pipeline.evaluation.records import Outcome, Score, Scores
from kb_pipeline.evaluation.statistics import mean_score, separation_score

MEASURES = ("article@1", "article@5", "MRR@10", "span@5", "image@5", "AUC")

_NOT_FOUND = " not found"
"""What is right where nothing right was found; no id begins with a space."""
_Judgements = tuple[Mapping[str, Mapping[str, int]], Mapping[str, Mapping[str, float]]]


def with_values(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """The outcomes with each question's own value of every measure that it has."""
    from ir_measures import RR, Success

    values: dict[str, dict[str, float]] = {}
    for names, judgements in (
        ({Success @ 1: "article@1", Success @ 5: "article@5", RR @ 10: "MRR@10"}, _articles(outcomes)),
        ({Success @ 5: "span@5"}, _chunks(outcomes, lambda one: one.answer_span, lambda one: one.span_rank)),
        ({Success @ 5: "image@5"}, _chunks(outcomes, lambda one: one.image, lambda one: one.image_rank)),
    ):
        for place, name, value in _calculated(names, *judgements):
            values.setdefault(place, {})[name] = value
    return tuple(one.model_copy(update={"values": values.get(str(place), {})}) for place, one in enumerate(outcomes))


def scores_of(outcomes: Sequence[Outcome]) -> Scores:
    """Every measure of what is found, for every group of questions that has it."""
    scores = mean_scores(outcomes)
    if separation := _separation(outcomes):
        scores["AUC"] = separation
    return scores


def mean_scores(outcomes: Sequence[Outcome]) -> Scores:
    """The mean of each measure that outcomes have a value of, for every group of questions."""
    names = dict.fromkeys(name for one in outcomes for name in one.values)
    scores: Scores = {name: {} for name in names}
    for group, members in groups_of(outcomes).items():
        for name in names:
            values = [one.values[name] for one in members if name in one.values]
            if values:
                scores[name][group] = mean_score(values)
    return scores


def groups_of(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """ "all": questions as they stand; "paraphrase": the same in other words; then those as they stand, by kind."""
    groups: dict[str, list[Outcome]] = {"all": [], "paraphrase": []}
    for one in outcomes:
        for group in ("paraphrase",) if one.paraphrase else ("all", one.kind):
            groups.setdefault(group, []).append(one)
    return {group: members for group, members in groups.items() if members}


def _separation(outcomes: Sequence[Outcome]) -> dict[str, Score]:
    """AUC for every group of answerable questions, each against all that are not."""
    sure = [one for one in outcomes if one.confidence is not None]
    unanswerable = [one.confidence or 0.0 for one in sure if not one.answerable and not one.paraphrase]
    answered = groups_of(one for one in sure if one.answerable)
    return {
        group: separation_score([one.confidence or 0.0 for one in members], unanswerable)
        for group, members in answered.items()
        if unanswerable
    }


def _articles(outcomes: Sequence[Outcome]) -> _Judgements:
    right, runs = {}, {}
    for place, one in enumerate(outcomes):
        if one.answerable:
            articles = list(dict.fromkeys(ranked.article_id for ranked in one.ranked))
            right[str(place)] = {articles[one.article_rank - 1] if one.article_rank else _NOT_FOUND: 1}
            runs[str(place)] = _as_run(articles)
    return right, runs


def _chunks(
    outcomes: Sequence[Outcome], sought: Callable[[Outcome], object], rank: Callable[[Outcome], int | None]
) -> _Judgements:
    right, runs = {}, {}
    for place, one in enumerate(outcomes):
        if one.answerable and sought(one):
            chunks, found = [ranked.chunk_id for ranked in one.ranked], rank(one)
            right[str(place)] = {chunks[found - 1] if found else _NOT_FOUND: 1}
            runs[str(place)] = _as_run(chunks)
    return right, runs


def _as_run(ranking: Sequence[str]) -> dict[str, float]:
    """A ranking as trec_eval wants it: names with scores, the higher the better."""
    return {name: float(len(ranking) - place) for place, name in enumerate(ranking)}


def _calculated(
    names: Mapping[object, str], right: Mapping[str, Mapping[str, int]], runs: Mapping[str, Mapping[str, float]]
) -> Iterable[tuple[str, str, float]]:
    """Question, measure and value; a question for which nothing was found has 0 of each."""
    from ir_measures import iter_calc

    if not right:
        return
    for metric in iter_calc(list(names), right, {place: run for place, run in runs.items() if run}):
        yield metric.query_id, names[metric.measure], float(metric.value)
