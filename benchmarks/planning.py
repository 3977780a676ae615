"""Measures how questions about whole documents are understood, on a made library of 200 documents with known facts.

    python -m benchmarks.planning [--misses]

``questions/planning.jsonl`` has lists, facts, and references that are clear or not, over a library of 200 documents.
``questions/planning_unseen.jsonl`` has another library, of types that no rule names: questions that were written before
the rules (``kind``, ``ambiguous``, ``clear``), and some in other words, written later (``again``). No model is asked.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from datetime import date
from pathlib import Path
from typing import Any

from app.answering.base import AnswerEvent, AskedBack, Planned, Question, TextPart
from app.answering.extractive.answerer import ExtractiveAnswerer
from app.answering.planning.answerer import PlannedAnswerer
from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.answers import Clarification
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.made_library import Made, library, publish_library

TODAY = date(2026, 11, 23)
_QUESTIONS = Path(__file__).parent / "questions"
_MOST_LISTED = 20

Known = dict[str, Any]


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


def _folded(value: str | int) -> str | int:
    return value.casefold() if isinstance(value, str) else value


class Asking:
    """Asks the planned answerer, and keeps what it said."""

    def __init__(self, retrieval: Retrieval) -> None:
        inner = ExtractiveAnswerer(retrieval, Articles(retrieval.workspace.layout))
        self.answerer = PlannedAnswerer(inner, retrieval, lambda: TODAY)
        self.seconds: list[float] = []

    async def __call__(
        self, text: str, clarification: Clarification | None = None
    ) -> tuple[str, list[AnswerEvent], CitationBook]:
        """The text, the events and the passages of an answer."""
        book, events = CitationBook(), list[AnswerEvent]()
        question = Question(text, Principal(), 5, clarification=clarification)
        started = time.perf_counter()
        async with aclosing(self.answerer.answer(question, book)) as answer:
            async for event in answer:
                events.append(event)
        self.seconds.append(time.perf_counter() - started)
        return "".join(event.delta for event in events if isinstance(event, TextPart)), events, book


def unseen() -> tuple[list[Made], list[Known]]:
    """A library of types that no rule names, and questions over it that were written before the rules."""
    known = [json.loads(line) for line in (_QUESTIONS / "planning_unseen.jsonl").read_text().splitlines()]
    made = [
        Made(
            article_id=each["filename"],
            title=each["title"],
            document_type=each["document_type"],
            department=each["department"],
            author=each["author"],
            upload_date=each["upload_date"],
            page_count=each["page_count"],
            language=each["language"],
            sections=(("Purpose", f"{each['title']} is about {each['about']}. Everybody reads it."),),
        )
        for each in known
        if each["set"] == "document"
    ]
    return made, [each for each in known if each["set"] != "document"]


async def measure_unseen(retrieval: Retrieval, known: Sequence[Known]) -> tuple[list[str], list[str]]:
    """What was done with each question: a plan of its kind, a question asked back, or a search."""
    asking = Asking(retrieval)
    right: dict[str, list[bool]] = {}
    misses = []
    for each in known:
        text, events, _ = await asking(each["question"])
        plans = [event.plan.kind for event in events if isinstance(event, Planned)]
        done = (
            "asked back" if any(isinstance(event, AskedBack) for event in events) else (plans or ["CONTENT_SEARCH"])[0]
        )
        said = next((word for word in text.replace(",", "").split() if word.isdigit()), "0")
        match each["set"]:
            case "kind" | "again":
                is_right = done == each["kind"] and int(said) == each.get("count", int(said))
            case "ambiguous":
                is_right = done == "asked back"
            case _:
                is_right = done != "asked back" and bool(plans)
        name = f"{each['set']} {each.get('kind', '')}".strip()
        right.setdefault(name, []).append(is_right)
        if not is_right:
            misses.append(f"{name}: {each['question']} -> {done}, {text[:70]!r}")
    lines = [f"unseen, {name}: {sum(each)} of {len(each)}" for name, each in right.items()]
    for part in ("kind", "again"):
        of_documents = [each for name, each in right.items() if name.startswith(part) and "CONTENT" not in name]
        number = sum(map(len, of_documents))
        lines.append(f"unseen, {part}, questions about documents: {sum(map(sum, of_documents))} of {number}")
    return lines, misses


async def measure(retrieval: Retrieval, made: Sequence[Made]) -> tuple[list[str], list[str]]:
    """A line for each measure, and a line for each miss."""
    asking = Asking(retrieval)
    known = [json.loads(line) for line in (_QUESTIONS / "planning.jsonl").read_text().splitlines()]
    await asking("How do I open a file?")  # opens the index
    lines, misses = list[str](), list[str]()
    for name, measured in (
        ("listing", lists),
        ("metadata", facts),
        ("ambiguous", unclear_references),
        ("clear", clear_references),
    ):
        asking.seconds.clear()
        line, missed = await measured(asking, [each for each in known if each["set"] == name], made)
        lines.append(f"{line}; {statistics.median(asking.seconds) * 1000:.0f} ms (median)")
        misses += missed
    return lines, misses


Measured = tuple[str, list[str]]


async def lists(asking: Asking, known: Sequence[Known], made: Sequence[Made]) -> Measured:
    """How many lists have exactly the right documents and say how many, and how many of these in the right order."""
    right = ordered = 0
    misses = []
    for each in known:
        wanted = [document.title for document in expected(made, each)]
        text, _, _ = await asking(each["question"])
        listed = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.endswith("] |")]
        said = next((word for word in text.replace(",", "").split() if word.isdigit()), "0")
        is_whole = len(listed) == min(len(wanted), _MOST_LISTED) and set(listed) <= set(wanted)
        is_right = is_whole and int(said) == len(wanted)
        right += is_right
        ordered += is_right and listed == wanted[:_MOST_LISTED]
        if listed != wanted[:_MOST_LISTED]:
            misses.append(f"{each['question']}: {len(wanted)} wanted {wanted[:4]}, {said} listed {listed[:4]}")
    return f"lists: {right} of {len(known)} right, of these {ordered} in order", misses


async def facts(asking: Asking, known: Sequence[Known], made: Sequence[Made]) -> Measured:
    """How many answers name the right document and say its fact."""
    by_title = {document.title: document for document in made}
    misses = []
    for each in known:
        value = str(getattr(by_title[each["title"]], each["field"]))
        text = (await asking(each["question"]))[0].replace("\\", "")
        if each["title"] not in text or value not in text:
            misses.append(f"{each['question']} ({value}): {text[:160]!r}")
    return f"facts: {len(known) - len(misses)} of {len(known)} right", misses


async def unclear_references(asking: Asking, known: Sequence[Known], made: Sequence[Made]) -> Measured:
    """How often it is asked back, the meant document is an option, and its title as a reply leads to it."""
    asked = few = among = sized = led = 0
    misses = []
    for each in known:
        meant = each["titles"][0]
        _, events, _ = await asking(each["question"])
        clarification = next((event.clarification for event in events if isinstance(event, AskedBack)), None)
        titles = [option.title for option in clarification.options] if clarification else []
        asked += bool(titles)
        sized += len(titles) in range(2, 8)
        few += len(titles) in range(2, 7)
        among += len(titles) in range(2, 7) and meant in titles
        if clarification:
            text, _, book = await asking(meant, clarification)
            led += meant in {citation.title for citation in book.citations} and bool(text)
        if not titles or (len(titles) < 7 and meant not in titles):
            misses.append(f"{each['question']} ({meant}): {titles}")
    return (
        f"unclear references: {asked} of {len(known)} asked back, {sized} with 2 to 7 options; where 6 at most fit, "
        f"{among} of {few} have the meant one among them; its title as the reply leads to it {led} times"
    ), misses


async def clear_references(asking: Asking, known: Sequence[Known], made: Sequence[Made]) -> Measured:
    """How often it is needlessly asked back, and how many are answered by a plan."""
    back = planned = 0
    misses = []
    for each in known:
        text, events, _ = await asking(each["question"])
        is_asked = any(isinstance(event, AskedBack) for event in events)
        is_planned = any(isinstance(event, Planned) for event in events)
        back += is_asked
        planned += is_planned
        if is_asked or not is_planned:
            misses.append(f"{each['question']}: {text[:80]!r}")
    return f"clear references: {back} of {len(known)} asked back, {planned} answered by a plan", misses


def main() -> None:
    """Publish the libraries, ask, and print the measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="show what went wrong")
    arguments = parser.parse_args()
    made = library()
    others, known = unseen()
    lines, misses = _measured(made, lambda retrieval: measure(retrieval, made))
    more, missed = _measured(others, lambda retrieval: measure_unseen(retrieval, known))
    print("\n".join([*lines, *more, *([*misses, *missed] if arguments.misses else [])]))


def _measured(
    made: Sequence[Made], measuring: Callable[[Retrieval], Coroutine[Any, Any, tuple[list[str], list[str]]]]
) -> tuple[list[str], list[str]]:
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "staging").mkdir()
        settings = Settings(home=f"{home}/home", staging=f"{home}/staging")
        publish_library(settings, made)
        retrieval = Retrieval(Workspace(settings))
        try:
            return asyncio.run(measuring(retrieval))
        finally:
            retrieval.close()


if __name__ == "__main__":
    main()
