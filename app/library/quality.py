"""The history of evaluation runs, filtered by what a person may see.

Questions about articles that the person may not see are left out, because a question may reveal the content. Such
articles are also left out of the passages that were found. Scores always cover all questions.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.callers.principal import Principal
from app.errors import without_places
from app.library.articles import Articles
from app.schema.quality import (
    EvaluatedAnswer,
    EvaluatedQuestion,
    FoundPassage,
    QualityChange,
    QualityComparison,
    QualityKind,
    QualityMeasure,
    QualityRun,
    QualityRunDetails,
    QualityRuns,
    QualityScore,
)
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.evaluation.answers import ANSWER_MEASURES, GivenAnswer
from kb_pipeline.evaluation.comparison import TELLING, compare
from kb_pipeline.evaluation.history import load_outcomes, load_run, load_runs
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun, Kind, QuestionOutcome, Ranked
from kb_pipeline.settings import Settings

_FOUND = {
    "article@1": "the first passage that is found is of an article that answers",
    "article@5": "an article that answers is among the first five articles that are found",
    "MRR@10": "one over the place of the first article that answers, 0 beyond ten passages; the mean of it",
    "span@5": "one of the first five passages holds the very words that answer",
    "image@5": "one of the first five passages shows the screenshot that answers",
    "page@5": "one of the first five passages stands on the page that answers",
    "AUC": "for an answerable and an unanswerable question: how often the search is more confident about the "
    "answerable one",
}
MEASURES = (
    *(QualityMeasure(name=name, kind="retrieval", meaning=meaning) for name, meaning in _FOUND.items()),
    *(QualityMeasure(name=name, kind="answers", meaning=meaning) for name, meaning in ANSWER_MEASURES.items()),
)
"""All of them, in display order."""


class RunNotFoundError(KnowledgeBaseError):
    """There is no such run, or two runs are of different kinds."""


@dataclass(frozen=True)
class Quality:
    """The evaluation runs of a knowledge base."""

    settings: Settings
    articles: Articles

    def runs(self, who: Principal, kind: QualityKind | None = None) -> QualityRuns:
        """All runs, or those of one kind, oldest first."""
        runs = load_runs(self.settings, kind)
        return QualityRuns(runs=tuple(_run(run, who) for run in runs), measures=MEASURES)

    def run(self, run_id: str, who: Principal) -> QualityRunDetails:
        """A run with its questions.

        Raises:
            RunNotFoundError: there is no run with this id.
        """
        evaluation, visibility = self._load(run_id), self._visibility(who)
        questions = (
            visibility.question(outcome, evaluation.run.kind)
            for outcome in evaluation.outcomes
            if visibility.shows(outcome)
        )
        return QualityRunDetails(run=_run(evaluation.run, who), questions=tuple(questions))

    def compare(self, before: str, after: str, who: Principal) -> QualityComparison:
        """The changes between two runs.

        Raises:
            RunNotFoundError: there is no run with such an id, or the runs are of different kinds.
        """
        earlier, later = self._load(before), self._load(after)
        kind = earlier.run.kind
        if kind != later.run.kind:
            raise RunNotFoundError(f"{before} and {after} measured different things; compare runs of one kind")
        compared, visibility = compare(earlier, later), self._visibility(who)
        return QualityComparison(
            before=_run(earlier.run, who),
            after=_run(later.run, who),
            questions=compared.questions,
            differences={name: QualityScore(**score.model_dump()) for name, score in compared.differences.items()},
            changes=tuple(
                QualityChange(
                    fate=change.fate,
                    before=visibility.question(change.before, kind),
                    after=visibility.question(change.after, kind),
                )
                for change in compared.changes
                if visibility.shows(change.before) and visibility.shows(change.after)
            ),
        )

    def _load(self, run_id: str) -> Evaluation:
        run = load_run(self.settings, run_id)
        if run is None:
            raise RunNotFoundError(f"there is no evaluation {run_id[:80]!r}")
        return Evaluation(run, load_outcomes(self.settings, run))

    def _visibility(self, who: Principal) -> "_Visibility":
        titles = {listing.summary.article_id: listing.summary.title for listing in self.articles.all(who)}
        return _Visibility(titles, self.articles.hidden_from(who) if who == Principal() else None)


@dataclass(frozen=True)
class _Visibility:
    """What a person may see: the titles of visible articles, and the ids of hidden ones.

    If ``hidden`` is ``None``, only the articles in ``titles`` are visible; only the local user sees removed articles.
    """

    titles: Mapping[str, str]
    hidden: frozenset[str] | None

    def of(self, article_id: str) -> bool:
        """Whether the person may see an article."""
        return article_id in self.titles if self.hidden is None else article_id not in self.hidden

    def shows(self, outcome: QuestionOutcome) -> bool:
        """Whether the person may see a question."""
        return outcome.article_id is None or self.of(outcome.article_id)

    def question(self, outcome: QuestionOutcome, kind: Kind) -> EvaluatedQuestion:
        """A question with the part of its outcome that the person may see."""
        passages = tuple(self._passage(ranked, outcome) for ranked in outcome.ranked if self.of(ranked.article_id))
        shared = outcome.model_dump(include=_SHARED_FIELDS)
        answer = self._answer(outcome) if kind == "answers" else None
        title = self.titles.get(outcome.article_id) if outcome.article_id else None
        missed = tuple(name for name in TELLING[kind] if outcome.values.get(name) == 0)
        return EvaluatedQuestion(**shared, title=title, found=passages, missed=missed, answer=answer)

    def _answer(self, outcome: QuestionOutcome) -> EvaluatedAnswer:
        """The answer; without its text unless the person may see all passages that it is based on."""
        given = GivenAnswer.model_validate(outcome.detail)
        based_on = (*(ranked.article_id for ranked in outcome.ranked), *(given.rests_on or ()))
        return _answer(given, whole=given.rests_on is not None and all(map(self.of, based_on)))

    def _passage(self, ranked: Ranked, outcome: QuestionOutcome) -> FoundPassage:
        return FoundPassage(
            article_id=ranked.article_id,
            chunk_id=ranked.chunk_id,
            title=self.titles.get(ranked.article_id, ranked.article_id),
            right=ranked.article_id in _right_articles(outcome),
        )


_SHARED_FIELDS = {name for name in EvaluatedQuestion.model_fields if name in QuestionOutcome.model_fields}
"""The fields that an outcome and its message have in common."""


def _right_articles(outcome: QuestionOutcome) -> set[str | None]:
    """The expected article, and the first article found that also answers the question."""
    articles = list(dict.fromkeys(ranked.article_id for ranked in outcome.ranked))
    return {outcome.article_id, articles[outcome.article_rank - 1] if outcome.article_rank else outcome.article_id}


def _answer(given: GivenAnswer, *, whole: bool) -> EvaluatedAnswer:
    failure = without_places(given.failure)
    if not whole:
        return EvaluatedAnswer(text="", refused=given.refused, failure=failure)
    return EvaluatedAnswer(
        text=given.text,
        refused=given.refused,
        failure=failure or without_places(given.grading_failure),
        unsupported=tuple(claim.text for claim in given.claims if not (claim.supporting or given.refused)),
        grounded=given.grade.score if given.grade else None,
        reason=given.grade.reason if given.grade else "",
    )


def _run(run: EvaluationRun, who: Principal) -> QualityRun:
    costs = [used.cost for used in run.usage if used.cost is not None]
    return QualityRun(
        **run.model_dump(include=_SHARED_RUN_FIELDS),
        question_sets={asked.name: asked.questions for asked in run.question_sets},
        unknown_articles=run.unknown_articles if who == Principal() else (),
        tokens=sum(used.input_tokens + used.output_tokens for used in run.usage),
        cost=sum(costs) if costs else None,
    )


_SHARED_RUN_FIELDS = {name for name in QualityRun.model_fields if name in EvaluationRun.model_fields} - {
    *("question_sets", "unknown_articles")
}
