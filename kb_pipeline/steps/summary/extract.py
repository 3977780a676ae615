"""Choose the sentences that say what a document is about.

A sentence counts by the words that the document repeats and its headings name, by its place (the first sentences of a
section say most, those of an introduction more), and by what it is not: no legal notice, no pointer, no half thought.
The sentence near the beginning that says what the document is about always comes first.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kb_pipeline.records import DocumentSummary, Quoted
from kb_pipeline.steps.summary.prose import Sentence, first_headings, sentences

SUMMARY_VERSION = "extractive-2"
"""Increase it if the same document would be summarised differently."""
LONGEST_BRIEF = 400
"""Characters of the brief summary, which has two or three sentences where the document has them."""
LONGEST_STANDARD = 1200
"""Characters of the standard summary."""
_MOST_BRIEF, _MOST_STANDARD = 3, 9
"""Sentences of the two summaries."""
_SHORTEST, _LONGEST = 25, 320
"""Characters of a sentence that can stand in a summary."""

_WORD = re.compile(r"[^\W\d_]{3,}")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_OPENING = re.compile(
    r"abstract|summary|overview|introduction|introducing|about|purpose|scope|background|what is|getting started|"
    r"description|executive|zusammenfassung|überblick|übersicht|einleitung|einführung|über|zweck|geltungsbereich|"
    r"was ist|kurzfassung|beschreibung|résumé|resumen|introducción|aperçu|présentation|sommario|panoramica|概要|"
    r"はじめに",
    re.IGNORECASE,
)
_FORMAL = re.compile(
    r"copyright|licen[cs]e|legal|trademark|notice|disclaimer|acknowledg|revision history|changelog|change log|"
    r"references|bibliography|index|contents|colophon|feedback|conventions|credits|contributors|imprint|"
    r"impressum|danksagung|lizenz|marken|haftung|inhalt|literatur|stichwort|rechtliche",
    re.IGNORECASE,
)
_NOTICE = re.compile(
    r"©|\(c\) ?\d|copyright|all rights reserved|alle rechte|permission (?:is|to)|licen[cs]ed? under|free documentation|"
    r"trademark|warenzeichen|isbn|issn|printed in|without warranty|no warranty|table of contents|https?://|www\.|\S@\S+\.",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"\b(?:see|refer to|listed|shown|described|figure|table|above|below|the following|as follows|"
    r"next (?:section|chapter)|this (?:section|chapter|page)|"
    r"siehe|vgl|abbildung|tabelle|oben|unten|folgende[nrs]?|nächste[nrs]?)\b",
    re.IGNORECASE,
)
_DEPENDENT = re.compile(
    r"\(|(?:this|these|that|those|it|its|they|them|he|she|his|her|such|however|but|and|or|also|therefore|thus|hence|"
    r"otherwise|instead|then|so|for example|for instance|in addition|additionally|furthermore|moreover|similarly|"
    r"likewise|finally|here|there|in this case|if so|once|after that|next|both|either|the (?:former|latter)|"
    r"dies(?:e[nrsm]?)?|es|sie|er|ihr|dann|jedoch|aber|und|oder|auch|daher|deshalb|somit|sonst|außerdem|ferner|"
    r"zusätzlich|zum beispiel|schließlich|hier|dort|dabei|dazu|danach)\b",
    re.IGNORECASE,
)
_OF_THE_DOCUMENT = re.compile(
    r"\bthis (?:\w+ )?"
    r"(?:section|chapter|page|article|guide|manual|handbook|document|tutorial|book|reference|report|policy) "
    r"(?:will |is |gives?|shows?|tells?|helps?|lists?|covers?|deals|describes?|explains?|presents?|introduces?|"
    r"discusses|illustrates?|provides?|contains?|outlines?|summari[sz]es)"
    r"|\bdies(?:e[rs]?)? (?:\w+ )?(?:abschnitt|kapitel|seite|artikel|anleitung|handbuch|dokument|bericht|richtlinie) ",
    re.IGNORECASE,
)
"""A document, or its section, speaks of itself."""
_OF_ITS_SUBJECT = re.compile(r"(?:this|dies(?:e[nrsm]?)?) \w+", re.IGNORECASE)
"""The beginning of a document whose title is its subject: "This assistant creates loans"."""
_FIRST = 4
"""Sentences at the beginning among which the one is looked for that says what the document is about."""
_SHORTEST_FORM, _LONGEST_ENDING = 3, 3
"""Letters that two forms of a word share at least, and that one of them may have beyond the other."""


def summarise(markdown: str, title: str) -> DocumentSummary:
    """Return summaries of sentences that stand word for word in the document, in its order.

    The brief one has at most :data:`LONGEST_BRIEF` characters, the standard one :data:`LONGEST_STANDARD`: its first
    paragraph is the brief one. Both are empty if there is no sentence.
    """
    candidates = _candidates(sentences(markdown))
    if not candidates:
        return DocumentSummary()
    scores = _scores(candidates, [title, *(heading.text for heading in first_headings(markdown))])
    ranked = sorted(candidates, key=lambda sentence: (-scores[sentence.at], sentence.at))
    if subject := _subject(candidates, title):
        ranked = [subject, *(sentence for sentence in ranked if sentence is not subject)]
    brief = _chosen(ranked, [], LONGEST_BRIEF, _MOST_BRIEF)
    used = sum(len(sentence.text) + 1 for sentence in brief) + 1
    rest = _chosen(ranked, brief, LONGEST_STANDARD - used, _MOST_STANDARD - len(brief))
    paragraphs = tuple(tuple(map(_quoted, paragraph)) for paragraph in (brief, rest) if paragraph)
    return DocumentSummary(brief=tuple(map(_quoted, brief)), standard=paragraphs)


def _quoted(sentence: Sentence) -> Quoted:
    return Quoted(text=sentence.text, page=sentence.page)


def _candidates(found: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences of paragraphs that can be quoted alone; where there are too few, what comes nearest."""
    quotable = [sentence for sentence in found if _SHORTEST <= len(sentence.text) <= _LONGEST]
    plain = [sentence for sentence in quotable if not _NOTICE.search(sentence.text)]
    for standings in (("paragraph",), ("paragraph", "aside"), ("paragraph", "aside", "label")):
        enough = [sentence for sentence in plain if sentence.standing in standings]
        if len(enough) >= _MOST_BRIEF:
            return enough
    return plain or quotable or [sentence for sentence in found if len(sentence.text) <= LONGEST_BRIEF][:1]


def _subject(candidates: Sequence[Sentence], title: str) -> Sentence | None:
    """Return the sentence of the beginning that says what the document is about: it speaks of itself or its title."""
    named = [word for word in _words(title) if len(word) > _SHORTEST_FORM]
    for sentence in candidates:
        text = sentence.text
        if sentence.at >= _FIRST or sentence.standing != "paragraph" or _FORMAL.search(sentence.section):
            continue
        if _OF_THE_DOCUMENT.search(text):
            return sentence
        is_named = any(_is_form(word, other) for word in _words(text) for other in named)
        is_alone = not _DEPENDENT.match(text) or (sentence.at == 0 and _OF_ITS_SUBJECT.match(text))
        if is_named and is_alone and not _POINTER.search(text) and not text.endswith((":", "?")):
            return sentence
    return None


def _is_form(word: str, other: str) -> bool:
    """Return whether two words differ in their endings alone, like "report" and "reporting"."""
    shared = max(_SHORTEST_FORM, max(len(word), len(other)) - _LONGEST_ENDING)
    return word[:shared] == other[:shared]


def _scores(candidates: Sequence[Sentence], titles: Iterable[str]) -> dict[int, float]:
    said = {sentence.at: _words(sentence.text) for sentence in candidates}
    times = Counter(word for words in said.values() for word in words)
    usual = max(3.0, 0.3 * len(candidates))
    named = Counter(word for title in titles for word in set(_words(title)))
    weights = {
        word: (math.log1p(count) if count <= usual else 0.2) * (1.6 if word in named else 1.0)
        for word, count in times.items()
    }
    return {
        sentence.at: _content(said[sentence.at], weights) * _place(sentence) * _independence(sentence)
        for sentence in candidates
    }


def _content(words: Sequence[str], weights: dict[str, float]) -> float:
    distinct = set(words)
    return sum(weights[word] for word in distinct) / math.pow(len(distinct) + 6, 0.75)


def _place(sentence: Sentence) -> float:
    in_section = 1 / (1 + 0.25 * sentence.place)
    in_document = 1 / (1 + sentence.at / 15)
    value = 0.4 + in_section + 2 * in_document
    if _OPENING.search(sentence.section):
        value += 0.5 * in_section
    if _FORMAL.search(sentence.section):
        value *= 0.3
    return value * (0.6 if sentence.standing == "label" else 1.0)


def _independence(sentence: Sentence) -> float:
    text = sentence.text
    value = 1.0
    if _DEPENDENT.match(text):
        value *= 0.5
    if _POINTER.search(text):
        value *= 0.6
    if text.rstrip("\"'”’»)").endswith(("?", "？", ":")):
        value *= 0.4
    letters = sum(map(str.isalpha, text))
    return value * (0.3 if letters < 0.6 * len(text) else 1.0)


def _chosen(ranked: Iterable[Sentence], before: Sequence[Sentence], room: int, most: int) -> list[Sentence]:
    """Choose the best sentences that fit, none of which says what another one says, and put them in order."""
    chosen: list[Sentence] = []
    for sentence in ranked:
        if len(chosen) == most:
            break
        if len(sentence.text) + bool(chosen) > room or any(_is_like(sentence, other) for other in [*before, *chosen]):
            continue
        room -= len(sentence.text) + bool(chosen)
        chosen.append(sentence)
    return sorted(chosen, key=lambda sentence: sentence.at)


def _is_like(one: Sentence, other: Sentence) -> bool:
    if one.at == other.at:
        return True
    words, others = set(_words(one.text)), set(_words(other.text))
    return len(words & others) > 0.6 * min(len(words), len(others))


def _words(text: str) -> list[str]:
    """Return the words in lower case; of scripts without spaces, the pairs of characters."""
    folded = text.casefold()
    pairs = [run[at : at + 2] for run in _UNSPACED.findall(folded) for at in range(len(run) - 1)]
    return pairs or _WORD.findall(folded)
