"""Finds the words of a question that no article has: then no article answers all of the question.

A question about another product is often near to what the articles say ("How do I connect it to Splunk?"), and only
the name shows that they do not answer it.
"""

import asyncio
import re
from collections.abc import Sequence, Set

from app.answering.extractive.selection import Evidence, text_of
from app.grounding.words import words
from app.principal import Principal
from app.retrieval import Retrieval
from app.schema.passages import Citation
from kb_pipeline.records import SearchHit

_WORD = re.compile(r"(?<!\w)[^\W\d_][^\W_]{2,}(?!\w)")
_BEFORE_A_NAME = re.compile(r"[^\s.?!:]\s+[\"'“‘(]?$")
"""What stands before a word that does not begin a sentence."""


_MOST_SEARCHES = 12
"""Words that are searched for; whoever asks with more unknown ones writes a text, not a question."""


async def with_unmentioned(
    evidence: Evidence, question: str, hits: Sequence[SearchHit], who: Principal, retrieval: Retrieval
) -> tuple[Evidence, list[str]]:
    """The evidence as the words of the question weaken it that no article has, and the names among these words.

    Raises:
        KnowledgeBaseError: the index cannot be searched.
    """
    unmentioned = await unmentioned_words(question, hits, who, retrieval)
    names = names_among(unmentioned, question)
    return weakened(evidence, unmentioned, names), names


async def unmentioned_words(
    question: str, hits: Sequence[SearchHit], who: Principal, retrieval: Retrieval
) -> list[str]:
    """The words of a question, as they stand there, that no article has which this person may read.

    Words of the hits are not searched for, so most questions need no search; of other words only the first dozen are.

    Raises:
        KnowledgeBaseError: the index cannot be searched.
    """
    found = {word for hit in hits for word in words(text_of(hit))}
    missing = _words_beyond(found, question)[:_MOST_SEARCHES]
    anywhere = await asyncio.gather(*(retrieval.search(word, who, top=1, mode="keyword") for word in missing))
    return [word for word, hits_of_word in zip(missing, anywhere, strict=True) if not hits_of_word]


def names_among(unmentioned: Sequence[str], question: str) -> list[str]:
    """Those of the words that are names: capitalised inside a sentence, unless all words of the question are."""
    if all(word[0].isupper() for word in _WORD.findall(question)):
        return []
    return [word for word in unmentioned if word[0].isupper() and _is_inside_a_sentence(word, question)]


def names_beyond(citations: Sequence[Citation], question: str) -> list[str]:
    """The names in a question that none of these passages has."""
    known = {word for each in citations for word in words("\n".join((*each.heading_path, each.title, each.passage)))}
    return names_among(_words_beyond(known, question), question)


def _words_beyond(known: Set[str], question: str) -> list[str]:
    """The words of a question, as they stand there, that are not among the known ones."""
    return [word for word in dict.fromkeys(_WORD.findall(question)) if not known >= set(words(word))]


def weakened(evidence: Evidence, unmentioned: Sequence[str], names: Sequence[str]) -> Evidence:
    """The evidence for an answer to a question with these words: what names nothing known has at best close answers."""
    if names and evidence in ("strong", "weak"):
        return "unlikely"
    return "weak" if unmentioned and evidence == "strong" else evidence


def _is_inside_a_sentence(word: str, question: str) -> bool:
    places = (match.start() for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", question))
    return any(_BEFORE_A_NAME.search(question[:place]) for place in places)
