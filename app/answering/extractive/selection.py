"""Selects the parts of passages that answer a question, by shared words, by place and by the rank of the passage.

Writing them down is the task of :mod:`app.answering.extractive.quoting`. Embedding every sentence was tried as well: it
found no more answers (see benchmarks/results/answers.md) and took thirty times as long.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from app.answering.extractive.blocks import PassageBlock, blocks_of
from app.grounding.sentences import Unit
from app.grounding.words import ParsedQuestion, Weights, readable, words
from app.schema.passages import Citation
from app.suggestions import without_number
from kb_pipeline.records import SearchHit

_OF_HEADINGS = 0.7
_OF_NEIGHBOUR = 0.5
_OF_RANK = 0.2
_OF_SUBJECT = 0.2
_OF_INSTRUCTION = 0.2
_PURPOSE = re.compile(r"[\W_]*(?:to|um) (\w+)", re.IGNORECASE)
_LEADS = 0.5
_BLOCK = 800
_STEPS = 1600
_PROCEDURE = 5000
_ROWS = 4
_TABLE = re.compile(r"\b(?:Table|Tabelle)\s+((?:[A-Z]\.)?\d+(?:[.-]\d+)*)")
_FIRST, _OTHERS = 1100, 800
_WHOLE = 1200
NEARLY_AS_GOOD = 0.75
"""Share of the best block's score from which another block answers, too."""
_ALIKE = 0.7
_OF_MAKERS = frozenset(
    words("author autor wrote written writer published posted updated modified changed edited reviewed revised date")
)
"""Words of a question that may ask who made an article, or when."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A block and how well it answers: in all (0 to 1.2), by its text alone, and by each of its units (0 to 1)."""

    block: PassageBlock
    score: float
    alone: float
    units: tuple[float, ...]

    @property
    def best(self) -> int:
        """The place of its best unit."""
        return max(range(len(self.units)), key=lambda at: (self.units[at], -at))


@dataclass(frozen=True, slots=True)
class Extract:
    """The units of a block that are quoted, in the block's order."""

    block: PassageBlock
    units: tuple[Unit, ...]


def rank(question: ParsedQuestion, citations: Sequence[Citation]) -> list[Scored]:
    """All blocks of the passages, which are best first: the one that leads the answer, then by score.

    The best block of the first passage leads, unless another one is far better, or better and about the subject of the
    question: the search compares meanings, also where words differ. Of equals the earlier one comes first.

    Half of a score is the share of the question that the block contains, half the share that its best unit contains.
    Words of headings count less than text. For a procedure that the question asks for they count fully, because its
    steps do not say what they are for. A section whose heading is wholly in the question is about its subject, and
    more likely to answer than one that mentions it. Who made an article, and when, answers only who asks for it.
    """
    blocks = [block for citation in citations for block in blocks_of(citation)]
    if not _OF_MAKERS & question.words.keys():
        blocks = [block for block in blocks if not block.is_byline]
    worth = question.worth(Weights(unit_words for block in blocks for unit_words in block.unit_words))
    rank_bonus = {citation.number: _OF_RANK / place for place, citation in enumerate(citations, 1)}
    procedures = {block.section for block in blocks if block.steps and question.how}
    scored = []
    for block in blocks:
        of_headings = 1.0 if block.section in procedures else _OF_HEADINGS
        bonus = rank_bonus[block.citation.number] + _OF_SUBJECT * _share(worth, _subject(block, question))
        bonus += _OF_INSTRUCTION * (question.how and _instructs(block, question))
        scored.append(_score(block, worth, of_headings, bonus))
    by_score = sorted(scored, key=lambda candidate: -round(candidate.score, 6))
    near = [each for each in by_score if each.score >= _LEADS * by_score[0].score]
    leading = next((each for each in near if each.block.citation.number == citations[0].number), None)
    as_good = (each for each in near if each.score >= NEARLY_AS_GOOD * by_score[0].score)
    if subject := next((each for each in as_good if _subject(each.block, question)), None):
        leading = subject if leading is None or subject.score > leading.score else leading
    return [leading, *(each for each in by_score if each is not leading)] if leading else by_score


def _instructs(block: PassageBlock, question: ParsedQuestion) -> bool:
    """Return whether a block has steps, or begins like an instruction for what is asked ("To save a report, ...")."""
    purposes = (_PURPOSE.match(readable(unit.text)) for unit in block.units if unit.kind == "sentence")
    return bool(block.steps) or any(question.words.keys() & set(words(purpose[1])) for purpose in purposes if purpose)


def _subject(block: PassageBlock, question: ParsedQuestion) -> frozenset[str]:
    """Return the words of the heading that the block stands under if the question has all of them, else none."""
    heading = block.citation.heading_path[-1] if block.citation.heading_path else block.citation.title
    named = frozenset(words(without_number(heading)))
    return named if named <= question.words.keys() else frozenset()


def _score(block: PassageBlock, worth: Mapping[str, float], of_headings: float, bonus: float) -> Scored:
    units = [
        _share(worth, own | columns, (block.context, of_headings), (before, _OF_NEIGHBOUR))
        for own, columns, before in zip(
            block.unit_words, block.column_words, (frozenset[str](), *block.unit_words), strict=False
        )
    ]
    whole = _share(worth, block.words, (block.context, of_headings))
    return Scored(block, (whole + max(units)) / 2 + bonus, _share(worth, block.words), tuple(units))


def _share(worth: Mapping[str, float], own: frozenset[str], *around: tuple[frozenset[str], float]) -> float:
    """Return the share of the question that some words contain, by weight; words around them count less."""
    places = ((own, 1.0), *around)
    return sum(w * max((s for where, s in places if word in where), default=0.0) for word, w in worth.items())


def choose(ranked: Sequence[Scored], procedure: Sequence[PassageBlock] = ()) -> list[Extract]:
    """The extracts to quote: of the best block or all of its ``procedure``, and of one more block that adds to it.

    A procedure that is only near the best block does not replace it if that says more of what was asked.

    What stands under one heading is quoted whole if it is short; else a short block is followed by the next ones.
    Extracts of one passage stand together, in its order.
    """
    best, *others = choose_blocks(ranked)
    around = (block for block in blocks_of(best.block.citation) if block.heading == best.block.heading)
    whole = [block for block in around if not block.is_byline or block.place == best.block.place]
    if procedure:
        extracts = _all_steps(procedure, best.block)
        steps = {block.place for block in procedure}
        said = max((each.alone for each in ranked if each.block.place in steps), default=0.0)
        if best.block.place not in steps and best.alone > said:
            extracts = [extract(best), *extracts]
        others = [other for other in others if other.block.section != best.block.section]
    elif sum(sum(block.lengths) for block in whole) <= _WHOLE:
        extracts = [Extract(block, block.units) for block in whole]
    else:
        extracts = _with_more(best, ranked, _FIRST)
    for other in others:
        quoted = {extract.block.place for extract in extracts}
        extracts += [more for more in _with_more(other, ranked, _OTHERS) if more.block.place not in quoted]
    extracts += _tables_named_in(extracts, ranked)
    passages = [extract.block.citation.number for extract in extracts]
    return sorted(extracts, key=lambda e: (passages.index(e.block.citation.number), e.block.order))


def _tables_named_in(extracts: Sequence[Extract], ranked: Sequence[Scored]) -> Iterator[Extract]:
    """Yield the tables that the extracts refer to by number ("is shown in Table 6.6"), from the same passages."""
    quoted = {extract.block.place for extract in extracts}
    for extracted in extracts:
        named = {label for unit in extracted.units if unit.kind == "sentence" for label in _TABLE.findall(unit.text)}
        for scored in ranked if named else ():
            block = scored.block
            if block.citation.number != extracted.block.citation.number or block.place in quoted:
                continue
            is_table = any(unit.kind == "row" for unit in block.units)
            if is_table and any(named.intersection(_TABLE.findall(term.text)) for term in block.terms):
                quoted.add(block.place)
                whole = sum(block.lengths) <= _STEPS
                yield Extract(block, block.units) if whole else extract(scored)


def _with_more(scored: Scored, ranked: Sequence[Scored], room: int) -> list[Extract]:
    blocks = sorted((other.block for other in ranked), key=lambda block: block.order)
    carried_on = list(_carried_on(scored.block, blocks, room))
    while carried_on and carried_on[-1].introduces:  # what it leads to does not fit
        carried_on.pop()
    return [extract(scored), *(Extract(block, block.units) for block in carried_on)]


def _all_steps(blocks: Sequence[PassageBlock], best: PassageBlock) -> list[Extract]:
    """Return the blocks of a procedure.

    A procedure that is too long is cut. What remains begins with the first step if it includes the best block, else
    with the best block.
    """
    places = [block.place for block in blocks]
    best_at = places.index(best.place) if best.place in places else 0
    ends = list(accumulate(sum(block.lengths) for block in blocks))
    first = 0 if not ends or ends[best_at] <= _PROCEDURE else best_at
    start = ends[first - 1] if first else 0
    return [
        Extract(block, block.units)
        for block, end in zip(blocks[first:], ends[first:], strict=True)
        if end - start <= _PROCEDURE or block is blocks[first]
    ]


def choose_blocks(ranked: Sequence[Scored]) -> list[Scored]:
    """The best block, and the next one whose score is nearly as good and not only due to its headings.

    The second one is neither a copy of the best nor a list of steps, of which some might be missing.
    """
    near = (scored for scored in ranked[1:] if scored.alone and scored.score >= NEARLY_AS_GOOD * ranked[0].score)
    others = (scored for scored in near if not scored.block.steps and not alike(scored.block, ranked[0].block))
    other = next(others, None)
    return [*ranked[:1], *((other,) if other else ())]


def alike(block: PassageBlock, other: PassageBlock) -> bool:
    """Whether two blocks have nearly the same words, like copies in neighbouring articles."""
    union = len(block.words | other.words)
    return not union or len(block.words & other.words) / union > _ALIKE


def extract(scored: Scored) -> Extract:
    """The part of a block that answers: all of it if it is short."""
    block, size = scored.block, 0
    limit = _STEPS if block.steps else _BLOCK
    if sum(block.lengths) <= limit:
        return Extract(block, block.units)
    kept: set[int] = set()
    order = _rows(scored) if block.units[scored.best].kind in ("header", "row") else _beside(block, scored.best)
    for at in (scored.best, *_introduction(block), *order):
        size += block.lengths[at] if at not in kept else 0
        if size > limit and kept:
            break
        kept.add(at)
    return Extract(block, tuple(block.units[at] for at in sorted(kept)))


def _introduction(block: PassageBlock) -> Iterator[int]:
    """Yield a table's head, and the last sentence before a list or table."""
    for at, unit in enumerate(block.units):
        if unit.kind == "header" or (at + 1 < len(block.units) and block.units[at + 1].block != unit.block):
            yield at


def _beside(block: PassageBlock, best: int) -> Iterator[int]:
    """Yield the sentences of the best unit's item, then by turns the units after and before it."""
    unit = block.units[best]
    yield from (at for at, other in enumerate(block.units) if unit.item and other.item == unit.item)
    for distance in range(1, len(block.units)):
        yield from (at for at in (best + distance, best - distance) if 0 <= at < len(block.units))


def _rows(scored: Scored) -> Iterable[int]:
    return sorted(range(len(scored.units)), key=lambda at: -scored.units[at])[:_ROWS]


def _carried_on(block: PassageBlock, others: Sequence[PassageBlock], room: int) -> Iterator[PassageBlock]:
    """Yield the next blocks under the same heading while they fit: few instructions end with their paragraph."""
    size = sum(block.lengths)
    for other in others:
        follows = other.citation.number == block.citation.number and other.order > block.order
        if follows and other.heading == block.heading and (block.introduces or other.terms == block.terms):
            size += sum(other.lengths)
            if size > room:
                return
            yield other


Evidence = Literal["strong", "weak", "unlikely", "none"]
"""``weak``: present the passages as the closest ones. ``unlikely``: they do not answer, but may lead to an answer."""

_MEASURED_MODEL = "all-MiniLM-L6-v2"
_COVERED, _PARTLY, _HARDLY = 0.43, 0.36, 0.29
_LIKE = 0.35
"""Cosine of a word of the question and the most similar word of a passage that has something like it."""
_NEAR = 0.45
"""Cosine of a passage that may answer in other words."""
_UNRELATED, _LIKELY, _SURE = 0.28, 0.40, 0.50
_MOST_WORDS, _HALF, _FEW_WORDS = 0.7, 0.5, 0.34


def evidence_of(question: ParsedQuestion, hits: Sequence[SearchHit]) -> Evidence:
    """How well the hits of a search, best first, can answer the question."""
    if not hits:
        return "none"
    cosines = [hit.vector_score for hit in hits if hit.vector_score is not None]
    if hits[0].embedding_model.startswith(_MEASURED_MODEL):
        if hits[0].confidence is not None:
            return _by_coverage(hits[0].confidence, hits[0].weakest_word or 0.0, max(cosines, default=0.0))
        if cosines:
            return _by_cosine(max(cosines), _most_shared(question, hits))
    return evidence_of_shared(_most_shared(question, hits))


def evidence_of_shared(shared: float) -> Evidence:
    """How well passages can answer of which the best contains this share of the question's words."""
    return "strong" if shared >= _HALF else "weak" if shared >= _FEW_WORDS else "none"


def _by_coverage(confidence: float, weakest_word: float, cosine: float) -> Evidence:
    """Judge by how the best hit covers each word of the question, and whether any hit is near as a whole.

    A hit with nothing like one of the words is about something near: "debug JavaScript with breakpoints" finds
    breakpoints for another language.
    """
    if confidence >= _COVERED and weakest_word >= _LIKE:
        return "strong"
    if confidence >= _PARTLY or cosine >= _NEAR:
        return "weak"
    return "unlikely" if confidence >= _HARDLY else "none"


def _by_cosine(cosine: float, shared: float) -> Evidence:
    """Judge the hits of an index without vectors of single words."""
    if cosine < _UNRELATED:
        return "none"
    if cosine < _LIKELY and shared < _MOST_WORDS:
        return "unlikely" if shared >= _FEW_WORDS else "none"
    return "weak" if cosine < _SURE and shared < _MOST_WORDS else "strong"


def text_of(hit: SearchHit) -> str:
    """The text of a hit with its title and headings."""
    return "\n".join((hit.chunk.title, *hit.chunk.heading_path, hit.chunk.content))


def _most_shared(question: ParsedQuestion, hits: Sequence[SearchHit]) -> float:
    """Return the largest share of the question's words that one of the hits contains."""
    total = sum(question.words.values()) or 1.0
    shared = []
    for hit in hits:
        chunk_words = set(words(text_of(hit)))
        shared.append(sum(share for word, share in question.words.items() if word in chunk_words) / total)
    return max(shared)
