"""Chooses what to search for without a model: a question that points back borrows words from the questions before it.

Of several questions in one message each is a question of its own, and of a pasted mail its questions come first
(:mod:`kb_pipeline.pasted`). Also chooses which of the hits a model reads. Searching itself is the task of
:mod:`app.library.retrieval`.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from app.answering.base import Question
from app.language.words import STOP_WORDS, words
from app.library.retrieval import Retrieval
from kb_pipeline.pasted import asked_in, is_pasted, questions_of
from kb_pipeline.records import SearchHit
from kb_pipeline.search.base import SearchFilter

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CONNECTIVES = frozenset(
    "and but or also then so besides otherwise what's how's und aber oder auch dann sonst außerdem".split()
)
_POINTERS = frozenset(
    (
        "it its they their them that those these this there same instead one ones else "
        "ihn ihm ihnen dies diese dieser dieses diesen diesem dabei dafür dagegen damit daran darin davon dort"
    ).split()
)
_EXISTS = re.compile(r"\b(?:is|are|was|were) there\b|\bthere (?:is|are|was|were)\b")
"""In "Is there a limit?" the word points at nothing; in "How do I get there?" it does."""
_LITTLE_WORDS = STOP_WORDS.union(
    _CONNECTIVES,
    _POINTERS,
    "bitte danke darf dürfen geht ja may mehr müssen nein nochmal ok okay thanks wurde wurden yes".split(),
)
_ADDRESSED = frozenset({"you", "du"})
_FRAGMENT = 3
"""Words of a message that says nothing alone, such as "And on Linux?"."""
_SEVERAL = 5
"""Words with a meaning of their own; with more, "it" points at something in the question itself."""
_MOST_TURNS = 2
"""Earlier questions from which a follow-up borrows words; those before are mostly about other things."""

_ROOM = 8000
"""Characters of all hits that a model reads. Five whole sections have 12,600 on average and hold the words of the
answer to 167 of 223 questions; within this room, 6,500 on average hold those to 158. Cut to a length or to their best
paragraphs, or only the first three, they hold fewer for as much text."""


_INTERROGATIVE = (
    r"(?:how|what|which|when|where|who|whom|whose|why|wie|was|welche[rsmn]?|wann|wo|wohin|wer|wem|warum|wieso"
    r"|comment|quel(?:le)?s?|quand|où|qui|pourquoi|combien|cómo|qué|cuál(?:es)?|cuándo|dónde|quién|cuánto)"
)
_ASKS = re.compile(rf"\W*(?:{_INTERROGATIVE}|can|could|do|does|is|are|kann|gibt|ist|sind)\b", re.IGNORECASE)
_NEXT_QUESTION = re.compile(rf"(?<=\?)\s+|,?\s+(?:and|und|et|y)\s+(?={_INTERROGATIVE}\b)", re.IGNORECASE)
_MOST_QUESTIONS, _LEAST_WORDS = 3, 2
"""Questions of a message that are each searched for, and words of the shortest of them."""


def questions_in(text: str) -> tuple[str, ...]:
    """The questions of a message that make sense alone, each with what is said before it; one if there are no more.

    Those of a pasted mail stand among sentences that ask nothing.
    """
    if is_pasted(text):
        asked = tuple(each for each in questions_of(text) if len(words(each)) >= _LEAST_WORDS)
        makes_sense = 1 < len(asked) <= _MOST_QUESTIONS and not any(map(_depends_on_context, asked))
        return asked if makes_sense else (text,)
    if "\n" in text.strip():
        return (text,)
    questions: list[str] = []
    for part in _NEXT_QUESTION.split(text.strip()):
        is_own = _ASKS.match(part) and len(words(part)) >= _LEAST_WORDS and not _depends_on_context(part)
        if questions and not is_own:
            return (text,)
        questions.append(part)
    return tuple(questions) if 1 < len(questions) <= _MOST_QUESTIONS and _ASKS.match(questions[0]) else (text,)


def search_queries(question: Question) -> list[str]:
    """What to search for: one query, or two of which :func:`is_about_picture` chooses one.

    "And how do I undo it?" after "How do I crop a layer?" makes no sense alone, so both questions are one query, its
    own words first. A question that makes sense alone is asked by itself. A query borrows at most two earlier
    questions, the second one only if the first one makes no sense alone either. If it came with a picture, it borrows
    the text on that instead.
    """
    own = asked_in(question.text)
    if own != question.text:
        return [own]
    makes_sense, has_picture_text = not _depends_on_context(own), bool(question.picture and question.picture.text)
    if makes_sense and not has_picture_text:
        return [own]
    together = "\n".join((own, *_borrowed(question)))
    return [own, together] if makes_sense else [together]


def continued_questions(question: Question) -> tuple[str, ...]:
    """The earlier questions without which a question makes no sense, the first one first; nothing if it does.

    It was searched for together with them, unless a model chose the words.
    """
    has_picture_text = question.picture is not None and bool(question.picture.text)
    if has_picture_text or not _depends_on_context(question.text):
        return ()
    return tuple(_borrowed(question))[::-1]


def is_about_picture(alone: Sequence[SearchHit], together: Sequence[SearchHit]) -> bool:
    """Whether the hits of a question and the text on its picture cover more of both than those of the question alone.

    An index that reports no coverage believes the picture: whoever sends one asks about it.
    """
    first, both = (hits[0].confidence if hits else None for hits in (alone, together))
    return bool(together) if first is None or both is None else both > first


def _borrowed(question: Question) -> Iterator[str]:
    if question.picture and question.picture.text:  # "this" is what is on it
        yield " ".join(question.picture.text.split())
        return
    earlier = [message.text for message in question.history if message.role == "user"]
    for text in reversed(earlier[-_MOST_TURNS:]):
        yield text
        if not _depends_on_context(text):
            return


def _depends_on_context(text: str) -> bool:
    """Return whether a question makes no sense alone: it continues another one, points back, or says almost nothing.

    Uses the function words of English and German. In other languages only a question of a single word leans.
    """
    said = [word.lower() for word in _WORD.findall(text)]
    content = [word for word in said if word not in _LITTLE_WORDS]
    if not content and any(word in _ADDRESSED for word in said):
        return any(word in _POINTERS for word in said)  # "Who are you?" is about nothing that was said before
    if not content or (len(content) == 1 and (len(said) <= _FRAGMENT or said[0] in _CONNECTIVES)):
        return True
    return _points(said) and len(content) <= _SEVERAL


def _points(said: Sequence[str]) -> bool:
    """Return whether words point at what was said before: "the last one" does, "one user" counts."""
    pointing = _WORD.findall(_EXISTS.sub(" ", " ".join(said)))
    return said[:2] in (["what", "about"], ["how", "about"]) or any(
        word in _POINTERS and (word != "one" or following in _LITTLE_WORDS)
        for word, following in pairwise((*pointing, "it"))
    )


async def search_for(question: Question, retrieval: Retrieval) -> tuple[str, list[SearchHit]]:
    """Search, and return the query that was used and its hits: best first, ``question.top`` at most.

    Of several questions in one message, each is searched for, and the hits of all take turns. Of a pasted mail that is
    one question, all of it and each of its sentences that ask are searched for, and what is surest counts.

    Raises:
        KnowledgeBaseError: the index cannot be searched.
    """
    if len(parts := questions_in(question.text)) > 1:
        each = [await search_for(replace(question, text=part), retrieval) for part in parts]
        found = (hit for rank in zip_longest(*(hits for _, hits in each)) for hit in rank if hit)
        return question.text, list({hit.chunk.id: hit for hit in found}.values())[: question.top]
    queries = search_queries(question)
    if is_pasted(question.text) and question.picture is None:
        queries += questions_of(question.text)
        return await _surest(queries[: 1 + _MOST_QUESTIONS], question, retrieval)
    searches = (
        retrieval.search(query, question.who, top=question.top, filters=limits_of(question)) for query in queries
    )
    alone, *together = await asyncio.gather(*searches)
    if together and is_about_picture(alone, together[0]):
        return queries[1], together[0]
    return queries[0], alone


async def _surest(queries: Sequence[str], question: Question, retrieval: Retrieval) -> tuple[str, list[SearchHit]]:
    """The query whose hits cover it best, and these: one question of a mail says more than all of the mail."""
    limits = limits_of(question)
    searches = (retrieval.search(query, question.who, top=question.top, filters=limits) for query in queries)
    results = list(zip(queries, await asyncio.gather(*searches), strict=True))
    return max(results, key=lambda each: (each[1][0].confidence or 0.0) if each[1] else -1.0)


def limits_of(question: Question) -> SearchFilter | None:
    """What limits the searches for a question: the documents that it is about, if the asker chose them."""
    return SearchFilter(article_ids=question.options.document_ids) if question.options.document_ids else None


def within_room(hits: Sequence[SearchHit]) -> list[SearchHit]:
    """The hits that a model reads: the best one, and each of the others that fits into the rest of the room."""
    room = _ROOM
    chosen: list[SearchHit] = []
    for hit in hits:
        size = len(hit.chunk.content)
        if not chosen or size <= room:
            chosen.append(hit)
            room -= size
    return chosen
