"""Contributions that the service hands in by itself: what readers asked in vain, disliked, or an evaluation lost.

They wait for a reviewer like all others, in limited number and without personal names. Handing them in never delays or
fails what it follows from: one thread does it, whatever becomes of it.
"""

import logging
import queue
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from kb_pipeline.contributions.base import Contribution, ContributionQueue
from kb_pipeline.contributions.content import escaped_lines
from kb_pipeline.contributions.proposing import LONGEST_DESCRIPTION, Proposal, handed_in_on, preview
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.personal import question_to_keep, without_personal, without_signature
from kb_pipeline.records import ContributionSource
from kb_pipeline.steps.article_ids import is_article_id

OPEN_QUESTIONS = "open-questions"
"""The service of findings that are about no article."""
MOST_A_DAY = 20
"""As many as reviewers read; the others are asked again, or are among the gaps."""
MOST_WAITING = 100
"""Findings that wait to be written; more only if the disk is stuck."""
_MOST_CHARACTERS = 20_000
"""Characters of a question or an answer in a finding: pages of it."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OwnFinding:
    """What was found: a question, and what a reader said about its answer.

    The answer is no part of it: its words may come from articles that whoever reads the finding may not read.
    ``rests_on`` are those articles; ``None`` without an answer. ``names`` are those of the person who asked, the first
    is the user's id; they, and whatever else names or reaches a person, are masked in the texts, and of a pasted
    mail only its question is handed in.
    """

    source: ContributionSource
    question: str
    comment: str = ""
    article_id: str = ""
    rests_on: tuple[str, ...] | None = None
    names: tuple[str, ...] = ()


def hand_in(workspace: Workspace, contributions: ContributionQueue, finding: OwnFinding) -> Contribution | None:
    """Hand in a finding as a pitfall; ``None`` if one about the same was handed in before, or too many were today.

    Raises:
        KnowledgeBaseError: it cannot be handed in.
    """
    question = question_to_keep(finding.question, finding.names)
    parts = {
        "Question": question,
        "Comment": without_personal(without_signature(finding.comment), finding.names),
    }
    content = "\n\n".join(
        f"**{name}:** {escaped_lines(text[:_MOST_CHARACTERS])}" for name, text in parts.items() if text.strip()
    )
    proposal = Proposal(
        service=finding.article_id if is_article_id(finding.article_id) else OPEN_QUESTIONS,
        description=_shortened(question),
        content=content,
        source=finding.source,
        rests_on=finding.rests_on,
        commented_by=finding.names[0] if finding.rests_on is not None and finding.names else "",
    )
    with contributions.held():  # another process may find the same at the same time
        if handed_in_on(contributions.list(), datetime.now(UTC).date().isoformat()) >= MOST_A_DAY:
            return None
        seen = preview(workspace, contributions, proposal)
        if seen.neighbours.doubles:
            return None
        contributions.add(seen.contribution)
    workspace.audit.add("propose", "", "service", articles=[proposal.service], about=seen.contribution.id)
    return seen.contribution


def hand_in_all(workspace: Workspace, contributions: ContributionQueue, findings: Iterable[OwnFinding]) -> int:
    """Hand in findings, and return how many were; one that cannot be handed in is only logged."""
    handed_in = 0
    for finding in findings:
        try:
            handed_in += hand_in(workspace, contributions, finding) is not None
        except KnowledgeBaseError as exc:
            _log.warning("a finding could not be handed in: %s", exc)
    return handed_in


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_DESCRIPTION else f"{line[: LONGEST_DESCRIPTION - 2].rstrip()} …"


class FindingsSender:
    """Hands in findings in one thread, which starts with the first; those beyond a hundred that wait are dropped."""

    def __init__(self, workspace: Workspace, contributions: ContributionQueue) -> None:
        self.dropped = 0
        self._workspace = workspace
        self._contributions = contributions
        self._waiting: queue.Queue[Callable[[], OwnFinding | None] | None] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def submit(self, make: Callable[[], OwnFinding | None]) -> None:
        """Hand in what ``make`` returns, later, in the thread; nothing if it returns ``None``. Never raises."""
        try:
            self._waiting.put_nowait(make)
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name="contributions", daemon=True)
                    self._thread.start()
        except Exception:  # whatever is wrong: an answer does not depend on it
            if self.dropped % MOST_WAITING == 0:  # a log that is flooded would be in the way as well
                _log.warning("findings are dropped, because %d are waiting", self._waiting.qsize())
            self.dropped += 1

    def close(self, seconds: float = 2.0) -> None:
        """End the thread after what it is doing; what still waits then is dropped."""
        if self._thread is None:
            return
        while True:
            try:
                self._waiting.get_nowait()
            except queue.Empty:
                break
        self._waiting.put_nowait(None)
        self._thread.join(seconds)

    def _work(self) -> None:
        while make := self._waiting.get():
            try:
                if finding := make():
                    hand_in(self._workspace, self._contributions, finding)
            except KnowledgeBaseError as exc:
                _log.warning("a finding could not be handed in: %s", exc)
            except Exception:
                _log.exception("a finding could not be handed in")
            finally:
                self._waiting.task_done()

    def drain(self) -> None:
        """Wait until everything was handed in; for tests and for the end of a run."""
        self._waiting.join()
