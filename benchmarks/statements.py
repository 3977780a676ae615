"""How well a judge tells true statements from near misses, and what that costs.

    python -m benchmarks.statements STATEMENTS.jsonl --home HOME --staging STAGING [--judge NAME] [--most N] [--show]

Each line of the file is a statement as a model may word it: ``question``, ``statement``, ``article_id`` (the article
that says it; ``null``: none does), ``kind``, and whether it ``judges``; the others may be looked at. The true ones
of a question are judged together, as those of one answer, and so are its near misses. All cite what a search finds of
the article that the true ones are from, because a model that errs cites the section that it misread.

A true statement is kept if it is not marked. ``--judge`` is as ``KB_JUDGE``, whose default it has; ``--show`` prints
the wrong ones that do not judge; ``--most`` takes about so many statements, of questions from all over the file. The
knowledge base is only read.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from app.answering.base import Question
from app.answering.query import search_for, within_room
from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.judging import Judge, Judged, Statement, Verdict, open_judge
from app.library.retrieval import Retrieval
from app.model.calls import added
from app.model.client import ChatClient
from app.schema.answers import TokenUsage
from app.schema.passages import Citation
from app.settings import AppSettings, load_app_settings
from kb_pipeline.evaluation.statistics import mean_score
from kb_pipeline.evaluation.tables import written
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import load_settings


@dataclass(frozen=True)
class Line:
    """A line of the file."""

    question: str
    statement: str
    article_id: str | None
    kind: str
    judges: bool

    @property
    def is_true(self) -> bool:
        return self.article_id is not None

    def is_right(self, verdict: Verdict | None) -> bool:
        """Whether a true one stands, and a near miss is marked."""
        return self.is_true != (verdict is not None and verdict.kind != "supported")


@dataclass(frozen=True)
class Result:
    """The lines of one question with their verdicts, and what judging them took."""

    lines: Sequence[Line]
    judged: Judged
    seconds: float

    @property
    def pairs(self) -> Iterator[tuple[Line, Verdict | None]]:
        yield from zip(self.lines, self.judged.verdicts, strict=True)


def read_lines(path: Path, most: int | None = None) -> list[Line]:
    """The lines of the file, or those of every n-th question, so that there are about ``most``."""
    lines = [Line(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    questions = list(dict.fromkeys(line.question for line in lines))
    chosen = questions[:: ceil(len(lines) / most) if most else 1]
    return [line for line in lines if line.question in chosen]


def answers_of(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines as answers: the true ones of a question, then its near misses."""
    answers: dict[tuple[str, bool], list[Line]] = {}
    for question in dict.fromkeys(line.question for line in lines):
        answers |= {(question, True): [], (question, False): []}
    for line in lines:
        answers[line.question, line.is_true].append(line)
    return [answer for answer in answers.values() if answer]


def as_read(citation: Citation) -> str:
    """A passage with the headings above it, as the text that an answer is made from."""
    return "\n\n".join(filter(None, (" > ".join((citation.title, *citation.heading_path)), citation.passage)))


async def judge_answer(
    lines: Sequence[Line], article_id: str | None, judge: Judge, retrieval: Retrieval, top: int
) -> Result:
    """Search for the question of an answer, and judge its lines by what was found of the article."""
    question = lines[0].question
    _, hits = await search_for(Question(question, Principal(), top), retrieval)
    found = CitationBook().add(within_room(hits))
    cited = tuple(each.number for each in found if each.article_id == article_id)
    passages: Mapping[int, str] = {citation.number: as_read(citation) for citation in found}
    began = time.perf_counter()
    judged = await judge.judge(question, [Statement(line.statement, cited) for line in lines], passages)
    return Result(lines, judged, time.perf_counter() - began)


async def judge_all(lines: Sequence[Line], settings: AppSettings, retrieval: Retrieval) -> list[Result]:
    """Judge all answers, one after the other, by the judge of the settings."""
    articles = {line.question: line.article_id for line in lines if line.is_true}
    client = ChatClient(settings) if settings.chat_model else None
    judge = open_judge(settings, client)
    print(f"judge: {judge.name}")
    try:
        return [
            await judge_answer(answer, articles.get(answer[0].question), judge, retrieval, settings.search_top)
            for answer in answers_of(lines)
        ]
    finally:
        await judge.close()
        if client:
            await client.close()


def report(results: Sequence[Result], *, show: bool = False) -> Iterator[str]:
    """The lines of the report: what was right, with 95 % intervals by question, and what it cost."""
    pairs = [pair for result in results for pair in result.pairs]
    for line, verdict in pairs if show else ():
        if not (line.judges or line.is_right(verdict)):
            found = f"{verdict.kind}, [{verdict.passage}] {verdict.says!r}" if verdict else "not judged"
            yield f"{'true' if line.is_true else 'near miss'} ({line.kind}): {line.question}"
            yield f"  {line.statement}\n  {found}"
    for is_true, outcome in ((True, "true statements kept"), (False, "near misses marked")):
        for group, judging in (("looked at", (False,)), ("judging", (True,)), ("all", (False, True))):
            asked = [(line, v) for line, v in pairs if line.is_true == is_true and line.judges in judging]
            if asked:
                right = [float(line.is_right(verdict)) for line, verdict in asked]
                score = mean_score(right, [line.question for line, _ in asked])
                yield f"{outcome}, {group}: {sum(right):.0f} of {len(right)}, {written(score)}"
    marked = [verdict.kind for line, verdict in pairs if verdict and not line.is_true]
    yield f"near misses that words of a passage contradict: {marked.count('contradicted')}"
    yield f"not judged: {sum(verdict is None for _, verdict in pairs)} of {len(pairs)}"
    yield f"an answer of {len(pairs) / len(results):.1f} statements: {_cost(results)}"


def _cost(results: Sequence[Result]) -> str:
    """What judging an answer takes on average."""
    usage: TokenUsage | None = None
    for result in results:
        usage = added(usage, result.judged.usage)
    seconds = f"{sum(result.seconds for result in results) / len(results):.2f} s"
    if usage is None:
        return seconds
    tokens = (usage.input_tokens, usage.output_tokens)
    return "{}, {:.0f} tokens read, {:.0f} written".format(seconds, *(count / len(results) for count in tokens))


def main() -> None:
    """Search, judge and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("statements", type=Path)
    parser.add_argument("--home", required=True)
    parser.add_argument("--staging", required=True)
    parser.add_argument("--judge")
    parser.add_argument("--most", type=int)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    settings = load_app_settings(**{"judge": arguments.judge} if arguments.judge else {})
    retrieval = Retrieval(open_workspace(load_settings(home=arguments.home, staging=arguments.staging)))
    try:
        results = asyncio.run(judge_all(read_lines(arguments.statements, arguments.most), settings, retrieval))
    finally:
        retrieval.close()
    print(*report(results, show=arguments.show), sep="\n")


if __name__ == "__main__":
    main()
