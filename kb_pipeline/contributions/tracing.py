"""Which contributions a published passage holds: by the footnotes in it, and by what was accepted for its article."""

from kb_pipeline.contributions.base import Contribution, ContributionQueue, Decision
from kb_pipeline.contributions.placing import Footnote, footnotes_in
from kb_pipeline.errors import ContributionNotFoundError
from kb_pipeline.records import Chunk, Record
from kb_pipeline.steps.chunk import plain_text

_LONG_ENOUGH = 20
"""Characters of a line that is unlikely to stand in an article by chance."""


class TracedContribution(Record):
    """A contribution that is in a passage. Times are ISO 8601, or days if only the footnote is left.

    ``contributed_by`` is empty for what the service handed in by itself. ``is_recorded``: the queue has it as accepted.
    """

    id: str
    description: str = ""
    contributed_by: str
    contributed_at: str
    accepted_by: str
    accepted_at: str
    is_recorded: bool = True


def contributions_in(queue: ContributionQueue, chunk: Chunk) -> tuple[TracedContribution, ...]:
    """Return the contributions in a passage; a long one is found also in those passages that lack its footnote.

    Raises:
        StorageError: the queue cannot be read.
    """
    traced = {note.id: _recorded(queue, note) for note in footnotes_in(chunk.content)}
    lines = [line.strip() for line in plain_text(chunk.content).splitlines()]
    telling = [line for line in lines if len(line) >= _LONG_ENOUGH and line != chunk.section_header]
    for one in queue.list("accepted") if telling else ():
        decision = one.decision
        if decision is None or decision.article_id != chunk.article_id or one.id in traced:
            continue
        content = plain_text(one.content if decision.content is None else decision.content)
        if any(line in content for line in telling):
            traced[one.id] = _traced(one, decision)
    return tuple(traced.values())


def _recorded(queue: ContributionQueue, note: Footnote) -> TracedContribution:
    """Return what the queue knows about a footnote, or else what the footnote says."""
    try:
        one = queue.get(note.id)
    except ContributionNotFoundError:
        one = None
    if one is None or one.decision is None or one.decision.state == "rejected":
        return TracedContribution(
            id=note.id,
            contributed_by=note.contributed_by,
            contributed_at=note.contributed_on,
            accepted_by=note.accepted_by,
            accepted_at=note.accepted_on,
            is_recorded=False,
        )
    return _traced(one, one.decision)


def _traced(one: Contribution, decision: Decision) -> TracedContribution:
    return TracedContribution(
        id=one.id,
        description=one.description,
        contributed_by=one.contributed_by,
        contributed_at=one.contributed_at,
        accepted_by=decision.by,
        accepted_at=decision.at,
    )
