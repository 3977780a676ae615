"""Measures how questions about whole documents are understood, on a made library of 200 documents with known facts.

    python -m benchmarks.planning [--misses]

``questions/planning_kinds.tsv`` has 120 questions with their kinds, half of them held out;
``questions/planning.jsonl`` has lists, facts, and references that are clear or not. No model is asked.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from datetime import date
from pathlib import Path
from typing import Any

from app.answering.base import AnswerEvent, Asked, Question, Text
from app.answering.extractive.answerer import ExtractiveAnswerer
from app.answering.planned import PlannedAnswerer
from app.articles import Articles
from app.grounding.citations import CitationBook
from app.planning.kinds import reading_of
from app.principal import Principal
from app.retrieval import Retrieval
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.library import Made, library, publish_library

TODAY = date(2026, 11, 23)
_QUESTIONS = Path(__file__).parent / "questions"
_MOST_LISTED = 20

Known = dict[str, Any]


def kinds(*, show_misses: bool) -> list[str]:
    """A line for each half of the questions with kinds: how many were told right."""
    lines = []
    rows = [line.split("\t") for line in (_QUESTIONS / "planning_kinds.tsv").read_text().splitlines()]
    for half in ("dev", "held"):
        own = [(kind, question) for part, kind, question in rows if part == half]
        told = [(kind, reading_of(question).kind, question) for kind, question in own]
        right = Counter(kind for kind, found, _ in told if kind == found)
        lines.append(f"kinds, {half}: {sum(right.values())} of {len(own)} ({dict(right)})")
        if show_misses:
            lines += [f"  {kind} read as {found}: {question}" for kind, found, question in told if kind != found]
    return lines


def expected(made: Sequence[Made], known: Known) -> list[Made]:
    """The documents that a list must have, in its order, by the facts alone."""
    found = [
        each
        for each in made
        if each.document_type in known.get("types", (each.document_type,))
        and each.department == known.get("department", each.department)
        and each.author == known.get("author", each.author)
        and each.language == known.get("language", each.language)
        and each.upload_date >= known.get("since", "")
        and each.upload_date <= known.get("until", "9999")
        and each.page_count >= known.get("pages", 0)
        and each.article_id.endswith(known.get("ending", ""))
        and all(word in each.title.lower() for word in known.get("contains", "").split())
    ]
    sort = known.get("sort", "upload_date")
    found.sort(key=lambda each: each.title.casefold())
    found.sort(key=lambda each: _folded(getattr(each, sort)), reverse=known.get("descending", True))
    return found[: known.get("limit") or len(found)]


def _folded(value: str | int) -> Any:
    return value.casefold() if isinstance(value, str) else value


class Asking:
    """Asks the planned answerer, and keeps what it said."""

    def __init__(self, retrieval: Retrieval) -> None:
        inner = ExtractiveAnswerer(retrieval, Articles(retrieval.workspace.layout))
        self.answerer = PlannedAnswerer(inner, retrieval, lambda: TODAY)
        self.seconds: list[float] = []

    async def __call__(self, text: str) -> tuple[str, list[AnswerEvent], CitationBook]:
        """The text, the events and the passages of an answer."""
        book, events = CitationBook(), list[AnswerEvent]()
        started = time.perf_counter()
        async with aclosing(self.answerer.answer(Question(text, Principal(), 5), book)) as answer:
            async for event in answer:
                events.append(event)
        self.seconds.append(time.perf_counter() - started)
        return "".join(event.delta for event in events if isinstance(event, Text)), events, book


async def measure(retrieval: Retrieval, made: Sequence[Made], *, show_misses: bool) -> list[str]:
    """A line for each measure."""
    asking = Asking(retrieval)
    known = [json.loads(line) for line in (_QUESTIONS / "planning.jsonl").read_text().splitlines()]
    by_set = {
        name: [each for each in known if each["set"] == name] for name in ("listing", "metadata", "ambiguous", "clear")
    }
    await asking("How do I open a file?")
    misses: list[str] = []
    right = ordered = 0
    for each in by_set["listing"]:
        wanted = [document.title for document in expected(made, each)]
        text, _, _ = await asking(each["question"])
        listed = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.endswith("] |")]
        said = next((word for word in text.replace(",", "").split() if word.isdigit()), "0")
        is_right = sorted(listed) == sorted(wanted[:_MOST_LISTED]) and int(said) == len(wanted)
        is_right = is_right or (len(wanted) > _MOST_LISTED and int(said) == len(wanted) and set(listed) <= set(wanted))
        right += is_right
        ordered += is_right and listed == wanted[:_MOST_LISTED]
        if not is_right or listed != wanted[:_MOST_LISTED]:
            misses.append(
                f"  list: {each['question']}\n    wanted {len(wanted)} {wanted[:4]}\n    listed {said} {listed[:4]} {text[:200]!r}"
            )
    lines = [f"lists: {right} of {len(by_set['listing'])} right, of these {ordered} in order"]
    asking.seconds.clear()
    right = 0
    facts = {document.title: document for document in made}
    for each in by_set["metadata"]:
        value = str(getattr(facts[each["title"]], each["field"]))
        text, _, _ = await asking(each["question"])
        is_right = each["title"] in text.replace("\\", "") and value in text.replace("\\", "")
        right += is_right
        if not is_right:
            misses.append(f"  fact: {each['question']} ({value}): {text[:160]!r}")
    lines.append(f"facts: {right} of {len(by_set['metadata'])}, median {_median(asking.seconds)} ms")
    asked = among = sized = 0
    for each in by_set["ambiguous"]:
        _, events, _ = await asking(each["question"])
        options = next((event.clarification.options for event in events if isinstance(event, Asked)), ())
        asked += bool(options)
        titles = [option.title for option in options]
        among += each["titles"][0] in titles
        sized += 2 <= len(options) <= 7
        if not options or each["titles"][0] not in titles:
            misses.append(f"  ambiguous: {each['question']} ({each['titles'][0]}): {titles}")
    lines.append(
        f"unclear references: {asked} of {len(by_set['ambiguous'])} asked back; the meant one among the options {among}; 2 to 7 options {sized}"
    )
    back = 0
    for each in by_set["clear"]:
        text, events, _ = await asking(each["question"])
        is_asked = any(isinstance(event, Asked) for event in events)
        back += is_asked
        if is_asked or not any(type(event).__name__ == "Planned" for event in events):
            misses.append(f"  clear: {each['question']}: asked {is_asked}, {text[:80]!r}")
    lines.append(f"clear references: {back} of {len(by_set['clear'])} asked back")
    return [*lines, *(misses if show_misses else [])]


def _median(seconds: Sequence[float]) -> int:
    return round(statistics.median(seconds) * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="show what went wrong")
    arguments = parser.parse_args()
    made = library()
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "staging").mkdir()
        settings = Settings(home=f"{home}/home", staging=f"{home}/staging")
        publish_library(settings, made)
        retrieval = Retrieval(Workspace(settings))
        try:
            lines = asyncio.run(measure(retrieval, made, show_misses=arguments.misses))
        finally:
            retrieval.close()
    print("\n".join([*kinds(show_misses=False), *lines]))


if __name__ == "__main__":
    main()
