"""Which passages an answer uses, and which of their sentences support it, judged by word overlap without a model."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise, takewhile

from app.grounding.citations import document_url
from app.grounding.references import find_references, used_numbers, without_marks
from app.language.sentences import Unit, sentence_spans, units_of
from app.language.words import WordWeights, words
from app.schema.passages import Citation

LONGEST_ANSWER = 20_000
"""Characters of an answer whose sentences are compared; later references still count as used."""

_IMAGE = re.compile(r"!\[(?:[^\[\]\\]|\\.)*+\]\([^()\s]*+\)")
_CLOSING = "*_\"'”’)» "
_REST = 400
"""Characters behind a reference in which its sentence may go on."""
_CLAIMS = 100
"""Sentences that are compared with one passage: more than an answer has; keeps a hostile one cheap."""
_UNITS = 400
"""Units of a passage that are compared; what stands behind them in a very long one is not quoted."""
_SENTENCES_OF_A_REFERENCE = 12
"""Sentences before a reference that it may bear out: a long paragraph."""
_QUOTES_OF_A_SENTENCE = 2
"""A sentence of an answer may join two of its passage; a third would say little of it."""
_ENOUGH = 0.5
"""Share of a sentence's words, by weight, that its quotes must hold."""
_ALIKE = 0.8
"""Share of the words from which one text says what another says, so that no second quote is looked for."""
_ADDS = 0.2
"""Share of a sentence's words that a second quote must add; less is common words."""
_OF_UNIT_BEFORE = 0.5
"""What the unit before counts: "It ..." says what it is about one sentence earlier."""
_FEWEST = 4
"""Words of a unit that can bear out a sentence alone; fewer stand in nearly everything."""
_QUOTABLE = {"sentence", "row", "code", "term"}


def mark_used(answer: str, citations: Sequence[Citation], question: str = "") -> tuple[Citation, ...]:
    """The citations with ``used``, ``quotes`` and their pages set for this answer to the question.

    A reference belongs to the sentence before it, and to the sentences before that one that have no reference of their
    own; at the end of a block quote, to all that is quoted. One or two units of
    a passage support a sentence if they contain half of its words, by weight; one unit also does if the sentence
    contains nearly all of the unit's words. Names of articles and sections do not count. Quotes are in the passage's
    order.
    """
    claims = _claims(answer[:LONGEST_ANSWER])
    used = set(used_numbers(answer))
    passages = {c.number: _Passage.of(c.passage) for c in citations if c.number in used}
    weights = WordWeights(unit.words for passage in passages.values() for unit in passage.units)
    question_words = frozenset(words(question))

    def marked(citation: Citation) -> Citation:
        if citation.number not in used:
            return citation.model_copy(update={"used": False, "quotes": (), "quote_pages": (), "answer_page": None})
        passage = passages[citation.number]
        said = [[_without_names(claim, citation) for claim in each] for each in claims.get(citation.number, ())]
        units = passage.quotes(chain.from_iterable(said), weights)
        # what is told first answers; what follows, as the rest of a section, has words of the question as well
        first = next(filter(None, (passage.quotes(each, weights) for each in said)), ())
        quotes = {"used": True, "quotes": tuple(unit.text for unit in units)}
        return citation.model_copy(
            update={**quotes, **_pages_of(citation, units, _telling(first, question_words, weights))}
        )

    return tuple(map(marked, citations))


def _pages_of(citation: Citation, quotes: Sequence[Unit], telling: Unit | None) -> dict[str, object]:
    """Return the page of each quote, that of the ``telling`` one, and the link to the document at it."""
    pages = tuple(page for unit in quotes if (page := _page_of(citation, unit)) is not None)
    if not pages or telling is None:
        return {"quote_pages": (), "answer_page": None}
    page = _page_of(citation, telling)
    url = citation.document_url and document_url(citation.article_id, citation.filename, [page or pages[0]])
    return {"quote_pages": pages, "answer_page": page, "document_url": url}


def _telling(units: Sequence[Unit], asked: frozenset[str], weights: WordWeights) -> Unit | None:
    """Return the unit that says most of what was asked; what the one before it says counts half."""
    own = [asked.intersection(words(unit.text)) for unit in units]
    said = [
        weights.sum(here) + _OF_UNIT_BEFORE * weights.sum(before - here)
        for here, before in zip(own, (frozenset[str](), *own), strict=False)
    ]
    return units[max(range(len(units)), key=lambda at: (round(said[at], 6), -at))] if units else None


def _page_of(citation: Citation, unit: Unit) -> int | None:
    """Return the page on which most of the unit stands; of a unit that goes on over a page, that may be the next."""
    turns = [each.offset for each in citation.page_breaks if unit.start < each.offset < unit.end]
    parts = pairwise((unit.start, *turns, unit.end))
    start, _ = max(parts, key=lambda part: part[1] - part[0])
    return citation.page_at(start)


def _without_names(claim: str, citation: Citation) -> str:
    """Remove the emphasised or quoted names of article and section, which say where something stands, not what."""
    claim = claim.replace("\\", "")
    for name in filter(str.strip, (citation.section, citation.title)):
        claim = re.sub(rf"[*_\"“‘›] ?{re.escape(name)} ?(?=[*_\"”’›])", " ", claim)
    return claim


@dataclass(frozen=True, slots=True)
class _ComparedUnit:
    unit: Unit
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Passage:
    """The quotable units of a passage, and the units that contain each word or are each text."""

    units: tuple[_ComparedUnit, ...]
    holding: Mapping[str, tuple[int, ...]]
    saying: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, passage: str) -> "_Passage":
        quotable = [unit for unit in units_of(passage) if unit.kind in _QUOTABLE][:_UNITS]
        units = tuple(_ComparedUnit(unit, frozenset(words(unit.text))) for unit in quotable)
        holding: dict[str, list[int]] = {}
        saying: dict[str, list[int]] = {}
        for at, unit in enumerate(units):
            saying.setdefault(unit.unit.text, []).append(at)
            for word in unit.words:
                holding.setdefault(word, []).append(at)
        return cls(units, *({key: tuple(at) for key, at in places.items()} for places in (holding, saying)))

    def quotes(self, claims: Iterable[str], weights: WordWeights) -> tuple[Unit, ...]:
        """Return the units that support any of the claims, in the passage's order, each text once.

        "Example:" may stand in a passage many times: meant is the one behind what was quoted before it.
        """
        claimed = dict.fromkeys(frozenset(words(claim)) for claim in claims)
        supporting: list[int] = []
        for claim in islice(claimed, _CLAIMS):
            for at in self._supporting(claim, weights):
                same = self.saying[self.units[at].unit.text]
                behind = bisect_right(same, supporting[-1]) if supporting else 0
                supporting.append(same[behind] if behind < len(same) else at)
        by_text: dict[str, Unit] = {}
        for at in sorted(set(supporting)):
            by_text.setdefault(self.units[at].unit.text, self.units[at].unit)
        return tuple(by_text.values())

    def _supporting(self, claim: frozenset[str], weights: WordWeights) -> list[int]:
        """Return the unit that shares most with a claim and the one that adds most to it, if that is enough."""
        chosen: list[int] = []
        missing, total = set(claim), weights.sum(claim)
        for _ in range(_QUOTES_OF_A_SENTENCE):
            best, gain = self._best(missing, claim, weights)
            if best < 0 or (chosen and gain < total * _ADDS):
                break
            chosen.append(best)
            missing -= self.units[best].words
            if weights.sum(missing) <= total * (1 - _ALIKE):
                break
        covered = total - weights.sum(missing)
        if not chosen or (total and covered >= total * _ENOUGH):
            return chosen
        unit = self.units[chosen[0]].words  # one unit is also enough if the claim says nearly all that the unit says
        is_within = len(unit) >= _FEWEST and weights.sum(unit & claim) >= _ALIKE * weights.sum(unit)
        return chosen[:1] if is_within else []

    def _best(self, missing: Iterable[str], claim: frozenset[str], weights: WordWeights) -> tuple[int, float]:
        """Return the unit with most of the missing words, among equals the one that says least beside the claim."""
        gains: dict[int, float] = {}
        for word in missing:
            for at in self.holding.get(word, ()):
                gains[at] = gains.get(at, 0.0) + weights.of(word)
        if not gains:
            return -1, 0.0
        best = max(gains, key=lambda at: (round(gains[at], 6), -len(self.units[at].words - claim), -at))
        return best, gains[best]


def _claims(answer: str) -> dict[int, list[list[str]]]:
    """Return the sentences that each reference to a passage belongs to, by the passage's number."""
    claims: dict[int, list[list[str]]] = {}
    sentences: list[str] = []
    done = 0
    for start, end, number in find_references(answer):
        if answer[done:start].strip(" \t\n,;") or not done:
            said = without_marks(answer[done:start])
            quoted = [unit.text for unit in units_of(_quotation(said)) if unit.kind in _QUOTABLE]
            sentences = quoted or list(_sentences(said))[-_SENTENCES_OF_A_REFERENCE:]
            if sentences and not quoted and not sentences[-1].rstrip(_CLOSING).endswith((".", "!", "?", ":", "。")):
                sentences[-1] += " " + next(_sentences(answer[end : end + _REST].partition("\n")[0]), "")
        claims.setdefault(number, []).append(sentences)
        done = end
    return claims


def _quotation(text: str) -> str:
    """Return the block quote that the text ends with, without its marks."""
    lines = list(takewhile(lambda line: line.startswith(">"), reversed(text.rstrip(" ").split("\n"))))
    return "\n".join(line[1:].removeprefix(" ") for line in reversed(lines))


def _sentences(text: str) -> Iterator[str]:
    for line in _IMAGE.sub("", text).split("\n"):
        for start, end in sentence_spans(line):
            yield line[start:end]
