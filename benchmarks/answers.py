"""Asks the extractive answerer questions whose answers are known, and counts what can be counted.

    python -m benchmarks.answers QUESTIONS --home HOME --staging STAGING [--reworded] [--show]

QUESTIONS has a JSON object a line: ``question``, ``article_id`` (``null``: nothing answers it) and maybe others that
answer as well (``also_in``), ``answer_span`` (words of the article that answer), ``kind``, ``needs_image`` with the
staged file name ``image``, and ``paraphrase`` (asked with ``--reworded``). ``--show`` also prints the answers to a
fixed spread of 20 questions, for reading. The knowledge base is only read.
"""

import argparse
import asyncio
import json
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

from app.answering.base import NO_MATCHES, Question, Text
from app.answering.extractive import ExtractiveAnswerer
from app.grounding.citations import CitationBook
from app.grounding.support import mark_used
from app.principal import Principal
from app.retrieval import Retrieval
from app.schema import Citation
from kb_pipeline.records import SearchHit, SearchMode
from kb_pipeline.settings import load_settings
from kb_pipeline.workspace import Workspace

_TOP = 5
_READ = 20
_FIRST_REFERENCE = re.compile(r"\[Ref #(\d+)\]")


class TimedRetrieval(Retrieval):
    """Knows how long its last search took."""

    seconds = 0.0

    async def search(self, question: str, who: Principal, *, top: int, mode: SearchMode = "hybrid") -> list[SearchHit]:
        """Search, and look at the clock."""
        started = time.perf_counter()
        hits = await super().search(question, who, top=top, mode=mode)
        self.seconds = time.perf_counter() - started
        return hits


@dataclass(frozen=True)
class Answered:
    """An answer to a known question. ``beyond`` is what it took beyond the search, in milliseconds."""

    known: dict[str, Any]
    text: str
    citations: tuple[Citation, ...]
    searched: float
    beyond: float

    @property
    def refused(self) -> bool:
        """Whether it says that nothing answers."""
        return self.text.startswith(NO_MATCHES)

    @property
    def found(self) -> bool:
        """Whether the search found an article that answers."""
        return any(self._is_right(citation) for citation in self.citations[:_TOP])

    @property
    def cited(self) -> bool:
        """Whether an article that answers is referred to."""
        return not self.refused and any(citation.used and self._is_right(citation) for citation in self.citations)

    @property
    def cited_first(self) -> bool:
        """Whether the first reference is to an article that answers."""
        first = _FIRST_REFERENCE.search(self.text)
        return not self.refused and bool(first) and self._is_right(self.citations[int(first[1]) - 1])  # type: ignore[index]

    @property
    def answered(self) -> bool:
        """Whether the words that answer are in the answer."""
        return _letters(self.known["answer_span"]) in _letters(self.text)

    @property
    def shown(self) -> bool:
        """Whether the picture that answers is in the answer."""
        stem = Path(self.known.get("image", "")).stem
        return f"/{self.known['article_id']}/images/{stem}.png)" in self.text

    def _is_right(self, citation: Citation) -> bool:
        return citation.article_id in (self.known["article_id"], *self.known.get("also_in", ()))


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


async def ask_all(retrieval: TimedRetrieval, known: Iterable[dict[str, Any]], worded: str) -> list[Answered]:
    """Ask each question; the first one twice, because it opens the index."""
    questions = [each for each in known if each.get(worded)]
    await _ask(retrieval, questions[0], worded)
    return [await _ask(retrieval, each, worded) for each in questions]


async def _ask(retrieval: TimedRetrieval, known: dict[str, Any], worded: str) -> Answered:
    book, pieces = CitationBook(), []
    started = time.perf_counter()
    async for event in ExtractiveAnswerer(retrieval).answer(Question(known[worded], Principal(), _TOP), book):
        pieces += [event.delta] if isinstance(event, Text) else []
    spent = time.perf_counter() - started
    text = "".join(pieces)
    times = retrieval.seconds * 1000, (spent - retrieval.seconds) * 1000
    return Answered(known, text, mark_used(text, book.citations), *times)


def spread(answers: Sequence[Answered], count: int) -> list[Answered]:
    """A fixed choice: of each kind its share of ``count``, evenly over the file."""
    kinds: dict[str, list[Answered]] = {}
    for answer in answers:
        kinds.setdefault(answer.known["kind"], []).append(answer)
    chosen: list[Answered] = []
    for of_kind in kinds.values():
        share = max(1, int(count * len(of_kind) / len(answers) + 0.5))
        chosen += [of_kind[int((place + 0.5) * len(of_kind) / share)] for place in range(share)]
    return chosen


def table(answers: Sequence[Answered]) -> str:
    """Markdown: a row a kind of question, and one for all that have an answer."""
    rows = [
        "| kind | questions | article found | cited | cited first | words in the answer | picture shown | refused |"
    ]
    rows.append("|---|---|---|---|---|---|---|---|")
    kinds = dict.fromkeys(answer.known["kind"] for answer in answers)
    rows += [_row(kind, [answer for answer in answers if answer.known["kind"] == kind]) for kind in kinds]
    return "\n".join([*rows, _row("all with an answer", [answer for answer in answers if answer.known["article_id"]])])


def _row(kind: str, answers: Sequence[Answered]) -> str:
    counts: list[object] = [kind, len(answers)]
    if answers[0].known["article_id"]:
        counts += [sum(getattr(a, what) for a in answers) for what in ("found", "cited", "cited_first", "answered")]
        pictured = [answer for answer in answers if answer.known["needs_image"]]
        counts.append(f"{sum(answer.shown for answer in pictured)} of {len(pictured)}" if pictured else "-")
    else:
        counts += ["-"] * 5
    return "| " + " | ".join(map(str, [*counts, sum(answer.refused for answer in answers)])) + " |"


def figures(answers: Sequence[Answered]) -> str:
    """Markdown: times, lengths and pictures."""
    beyond = quantiles([answer.beyond for answer in answers], n=20)
    searched = quantiles([answer.searched for answer in answers], n=20)
    said = [answer for answer in answers if not answer.refused]
    return "\n".join(
        (
            f"- beyond search: {beyond[9]:.1f} ms (p50), {beyond[18]:.1f} ms (p95)",
            f"- search: {searched[9]:.1f} ms (p50), {searched[18]:.1f} ms (p95)",
            f"- an answer has {mean(len(answer.text) for answer in said):.0f} characters and "
            f"{mean(answer.text.count('![') for answer in said):.1f} pictures on average",
        )
    )


def show(answers: Iterable[Answered]) -> str:
    """The answers, for reading."""
    return "\n\n".join(
        f"{'=' * 100}\n{answer.known['question']}\n({answer.known['kind']}; expected: {answer.known['article_id']}: "
        f"{answer.known['answer_span']})\n\n{answer.text}"
        for answer in answers
    )


def main() -> None:
    """Ask, count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--home", required=True)
    parser.add_argument("--staging", required=True)
    parser.add_argument("--reworded", action="store_true")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    known = [json.loads(line) for line in arguments.questions.read_text().splitlines() if line.strip()]
    retrieval = TimedRetrieval(Workspace(load_settings(home=arguments.home, staging=arguments.staging)))
    answers = asyncio.run(ask_all(retrieval, known, "paraphrase" if arguments.reworded else "question"))
    retrieval.close()
    if arguments.show:
        print(show(spread(answers, _READ)))
    print(f"{table(answers)}\n\n{figures(answers)}")


if __name__ == "__main__":
    main()
