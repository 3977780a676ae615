"""Asks follow-up questions in conversations, and counts how often the right article is among the first five.

    python -m benchmarks.follow_ups QUESTIONS --home HOME --staging STAGING [--other-subjects FILE]

QUESTIONS has one JSON object per line: ``before`` (the earlier questions), ``question``, ``article_id`` and optionally
``also_in``; ``questions/follow_ups.jsonl`` has 30 on the GIMP help. ``--other-subjects`` names a file of independent
questions (``question``, ``article_id``): each is asked after one on another subject, which must not influence it. The
knowledge base is only read.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.answering.base import Message, Question
from app.answering.query import search_for
from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import load_settings

_TOP = 5
_APART = 7
"""How far the question before stands from a question of another subject: files have related ones side by side."""

Known = dict[str, Any]


def read(path: Path) -> list[Known]:
    """The questions of a file that have an answer."""
    known = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return [each for each in known if each["article_id"]]


def after_others(known: Sequence[Known]) -> list[Known]:
    """Each question, asked after one on another subject."""
    return [each | {"before": [known[(at + _APART) % len(known)]["question"]]} for at, each in enumerate(known)]


async def places(retrieval: Retrieval, known: Sequence[Known], *, alone: bool) -> list[int | None]:
    """The rank of the right article, from 0, for each question."""
    return [await _place(retrieval, each, alone=alone) for each in known]


async def _place(retrieval: Retrieval, known: Known, *, alone: bool) -> int | None:
    before = () if alone else tuple(Message("user", text) for text in known["before"])
    _, hits = await search_for(Question(known["question"], Principal(), _TOP, before), retrieval)
    right = {known["article_id"], *known.get("also_in", ())}
    return next((at for at, hit in enumerate(hits) if hit.chunk.article_id in right), None)


def row(name: str, found: Sequence[int | None]) -> str:
    """A row of a markdown table."""
    return f"| {name} | {len(found)} | {found.count(0)} | {sum(place is not None for place in found)} |"


def main() -> None:
    """Ask, count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--home", required=True)
    parser.add_argument("--staging", required=True)
    parser.add_argument("--other-subjects", type=Path)
    arguments = parser.parse_args()
    retrieval = Retrieval(Workspace(load_settings(home=arguments.home, staging=arguments.staging)))
    sets = {"follow-ups": read(arguments.questions)}
    if arguments.other_subjects:
        sets["another subject"] = after_others(read(arguments.other_subjects))
    print("| questions | number | article first | article in the first five |\n|---|---|---|---|")
    for name, known in sets.items():
        for how, alone in (("alone", True), ("in their conversation", False)):
            print(row(f"{name}, {how}", asyncio.run(places(retrieval, known, alone=alone))))
    retrieval.close()


if __name__ == "__main__":
    main()
