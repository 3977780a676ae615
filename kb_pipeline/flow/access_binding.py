"""Applies the newest access lists: records them when they change, then writes them to every copy.

A list is copied to the article's entries in each generation of the index, and to the manifest of the published version.
"""

import logging
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path

from kb_pipeline.errors import DamagedLayerError, KnowledgeBaseError, StorageError
from kb_pipeline.flow.access import Access, staged_access
from kb_pipeline.flow.layers.chunks import chunks_hash, load_chunks
from kb_pipeline.flow.layers.search_index import SearchIndexLayer
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.serving_versions import ensure_served
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.store.audit import os_user
from kb_pipeline.store.state import ArticleState, load_state, load_states, save_state

_log = logging.getLogger(__name__)
EVERYBODY = "everybody"
_BATCH = 200
"""Articles per index commit."""


def observe(workspace: Workspace, article_id: str, *, may_be_arriving: bool = False) -> Access | None:
    """Record the list that is staged now; searches and answers follow it from then on.

    Returns ``None`` if the article is not staged: the recorded list stays valid. ``may_be_arriving``: a folder without
    ``metadata.json`` may still be being copied, and gives no list yet.

    Raises:
        StorageError: the staging folder cannot be reached, or the list cannot be recorded.
    """
    staged = staged_access(workspace.staging, article_id, may_be_arriving=may_be_arriving)
    if staged is None or staged == (workspace.access.get(article_id) or Access()):
        return staged
    with workspace.access_locks.hold([article_id]):
        # read again under the lock: of two concurrent observers, the later one must record the later list
        staged = staged_access(workspace.staging, article_id, may_be_arriving=may_be_arriving)
        recorded = workspace.access.get(article_id)
        if staged is not None and staged != recorded:
            # not read from the state, which may be damaged, or not written yet although the entries already are
            layout = workspace.layout
            may_be_indexed = layout.state(article_id).exists() or layout.versions(article_id).exists()
            has_changed = recorded is None or recorded.readers != staged.readers
            pending = article_id in workspace.access.pending() or (has_changed and may_be_indexed)
            workspace.access.record(article_id, staged, pending=pending)
            before = recorded.readers if recorded else _published_readers(workspace, article_id)
            if before != staged.readers:
                about = f"{', '.join(before) or EVERYBODY} -> {', '.join(staged.readers) or EVERYBODY}"
                workspace.audit.add("access", os_user(), "pipeline", articles=[article_id], about=about)
    return staged


def observe_all(workspace: Workspace, article_ids: Collection[str], *, may_be_arriving: bool = False) -> dict[str, str]:
    """:func:`observe` every article; in the cloud one listing finds those that changed.

    Returns, by article id, why a list could not be read or recorded. The build of such an article fails with that
    reason; the others go on.

    Raises:
        StorageError: the staging folder cannot be listed.
    """
    if not isinstance(workspace.staging.root, Path):
        staged, may_be_arriving = workspace.staging.scan().signatures, True
        states = {key: load_state(workspace.layout, key) for key in article_ids if key in staged}
        article_ids = [key for key, state in states.items() if state.published and not _was_read(state, staged[key])]
    problems = {key: _problem(workspace, key, may_be_arriving=may_be_arriving) for key in article_ids}
    return {article_id: problem for article_id, problem in problems.items() if problem}


def observe_changed(workspace: Workspace, signatures: Mapping[str, str]) -> set[str]:
    """:func:`observe` the published articles whose staging signature has changed.

    Their folders may still be being copied. Returns the published articles whose list is recorded now; articles that
    are not published, or whose list cannot be read, are left out.
    """
    recorded = set()
    for article_id, signature in signatures.items():
        state = load_state(workspace.layout, article_id)
        if state.published and (
            _was_read(state, signature) or not _problem(workspace, article_id, may_be_arriving=True)
        ):
            recorded.add(article_id)
    return recorded


class AccessWatch:
    """Applies changed access lists time and again; a folder is read once for each change."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._recorded: dict[str, str] = {}
        """The signatures of articles whose lists were recorded."""

    def look(self, signatures: Mapping[str, str]) -> None:
        """:func:`observe_changed`; ``signatures`` are those of a scan."""
        changed = {key: signature for key, signature in signatures.items() if self._recorded.get(key) != signature}
        self._recorded |= {key: changed[key] for key in observe_changed(self._workspace, changed)}


@lru_cache(maxsize=4)
def access_watch(workspace: Workspace) -> AccessWatch:
    """The one watch of this process, which remembers what it has read."""
    return AccessWatch(workspace)


def _was_read(state: ArticleState, signature: str) -> bool:
    """Whether the list was read since its folder changed; a transient failure may have happened before that."""
    return state.signature == signature and not (state.failure and state.failure.transient)


def _problem(workspace: Workspace, article_id: str, *, may_be_arriving: bool) -> str:
    """Observe the article; returns why that was impossible, or ""."""
    try:
        observe(workspace, article_id, may_be_arriving=may_be_arriving)
    except KnowledgeBaseError as exc:
        _log.warning("%s: its list of readers cannot be read yet: %s", article_id, exc)
        return str(exc)
    return ""


def bind(workspace: Workspace, article_ids: Collection[str]) -> None:
    """Write the newest list of each of these articles to every copy. The caller holds the articles' locks.

    Raises:
        KnowledgeBaseError: an index or a file cannot be written. Searches keep filtering by the newest list until a
            later call succeeds.
    """
    pending, recorded = workspace.access.pending(), workspace.access.all()
    lists = {article_id: recorded[article_id] for article_id in article_ids if article_id in recorded}
    if not lists:
        return
    _write_to_indexes(workspace, {article_id: access.readers for article_id, access in lists.items()})
    for article_id in lists.keys() & pending.keys():
        access = lists[article_id]
        state = load_state(workspace.layout, article_id)
        if state.published_version:
            _bind_published(workspace, state, state.published_version)
        with workspace.access_locks.hold([article_id]):
            if workspace.access.get(article_id) == access:  # otherwise a newer list was recorded in the meantime
                workspace.access.settle(article_id)


def bind_all(workspace: Workspace) -> None:
    """Write every article's newest list to every copy, even where the copy seems to be up to date.

    This includes articles that are not published: some of their entries may be left in an index.

    Raises:
        KnowledgeBaseError: an index or a file cannot be written.
    """
    recorded = set(workspace.access.all())
    published = {state.article_id for state in load_states(workspace.layout) if state.published}
    restricted = sorted(recorded.union(key for key in published - recorded if _published_readers(workspace, key)))
    for start in range(0, len(restricted), _BATCH):
        batch = restricted[start : start + _BATCH]
        with workspace.locks.hold(batch):
            unrecorded = {key: _published_readers(workspace, key) for key in batch if key not in recorded}
            _write_to_indexes(workspace, {key: readers for key, readers in unrecorded.items() if readers})
            bind(workspace, batch)


def _write_to_indexes(workspace: Workspace, readers: Mapping[str, tuple[str, ...]]) -> None:
    for generation in workspace.catalog.generations():
        workspace.catalog.open(generation).set_readers(readers)


def _published_readers(workspace: Workspace, article_id: str) -> tuple[str, ...]:
    """The list that the published version was made with; empty if that version cannot be read."""
    version = load_state(workspace.layout, article_id).published_version
    if version is None:
        return ()
    try:
        return load_manifest(workspace.layout.version(article_id, version)).access_control_list
    except (DamagedLayerError, StorageError):
        return ()


def _bind_published(workspace: Workspace, state: ArticleState, version: str) -> None:
    layout, article_id = workspace.layout, state.article_id
    try:
        ensure_served(layout, article_id, version)
        chunks = load_chunks(layout, article_id, version)
    except (DamagedLayerError, StorageError) as exc:  # its repair, or the next build, uses the newest list
        _log.warning("%s: the published version %s does not show its new readers yet: %s", article_id, version, exc)
        return
    indexed = state.layers.get(SearchIndexLayer.name)
    if indexed and state.published[-1].generation == workspace.generation.id:
        bound = indexed.model_copy(update={"output_hash": chunks_hash(chunks)})
        save_state(layout, state.with_layer(SearchIndexLayer.name, bound))
