"""What an author asks of articles: which readers see as they are, which fail, wait for the next ingest, are withheld.

It tells nobody of an article that they may not see. Those that nobody may see are told to the local user alone, those
that were never published to the local user and to their reviewers.
"""

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from time import monotonic

from app.callers.principal import Principal
from app.library.articles import Articles
from app.schema.articles import ArticleStatus, ArticleSummary
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.store.state import load_states

STATUSES: Mapping[ArticleStatus, frozenset[str]] = {
    "published": frozenset({"published", "pinned"}),
    "failing": frozenset({"behind", "failed"}),
    "waiting": frozenset(),
    "withheld": frozenset(),
}
"""The states of articles in the list by status. What waits or is withheld is not in the list as such."""

_FRESH_SECONDS = 10.0
"""Seconds for which the staging folder is not listed again: with ten thousand articles that takes about one."""


class Standings:
    """The articles with a status, as a person may see them."""

    def __init__(self, workspace: Workspace, articles: Articles) -> None:
        self._workspace = workspace
        self._articles = articles
        self._waiting: tuple[float, dict[str, str]] = (-_FRESH_SECONDS, {})
        self._lock = Lock()

    def summaries(
        self, who: Principal, status: ArticleStatus, never_published: Sequence[ArticleSummary] = ()
    ) -> list[ArticleSummary]:
        """The articles with this status; ``never_published`` are those of them that this person reviews.

        Raises:
            StorageError: staging or the access lists cannot be read.
        """
        listed = {listing.summary.article_id: listing.summary for listing in self._articles.all(who)}
        if status == "waiting":
            return list(self._of_waiting(listed, sees_all=_is_local(who)))
        if status == "withheld":
            problems = self._articles.access.problems() if _is_local(who) else {}
            return [_hidden(article_id, problem) for article_id, problem in problems.items()]
        listed |= {summary.article_id: summary for summary in never_published}
        return [summary for summary in listed.values() if summary.state in STATUSES[status]]

    def _of_waiting(self, listed: Mapping[str, ArticleSummary], *, sees_all: bool) -> Iterator[ArticleSummary]:
        restricted = self._articles.access.all()
        for article_id, why in self._changed().items():
            new = ArticleSummary(article_id=article_id, title=article_id, state="waiting", error=why, remedy=_INGEST)
            if article_id in listed:
                yield listed[article_id].model_copy(update=new.model_dump(include={"state", "error", "remedy"}))
            elif sees_all and article_id not in restricted:
                yield new

    def _changed(self) -> dict[str, str]:
        """Why articles are not as they are staged, by id."""
        with self._lock:
            at, waiting = self._waiting
            if monotonic() - at >= _FRESH_SECONDS:
                built = {state.article_id: state.signature for state in load_states(self._workspace.layout)}
                staged = self._workspace.staging.scan().signatures
                waiting = {
                    article_id: "It was changed in the staging folder."
                    if built.get(article_id)
                    else "It is new in the staging folder."
                    for article_id, signature in sorted(staged.items())
                    if built.get(article_id) != signature
                }
                self._waiting = (monotonic(), waiting)
            return waiting


_INGEST = "published with the next run; or: kb ingest --changed"


def _is_local(who: Principal) -> bool:
    return who == Principal()


def _hidden(article_id: str, problem: str) -> ArticleSummary:
    return ArticleSummary(
        article_id=article_id,
        title=article_id,
        state="withheld",
        error=problem,
        remedy="mend what it names; it is then ingested again",
    )
