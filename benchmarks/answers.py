"""Asks questions whose answers are known and measures the answers.

    python -m benchmarks.answers QUESTIONS... --home HOME --staging STAGING [--show] [--json FILE] [--log FILE]

Does the same as ``kb evaluate --answers --questions QUESTIONS``, but asks one question after the other, so that
response times are realistic. ``--show`` also prints the answers to a fixed selection of 20 questions, for reading. The
format of QUESTIONS is that of :mod:`kb_pipeline.evaluation.questions`. The knowledge base is only read. Settings come
from the environment; without KB_CHAT_MODEL, answers are quotations.

A small model on a CPU needs minutes for each. ``--log`` writes every answer with its passages as it comes; behind
:mod:`benchmarks.recorded_model`, a run that was stopped goes on where it was.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, quantiles

from app.evaluating.asking import AnswerEvaluator, open_answer_evaluator, read_answer
from app.settings import load_app_settings
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.evaluation.answers import ANSWER_MEASURES, GivenAnswer, answer_outcome
from kb_pipeline.evaluation.asking import Wording, wordings
from kb_pipeline.evaluation.measures import mean_scores
from kb_pipeline.evaluation.questions import read_questions
from kb_pipeline.evaluation.records import Score, Scores
from kb_pipeline.settings import Settings, load_settings

_READ = 20
_SHARES = {"citation precision", "citation recall", "grounded"}
"""Measures that are a share in each answer already; the others are counted."""


@dataclass(frozen=True)
class Answered:
    """A question in one wording, and its answer."""

    wording: Wording
    given: GivenAnswer


async def ask_all(knowledge_base: Settings, asked: Sequence[Wording], log: Path | None = None) -> list[Answered]:
    """Ask each question, after a search that opens the index, and write each answer to ``log``."""
    async with open_answer_evaluator(knowledge_base, load_app_settings(), graded=False) as whoever_answers:
        await asyncio.to_thread(whoever_answers.reader.search, asked[0].text, top=1)
        return [await _ask(whoever_answers, wording, log) for wording in asked]


async def _ask(whoever_answers: AnswerEvaluator, wording: Wording, log: Path | None) -> Answered:
    started = time.perf_counter()
    try:
        answer = await whoever_answers.ask(wording)
    except KnowledgeBaseError as exc:
        return Answered(wording, GivenAnswer(failure=str(exc), seconds=time.perf_counter() - started))
    given = read_answer(answer).model_copy(update={"seconds": time.perf_counter() - started})
    if log:
        entry = {"asked": wording.text, "expected": wording.question.model_dump(mode="json")}
        entry |= {"given": given.model_dump(mode="json"), "answer": answer.model_dump(mode="json")}
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
    return Answered(wording, given)


def spread(answers: Sequence[Answered], count: int) -> list[Answered]:
    """A fixed selection of ``count`` questions: each kind by its share, evenly spread over the file."""
    plain = [answer for answer in answers if not answer.wording.paraphrase]
    kinds: dict[str, list[Answered]] = {}
    for answer in plain:
        kinds.setdefault(answer.wording.question.kind, []).append(answer)
    chosen: list[Answered] = []
    for of_kind in kinds.values():
        share = max(1, int(count * len(of_kind) / len(plain) + 0.5))
        chosen += [of_kind[int((place + 0.5) * len(of_kind) / share)] for place in range(share)]
    return chosen


def scores_of(answers: Iterable[Answered]) -> Scores:
    """Every measure by group of questions."""
    return mean_scores([answer_outcome(answer.wording, answer.given) for answer in answers])


def table(scores: Scores) -> str:
    """Markdown with a row per group of questions and a column per measure."""
    measures = [measure for measure in ANSWER_MEASURES if measure in scores]
    groups = list(dict.fromkeys(group for measure in measures for group in scores[measure]))
    rows = [f"| questions | {' | '.join(measures)} |", "|---" * (len(measures) + 1) + "|"]
    for group in groups:
        cells = (_cell(measure, scores[measure].get(group)) for measure in measures)
        rows.append(f"| {group} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(measure: str, score: Score | None) -> str:
    if score is None:
        return "-"
    value = f"{score.value:.2f}" if measure in _SHARES else f"{round(score.value * score.n)} of {score.n}"
    return f"{value} [{score.low:.2f}, {score.high:.2f}]"


def figures(answers: Sequence[Answered]) -> str:
    """Markdown of times, lengths and pictures."""
    times = quantiles([answer.given.seconds * 1000 for answer in answers], n=20)
    said = [answer.given for answer in answers if not answer.given.refused and answer.given.text]
    return "\n".join(
        (
            f"- an answer takes {times[9]:.0f} ms (p50), {times[18]:.0f} ms (p95), its searches included",
            f"- it has {mean(len(given.text) for given in said):.0f} characters, "
            f"{mean(len(given.images) for given in said):.1f} pictures and "
            f"{mean(len(given.cited) for given in said):.1f} cited passages on average",
            *(f"- failed: {answer.wording.text}: {answer.given.failure}" for answer in answers if answer.given.failure),
        )
    )


def show(answers: Iterable[Answered]) -> str:
    """The answers as text for reading."""
    return "\n\n".join(
        f"{'=' * 100}\n{each.wording.text}\n({known.kind}; expected: {known.article_id}: {known.answer_span})\n\n"
        f"{each.given.text}"
        for each in answers
        for known in [each.wording.question]
    )


def main() -> None:
    """Ask, count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--home", required=True)
    parser.add_argument("--staging", required=True)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--json", type=Path, help="where to write the scores")
    parser.add_argument("--log", type=Path, help="where to write each answer as it comes, a line each; begun anew")
    arguments = parser.parse_args()
    if arguments.log:
        arguments.log.write_text("", encoding="utf-8")
    asked = list(wordings([read_questions(path) for path in arguments.questions]))
    settings = load_settings(home=arguments.home, staging=arguments.staging)
    answers = asyncio.run(ask_all(settings, asked, arguments.log))
    scores = scores_of(answers)
    if arguments.show:
        print(show(spread(answers, _READ)))
    print(f"{table(scores)}\n\n{figures(answers)}")
    if arguments.json:
        by_group = {name: {group: score.model_dump() for group, score in each.items()} for name, each in scores.items()}
        arguments.json.write_text(json.dumps(by_group, indent=1) + "\n")


if __name__ == "__main__":
    main()
