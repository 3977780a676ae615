"""The history of evaluations, as one person may see it.

What a person may not see is not there for them here either: questions about such articles are left out, which may tell
what the articles say, and so are those articles among what was found. Scores are of all questions for everybody.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.articles import Articles
from app.principal import Principal
from app.schema import (
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
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun, Outcome, Ranked, Score
from kb_pipeline.settings import Settings

_FOUND = {
    "article@1": "the first passage that is found is of an article that answers",
    "article@5": "an article that answers is among the first five articles that are found",
    "MRR@10": "one over the place of the first article that answers, 0 beyond ten passages; the mean of it",
    "span@5": "one of the first five passages holds the very words that answer",
    "image@5": "one of the first five passages shows the screenshot that answers",
    "AUC": "of a question that an article answers and one that none does, the search is surer of the first",
}
_MEASURES = (
    *(QualityMeasure(name=name, kind="retrieval", meaning=meaning) for name, meaning in _FOUND.items()),
    *(QualityMeasure(name=name, kind="answers", meaning=meaning) for name, meaning in ANSWER_MEASURES.items()),
)


class RunNotFoundError(KnowledgeBaseError):
    """There is no such run, or two are not of one kind."""


@dataclass(frozen=True)
class Quality:
    """What was measured of a knowledge base."""

    settings: Settings
    articles: Articles

    def runs(self, who: Principal, kind: QualityKind | None = None) -> QualityRuns:
        """All runs, oldest first, or those of one kind."""
        runs = load_runs(self.settings, kind)
        return QualityRuns(runs=tuple(_run(run, who) for run in runs), measures=_MEASURES)

    def run(self, run_id: str, who: Principal) -> QualityRunDetails:
        """A run with its questions.

        Raises:
            RunNotFoundError: there is none of that id.
        """
        evaluation, sight = self._load(run_id), self._sight(who)
        questions = (
            sight.question(outcome, evaluation.run.kind) for outcome in evaluation.outcomes if sight.shows(outcome)
        )
        return QualityRunDetails(run=_run(evaluation.run, who), questions=tuple(questions))

    def compare(self, before: str, after: str, who: Principal) -> QualityComparison:
        """What changed between two runs.

        Raises:
            RunNotFoundError: there is none of such an id, or they are not of one kind.
        """
        one, other = self._load(before), self._load(after)
        kind = one.run.kind
        if kind != other.run.kind:
            raise RunNotFoundError(f"{before} and {after} measured different things; compare runs of one kind")
        compared, sight = compare(one, other), self._sight(who)
        return QualityComparison(
            before=_run(one.run, who),
            after=_run(other.run, who),
            questions=compared.questions,
            differences={name: _score(score) for name, score in compared.differences.items()},
            changes=tuple(
                QualityChange(
                    fate=each.fate, before=sight.question(each.before, kind), after=sight.question(each.after, kind)
                )
                for each in compared.changes
                if sight.shows(each.before) and sight.shows(each.after)
            ),
        )

    def _load(self, run_id: str) -> Evaluation:
        run = load_run(self.settings, run_id)
        if run is None:
            raise RunNotFoundError(f"there is no evaluation {run_id[:80]!r}")
        return Evaluation(run, load_outcomes(self.settings, run))

    def _sight(self, who: Principal) -> "_Sight":
        listed = self.articles.all(who)
        titles = {each.summary.article_id: each.summary.title for each in listed}
        return _Sight(titles, self.articles.hidden_from(who) if who == Principal() else None)


@dataclass(frozen=True)
class _Sight:
    """What one person may see: the titles of their articles, and those they may not see.

    Without the latter they see nothing but the former: only the person at the machine hears of articles that are gone.
    """

    titles: Mapping[str, str]
    hidden: frozenset[str] | None

    def of(self, article_id: str) -> bool:
        """Whether they may hear of an article."""
        return article_id in self.titles if self.hidden is None else article_id not in self.hidden

    def shows(self, outcome: Outcome) -> bool:
        """Whether they may see a question."""
        return outcome.article_id is None or self.of(outcome.article_id)

    def question(self, outcome: Outcome, kind: QualityKind) -> EvaluatedQuestion:
        """A question, and what they may see of what came of it."""
        found = tuple(self._passage(each, outcome) for each in outcome.ranked if self.of(each.article_id))
        same = outcome.model_dump(include=_SAME)
        answer = _answer(outcome, whole=len(found) == len(outcome.ranked)) if kind == "answers" else None
        title = self.titles.get(outcome.article_id) if outcome.article_id else None
        missed = tuple(name for name in TELLING[kind] if outcome.values.get(name) == 0)
        return EvaluatedQuestion(**same, title=title, found=found, missed=missed, answer=answer)

    def _passage(self, ranked: Ranked, outcome: Outcome) -> FoundPassage:
        return FoundPassage(
            article_id=ranked.article_id,
            chunk_id=ranked.chunk_id,
            title=self.titles.get(ranked.article_id, ranked.article_id),
            right=ranked.article_id in _right_articles(outcome),
        )


_SAME = {name for name in EvaluatedQuestion.model_fields if name in Outcome.model_fields}
"""What a question's outcome and the message about it have in common."""


def _right_articles(outcome: Outcome) -> set[str | None]:
    """The one that was expected, and the first that answers as well."""
    articles = list(dict.fromkeys(each.article_id for each in outcome.ranked))
    return {outcome.article_id, articles[outcome.article_rank - 1] if outcome.article_rank else outcome.article_id}


def _answer(outcome: Outcome, *, whole: bool) -> EvaluatedAnswer:
    """What was answered; without a passage that may be seen, nothing of its words either."""
    given = GivenAnswer.model_validate(outcome.detail)
    if not whole:
        return EvaluatedAnswer(text="", refused=given.refused, failure=given.failure)
    return EvaluatedAnswer(
        text=given.text,
        refused=given.refused,
        failure=given.failure or given.grading_failure,
        unsupported=tuple(claim.text for claim in given.claims if not (claim.supporting or given.refused)),
        grounded=given.grade.score if given.grade else None,
        reason=given.grade.reason if given.grade else "",
    )


def _run(run: EvaluationRun, who: Principal) -> QualityRun:
    costs = [used.cost for used in run.usage if used.cost is not None]
    return QualityRun(
        **run.model_dump(include=_SAME_OF_RUN),
        question_sets={asked.name: asked.questions for asked in run.question_sets},
        unknown_articles=run.unknown_articles if who == Principal() else (),
        tokens=sum(used.input_tokens + used.output_tokens for used in run.usage),
        cost=sum(costs) if costs else None,
    )


_SAME_OF_RUN = {name for name in QualityRun.model_fields if name in EvaluationRun.model_fields} - {
    *("question_sets", "unknown_articles")
}


def _score(score: Score) -> QualityScore:
    return QualityScore(**score.model_dump())
