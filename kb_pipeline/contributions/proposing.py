"""Hands in contributions: checks what is proposed, and says what is near to it and where it would go."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kb_pipeline.contributions.base import TYPES, Contribution, ContributionQueue, commenter, new_id
from kb_pipeline.contributions.content import harmless, without_claims
from kb_pipeline.contributions.neighbours import Neighbours, find_neighbours
from kb_pipeline.contributions.placing import (
    MARKDOWN_FILE,
    Target,
    everything_is_seen,
    find_target,
    has_section,
    target_section,
)
from kb_pipeline.errors import ContributionError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import ContributionSource, ContributionType
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.fingerprint import sha256

LONGEST_DESCRIPTION = 200
"""Characters: a line, which becomes a heading."""
LONGEST_SECTION = 200
"""Characters of a heading, which may be that of an article of others."""


@dataclass(frozen=True)
class Proposal:
    """What somebody proposes, as they wrote it; ``contributed_by`` is empty for what the service hands in itself.

    ``commented_by`` is the name of the reader whose comment it is, and is not kept; ``rests_on`` as in a contribution.
    """

    service: str
    description: str
    content: str
    type: str = "Pitfall"
    section: str = ""
    contributed_by: str = ""
    source: ContributionSource = "manual"
    rests_on: tuple[str, ...] | None = None
    commented_by: str = ""


@dataclass(frozen=True)
class ProposalPreview:
    """A contribution that is checked but not handed in, and what is known about it.

    ``is_new_article`` and ``is_new_section``: it would be the first text there.
    """

    contribution: Contribution
    neighbours: Neighbours
    is_new_article: bool
    is_new_section: bool

    @property
    def place(self) -> str:
        """Where it would go, for people."""
        target = self.contribution
        file = f"{target.article_id}/{MARKDOWN_FILE}{' (new)' if self.is_new_article else ''}"
        if not target.target_section:
            return file
        return f"{file}, section {target.target_section!r}{' (new)' if self.is_new_section else ''}"


def preview(
    workspace: Workspace,
    queue: ContributionQueue,
    proposal: Proposal,
    *,
    visible: SearchFilter | None = None,
    is_seen: Callable[[str], bool] = everything_is_seen,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> ProposalPreview:
    """Check a proposal; nothing is written. ``visible`` limits the passages that it is compared with.

    An article that is not ``is_seen`` does not exist for whoever proposes: they are told what they would be told if
    there were none.

    Raises:
        ContributionError: something about it is wrong; the message says what is right.
        InvalidArticleIdError: the service cannot be the name of an article.
        KnowledgeBaseError: staging, queue or index cannot be read.
    """
    service = check_article_id(proposal.service)
    contribution_type = _type(proposal.type)
    description = _line("description", without_claims(proposal.description), LONGEST_DESCRIPTION)
    if not description:
        raise ContributionError("the description is empty; say in a line what the contribution is about")
    section = _line("section", proposal.section, LONGEST_SECTION)
    content = harmless(service, proposal.content)
    target = find_target(workspace.staging, service, is_seen)
    wanted = target_section(target, contribution_type, section)
    found = find_neighbours(workspace, description, content, queue.list(), visible)
    at = now()
    contribution_id = new_id(at)
    contribution = Contribution(
        id=contribution_id,
        service=service,
        type=contribution_type,
        section=section,
        description=description,
        content=content,
        content_hash=sha256(content.encode()),
        contributed_by=proposal.contributed_by,
        contributed_at=at.isoformat(timespec="seconds"),
        source=proposal.source,
        article_id=target.article_id,
        target_section=wanted,
        nearest=found.nearest,
        embedding_model=found.embedding_model,
        embedding=found.embedding,
        rests_on=proposal.rests_on,
        commented_by=commenter(contribution_id, proposal.commented_by) if proposal.commented_by else "",
    )
    return ProposalPreview(contribution, found, target.text is None, _is_new_section(target, wanted))


def _is_new_section(target: Target, section: str) -> bool:
    return bool(section) and (target.text is None or not has_section(target.text, section))


def _type(name: str) -> ContributionType:
    for each in TYPES:
        if each == name:
            return each
    raise ContributionError(f"the type {name[:40]!r} is none; it must be one of: {', '.join(TYPES)}")


def _line(what: str, text: str, longest: int) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if len(line) > longest:
        raise ContributionError(f"the {what} has {len(line):,} characters; it has at most {longest}")
    return line


def handed_in_on(contributions: Sequence[Contribution], day: str) -> int:
    """Return how many of these the service itself handed in on a day (ISO 8601, UTC)."""
    return sum(one.source != "manual" and one.contributed_at.startswith(day) for one in contributions)
