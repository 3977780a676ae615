"""Recovers article states that cannot be read: from their copy, or from the versions that are still on disk."""

import logging

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.layers.serving_article import is_complete, load_manifest
from kb_pipeline.flow.serving_versions import is_served, made_versions
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.store.state import ArticleState, PublishedVersion, load_state, save_state

_log = logging.getLogger(__name__)


def recovered_state(workspace: Workspace, article_id: str) -> ArticleState:
    """Load the article's state, and write it again if its file is damaged. The caller holds the article's lock.

    If the copy is damaged too, the published history is rebuilt from the versions on disk. The inputs, the costs and a
    rollback are lost then, so everything is made again.

    Raises:
        StorageError: the files cannot be read or written.
    """
    state = load_state(workspace.layout, article_id)
    if not state.damage:
        return state
    recovered = state.model_copy(update={"damage": ""})
    if is_lost(state):
        recovered = recovered.model_copy(update={"published": _published_versions(workspace, article_id)})
    _log.warning("%s; it is written anew, with %d published versions", state.damage, len(recovered.published))
    save_state(workspace.layout, recovered)
    return recovered


def is_lost(state: ArticleState) -> bool:
    """Whether neither the state's file nor its copy could be read."""
    return bool(state.damage) and state == ArticleState(article_id=state.article_id, damage=state.damage)


def _published_versions(workspace: Workspace, article_id: str) -> tuple[PublishedVersion, ...]:
    """The version that readers see, preceded by the complete versions that are older."""
    layout = workspace.layout
    complete = [version for version in made_versions(layout, article_id) if is_complete(layout, article_id, version)]
    made = {version: load_manifest(layout.version(article_id, version)).provenance for version in complete}
    current = next((version for version in complete if _is_served(workspace, article_id, version)), None)
    if current is None:
        return ()
    # a newer version than the current one failed a check and was never published
    older = [key for key in complete if key != current and made[key].created_at <= made[current].created_at]
    ordered = [*sorted(older, key=lambda version: (made[version].created_at, version)), current]
    return tuple(
        PublishedVersion(
            id=version,
            published_at=made[version].created_at,
            run_id=made[version].run_id,
            source_hash=made[version].content_hash,
            generation=workspace.generation.id,
        )
        for version in ordered
    )


def _is_served(workspace: Workspace, article_id: str, version: str) -> bool:
    try:
        return is_served(workspace.layout, article_id, version)
    except KnowledgeBaseError:
        return False
