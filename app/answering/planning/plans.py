"""Follows the plan for a command: a list, facts, summaries, a comparison, an answer from one document.

How an answer reads is the task of :mod:`app.answering.planning.document_answers`. Everything is read with the access
of the person who asks.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import groupby

from app.answering.base import (
    Answerer,
    AnswerEvent,
    Finished,
    ItemChanged,
    Planned,
    Question,
    Searched,
    TextPart,
    ToolEnded,
    ToolStarted,
)
from app.answering.extractive.quoting import plain
from app.answering.planning.clarifying import MOST_OPTIONS
from app.answering.planning.commands import Command
from app.answering.planning.document_answers import (
    Document,
    contents_of,
    counted_of,
    described,
    fact_of,
    heading_of,
    nothing_met,
    summary_of,
    table_of,
)
from app.answering.planning.finding import Meant
from app.answering.planning.plan import plan_of
from app.answering.planning.wanted import Filter, Wanted, values_of
from app.grounding.citations import CitationBook
from app.grounding.references import find_references
from app.language.messages import Messages, in_every_language
from app.language.words import words
from app.library.retrieval import Retrieval
from app.schema.answers import QueryKind
from kb_pipeline.records import Chunk

LIST, GET = "rag_list_documents", "rag_get_document"
"""Names of the tools that a plan uses, as programs know them."""
MOST_LISTED = 20
"""Documents of a list if nothing else is asked for: one screen."""
_MENTIONS = 50
"""Passages that are looked through for documents that speak of something, when none names it."""

Events = AsyncGenerator[AnswerEvent, None]


@dataclass
class Listed:
    """The documents of a list, what is said above them, and how often the text was searched for them."""

    rows: list[Chunk]
    said: list[str] = field(default_factory=list)
    searched: list[Searched] = field(default_factory=list)


@dataclass
class Plans:
    """The plans for one question. ``inner`` answers what is asked about the passages of a document."""

    retrieval: Retrieval
    inner: Answerer
    question: Question
    book: CitationBook
    say: Messages

    def about(self, command: Command, meant: Meant) -> Events:
        """Follow the plan for a command about documents that were found, or of which one is named that is not there."""
        if not meant.rows or (command.kind == "COMPARISON" and len(meant.rows) == 1 and meant.missing):
            return self._unknown(command, meant)
        if command.kind == "COMPARISON":
            return self._comparison(command, meant)
        if command.kind == "METADATA_SEARCH":
            return self._facts(command, meant)
        if command.kind == "DOCUMENT_SUMMARY":
            return self._summary(command, meant)
        return self._within(command, meant)

    async def documents_of(self, wanted: Wanted, rows: Sequence[Chunk]) -> Listed | None:
        """The documents that a list has: those that fit, else by text or spelling, else without what nothing meets.

        ``None`` if no document is about its subject: then it may be a question about something else.
        """
        if fitting := [row for row in rows if wanted.fits(row)]:
            return Listed(fitting)
        if wanted.subject:
            spoken = wanted.said["subject"]
            hits = await self.retrieval.search(spoken, self.question.who, top=_MENTIONS)
            ids = {hit.chunk.article_id for hit in hits if set(wanted.subject) <= set(words(hit.chunk.content))}
            fitting = [row for row in rows if wanted.but("subject").fits(row) and row.article_id in ids]
            said = self.say("only_text_mentions", name=f"*{plain(spoken)}*", number=len(fitting))
            return Listed(fitting, [said], [Searched(spoken, len(ids))]) if fitting else None
        listed = Listed([], [self._what_is_missing(wanted, rows)])
        dropped = _met_by_none(wanted, rows) or wanted.filters[-1:]
        for name in dropped:
            wanted = wanted.but(name)
        if wanted.filters and (fitting := [row for row in rows if wanted.fits(row)]):
            listed.rows = fitting
            listed.said.append(self.say("without_conditions", conditions=described(wanted, dropped)))
        return listed

    async def listing(self, wanted: Wanted, listed: Listed) -> Events:
        """List documents in a table."""
        yield Planned(plan_of("LISTING"))
        yield _begins(1)
        limits = wanted.limits().model_dump(
            mode="json", exclude_none=True, exclude={"granted_articles", "denied_articles"}
        )
        most = wanted.limit or MOST_LISTED
        yield ToolStarted("list-1", LIST, {"filters": limits, "sort_by": wanted.sort, "limit": most})
        for searched in listed.searched:
            yield searched
        yield ToolEnded("list-1", LIST, self.say("documents", number=len(listed.rows)))
        yield _ends(1, holds=bool(listed.rows))
        yield _begins(2)
        shown = _ordered(listed.rows, wanted)[:most]
        documents = await self._documents(shown)
        table = table_of(documents, self.book, self.say) if documents else []
        yield _ends(2, holds=bool(table))
        pieces = list(listed.said)
        if documents:
            conditions = "" if listed.said else described(wanted)
            pieces += [counted_of(len(listed.rows), len(shown), conditions, self.say), "\n".join(table)]
        for piece in _separated(pieces):
            yield piece
        yield Finished(refused=not documents)

    async def _facts(self, command: Command, meant: Meant) -> Events:
        for event in _begun(command.kind, holds=True):
            yield event
        documents = await self._documents(meant.rows[:MOST_OPTIONS])
        sentences = [
            " ".join(fact_of(document, name, self.book, self.say) for name in command.fields) for document in documents
        ]
        yield _ends(2, holds=all(map(_has_source, sentences)))
        for piece in _separated([*self._notes(meant), *sentences]):
            yield piece
        yield Finished()

    async def _summary(self, command: Command, meant: Meant) -> Events:
        for event in _begun(command.kind, holds=True):
            yield event
        rows = meant.rows[:MOST_OPTIONS]
        for number, row in enumerate(rows, 1):
            yield ToolStarted(f"get-{number}", GET, {"doc_id": row.article_id})
        documents = await self._documents(rows)
        for number, row in enumerate(rows, 1):
            yield ToolEnded(f"get-{number}", GET, row.title)
        yield _ends(2, holds=all(document.entry.summary.standard_text for document in documents))
        yield _begins(3)
        pieces = self._notes(meant)
        for document in documents:
            quotes = await asyncio.to_thread(summary_of, document, self.book, self.say)
            contents = await asyncio.to_thread(contents_of, document, self.book, self.say)
            pieces.append(heading_of(document, self.say))
            pieces += quotes or [f"{self.say('no_summary', name=document.name)} {document.source(self.book)}"]
            if contents:
                pieces += [self.say("its_parts"), "\n".join(contents)]
        yield _ends(3, holds=True)
        for piece in _separated([*pieces, *self._remark()]):
            yield piece
        yield Finished()

    async def _comparison(self, command: Command, meant: Meant) -> Events:
        rows = meant.rows[:MOST_OPTIONS]
        for event in _begun(command.kind, holds=len(rows) > 1):
            yield event
        pieces = [TextPart(f"{note}\n\n", is_quoted=True) for note in self._notes(meant)]
        count = 0
        for row in rows:
            said = list[TextPart]()
            if command.about:
                about = replace(self.question, text=command.about, history=()).about((row.article_id,))
                async with aclosing(self.inner.answer(about, self.book)) as events:
                    async for event in events:
                        match event:
                            case TextPart(delta, is_folded=False) if not is_remark(delta):
                                said.append(event)
                            case Searched():
                                yield event
                            case Finished(refused=True):
                                said.clear()
            else:
                [document] = await self._documents([row])
                said = _separated(await asyncio.to_thread(summary_of, document, self.book, self.say))
            if said:
                count += 1
                said[-1] = replace(said[-1], delta=said[-1].delta.rstrip())
            heading = f"**{plain(row.title)}** ({plain(row.entry.filename)})\n\n"
            nothing = TextPart(self.say("says_nothing", name=f"*{plain(row.title)}*"), is_quoted=True)
            pieces += [TextPart(heading, is_quoted=True), *(said or [nothing]), TextPart("\n\n", is_quoted=True)]
        yield _ends(2, holds=count > 0)
        yield _begins(3)
        yield _ends(3, holds=count > 0)
        for piece in (*pieces, *_separated(self._remark())):
            yield piece
        yield Finished(refused=not count)

    async def _within(self, command: Command, meant: Meant) -> Events:
        for event in _begun(command.kind, holds=len(meant.rows) == 1):
            yield event
        if notes := self._notes(meant):
            yield TextPart(" ".join(notes) + "\n\n", is_quoted=True)
        ids = tuple(row.article_id for row in meant.rows)
        said: list[str] = []
        within = replace(self.question, text=command.about).about(ids)
        async with aclosing(self.inner.answer(within, self.book)) as events:
            async for event in events:
                match event:
                    case TextPart(delta):
                        said.append(delta)
                    case Finished(_, refused):
                        yield _ends(2, holds=not refused and _has_source("".join(said)))
                yield event

    async def _unknown(self, command: Command, meant: Meant) -> Events:
        """Say that a document that is named exactly is not there."""
        yield Planned(plan_of(command.kind))
        yield _begins(1)
        yield _ends(1, holds=False)
        for piece in _separated(self._notes(meant)):
            yield piece
        yield Finished(refused=True)

    async def _documents(self, rows: Sequence[Chunk]) -> list[Document]:
        hits = await self.retrieval.passages([row.article_id for row in rows], self.question.who)
        sections = {article_id: list(group) for article_id, group in groupby(hits, lambda hit: hit.chunk.article_id)}
        return [Document(row, sections.get(row.article_id, [])) for row in rows]

    def _notes(self, meant: Meant) -> list[str]:
        """Say what was guessed, and what is not there."""
        notes = [self.say("no_document_named", name=f"*{plain(reference.name)}*") for reference in meant.missing]
        if meant.gone:
            notes.append(self.say("documents_gone", number=meant.gone, chosen=meant.gone + len(meant.rows)))
        if meant.guessed:
            others = [row for row in meant.candidates if row not in meant.rows][:MOST_OPTIONS]
            listed = ", ".join(f"*{plain(row.title)}* ({plain(row.entry.filename)})" for row in others)
            notes.append(self.say("guessed", name=f"*{plain(meant.rows[-1].title)}*", others=listed))
        return notes

    def _remark(self) -> list[str]:
        return [f"*{self.say('made_of_quotations')}*"] if self.inner.answered_by == "extractive" else []

    def _what_is_missing(self, wanted: Wanted, rows: Sequence[Chunk]) -> str:
        empty = _met_by_none(wanted, rows)
        met = (name for name in wanted.filters if name not in empty)
        self.book.lean_on(
            row.article_id for name in met for row in [row for row in rows if wanted.meets(name, row)][:1]
        )
        self.book.lean_on(article_id for name in empty for article_id in _with_values(_FACTS.get(name, ""), rows))
        values = {name: _values(name, rows) for name in empty}
        return nothing_met(wanted, empty, values, self.say)


def is_remark(text: str) -> bool:
    """Whether a text is the remark that an answer is made of quotations, which is said once in an answer of parts."""
    bare = text.strip().strip("*")
    return any(bare in in_every_language(key) for key in ("made_of_quotations", "quoted_as_model_is_away"))


def _begun(kind: QueryKind, *, holds: bool) -> list[AnswerEvent]:
    """The events until the documents are found."""
    return [Planned(plan_of(kind)), _begins(1), _ends(1, holds=holds), _begins(2)]


def _begins(position: int) -> ItemChanged:
    return ItemChanged(position, "IN_PROGRESS")


def _ends(position: int, *, holds: bool) -> ItemChanged:
    """Return that an item is completed, if what must be true of its outcome holds."""
    return ItemChanged(position, "COMPLETED" if holds else "FAILED")


def _has_source(part: str) -> bool:
    return any(find_references(part))


def _met_by_none(wanted: Wanted, rows: Sequence[Chunk]) -> tuple[Filter, ...]:
    """Return the filters that no document meets, whatever the others are."""
    return tuple(name for name in wanted.filters if not any(wanted.meets(name, row) for row in rows))


_FACTS: Mapping[Filter, str] = {
    "kind": "document_type",
    "department": "department",
    "author": "author",
    "language": "language",
    "days": "upload_date",
    "pages": "page_count",
}


def _values(name: Filter, rows: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the values that documents have of what a filter limits; of days and pages, the first and the last."""
    if name not in ("days", "pages"):
        return values_of(_FACTS.get(name, ""), rows)
    values = sorted(value for row in rows if (value := getattr(row.entry, _FACTS[name])))
    ends = dict.fromkeys(str(each)[:10] for each in (*values[:1], *values[-1:]))
    return (" to ".join(ends),) if ends else ()


def _with_values(fact: str, rows: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the id of a document with each value of a fact; of those that are counted, the lowest and the highest."""
    with_fact = {value: row.article_id for row in rows if (value := getattr(row.entry, fact, None))}
    if fact in ("upload_date", "page_count") and with_fact:
        return with_fact[min(with_fact)], with_fact[max(with_fact)]
    return tuple(with_fact.values())


def _ordered(rows: Sequence[Chunk], wanted: Wanted) -> list[Chunk]:
    """Return the documents in the order that was asked for; those without the fact come last."""

    def fact(row: Chunk) -> str | int:
        value: str | int = row.title if wanted.sort == "title" else getattr(row.entry, wanted.sort)
        return value.casefold() if isinstance(value, str) else value

    by_title = sorted(rows, key=lambda row: (row.title.casefold(), row.article_id))
    with_fact = sorted((row for row in by_title if fact(row)), key=fact, reverse=wanted.descending)
    return [*with_fact, *(row for row in by_title if not fact(row))]


def _separated(pieces: Sequence[str]) -> list[TextPart]:
    """Put blank lines between pieces of markdown."""
    return [TextPart(f"{piece}\n\n", is_quoted=True) for piece in pieces[:-1]] + [
        TextPart(piece, is_quoted=True) for piece in pieces[-1:]
    ]
