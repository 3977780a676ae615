"""Which statements the passages of a search are said to bear out: true ones, and such that only have their words.

    python -m benchmarks.statements STATEMENTS.jsonl --home HOME --staging STAGING [--show]

Each line of the file is a statement as a model may word it: ``question``, ``statement``, ``article_id`` (the article
that says it; ``null``: none does), ``kind``, and whether it ``judges``; the others were looked at while the limits were
chosen. A true one is right if each of its sentences is attributed, one of them to that article; the others are if none
is. ``--show`` prints the wrong ones that do not judge. No model is needed; the knowledge base is only read.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.answering.base import Question
from app.answering.query import search_for, within_room
from app.grounding.bearing import Bearing
from app.grounding.citations import CitationBook
from app.grounding.statements import Statements
from app.principal import Principal
from app.retrieval import Retrieval
from app.schema.passages import Citation
from app.settings import load_app_settings
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import load_settings


@dataclass(frozen=True)
class Statement:
    """A line of the file."""

    question: str
    statement: str
    article_id: str | None
    kind: str
    judges: bool

    @property
    def group(self) -> str:
        return f"{'judging' if self.judges else 'looked at'}, {'wrong' if self.article_id is None else 'true'}"


def is_right(said: Statement, passages: Sequence[Citation]) -> bool:
    """Whether the passages are told to bear out a true statement, and to bear out nothing of a wrong one."""
    bearing, statements = Bearing(passages, said.question), Statements()
    parts = [part.said for part in (*statements.feed(said.statement), *statements.finish()) if part.said]
    numbers = [bearing.supporters(part) for part in parts]
    if said.article_id is None:
        return not any(numbers)
    articles = {passage.article_id for passage in passages if any(passage.number in each for each in numbers)}
    return all(numbers) and said.article_id in articles


async def passages_of(questions: Iterable[str], retrieval: Retrieval, top: int) -> dict[str, list[Citation]]:
    """The passages that a model would read for each question."""
    found: dict[str, list[Citation]] = {}
    for question in dict.fromkeys(questions):
        _, hits = await search_for(Question(question, Principal(), top), retrieval)
        found[question] = CitationBook().add(within_room(hits))
    return found


def main() -> None:
    """Search, compare and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("statements", type=Path)
    parser.add_argument("--home", required=True)
    parser.add_argument("--staging", required=True)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    lines = arguments.statements.read_text(encoding="utf-8").splitlines()
    said = [Statement(**json.loads(line)) for line in lines]
    retrieval = Retrieval(open_workspace(load_settings(home=arguments.home, staging=arguments.staging)))
    try:
        top = load_app_settings().search_top
        passages = asyncio.run(passages_of((each.question for each in said), retrieval, top))
    finally:
        retrieval.close()
    right = {each: is_right(each, passages[each.question]) for each in said}
    for each in said if arguments.show else ():
        if not right[each] and not each.judges:
            print(f"{each.group} ({each.kind}): {each.question}\n  {each.statement}")
    asked, correct = (Counter(each.group for each in chosen) for chosen in (right, (s for s in said if right[s])))
    for group, count in sorted(asked.items()):
        print(f"{group}: {correct[group]} of {count} right")


if __name__ == "__main__":
    main()
