"""What the service itself proposes: questions that were refused three times, and readers' comments on answers.

Everything here is done in the thread of :class:`kb_pipeline.contributions.findings.FindingsSender`, after the answer.
"""

from collections import OrderedDict

from app.answering.nothing_asked import asks_nothing
from app.answering.planning.manners import is_no_gap
from app.callers.principal import Principal
from app.schema.answers import ChatAnswer
from app.schema.conversations import Feedback
from kb_pipeline.contributions.base import ContributionQueue
from kb_pipeline.contributions.findings import FindingsSender, OwnFinding
from kb_pipeline.flow.workspace import Workspace

_REFUSALS = 3
"""A question asked three times in vain is no slip."""
_MOST_COUNTED = 1000
"""Refused questions that are remembered; the one asked longest ago is forgotten first."""


class OwnFindings:
    """Hands in what answers and ratings show. Its methods return at once and never raise."""

    def __init__(self, workspace: Workspace, queue: ContributionQueue) -> None:
        self.findings = FindingsSender(workspace, queue)
        self._workspace = workspace
        self._refused: OrderedDict[str, int] = OrderedDict()

    def answered(self, question: str, who: Principal, answer: ChatAnswer) -> None:
        """Count a question that was refused; the third time it is handed in."""
        if answer.refused and not is_no_gap(answer.answer):
            self.findings.submit(lambda: self._counted(answer.in_full(question), who))

    def rated(self, question: str, who: Principal, answer: ChatAnswer | None, feedback: Feedback) -> None:
        """Hand in why a reader dislikes an answer, if they say it; never the answer, which others may not read."""
        if feedback.rating == "down" and feedback.comment and answer is not None:
            asked = answer.in_full(question)
            self.findings.submit(lambda: self._disliked(asked, who, answer, feedback.comment))

    def close(self) -> None:
        """End the thread."""
        self.findings.close()

    def _counted(self, question: str, who: Principal) -> OwnFinding | None:
        folded = " ".join(question.casefold().split()).rstrip(" ?!.")
        count = self._refused.pop(folded, 0) + 1
        self._refused[folded] = count
        if len(self._refused) > _MOST_COUNTED:
            self._refused.popitem(last=False)
        if count != _REFUSALS or asks_nothing(question, self._workspace.embedder):
            return None
        return OwnFinding("qa", question, names=_names(who))

    @staticmethod
    def _disliked(question: str, who: Principal, answer: ChatAnswer, comment: str) -> OwnFinding:
        used = (citation.article_id for citation in answer.citations if citation.used and not citation.is_of_web)
        article_id = next(used, "")
        return OwnFinding("feedback", question, comment, article_id, answer.rests_on, _names(who))


def _names(who: Principal) -> tuple[str, ...]:
    return (who.user_id, *who.names)
