"""Which parts of the found passages answer a question: by the words they share, where they stand, and their rank.

Here: choosing. Not here: how the chosen is written down (:mod:`app.grounding.quoting`).

Embedding every sentence was tried as well: it found no more answers (see benchmarks/results/answers.md) and cost
thirty times as much.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from app.grounding.asked import Asked
from app.grounding.blocks import Block, blocks_of
from app.grounding.sentences import Unit
from app.grounding.words import Weights
from app.schema import Citation

_OF_HEADINGS = 0.7
_OF_NEIGHBOUR = 0.5
_OF_RANK = 0.2
_BLOCK = 500
_STEPS = 1600
_PROCEDURE = 5000
_ROWS = 4
_FIRST, _OTHERS = 700, 350
_SECOND = 0.75
_ALIKE = 0.7


@dataclass(frozen=True, slots=True)
class Scored:
    """A block, how well it answers (0 to 1.2), how well its text alone does, and each of its units (0 to 1)."""

    block: Block
    score: float
    alone: float
    units: tuple[float, ...]

    @property
    def best(self) -> int:
        """Place of its best unit."""
        return max(range(len(self.units)), key=lambda at: (self.units[at], -at))


@dataclass(frozen=True, slots=True)
class Extract:
    """What is quoted of a block: units in its order."""

    block: Block
    units: tuple[Unit, ...]


def rank(asked: Asked, citations: Sequence[Citation]) -> list[Scored]:
    """All blocks of the passages, best first; of equals the earlier one.

    Half of a score is how much of the question the block says, half how much its best unit does. Headings count
    less than text, but fully for a procedure that is asked for: they say what its steps do not.
    """
    blocks = [block for citation in citations for block in blocks_of(citation)]
    worth = asked.worth(Weights(said for block in blocks for said in block.said))
    standing = {citation.number: _OF_RANK / place for place, citation in enumerate(citations, 1)}
    procedures = {block.section for block in blocks if block.steps and asked.how}
    scored = []
    for block in blocks:
        of_headings = 1.0 if block.section in procedures else _OF_HEADINGS
        scored.append(_score(block, worth, of_headings, standing[block.citation.number]))
    return sorted(scored, key=lambda found: -round(found.score, 6))


def _score(block: Block, worth: Mapping[str, float], of_headings: float, standing: float) -> Scored:
    units = [
        _share(worth, said, (block.context, of_headings), (before, _OF_NEIGHBOUR))
        for said, before in zip(block.said, (frozenset[str](), *block.said), strict=False)
    ]
    whole = _share(worth, block.words, (block.context, of_headings))
    return Scored(block, (whole + max(units)) / 2 + standing, _share(worth, block.words), tuple(units))


def _share(worth: Mapping[str, float], said: frozenset[str], *around: tuple[frozenset[str], float]) -> float:
    """How much of the question some words say, by weight; those around count less."""
    places = ((said, 1.0), *around)
    return sum(w * max((s for where, s in places if word in where), default=0.0) for word, w in worth.items())


def choose(ranked: Sequence[Scored], procedure: Sequence[Citation] = ()) -> list[Extract]:
    """What is quoted: of the best block, or all of the procedure that it is a part of, and of one that adds to it.

    A short block goes on with what follows it in its passage. Extracts of one passage stand together, in its order.
    """
    best, *others = choose_blocks(ranked)
    if procedure:
        extracts = _all_steps(procedure, best.block)
        others = [found for found in others if found.block.section != best.block.section]
    else:
        extracts = _with_more(best, ranked, _FIRST)
    for found in others:
        known = {(e.block.citation.number, e.block.order) for e in extracts}
        more = _with_more(found, ranked, _OTHERS)
        extracts += [extract for extract in more if (extract.block.citation.number, extract.block.order) not in known]
    passages = [extract.block.citation.number for extract in extracts]
    return sorted(extracts, key=lambda e: (passages.index(e.block.citation.number), e.block.order))


def _with_more(found: Scored, ranked: Sequence[Scored], room: int) -> list[Extract]:
    blocks = sorted((other.block for other in ranked), key=lambda block: block.order)
    return [extract(found), *(Extract(block, block.units) for block in _carried_on(found.block, blocks, room))]


def _all_steps(procedure: Sequence[Citation], best: Block) -> list[Extract]:
    """The procedure from its first step, with what introduces it, to its last.

    Of one that is too long, what begins with the first step, or else with the best block.
    """
    blocks = [block for citation in procedure for block in blocks_of(citation)]
    steps = [at for at, block in enumerate(blocks) if block.steps]
    blocks = blocks[steps[0] : steps[-1] + 1] if steps else []
    asked_for = best.citation.chunk_id, best.order
    here = next((at for at, block in enumerate(blocks) if (block.citation.chunk_id, block.order) == asked_for), 0)
    ends = list(accumulate(sum(block.lengths) for block in blocks))
    first = 0 if not ends or ends[here] <= _PROCEDURE else here
    start = ends[first - 1] if first else 0
    return [
        Extract(block, block.units)
        for block, end in zip(blocks[first:], ends[first:], strict=True)
        if end - start <= _PROCEDURE or block is blocks[first]
    ]


def choose_blocks(ranked: Sequence[Scored]) -> list[Scored]:
    """The best block, and the next that is nearly as good, not by its headings alone.

    No copy of the best, and no steps, of which some may be missing.
    """
    near = (found for found in ranked[1:] if found.alone and found.score >= _SECOND * ranked[0].score)
    others = (found for found in near if not found.block.steps and not alike(found.block, ranked[0].block))
    other = next(others, None)
    return [*ranked[:1], *((other,) if other else ())]


def alike(block: Block, other: Block) -> bool:
    """Whether two blocks say the same: copies in neighbouring articles."""
    either = len(block.words | other.words)
    return not either or len(block.words & other.words) / either > _ALIKE


def extract(found: Scored) -> Extract:
    """The part of a block that answers: all of it if it is short."""
    block, size = found.block, 0
    limit = _STEPS if block.steps else _BLOCK
    if sum(block.lengths) <= limit:
        return Extract(block, block.units)
    kept: set[int] = set()
    order = _beside(block, found.best) if block.units[found.best].kind == "sentence" else _rows(found)
    for at in (found.best, *_introduction(block), *order):
        size += block.lengths[at] if at not in kept else 0
        if size > limit and kept:
            break
        kept.add(at)
    return Extract(block, tuple(block.units[at] for at in sorted(kept)))


def _introduction(block: Block) -> Iterator[int]:
    """A table's head, and the last sentence before a list or table."""
    for at, unit in enumerate(block.units):
        if unit.kind == "header" or (at + 1 < len(block.units) and block.units[at + 1].block != unit.block):
            yield at


def _beside(block: Block, best: int) -> Iterator[int]:
    """The sentences of its item, then what follows and what precedes, in turn."""
    unit = block.units[best]
    yield from (at for at, other in enumerate(block.units) if unit.item and other.item == unit.item)
    for distance in range(1, len(block.units)):
        yield from (at for at in (best + distance, best - distance) if 0 <= at < len(block.units))


def _rows(found: Scored) -> Iterable[int]:
    return sorted(range(len(found.units)), key=lambda at: -found.units[at])[:_ROWS]


def _carried_on(block: Block, others: Sequence[Block], room: int) -> Iterator[Block]:
    """What follows under the same heading, as long as it is short: few instructions end with a paragraph."""
    size = sum(block.lengths)
    for other in others:
        follows = other.citation.number == block.citation.number and other.order > block.order
        if follows and other.heading == block.heading and (block.introduces or other.terms == block.terms):
            size += sum(other.lengths)
            if size > room:
                return
            yield other
