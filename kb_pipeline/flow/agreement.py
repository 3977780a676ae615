"""Keeps what the published articles state, and compares what is new with the statements of the others.

Only the statements of articles that changed are read and compared; what an article stated goes when it changes.
"""

from collections.abc import Collection, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.steps.agreement.comparing import Met, Weights, compared, contradicting
from kb_pipeline.steps.agreement.findings import Finding
from kb_pipeline.steps.agreement.statements import STATEMENTS_VERSION, statements_of
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.locks import Locks
from kb_pipeline.store.state import ArticleState
from kb_pipeline.store.statements import Kept, StatementStore

_TOGETHER = 200
"""Statements that are recorded in one commit, so that a run that is killed loses little."""


def statements_path(home: Path) -> Path:
    """The file in which statements are kept."""
    return home / "statements.sqlite"


def compare_published(workspace: Workspace, states: Iterable[ArticleState], run_id: str) -> None:
    """Bring the statements up to date with the published versions, and compare those that are new.

    Raises:
        KnowledgeBaseError: the chunks of an article or the statements cannot be read or written.
    """
    published = {state.article_id: state.published_version for state in states if state.published_version}
    home = workspace.settings.home_path
    if not published and not statements_path(home).is_file():
        return
    with (
        Locks(home / "locks" / "statements").hold(["statements"]),
        closing(StatementStore(statements_path(home))) as kept,
    ):
        known = kept.versions()
        kept.remove(known.keys() - published.keys())
        for article_id, version in published.items():
            wanted = f"{STATEMENTS_VERSION}/{version}"
            if known.get(article_id) != wanted:
                chunks = load_chunks(workspace.layout, article_id, version)
                title = chunks[0].title if chunks else article_id
                kept.replace(article_id, wanted, title, statements_of(chunks))
        compare_new(kept, run_id)


def findings_in(layout: Layout, article_ids: Collection[str] | None = None) -> dict[str, list[Finding]]:
    """The statements that contradict one another, by article id, of these articles or of all.

    Raises:
        StorageError: the file of statements cannot be read.
    """
    path = statements_path(Path(str(layout.home)))
    if not path.is_file():
        return {}
    with closing(StatementStore(path)) as kept:
        return kept.findings(article_ids)


def compare_new(kept: StatementStore, run_id: str) -> None:
    """Compare the statements that were not compared yet with all others."""
    new = kept.not_compared()
    if not new:
        return
    comparison = _Comparison(kept, kept.weights())
    for start in range(0, len(new), _TOGETHER):
        some = new[start : start + _TOGETHER]
        findings = [
            (each.key, other.key, other.difference.kind, other.difference.here, other.difference.there)
            for each in some
            for other in contradicting(each.article_id, comparison.met(each), comparison.met_by)
        ]
        kept.record([each.key for each in some], findings, run_id)


@dataclass(frozen=True)
class _Comparison:
    """Finds what statements speak of the same as one."""

    kept: StatementStore
    weights: Weights

    def met(self, one: Kept) -> list[Met]:
        """What other articles say of the same; with what its own says, if one of them says it differently."""
        found = self._compared(one, self.kept.like(one))
        if any(each.difference.kind for each in found):
            found += self._compared(one, self.kept.like(one, in_own_article=True))
        return found

    def met_by(self, other: Met) -> list[Met]:
        """The same for a statement that was met."""
        return self.met(Kept(other.key, other.article_id, other.statement))

    def _compared(self, one: Kept, others: Iterable[Kept]) -> list[Met]:
        found = ((other, compared(one.statement, other.statement, self.weights)) for other in others)
        return [
            Met(other.key, other.article_id, other.statement, difference) for other, difference in found if difference
        ]
