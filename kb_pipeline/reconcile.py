"""Brings what readers see back in line with what was published: repairs the index and the serving files.

Nothing is described or embedded: entries come from the published versions' own chunks and vectors.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.index_state import IndexState, compare_index, published_hash
from kb_pipeline.layers import SearchIndexLayer
from kb_pipeline.layers.chunks import chunks_hash, load_chunks
from kb_pipeline.layers.serving_article import is_complete, load_manifest
from kb_pipeline.layers.versions import is_in_place, put_in_place, replacing, tidy_place
from kb_pipeline.layout import Layout
from kb_pipeline.removal import leftovers, remove_all
from kb_pipeline.state import ArticleState, known_articles, load_state, load_states
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.storage import for_each, read_bytes, remove_file
from kb_pipeline.workspace import Workspace


@dataclass(frozen=True)
class Repairs:
    """What a reconciliation did.

    ``to_build``: articles whose published version cannot simply be published again, because its files are gone or
    nobody knows any more which it is: they must be built. Filling a new generation of the index is no repair.
    """

    restored: tuple[str, ...]
    removed: tuple[str, ...]
    to_build: tuple[str, ...]
    before: IndexState


def compare(workspace: Workspace) -> IndexState:
    """The index as it is, compared with all articles' states and the staging folder."""
    staged = workspace.staging.list_articles().article_ids
    return compare_index(workspace, load_states(workspace.layout), staged)


def put_right(workspace: Workspace, suspects: Collection[str] = ()) -> Repairs:
    """Publish again what is missing, stale, doubled or not served, remove what nobody knows.

    Content is recognised by its names and hashes; that of ``suspects``, which a verification found to be changed
    behind them, is written anew.
    """
    staged = set(workspace.staging.list_articles().article_ids)
    states = list(load_states(workspace.layout))
    before = compare_index(workspace, states, staged)
    # without a state, but staged or being built: it is not forgotten, its state is
    kept = staged.union(known_articles(workspace.layout))
    strangers = sorted({*before.orphaned, *leftovers(workspace, kept)} - kept)
    remove_all(workspace, strangers)
    anew = {*kept.intersection(suspects), *(workspace.index.doubled() if before.doubled_entries else ())}
    wrong = {*before.missing, *before.stale, *anew, *_not_in_place(workspace.layout, states)}
    restored = _restore(workspace, sorted(wrong), anew)
    if restored and workspace.catalog.live() is None:
        workspace.catalog.switch(workspace.generation, at=datetime.now(UTC).isoformat(timespec="seconds"))
    to_build = {*wrong, *before.orphaned}.difference(restored, strangers, before.pending)
    return Repairs(tuple(restored), tuple(strangers), tuple(sorted(to_build)), before)


def _not_in_place(layout: Layout, states: Iterable[ArticleState]) -> list[str]:
    """Published articles whose serving files are not all there as they were published."""
    published = {state.article_id: state.published_version for state in states if state.published_version}
    served = for_each(layout.serving_root, lambda key: _is_served(layout, key, published[key]), published)
    return [key for key, is_served in zip(published, served, strict=True) if not is_served]


def _is_served(layout: Layout, article_id: str, version: str) -> bool:
    try:
        return is_in_place(layout, article_id, version)
    except KnowledgeBaseError:
        return False  # the version itself is damaged


def _restore(workspace: Workspace, article_ids: Sequence[str], anew: Collection[str]) -> list[str]:
    """Publish the articles' published versions again; returns those for which that was possible."""
    size = workspace.settings.publish_every
    batches = [article_ids[start : start + size] for start in range(0, len(article_ids), size)]
    return [article_id for batch in batches for article_id in _restore_together(workspace, batch, anew)]


def _restore_together(workspace: Workspace, article_ids: Sequence[str], anew: Collection[str]) -> list[str]:
    with workspace.locks.hold(article_ids):
        states = [load_state(workspace.layout, article_id) for article_id in article_ids]
        found = {state.article_id: _serve(workspace, state, anew) for state in states}
        versions = {article_id: version for article_id, version in found.items() if version}
        try:
            # two rows of one id stay two when they are replaced: only their absence makes room for one
            workspace.index.remove(versions.keys() & set(anew))
            SearchIndexLayer(workspace).publish(versions, versions)
        except KnowledgeBaseError:
            if len(article_ids) == 1:
                return []  # its vectors are gone: it is built, where the reason shows again
        else:
            return list(versions)
    return [restored for article_id in article_ids for restored in _restore_together(workspace, [article_id], anew)]


def _serve(workspace: Workspace, state: ArticleState, anew: Collection[str]) -> str | None:
    """Put the published version's files in place; returns the version if its entries can be published as well."""
    layout, article_id, version = workspace.layout, state.article_id, state.published_version
    if version is None:
        return None
    try:
        if article_id in anew:
            _drop_damaged_images(layout, article_id, version)
        if not is_complete(layout, article_id, version):
            return None
        if not is_in_place(layout, article_id, version):
            with replacing(layout, [article_id]):
                put_in_place(layout, article_id, version)
                tidy_place(layout, article_id)
        chunks = load_chunks(layout, article_id, version)
    except KnowledgeBaseError:
        return None  # it is built, where the reason shows again
    is_ours = state.published[-1].generation == workspace.generation.id
    return version if is_ours and chunks_hash(chunks) == published_hash(state) else None


def _drop_damaged_images(layout: Layout, article_id: str, version: str) -> None:
    """A link's two names share one damage, and nothing but the content tells."""
    for image in load_manifest(layout.version(article_id, version)).images:
        for path in (layout.version_image(article_id, image.sha256), layout.serving(article_id) / image.path):
            if path.is_file() and sha256(read_bytes(path)) != image.sha256:
                remove_file(path)
