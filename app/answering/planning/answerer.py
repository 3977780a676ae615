"""Answers commands about whole documents by a plan, and asks back which one is meant; hands on all questions.

:mod:`app.answering.planning` says what is asked, by the documents that the person who asks may see; ``plans.py``
follows it. A greeting gets a line, and of several questions in one message each is answered.
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import date
from functools import cached_property

from app.answering.base import Answerer, AskedBack, Finished, Message, Question, TextPart
from app.answering.extractive.quoting import plain
from app.answering.nearness import Nearness
from app.answering.planning.clarifying import MOST_OPTIONS, clarification_of, is_name, read_reply
from app.answering.planning.commands import Command, commands_in, cued_in, has_cue
from app.answering.planning.finding import Meant, meant_by, named_by, references_in, spans_in
from app.answering.planning.manners import courtesy_in
from app.answering.planning.nouns import Nouns
from app.answering.planning.plans import Events, Plans, is_remark
from app.answering.planning.references import DocumentReference, file_in
from app.answering.planning.wanted import may_list, wanted_of
from app.answering.query import questions_in
from app.grounding.citations import CitationBook
from app.language.detection import language_of
from app.language.messages import Messages
from app.library.retrieval import Retrieval
from app.schema.answers import Clarification
from kb_pipeline.records import Chunk
from kb_pipeline.search.base import SearchFilter

MOST_ROWS = 1000
"""Documents among which one is looked for; of more, the newest, and those that a search finds."""
_MENTIONS = 50
"""Documents of which a name is looked for in the titles: many more than can be asked back."""


class PlannedAnswerer(Answerer):
    """Follows a plan for commands about whole documents. Another answerer answers all questions, untouched."""

    def __init__(self, inner: Answerer, retrieval: Retrieval, today: Callable[[], date] = date.today) -> None:
        """``inner`` answers ordinary questions. ``today`` is what "last month" counts from."""
        self._inner = inner
        self._retrieval = retrieval
        self._today = today
        self.answered_by = inner.answered_by
        self.model = inner.model
        self.prompt_version = inner.prompt_version
        self.sees_images = inner.sees_images
        self.judge = inner.judge

    @property
    def nearness(self) -> Nearness | None:
        return self._inner.nearness

    @cached_property
    def instead(self) -> Answerer | None:  # type: ignore[override]
        """Speaks when the model cannot be reached, by the same plan."""
        return PlannedAnswerer(self._inner.instead, self._retrieval, self._today) if self._inner.instead else None

    async def refused(self, question: Question, book: CitationBook) -> Finished:
        return await self._inner.refused(question, book)

    async def close(self) -> None:
        await self._inner.close()

    async def answer(self, question: Question, book: CitationBook) -> Events:
        async with aclosing(await self._events(question, book)) as events:
            async for event in events:
                yield event

    async def _events(self, question: Question, book: CitationBook) -> Events:
        """The events of what is said to a reply, a courtesy, several questions, a command or a question."""
        pending = question.clarification
        chosen = await self._chosen(question, pending) if pending else None
        question = replace(question, clarification=None)
        if pending and chosen is not None:
            question = replace(question, text=pending.asked).about(chosen)
            if not chosen:
                return _said("none_of_these", question, refused=True)
        elif courtesy := None if question.picture or question.options.web else courtesy_in(question.text):
            return _courteous(courtesy)
        parts = questions_in(question.text) if self.answered_by == "extractive" and not question.options.web else ()
        if len(parts) > 1:
            return self._each(question, parts, book)
        steps = None if question.options.web else await self._steps(question, book, is_reply=bool(chosen))
        return steps or self._inner.answer(question, book)

    async def _each(self, question: Question, parts: Sequence[str], book: CitationBook) -> Events:
        """Answer each of several questions, as if it was asked after those before it; alike answers are given once."""
        history = question.history
        ends, remarks = list[Finished](), list[TextPart]()
        answers = dict[tuple[str, ...], tuple[list[str], list[TextPart]]]()
        for part in parts:
            said = list[TextPart]()
            one = replace(question, text=part, history=history)
            async with aclosing(await self._steps(one, book) or self._inner.answer(one, book)) as events:
                async for event in events:
                    match event:
                        case Finished():
                            ends.append(event)
                        case TextPart(is_folded=True):
                            pass  # what answers each part is enough
                        case TextPart(delta) if is_remark(delta):
                            remarks = [event]
                        case TextPart():
                            said.append(event)
                        case _:
                            yield event
            asked, _ = answers.setdefault(tuple(each.delta for each in said), ([], said))
            asked.append(f"**{plain(part[0].upper() + part[1:].rstrip('?'))}?**\n\n")
            history = (*history, Message("user", part))
        for asked, said in answers.values():
            for text in (*(TextPart(each, is_quoted=True) for each in asked), *said, TextPart("\n\n", is_quoted=True)):
                yield text
        for remark in remarks:
            yield remark
        answered = next((end for end in ends if not end.refused), ends[0])
        yield replace(answered, did_you_mean=None)

    async def _chosen(self, question: Question, pending: Clarification) -> tuple[str, ...] | None:
        """The ids of the documents that a reply chooses, nothing for "none"; ``None`` if it is a new question."""
        if reply := read_reply(question.text, pending):
            return tuple(option.article_id for option in pending.options if option.number in reply.numbers)
        if not is_name(question.text) or courtesy_in(question.text):
            return None
        rows = await self._visible(question, [question.text])
        nouns = Nouns.of(rows)
        references = (each for command in commands_in(pending.asked) for each in references_in(command, nouns))
        named = named_by(question.text, next((each.kind for each in references if each.kind), ""), rows)
        return (named.article_id,) if named else None

    async def _steps(self, question: Question, book: CitationBook, *, is_reply: bool = False) -> Events | None:
        """The events of a plan, or of a question that is asked back; ``None`` if it is a question to be searched."""
        commands = [command for command in commands_in(question.text) if is_reply or self._is_own(command)]
        if not (commands or is_reply or has_cue(question.text) or may_list(question.text, self._today())):
            return None
        rows = await self._visible(question, [side for command in commands for side in command.sides])
        nouns, ids = Nouns.of(rows), question.options.document_ids
        chosen = tuple(row for row in rows if row.article_id in ids)
        if ids and not chosen and (is_reply or commands):
            return _said("document_gone", question, refused=True)
        plans = Plans(self._retrieval, self._inner, question, book, Messages.of(language_of(question.text)))
        for command in commands:
            if steps := self._followed(command, plans, nouns, rows, chosen, is_reply=is_reply):
                return steps
        if wanted := wanted_of(question.text, chosen or rows, nouns, self._today()):
            listed = await plans.documents_of(wanted, chosen or rows)
            return plans.listing(wanted, listed) if listed else None
        for command in filter(self._is_own, cued_in(question.text, spans_in(question.text, nouns, rows))):
            if steps := self._followed(command, plans, nouns, rows, chosen):
                return steps
        return None

    def _followed(
        self,
        command: Command,
        plans: Plans,
        nouns: Nouns,
        rows: Sequence[Chunk],
        chosen: Sequence[Chunk],
        *,
        is_reply: bool = False,
    ) -> Events | None:
        """The events of a command, or of what is asked back; ``None`` if its words mean no documents."""
        question, ids = plans.question, plans.question.options.document_ids
        references = references_in(command, nouns)
        meant = meant_by(command, references, rows, chosen, self._today())
        if not references or not (is_reply or _is_said(command, references, meant, rows, is_chosen=bool(ids))):
            return None
        if meant.unclear and not ids:
            asked_back = clarification_of(question.text, command.kind, meant.unclear, meant.candidates, plans.say)
            return _asked_back(asked_back)
        meant = replace(meant.with_guesses(), gone=len(ids) - len(chosen) if ids else 0)
        plans.book.lean_on(row.article_id for row in (*meant.rows, *(meant.candidates if meant.guessed else ())))
        return plans.about(command, meant)

    def _is_own(self, command: Command) -> bool:
        """Whether a plan follows a command: a model that has tools compares and reads documents itself."""
        return self.answered_by != "agent" or command.kind not in ("COMPARISON", "CONTENT_SEARCH")

    async def _visible(self, question: Question, names: Sequence[str]) -> tuple[Chunk, ...]:
        """The documents that this person may see: all, or of very many the newest and those that a search finds."""
        who, ids = question.who, question.options.document_ids
        page = await self._retrieval.documents(who, SearchFilter(), descending=True, limit=MOST_ROWS)
        if page.total <= len(page.documents):
            return page.documents
        rows = {row.article_id: row for row in page.documents}
        for name in names:
            titles = SearchFilter(block_type=("document",))
            hits = await self._retrieval.search(name, who, top=_MENTIONS, filters=titles)
            rows |= {hit.chunk.article_id: hit.chunk for hit in hits}
        files = tuple(filter(None, map(file_in, names)))
        for exact in (SearchFilter(filename=files) if files else None, SearchFilter(article_ids=ids) if ids else None):
            if exact:
                page = await self._retrieval.documents(who, exact, limit=len(files) + len(ids) + MOST_OPTIONS)
                rows |= {row.article_id: row for row in page.documents}
        return tuple(rows.values())


def _is_said(
    command: Command, references: Sequence[DocumentReference], meant: Meant, rows: Sequence[Chunk], *, is_chosen: bool
) -> bool:
    """Return whether documents are meant, where names of articles may be names of features as well.

    Words with a noun for documents, a file name or a quoted title mean one. So does a title alone for a summary, or
    for a fact that articles without pages and authors do not have, unless the asker chose documents. A file that is
    not there is one only if others of its ending are: a manual may be about files.
    """
    endings = {row.entry.filename.rpartition(".")[2].casefold() for row in rows}
    for missing in meant.missing:
        is_file = missing.by == "file" and missing.name.rpartition(".")[2].casefold() in endings
        if not is_file:
            return False
    if any(each.has_noun or each.is_pronoun or each.by != "description" for each in references):
        return True
    if is_chosen:
        return False
    facts = [getattr(row.entry, name, "") for row in (*meant.rows, *meant.candidates) for name in command.fields]
    return command.kind == "DOCUMENT_SUMMARY" or (
        command.kind == "METADATA_SEARCH" and all(facts) and {*command.fields} <= {"author", "page_count"}
    )


async def _said(key: str, question: Question, *, refused: bool) -> Events:
    yield TextPart(Messages.of(language_of(question.text))(key), is_quoted=True)
    yield Finished(refused=refused)


async def _courteous(said: str) -> Events:
    yield TextPart(said, is_quoted=True)
    yield Finished()


async def _asked_back(clarification: Clarification) -> Events:
    yield AskedBack(clarification)
    yield Finished()
