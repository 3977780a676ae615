"""Answers questions about whole documents by a plan, and asks back which one is meant; hands on all other questions.

What a question wants is told by :mod:`app.planning`, without the index; how an answer reads is the task of
:mod:`app.answering.document_answers`. Everything is read with the access of the person who asks.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import groupby
from typing import Any

from app.answering.base import (
    Answerer,
    AnswerEvent,
    Asked,
    Finished,
    ItemChanged,
    Planned,
    Question,
    Searched,
    Text,
    ToolEnded,
    ToolStarted,
)
from app.answering.document_answers import (
    Document,
    contents_of,
    counted_of,
    described,
    entry_of,
    fact_of,
    gone_of,
    heading_of,
    nothing_met,
    summary_of,
    table_of,
)
from app.answering.extractive.answer import MADE_OF_QUOTATIONS, quotations
from app.answering.extractive.quoting import Picture, plain
from app.answering.extractive.selection import choose, evidence_of, rank, text_of
from app.grounding.citations import CitationBook
from app.grounding.words import parse_question, words
from app.planning.clarifying import MOST_OPTIONS, NONE_OF_THESE, clarification_of, is_name, read_reply
from app.planning.criteria import Outcome
from app.planning.finding import named_by
from app.planning.kinds import Reading, reading_of
from app.planning.meant import Meant, meant_by
from app.planning.plan import MAX_ATTEMPTS, criterion_of, plan_of
from app.planning.subjects import question_within, subject_of
from app.planning.vocabulary import FEATURES
from app.planning.wanted import Filter, Wanted, is_of_kind, related_kind, respelt, values_of, wanted_of
from app.principal import Principal
from app.retrieval import Retrieval
from app.schema.answers import Clarification
from kb_pipeline.records import Chunk, SearchHit
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.wording import counted

LIST, GET = "rag_list_documents", "rag_get_document"
"""Names of the tools that a plan uses, as programs know them."""

NOT_THERE = "This document is not in the knowledge base any more, or you may not see it."
SAYS_NOTHING = "says nothing about this."
MOST_ROWS = 1000
"""Documents among which one is looked for; of more, the newest, and those that a search finds."""
MOST_LISTED = 20
_MENTIONS = 50
_HITS_OF_A_DOCUMENT = 5
_READ = 2


@dataclass
class _Course:
    """A plan while it is followed: makes its events, and knows the outcome of each item."""

    reading: Reading
    failed: set[int] = field(default_factory=set)

    def planned(self) -> Planned:
        return Planned(plan_of(self.reading.kind))

    def begins(self, position: int) -> ItemChanged:
        return ItemChanged(position, "IN_PROGRESS")

    def ends(self, position: int, outcome: Outcome) -> ItemChanged:
        """The item is completed if its criterion holds."""
        if self.holds(position, outcome):
            return ItemChanged(position, "COMPLETED")
        self.failed.add(position)
        return ItemChanged(position, "FAILED")

    def holds(self, position: int, outcome: Outcome) -> bool:
        return criterion_of(self.reading.kind, position).holds(outcome)


class PlannedAnswerer(Answerer):
    """Follows a plan for questions about whole documents. Another answerer answers all others, untouched."""

    def __init__(self, inner: Answerer, retrieval: Retrieval, today: Callable[[], date] = date.today) -> None:
        """``inner`` answers ordinary questions. ``today`` is what "last month" counts from."""
        self._inner = inner
        self._retrieval = retrieval
        self._today = today
        self.answered_by = inner.answered_by
        self.model = inner.model
        self.prompt_version = inner.prompt_version
        self.sees_images = inner.sees_images

    @cached_property
    def instead(self) -> Answerer | None:  # type: ignore[override]
        """Speaks when passages do not bear out what the model says, by the same plan."""
        return PlannedAnswerer(self._inner.instead, self._retrieval, self._today) if self._inner.instead else None

    async def refused(self, question: Question, book: CitationBook) -> Finished:
        return await self._inner.refused(question, book)

    async def close(self) -> None:
        await self._inner.close()

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        pending = question.clarification
        chosen = await self._chosen(question, pending) if pending else None
        if pending and chosen == ():
            yield Text(NONE_OF_THESE, is_quoted=True)
            yield Finished(refused=True)
            return
        if pending and chosen:
            question = replace(question, text=pending.asked, document_ids=chosen)
        question = replace(question, clarification=None)
        reading = reading_of(question.text, len(question.document_ids))
        if question.on_web or (reading.is_ordinary and not chosen):
            async with aclosing(self._inner.answer(question, book)) as events:
                async for event in events:
                    yield event
            return
        async with aclosing(self._by_plan(question, reading, book)) as events:
            async for event in events:
                yield event

    async def _chosen(self, question: Question, pending: Clarification) -> tuple[str, ...] | None:
        """The ids of the documents that a reply chooses, nothing for "none"; ``None`` if it is a new question."""
        if reply := read_reply(question.text, pending):
            return tuple(option.article_id for option in pending.options if option.number in reply.numbers)
        if not is_name(question.text):
            return None
        asked = reading_of(pending.asked)
        kind = next((reference.noun for reference in asked.references), "")
        named = named_by(question.text, kind, await self._visible(question, asked))
        return (named.article_id,) if named else None

    async def _by_plan(
        self, question: Question, reading: Reading, book: CitationBook
    ) -> AsyncGenerator[AnswerEvent, None]:
        rows = await self._visible(question, reading)
        chosen = tuple(row for row in rows if row.article_id in question.document_ids)
        if question.document_ids and not chosen:
            yield Text(NOT_THERE, is_quoted=True)
            yield Finished(refused=True)
            return
        if reading.kind == "LISTING":
            steps = self._listing(question, reading, chosen or rows, book)
        else:
            meant = meant_by(reading, rows, chosen, self._today())
            if meant.unclear and not question.document_ids:
                kind = reading.kind
                yield Asked(clarification_of(question.text, kind, meant.unclear, meant.candidates))
                yield Finished()
                return
            gone = len(question.document_ids) - len(chosen) if question.document_ids else 0
            meant = replace(meant.with_guesses(), gone=gone)
            named = (*meant.rows, *(meant.candidates if meant.guessed else ()))
            book.lean_on(row.article_id for row in named)
            steps = self._about(question, reading, meant, book)
        async with aclosing(steps) as events:
            async for event in events:
                yield event

    def _about(
        self, question: Question, reading: Reading, meant: Meant, book: CitationBook
    ) -> AsyncGenerator[AnswerEvent, None]:
        named = any(reference.by != "description" for reference in meant.missing)
        is_found = len(meant.rows) > 1 if reading.kind == "COMPARISON" else bool(meant.rows)
        if not is_found and not (named or (meant.rows and not meant.is_vague)):
            return self._inner.answer(question, book)
        if reading.kind == "COMPARISON":
            return self._comparison(question, reading, meant, book)
        if not meant.rows:
            return self._unknown(question, reading, meant, book)
        if reading.kind == "METADATA_SEARCH":
            return self._facts(question, reading, meant, book)
        if reading.kind == "DOCUMENT_SUMMARY":
            return self._summary(question, reading, meant, book)
        return self._within(question, reading, meant, book)

    # --- what a plan reads ---

    async def _visible(self, question: Question, reading: Reading) -> tuple[Chunk, ...]:
        """The documents that this person may see: all, or of very many the newest and those that a search finds."""
        who, ids = question.who, question.document_ids
        page = await self._retrieval.documents(who, SearchFilter(), descending=True, limit=MOST_ROWS)
        if page.total <= len(page.documents):
            return page.documents
        found = {row.article_id: row for row in page.documents}
        searched = SearchFilter(block_type=("document",))
        for text in (each.name for each in reading.references if each.name):
            hits = await self._retrieval.search(text, who, top=_MENTIONS, filters=searched)
            found |= {hit.chunk.article_id: hit.chunk for hit in hits}
        for reference in reading.references:
            if reference.by == "file":
                exact = await self._retrieval.documents(
                    who, SearchFilter(filename=(reference.name,)), limit=MOST_OPTIONS
                )
                found |= {row.article_id: row for row in exact.documents}
        if ids:
            given = await self._retrieval.documents(who, SearchFilter(article_ids=ids), limit=len(ids))
            found |= {row.article_id: row for row in given.documents}
        return tuple(found.values())

    async def _documents(self, rows: Sequence[Chunk], who: Principal) -> list[Document]:
        hits = await self._retrieval.passages([row.article_id for row in rows], who)
        sections = {article_id: list(group) for article_id, group in groupby(hits, lambda hit: hit.chunk.article_id)}
        return [Document(row, sections.get(row.article_id, [])) for row in rows]

    # --- plans ---

    async def _listing(
        self, question: Question, reading: Reading, rows: Sequence[Chunk], book: CitationBook
    ) -> AsyncGenerator[AnswerEvent, None]:
        wanted = wanted_of(reading.text, reading.references[0], rows, self._today())
        nothing_of_the_kind = wanted.kind in FEATURES and not any(is_of_kind(row, wanted.kind) for row in rows)
        if not rows or nothing_of_the_kind:
            async with aclosing(self._inner.answer(question, book)) as events:
                async for event in events:
                    yield event
            return
        course = _Course(reading)
        yield course.planned()
        yield course.begins(1)
        yield ToolStarted("list-1", LIST, _arguments(wanted))
        said: list[str] = []
        fitting: list[Chunk] = []
        tried = wanted
        for attempt in range(1, MAX_ATTEMPTS + 1):
            fitting = [row for row in rows if tried.fits(row)]
            if course.holds(1, Outcome(fitting)) or attempt == MAX_ATTEMPTS:
                break
            if attempt == 1:
                tried = _other_words(wanted, rows)
                if wanted.subject:
                    mentioning = await self._mentioning(wanted, question.who)
                    yield Searched(wanted.said["subject"], len(mentioning))
                    fitting = [row for row in rows if tried.but("subject").fits(row) and row.article_id in mentioning]
                    if fitting:
                        mention = "this one mentions it in its" if len(fitting) == 1 else "these mention it in their"
                        said.append(f"No title or summary names *{plain(wanted.said['subject'])}*; {mention} text.")
                        break
            else:
                said.append(_what_is_missing(wanted, rows, book))
                dropped = _met_by_none(wanted, rows) or wanted.filters[-1:]
                for name in dropped:
                    tried = tried.but(name)
                if tried.filters and any(tried.fits(row) for row in rows):
                    said.append(f"Without {described(wanted, dropped)}:")
        if not fitting and not said:
            said.append(_what_is_missing(wanted, rows, book))
        yield ToolEnded("list-1", LIST, counted(len(fitting), "document"))
        yield course.ends(1, Outcome(fitting))
        yield course.begins(2)
        ordered = _ordered(fitting, wanted)
        shown = ordered[: wanted.limit or MOST_LISTED]
        documents = await self._documents(shown, question.who)
        table = table_of(documents, book) if documents else []
        yield course.ends(2, Outcome(shown, parts=table[2:]))
        if documents:
            said.append(counted_of(len(ordered), len(shown), "" if said else described(wanted)))
        for piece in _separated([*said, *(["\n".join(table)] if table else [])]):
            yield Text(piece, is_quoted=True)
        yield Finished(refused=not documents)

    async def _facts(
        self, question: Question, reading: Reading, meant: Meant, book: CitationBook
    ) -> AsyncGenerator[AnswerEvent, None]:
        course = _Course(reading)
        for event in _begin(course, meant):
            yield event
        documents = await self._documents(meant.rows[:MOST_OPTIONS], question.who)
        sentences = [
            " ".join(fact_of(document, name, book) for name in reading.fields or ("title",)) for document in documents
        ]
        yield course.ends(2, Outcome(meant.rows[:MOST_OPTIONS], parts=sentences))
        for piece in _separated([*_notes(meant), *sentences]):
            yield Text(piece, is_quoted=True)
        yield Finished()

    async def _summary(
        self, question: Question, reading: Reading, meant: Meant, book: CitationBook
    ) -> AsyncGenerator[AnswerEvent, None]:
        course = _Course(reading)
        for event in _begin(course, meant):
            yield event
        rows = meant.rows[:MOST_OPTIONS]
        for number, row in enumerate(rows, 1):
            yield ToolStarted(f"get-{number}", GET, {"doc_id": row.article_id})
        documents = await self._documents(rows, question.who)
        for number, row in enumerate(rows, 1):
            yield ToolEnded(f"get-{number}", GET, row.title)
        yield course.ends(2, Outcome(rows))
        yield course.begins(3)
        pieces, quoted = _notes(meant), list[str]()
        for document in documents:
            quotes = await asyncio.to_thread(summary_of, document, book)
            contents = await asyncio.to_thread(contents_of, document, book)
            quoted += quotes or [document.source(book)]
            pieces.append(heading_of(document))
            pieces += quotes or [f"No summary could be made of {document.name}. {document.source(book)}"]
            if contents:
                pieces += ["Its parts:", "\n".join(contents)]
        yield course.ends(3, Outcome(rows, parts=quoted))
        for piece in _separated([*pieces, MADE_OF_QUOTATIONS] if self.answered_by == "extractive" else pieces):
            yield Text(piece, is_quoted=True)
        yield Finished()

    async def _comparison(
        self, question: Question, reading: Reading, meant: Meant, book: CitationBook
    ) -> AsyncGenerator[AnswerEvent, None]:
        course = _Course(reading)
        for event in _begin(course, meant):
            yield event
        subject = subject_of(reading)
        rows = meant.rows[:MOST_OPTIONS]
        parts, unsaid, pieces = list[str](), list[str](), _notes(meant)
        found: list[Chunk] = []
        shown: list[Picture] = []
        for row in rows:
            quotes: list[str] = []
            if subject:
                limits = SearchFilter(article_ids=(row.article_id,))
                hits = await self._retrieval.search(subject, question.who, top=_HITS_OF_A_DOCUMENT, filters=limits)
                yield Searched(subject, len(hits))
                quotes = await asyncio.to_thread(_extract, subject, hits, book, shown)
            else:
                [document] = await self._documents([row], question.who)
                quotes = await asyncio.to_thread(summary_of, document, book)
            pieces.append(_side(row))
            if quotes:
                found.append(row)
                parts.append("\n\n".join(quotes))
                pieces += quotes
            else:
                unsaid.append(row.article_id)
                pieces.append(f"*{plain(row.title)}* {SAYS_NOTHING}")
        yield course.ends(2, Outcome(found))
        yield course.begins(3)
        yield course.ends(3, Outcome(rows, parts=parts, unsaid=unsaid))
        for piece in _separated([*pieces, MADE_OF_QUOTATIONS] if self.answered_by == "extractive" else pieces):
            yield Text(piece, is_quoted=True)
        yield Finished(refused=not parts)

    async def _within(
        self, question: Question, reading: Reading, meant: Meant, book: CitationBook
    ) -> AsyncGenerator[AnswerEvent, None]:
        course = _Course(reading)
        for event in _begin(course, meant):
            yield event
        if notes := _notes(meant):
            yield Text(" ".join(notes) + "\n\n", is_quoted=True)
        asked = question_within(reading) or question.text
        within = replace(question, text=asked, document_ids=tuple(row.article_id for row in meant.rows))
        said: list[str] = []
        async with aclosing(self._inner.answer(within, book)) as events:
            async for event in events:
                match event:
                    case Text(delta):
                        said.append(delta)
                    case Finished(_, refused):
                        answered = "" if refused else "".join(said)
                        yield course.ends(2, Outcome(meant.rows, parts=[answered] if answered else []))
                yield event

    async def _unknown(
        self, question: Question, reading: Reading, meant: Meant, book: CitationBook
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Say that a document that is named exactly is not there."""
        course = _Course(reading)
        yield course.planned()
        yield course.begins(1)
        yield course.ends(1, Outcome())
        for piece in _separated(_notes(meant)):
            yield Text(piece, is_quoted=True)
        yield Finished(refused=True)

    async def _mentioning(self, wanted: Wanted, who: Principal) -> set[str]:
        """The ids of the documents whose text has all words of the subject."""
        hits = await self._retrieval.search(wanted.said["subject"], who, top=_MENTIONS)
        return {hit.chunk.article_id for hit in hits if set(wanted.subject) <= set(words(text_of(hit)))}


def _notes(meant: Meant) -> list[str]:
    """Say what was guessed, and what is not there."""
    notes = [f"There is no document *{plain(reference.name)}*." for reference in meant.missing]
    if meant.gone:
        notes.append(gone_of(meant.gone, meant.gone + len(meant.rows)))
    if meant.guessed:
        others = [row for row in meant.candidates if row not in meant.rows][:MOST_OPTIONS]
        names = ", ".join(f"*{plain(row.title)}* ({plain(entry_of(row).filename)})" for row in others)
        notes.append(f"A guess: *{plain(meant.rows[-1].title)}* is meant. Others fit as well: {names}.")
    return notes


def _begin(course: _Course, meant: Meant) -> list[AnswerEvent]:
    """The events until the documents are found."""
    return [
        course.planned(),
        course.begins(1),
        course.ends(1, Outcome(meant.rows)),
        course.begins(2),
    ]


# --- what is said ---


def _met_by_none(wanted: Wanted, rows: Sequence[Chunk]) -> tuple[Filter, ...]:
    """Return the filters that no document meets, whatever the others are."""
    return tuple(name for name in wanted.filters if not any(wanted.meets(name, row) for row in rows))


def _what_is_missing(wanted: Wanted, rows: Sequence[Chunk], book: CitationBook) -> str:
    empty = _met_by_none(wanted, rows)
    met = (name for name in wanted.filters if name not in empty)
    book.lean_on(row.article_id for name in met for row in [row for row in rows if wanted.meets(name, row)][:1])
    book.lean_on(article_id for name in empty for article_id in _with_values(_FACTS.get(name, ""), rows))
    values: dict[Filter, Sequence[str]] = {
        "kind": values_of("document_type", rows),
        "department": values_of("department", rows),
        "author": values_of("author", rows),
        "language": values_of("language", rows),
        "days": _range(sorted(entry_of(row).upload_date[:10] for row in rows if entry_of(row).upload_date)),
        "pages": _range(sorted(entry_of(row).page_count for row in rows if entry_of(row).page_count)),
    }
    return nothing_met(wanted, empty, values)


_FACTS: Mapping[Filter, str] = {
    "kind": "document_type",
    "department": "department",
    "author": "author",
    "language": "language",
    "days": "upload_date",
    "pages": "page_count",
}


def _with_values(fact: str, rows: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the id of a document with each value of a fact; of those that are counted, the lowest and the highest."""
    with_fact = {value: row.article_id for row in rows if (value := getattr(entry_of(row), fact, None))}
    if fact in ("upload_date", "page_count") and with_fact:
        return with_fact[min(with_fact)], with_fact[max(with_fact)]
    return tuple(with_fact.values())


def _range(values: Sequence[str] | Sequence[int]) -> tuple[str, ...]:
    """Return the first and the last of sorted values as one text, if there are any."""
    return (" to ".join(dict.fromkeys((str(values[0]), str(values[-1])))),) if values else ()


def _other_words(wanted: Wanted, rows: Sequence[Chunk]) -> Wanted:
    """The same in the spelling of the documents, and with a related kind if there is none of the kind."""
    tried = respelt(wanted, rows)
    if wanted.kind and not any(is_of_kind(row, wanted.kind) for row in rows):
        tried = replace(tried, kind=related_kind(wanted.kind, rows) or wanted.kind)
    return tried


def _ordered(rows: Sequence[Chunk], wanted: Wanted) -> list[Chunk]:
    """Return the documents in the order that was asked for; those without the fact come last."""

    def fact(row: Chunk) -> str | int:
        value: str | int = row.title if wanted.sort == "title" else getattr(entry_of(row), wanted.sort)
        return value.casefold() if isinstance(value, str) else value

    by_title = sorted(rows, key=lambda row: (row.title.casefold(), row.article_id))
    with_fact = sorted((row for row in by_title if fact(row)), key=fact, reverse=wanted.descending)
    return [*with_fact, *(row for row in by_title if not fact(row))]


def _arguments(wanted: Wanted) -> dict[str, Any]:
    limits = wanted.limits().model_dump(mode="json", exclude_none=True, exclude={"granted_articles", "denied_articles"})
    return {"filters": limits, "sort_by": wanted.sort, "limit": wanted.limit or MOST_LISTED}


def _side(row: Chunk) -> str:
    filename = entry_of(row).filename
    return f"**{plain(row.title)}** ({plain(filename)})"


def _extract(subject: str, hits: Sequence[SearchHit], book: CitationBook, shown: list[Picture]) -> list[str]:
    """Quote what a document says about a subject; nothing if its passages do not answer."""
    question = parse_question(subject)
    if evidence_of(question, hits) not in ("strong", "weak"):
        return []
    ranked = rank(question, book.add(hits[:_READ]))
    if not ranked:
        return []
    chosen = choose(ranked)
    pieces: list[str] = []
    for _, group in groupby(chosen, key=lambda extract: extract.block.citation):
        pieces += quotations(list(group), shown)
    return pieces


def _separated(pieces: Sequence[str]) -> list[str]:
    """Put blank lines between pieces of markdown."""
    return [f"{piece}\n\n" for piece in pieces[:-1]] + list(pieces[-1:])
