"""Procedures whose steps the chunker had to spread over several passages of a section, put together again.

Here: which passages hold the steps of one procedure. Not here: searching for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.grounding.sentences import Unit, units_of
from app.schema import Citation


@dataclass(frozen=True, slots=True)
class _Chain:
    """Passages ``first`` to ``last`` of a section, in which steps up to ``step`` follow each other."""

    first: int
    last: int
    step: int


def steps_of(passage: str) -> list[Unit]:
    """The beginnings of the numbered items of a passage; lists inside of items do not count."""
    return [unit for unit in units_of(passage) if unit.numbered and unit.depth == 1]


def procedure_around(chunk_id: str, section: Sequence[Citation]) -> list[Citation]:
    """The passages of the procedure that a passage is a part of, from its first step to its last.

    ``section`` is in the article's order. What stands between two steps is part of the procedure: chunks begin in
    the middle of a long step. Empty if the passage is outside of all procedures.
    """
    here = next((at for at, citation in enumerate(section) if citation.chunk_id == chunk_id), -1)
    chain = next((chain for chain in _chains(section) if chain.first <= here <= chain.last), None)
    return list(section[chain.first : chain.last + 1]) if chain else []


def _chains(section: Sequence[Citation]) -> list[_Chain]:
    chains: list[_Chain] = []
    for at, citation in enumerate(section):
        steps = steps_of(citation.passage)
        if not steps:
            continue
        first, last = number(steps[0]), number(steps[-1])
        if chains and first == chains[-1].step + 1:
            chains[-1] = _Chain(chains[-1].first, at, last)
        else:
            chains.append(_Chain(at, at, last))
    return chains


def number(step: Unit) -> int:
    """Which step it is."""
    return int(step.label.rstrip(".)"))
