"""Finds what helps a reader whose question nothing clearly answers: another spelling or language, other questions.

Everything is made from passages that this person may see, so a suggestion reveals no word of a hidden article.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.answering.base import Question
from app.answering.confidence import LEVELS, Evidence, evidence_of, text_of
from app.answering.extractive.blocks import Section, section_of
from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.language.detection import language_note
from app.language.messages import Messages
from app.language.spelling import corrected, nearest, unknown_words, word_counts
from app.language.suggestions import LONGEST, as_question, without_number
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.passages import Citation
from kb_pipeline.records import SearchHit

CLOSEST = 3
"""Sections that a refusal names, and questions that follow an answer."""

_AROUND = 50
"""Passages whose words are candidates for a correction: word pieces lead a misspelt question to its subject."""
_CORRECTED = 4
"""Words of a question that are corrected; with more of them it is another language, or no language."""

_HOW_TO = frozenset({"procedure", "steps", "instructions"})
"""Headings of sections that do what the title of the article says."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """What to tell a reader whose question nothing answers.

    ``language_note`` says in the reader's language that the articles are in another one. ``did_you_mean`` is the
    question with its spelling corrected; it has an answer, and ``leans_on`` are the ids of the articles that the
    spelling is from. ``ask_instead`` are questions that the closest sections answer.
    """

    language_note: str | None = None
    did_you_mean: str | None = None
    ask_instead: tuple[str, ...] = ()
    leans_on: tuple[str, ...] = ()


async def guide(
    question: Question,
    evidence: Evidence | None,
    hits: Sequence[SearchHit],
    retrieval: Retrieval,
    articles: Articles,
    say: Messages,
) -> Guidance:
    """Guidance for a question that the hits of its search do not answer, or may not answer.

    ``evidence`` is ``None`` if a model, and not the search, found that they do not.

    Raises:
        KnowledgeBaseError: the index cannot be searched.
    """
    if evidence in ("closest", "unlikely"):
        known_words = await asyncio.to_thread(_known_words, question.who, map(text_of, hits), articles)
        if not unknown_words(question.text, known_words):
            return Guidance()
    around = await retrieval.search(question.text, question.who, top=_AROUND)
    if note := await asyncio.to_thread(language_note, question.text, [hit.chunk.content for hit in around]):
        return Guidance(language_note=note)
    if evidence is None:
        evidence = evidence_of(question.text, around)
    respelt, leans_on = await _respelt(question, evidence, around, retrieval, articles)
    instead = questions_of(closest_sections(CitationBook().add(around))) if evidence != "nothing" else ()
    return Guidance(None, respelt, instead, leans_on)


async def _respelt(
    question: Question, evidence: Evidence, around: Sequence[SearchHit], retrieval: Retrieval, articles: Articles
) -> tuple[str | None, tuple[str, ...]]:
    """Return the question in another spelling that has an answer, a better one if it has a weak one already.

    Also return the articles that its corrected words are from.
    """
    known_words = await asyncio.to_thread(_known_words, question.who, map(text_of, around), articles)
    unknown = unknown_words(question.text, known_words)
    if not 0 < len(unknown) <= _CORRECTED:
        return None, ()
    anywhere = await asyncio.gather(*(retrieval.search(word, question.who, top=1, mode="keyword") for word in unknown))
    misspelt = [word for word, hits in zip(unknown, anywhere, strict=True) if not hits]
    corrections = {word: near for word in misspelt if (near := nearest(word, known_words))}
    if not corrections:
        return None, ()
    respelt = corrected(question.text, corrections)
    hits = await retrieval.search(respelt, question.who, top=question.top)
    before, after = LEVELS.index(evidence), LEVELS.index(evidence_of(respelt, hits))
    if after < before or (after == before and _coverage(hits) <= _coverage(around)):
        return None, ()
    words = set(corrections.values())
    sources = await asyncio.gather(*(retrieval.search(word, question.who, top=1, mode="keyword") for word in words))
    having = [hit for found in (hits, *sources) for hit in found if words & word_counts([text_of(hit)]).keys()]
    return respelt, tuple(dict.fromkeys(hit.chunk.article_id for hit in having or hits))


def _coverage(hits: Sequence[SearchHit]) -> float:
    return max((hit.confidence or 0.0 for hit in hits[:1]), default=0.0)


def _known_words(who: Principal, passages: Iterable[str], articles: Articles) -> dict[str, int]:
    """Return the words of all headings and of these passages, which a correction may be; more would take too long."""
    headings = (text for listing in articles.all(who) for text in (listing.summary.title, *listing.headings))
    return word_counts((*headings, *passages))


def closest_sections(citations: Sequence[Citation]) -> list[Citation]:
    """The first passage of each of the closest sections."""
    first: dict[Section, Citation] = {}
    for citation in citations:
        first.setdefault(section_of(citation), citation)
    return list(first.values())[:CLOSEST]


def questions_of(closest: Iterable[Citation]) -> tuple[str, ...]:
    """A question for each section; its heading, with the title of the article if that says too little, where no
    question can be made of it.
    """
    return tuple(dict.fromkeys(filter(None, map(_question, closest))))


def follow_ups(asked: str, citations: Sequence[Citation]) -> tuple[str, ...]:
    """What a reader may ask next: about sections of the cited articles that were found as well, but are not cited."""
    cited = [section_of(citation) for citation in citations if citation.used and not citation.is_of_web]
    articles = {article_id for article_id, _ in cited}
    others = [each for each in citations if each.article_id in articles and section_of(each) not in cited]
    questions = questions_of(each for each in others if each.section != each.title)
    return tuple(question for question in questions if _words(question) != _words(asked))[:CLOSEST]


def _words(question: str) -> list[str]:
    return re.findall(r"\w+", question.casefold())


def _question(citation: Citation) -> str | None:
    heading = without_number(citation.section) or without_number(citation.title)
    if question := as_question(heading):
        return question
    title = without_number(citation.title)
    if heading.lower() in _HOW_TO and (question := as_question(title)):
        return question
    said = heading if " " in heading or heading == title else f"{title}: {heading}"
    return said if len(said) <= LONGEST else None
