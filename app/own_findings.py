"""What the service itself proposes: questions that were refused three times, and answers that a reader commented on.

Everything here is done in the thread of :class:`kb_pipeline.contributions.findings.Findings`, after the answer.
"""

from collections import OrderedDict

from app.articles import Articles
from app.grounding.references import without_references
from app.planning.clarifying import NONE_OF_THESE
from app.principal import Principal
from app.schema.answers import ChatAnswer
from app.schema.conversations import Feedback
from kb_pipeline.contributions.base import ContributionQueue
from kb_pipeline.contributions.findings import Finding, Findings
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.steps.chunk import plain_text

_REFUSALS = 3
_MOST_COUNTED = 1000
"""Refused questions that are remembered; the one asked longest ago is forgotten first."""


class OwnFindings:
    """Hands in what answers and ratings show. Its methods return at once and never raise."""

    def __init__(self, workspace: Workspace, queue: ContributionQueue, articles: Articles) -> None:
        self.findings = Findings(workspace, queue)
        self._articles = articles
        self._refused: OrderedDict[str, int] = OrderedDict()

    def answered(self, question: str, who: Principal, answer: ChatAnswer) -> None:
        """Count a question that was refused; the third time it is handed in."""
        if answer.refused and answer.answer != NONE_OF_THESE:
            self.findings.submit(lambda: self._counted(answer.in_full(question), who))

    def rated(self, question: str, who: Principal, answer: ChatAnswer | None, feedback: Feedback) -> None:
        """Hand in an answer that a reader dislikes, if they say why."""
        if feedback.rating == "down" and feedback.comment and answer is not None:
            asked = answer.in_full(question)
            self.findings.submit(lambda: self._disliked(asked, who, answer, feedback.comment))

    def close(self) -> None:
        """End the thread."""
        self.findings.close()

    def _counted(self, question: str, who: Principal) -> Finding | None:
        folded = " ".join(question.casefold().split()).rstrip(" ?!.")
        count = self._refused.pop(folded, 0) + 1
        self._refused[folded] = count
        if len(self._refused) > _MOST_COUNTED:
            self._refused.popitem(last=False)
        return Finding("qa", question, names=_names(who)) if count == _REFUSALS else None

    def _disliked(self, question: str, who: Principal, answer: ChatAnswer, comment: str) -> Finding:
        cited = [citation for citation in answer.citations if not citation.is_of_web]
        used = dict.fromkeys(citation.article_id for citation in cited if citation.used)
        article_id = next(iter(used), "")
        # a model may repeat any passage that it was given; what only some may read is not carried to another article
        others = {citation.article_id for citation in cited} - {article_id}
        is_free = not any(self._articles.readers(other) for other in others)
        text = plain_text(without_references(answer.answer)) if is_free else ""
        return Finding("feedback", question, text, comment, article_id, _names(who))


def _names(who: Principal) -> tuple[str, ...]:
    return (who.user_id, *who.names)
