"""The backlog of the published articles: the bullets of the sections that are left for later.

``steps/chunk/deferred.py`` says which sections these are. Who may read an article is not decided here.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Record, sections
from kb_pipeline.steps.chunk import backlog_items, is_deferred
from kb_pipeline.store.state import ArticleState, load_state, load_states


class BacklogSection(Record):
    """A section that is left for later: the headings above it, its own last, and its bullets without markup."""

    heading_path: tuple[str, ...]
    items: tuple[str, ...]


class ArticleBacklog(Record):
    """The sections of an article that are left for later, in the order of the text."""

    article_id: str
    title: str
    sections: tuple[BacklogSection, ...]

    @property
    def items(self) -> tuple[str, ...]:
        """The bullets of all sections."""
        return tuple(item for section in self.sections for item in section.items)


def backlog(workspace: Workspace, article_id: str | None = None) -> Iterator[ArticleBacklog]:
    """Yield what each published article leaves for later, by id; articles without such sections are left out.

    With an ``article_id``, only that article is read. An article whose files are damaged is left out of a list of all;
    reconciliation reports it.

    Raises:
        KnowledgeBaseError: the one article cannot be read.
    """
    states: Iterable[ArticleState] = (
        load_states(workspace.layout) if article_id is None else [load_state(workspace.layout, article_id)]
    )
    for state in sorted(states, key=lambda state: state.article_id):
        try:
            found = _backlog_of(workspace, state)
        except KnowledgeBaseError:
            if article_id is not None:
                raise
            continue
        if found.sections:
            yield found


def _backlog_of(workspace: Workspace, state: ArticleState) -> ArticleBacklog:
    if not state.published_version:
        return ArticleBacklog(article_id=state.article_id, title=state.article_id, sections=())
    rows = sections(load_chunks(workspace.layout, state.article_id, state.published_version))
    later = [row for row in rows if row.deferred or is_deferred(row.heading_path, workspace.deferred_titles)]
    return ArticleBacklog(
        article_id=state.article_id,
        title=rows[0].title if rows else state.article_id,
        sections=tuple(
            BacklogSection(heading_path=path, items=backlog_items(row.content for row in group))
            for path, group in groupby(later, lambda row: row.heading_path)
        ),
    )
