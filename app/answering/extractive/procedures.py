"""Finds the procedure that answers: a numbered list of a section, also where the section is cut into several passages.

Which part of it is quoted is the task of :mod:`app.answering.extractive.selection`.
"""

from collections.abc import Sequence

from app.answering.extractive.blocks import PassageBlock, blocks_of
from app.grounding.citations import CitationBook
from app.grounding.sentences import Unit
from app.grounding.words import ParsedQuestion
from app.schema.passages import Citation
from kb_pipeline.records import SearchHit


def procedure_of(question: ParsedQuestion, best: PassageBlock) -> list[PassageBlock]:
    """The blocks of the procedure that answers, from its first step to its last; empty if none does.

    It is the numbered list that the best block belongs to. If the question asks how to do something, it may also be the
    list nearest to that block in its section. Between two steps may be other blocks.
    """
    blocks = blocks_of(best.citation)
    here = next(at for at, block in enumerate(blocks) if block.order == best.order)
    lists = _numbered_lists(blocks)
    around = [each for each in lists if here in each]
    if not around and question.how:
        around = sorted(lists, key=lambda each: each.start - here if each.start > here else here - each.stop + 1)
    return blocks[around[0].start : around[0].stop] if around else []


def whole_procedure(
    procedure: Sequence[PassageBlock], section: Sequence[SearchHit], book: CitationBook
) -> list[PassageBlock]:
    """A procedure with its steps in the passages before and after its own.

    ``section`` are the passages of its section, in order; only those that have such steps enter the book.
    """
    whole = list(procedure)
    here = next((at for at, hit in enumerate(section) if hit.chunk.id == whole[0].citation.chunk_id), None)
    if here is None:
        return whole
    for hit in section[here + 1 :]:
        if not _next_steps(whole, _cited(hit, CitationBook())):
            break
        whole += _next_steps(whole, _cited(hit, book))
    for hit in reversed(section[:here]):
        if not _steps_before(whole, _cited(hit, CitationBook())):
            break
        whole = _steps_before(whole, _cited(hit, book)) + whole
    return whole


def _cited(hit: SearchHit, book: CitationBook) -> Citation:
    return book.add([hit])[0]


def _next_steps(procedure: Sequence[PassageBlock], following: Citation) -> list[PassageBlock]:
    """Return what follows a procedure's last block, up to its last step in the next passage; empty if it has none."""
    own, blocks = blocks_of(procedure[-1].citation), blocks_of(following)
    lists = _numbered_lists(blocks)
    rest = [block for block in own if block.order > procedure[-1].order]
    is_next = lists and number(blocks[lists[0].start].steps[0]) == number(procedure[-1].steps[-1]) + 1
    return [*rest, *blocks[: lists[0].stop]] if is_next and not any(block.steps for block in rest) else []


def _steps_before(procedure: Sequence[PassageBlock], previous: Citation) -> list[PassageBlock]:
    """Return what precedes a procedure, from its first step in the passage before on; empty if it has none there."""
    own, blocks = blocks_of(procedure[0].citation), blocks_of(previous)
    lists = _numbered_lists(blocks)
    rest = [block for block in own if block.order < procedure[0].order]
    is_previous = lists and number(blocks[lists[-1].stop - 1].steps[-1]) == number(procedure[0].steps[0]) - 1
    return [*blocks[lists[-1].start :], *rest] if is_previous and not any(block.steps for block in rest) else []


def _numbered_lists(blocks: Sequence[PassageBlock]) -> list[range]:
    """Return where the numbered lists are; one that is interrupted goes on with its next number."""
    lists: list[range] = []
    step = 0
    for at, block in enumerate(blocks):
        if not block.steps:
            continue
        first, last = number(block.steps[0]), number(block.steps[-1])
        goes_on = lists and first == step + 1
        lists = [*lists[:-1], range(lists[-1].start, at + 1)] if goes_on else [*lists, range(at, at + 1)]
        step = last
    return lists


def number(step: Unit) -> int:
    """The number of a step."""
    return int(step.label.rstrip(".)"))
