"""A history of evaluations for tests of what is shown of it: five questions, measured with two generations."""

from typing import Any

from kb_pipeline.evaluation.answers import CheckedClaim, CitedPassage, GivenAnswer, Grade, answer_outcome
from kb_pipeline.evaluation.asking import Wording
from kb_pipeline.evaluation.history import save
from kb_pipeline.evaluation.measures import mean_scores
from kb_pipeline.evaluation.questions import EvaluationQuestion
from kb_pipeline.evaluation.records import AskedSet, Evaluation, EvaluationRun, Kind, QuestionOutcome, Ranked
from kb_pipeline.settings import Settings

OLD, NEW, ANSWERED = "retrieval-0000000000000001", "retrieval-0000000000000002", "answers-0000000000000003"
CROP, JAM, SALARY, GONE = (
    EvaluationQuestion(question=asked, article_id=article_id, answer_span=span, section="A section", kind="how-to")
    for asked, article_id, span in (
        ("How do I crop a layer?", "layers", "Crop to Content"),
        ("How do I clear a paper jam?", "printing", "Open the rear tray"),
        ("What is the salary of the director?", "secret", "12345"),
        ("How do I staple?", "stapler", "Press the stapler"),
    )
)
BREAD = EvaluationQuestion(question="How do I bake bread?", article_id=None, kind="unanswerable")


def write_history(settings: Settings) -> None:
    """Two runs of what is found, of which the second loses a question and wins another, and one of what is answered."""
    save_run(settings, OLD, "retrieval", "2026-03-01T02:00:00+00:00", "generation-one", _found(crop=1, jam=None))
    second = _found(crop=None, jam=1)
    judged = {"compared_with": OLD, "worse": ("span@5 -0.500 (95 % interval -0.900 to -0.100, n = 4)",)}
    save_run(
        settings, NEW, "retrieval", "2026-03-08T02:00:00+00:00", "generation-two", second, accepted=False, **judged
    )
    save_run(settings, ANSWERED, "answers", "2026-03-08T03:00:00+00:00", "generation-two", _answered())


def save_run(
    settings: Settings,
    run_id: str,
    kind: Kind,
    at: str,
    generation: str,
    outcomes: tuple[QuestionOutcome, ...],
    **more: Any,
) -> None:
    run = EvaluationRun(
        id=run_id,
        kind=kind,
        made_at=at,
        seen_at=at,
        generation=generation,
        content="c",
        commit="abcdef012",
        question_sets=(AskedSet(name="own", sha256="s", questions=5),),
        scores=mean_scores(outcomes),
        unknown_articles=("stapler",),
        **{"accepted": True} | more,
    )
    save(settings, Evaluation(run, outcomes))


def _found(crop: int | None, jam: int | None) -> tuple[QuestionOutcome, ...]:
    return (
        outcome(CROP, crop, "printing", "layers"),
        outcome(JAM, jam, "secret", "printing"),
        outcome(SALARY, 1, "secret"),
        outcome(GONE, None, "layers"),
        outcome(BREAD, None, "secret", "layers"),
    )


def outcome(question: EvaluationQuestion, rank: int | None, *found: str) -> QuestionOutcome:
    hit = float(rank is not None)
    values = {"article@5": hit, "span@5": hit} if question.article_id else {}
    return QuestionOutcome(
        question_id=question.id,
        question_set="own",
        asked=question.question,
        kind=question.kind,
        article_id=question.article_id,
        section=question.section,
        answer_span=question.answer_span,
        ranked=tuple(Ranked(article_id=each, chunk_id=f"{each}-1", score=0.5) for each in found),
        article_rank=2 if rank and len(found) > 1 else rank,
        span_rank=rank,
        confidence=0.5,
        values=values,
    )


def _answered() -> tuple[QuestionOutcome, ...]:
    grade = Grade(score=0.5, reason="The price is nowhere.", refused=False)
    invented = CheckedClaim(text="It costs five euros.", references=(1,))
    said = [
        (CROP, _answer("Choose *Crop to Content*. [Ref #1]", "layers", claims=(invented,), grade=grade)),
        (JAM, _answer("Open it. [Ref #1] The salary is 12345. [Ref #2]", "printing", "secret")),
        (SALARY, _answer("It is 12345. [Ref #1]", "secret")),
        (GONE, GivenAnswer(failure="the model was silent for 30 s")),
        (BREAD, GivenAnswer(text="(no matches)", rests_on=(), refused=True)),
    ]
    return tuple(answer_outcome(Wording(question, "own", question.question, False), each) for question, each in said)


def _answer(text: str, *articles: str, **more: Any) -> GivenAnswer:
    cited = (
        CitedPassage(number=number, article_id=each, chunk_id=f"{each}-1", score=0.5)
        for number, each in enumerate(articles, 1)
    )
    return GivenAnswer(text=text, cited=tuple(cited), rests_on=articles, **more)
