"""Repairs the index, the serving files and damaged records, so that readers see what was published.

Nothing is described or embedded again: entries are made from the chunks and vectors of the published versions.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kb_pipeline.errors import IndexDamagedError, KnowledgeBaseError, StorageError
from kb_pipeline.flow.access_binding import bind_all, observe_all
from kb_pipeline.flow.index_state import IndexState, compare_index
from kb_pipeline.flow.layers import ARTICLE_LAYERS, SearchIndexLayer
from kb_pipeline.flow.layers.converted_markdown import (
    PaidConversion,
    kept_conversion,
    previewed_conversion,
)
from kb_pipeline.flow.layers.image_descriptions import kept_description
from kb_pipeline.flow.layers.serving_article import is_complete, version_files
from kb_pipeline.flow.recovery import recovered_state
from kb_pipeline.flow.serving_versions import ensure_served, is_served, restore_from_serving
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import ImageDescription
from kb_pipeline.search.catalog import Generation
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.store.files import for_each, names_in
from kb_pipeline.store.kept import DurableRecord, copied_names
from kb_pipeline.store.layout import CONVERSIONS, DESCRIPTIONS, PREVIEWED, Layout
from kb_pipeline.store.serving import is_blob_folder
from kb_pipeline.store.state import (
    ArticleState,
    kept_state,
    known_articles,
    load_reports,
    load_state,
    load_states,
    save_state,
)
from kb_pipeline.upkeep.remove import leftovers, remove_all
from kb_pipeline.upkeep.verify import OF_THE_SOURCE, lost_versions, published_entries, served_problems

_INDEX = SearchIndexLayer.name


@dataclass(frozen=True)
class Repairs:
    """The result of a reconciliation.

    Attributes:
        restored: articles whose published version was published again.
        removed: articles that were indexed or served without being known.
        to_build: articles to build, because their published version is damaged or not known any more.
        before: the index before the repair.
        mended: damage that was repaired, in words.
        lost: damage that cannot be repaired, and its consequences, in words.
        kept_out: what keeps access lists from being written, in words.
    """

    restored: tuple[str, ...]
    removed: tuple[str, ...]
    to_build: tuple[str, ...]
    before: IndexState
    mended: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    kept_out: tuple[str, ...] = ()


def compare(workspace: Workspace) -> IndexState:
    """Compare the index with the states of all articles and the staging folder."""
    staged = workspace.staging.list_articles().article_ids
    return compare_index(workspace, load_states(workspace.layout), staged)


def repair(workspace: Workspace, suspects: Collection[str] = ()) -> Repairs:
    """Publish again what is missing, stale, doubled or not served, and remove articles that are not known.

    Files are compared with the hashes that they were written with, entries with the published chunks and vectors. A
    damaged index is made anew. The entries of ``suspects`` are written again in any case. Articles that a new
    generation of the index is still waiting for are not repaired.
    """
    staged = set(workspace.staging.list_articles().article_ids)
    unrecorded = observe_all(workspace, staged)  # so that a lost access list is not replaced by an older one
    before = compare_index(workspace, load_states(workspace.layout), staged)
    records, mended_index = mend_records(workspace), workspace.catalog.mend(workspace.generation)
    unbound = _bind_readers(workspace)  # only after the index is mended, because it writes to every entry
    states = list(load_states(workspace.layout))
    index = compare_index(workspace, states, staged) if mended_index else before
    # an article that is staged or being built may have lost its state, but is not unknown
    article_ids = staged.union(known_articles(workspace.layout))
    unknown = sorted({*index.orphaned, *leftovers(workspace, article_ids)} - article_ids)
    remove_all(workspace, unknown)
    suspected = {*article_ids.intersection(suspects), *(workspace.index.doubled() if index.doubled_entries else ())}
    mismatched = {state.article_id for state in states if _is_index_damaged(workspace, state)} - {*index.missing}
    unserved = _damaged_in_serving(workspace, states)
    wrong = {*index.missing, *index.stale, *suspected, *mismatched, *unserved}
    restored = _restore(workspace, sorted(wrong), suspected | mismatched)
    if workspace.catalog.live() is None and (generation := _fullest(workspace)):
        workspace.catalog.switch(generation, at=datetime.now(UTC).isoformat(timespec="seconds"))
    if restored:
        workspace.index.optimise()
    to_build = {*wrong, *index.orphaned}.difference(restored, unknown, index.pending)
    to_build |= {state.article_id for state in states if _has_damaged_layer(workspace, state)}
    if mended_index:  # articles that the damaged index refused may succeed now
        to_build |= {state.article_id for state in states if state.failure and state.failure.layer == _INDEX}
    return Repairs(
        restored=tuple(restored),
        removed=tuple(unknown),
        to_build=tuple(sorted(to_build)),
        before=before,
        mended=(*records.mended, *mended_index),
        lost=(*records.lost, *unbound.lost),
        kept_out=(*(f"the access list of {key}: {reason}" for key, reason in unrecorded.items()), *unbound.kept_out),
    )


@dataclass(frozen=True)
class RepairResult:
    """Descriptions of damaged records that were repaired from their copies, and of those that are ``lost``."""

    mended: tuple[str, ...]
    lost: tuple[str, ...]


def mend_records(workspace: Workspace) -> RepairResult:
    """Repair states and paid results from their copies; those of which both files are damaged are removed."""
    mended: list[str] = []
    lost: list[str] = []
    for article_id in known_articles(workspace.layout):
        if kept_state(workspace.layout, article_id).is_whole():
            continue
        with workspace.locks.hold([article_id]):
            read = kept_state(workspace.layout, article_id).mend()
            if read.value is None and read.damage:
                recovered_state(workspace, article_id)
        if read.damage and read.value is None:
            lost.append(f"{read.damage}; everything is rebuilt; its costs and a rollback are lost")
        elif read.damage:
            mended.append(read.damage)
    for kept in _paid_results(workspace.layout):
        if kept.is_whole():
            continue
        with workspace.image_locks.hold([kept.name]):
            paid = kept.mend()
            if paid.value is None:
                kept.remove()
        if paid.damage and paid.value is None:
            lost.append(f"{paid.damage}; it is requested, and paid for, again when an article needs it")
        elif paid.damage:
            mended.append(paid.damage)
    return RepairResult(tuple(mended), tuple(lost))


def _paid_results(layout: Layout) -> Iterator[DurableRecord[ImageDescription] | DurableRecord[PaidConversion]]:
    folders = names_in(layout.home / DESCRIPTIONS) | copied_names(layout.home, DESCRIPTIONS)
    for folder in sorted(folders):
        place = f"{DESCRIPTIONS}/{folder}"
        for name in sorted(names_in(layout.home / place) | copied_names(layout.home, place)):
            if name.endswith(".json") and not name.startswith("."):
                yield kept_description(layout, name.removesuffix(".json"))
    for name in sorted(names_in(layout.home / CONVERSIONS) | copied_names(layout.home, CONVERSIONS)):
        if name.endswith(".json") and is_article_id(name.removesuffix(".json")):
            yield kept_conversion(layout, name.removesuffix(".json"))
    previewed = names_in(layout.home / PREVIEWED) | copied_names(layout.home, PREVIEWED)
    for article_id in sorted(filter(is_article_id, previewed)):
        folder = f"{PREVIEWED}/{article_id}"
        for name in sorted(names_in(layout.home / folder) | copied_names(layout.home, folder)):
            if name.startswith("conversion-"):
                yield previewed_conversion(layout, article_id, name.removeprefix("conversion-").removesuffix(".json"))


@dataclass(frozen=True)
class _Unbound:
    lost: tuple[str, ...] = ()
    kept_out: tuple[str, ...] = ()


def _bind_readers(workspace: Workspace) -> _Unbound:
    """Write the newest access lists to all entries; returns messages about what is impossible."""
    try:
        bind_all(workspace)
    except IndexDamagedError as exc:  # of another generation, because that of these settings was mended
        return _Unbound(lost=(f"access lists cannot be written to an earlier generation of the index: {exc}",))
    except StorageError as exc:
        return _Unbound(kept_out=(f"access lists, by which searches are filtered all the same: {exc}",))
    return _Unbound()


def _damaged_in_serving(workspace: Workspace, states: Sequence[ArticleState]) -> set[str]:
    by_id = {state.article_id: state for state in states}
    damaged = for_each(workspace.layout.serving_root, lambda key: _is_serving_damaged(workspace, by_id[key]), by_id)
    return {key for key, is_damaged in zip(by_id, damaged, strict=True) if is_damaged}


def _is_serving_damaged(workspace: Workspace, state: ArticleState) -> bool:
    """Whether files of the published version, in its own folder or in the serving folder, are damaged."""
    version = state.published_version
    if version is None:
        return False
    try:
        if not is_served(workspace.layout, state.article_id, version):
            return True
    except KnowledgeBaseError:
        return True  # the version itself is damaged
    # is_served compared the hashes of blobs, so their contents need not be read
    on_blob_storage = is_blob_folder(workspace.layout.serving(state.article_id))
    return not on_blob_storage and any(served_problems(workspace, state, version))


def _is_index_damaged(workspace: Workspace, state: ArticleState) -> bool:
    """Whether the entries in the index differ from those of the published version."""
    version = state.published_version
    if version is None or not _is_in_generation(workspace, state):
        return False
    try:
        return bool(workspace.index.mismatched(published_entries(workspace, state, version)))
    except KnowledgeBaseError:
        return True  # its chunks or vectors are damaged


def _has_damaged_layer(workspace: Workspace, state: ArticleState) -> bool:
    """Whether files of a layer or the reports are damaged, so that the article must be built."""
    if not state.layers:
        return False
    is_newest = state.version == state.published_version and _is_in_generation(workspace, state)
    layers = [kind(workspace) for kind in ARTICLE_LAYERS if kind.name in state.layers]
    checked = [layer for layer in layers if is_newest or isinstance(layer, OF_THE_SOURCE)]
    return load_reports(workspace.layout, state.article_id) is None or any(
        layer.damaged_file(state) for layer in checked
    )


def _is_in_generation(workspace: Workspace, state: ArticleState) -> bool:
    return bool(state.published) and state.published[-1].generation == workspace.generation.id


def _fullest(workspace: Workspace) -> Generation | None:
    """The generation with most articles; among equal ones, the one of these settings."""
    current = workspace.generation.id
    counts = [
        (len(workspace.catalog.open(generation).entries()), generation.id == current, generation.id, generation)
        for generation in workspace.catalog.generations()
    ]
    return max(counts, key=lambda count: count[:3])[3] if counts else None


def forget_lost_versions(workspace: Workspace) -> list[str]:
    """Remove earlier versions whose files are damaged from the published history; returns a message for each article.

    Call it after the builds, which may repair images that versions share.
    """
    messages: list[str] = []
    for state in load_states(workspace.layout):
        if not lost_versions(workspace, state):
            continue
        with workspace.locks.hold([state.article_id]):
            current = load_state(workspace.layout, state.article_id)
            lost = lost_versions(workspace, current)
            left = tuple(version for version in current.published if version.id not in lost)
            save_state(workspace.layout, current.model_copy(update={"published": left}))
        places = ", ".join(str(workspace.layout.version(state.article_id, version)) for version in lost)
        messages.append(f"{places}: damaged, so you cannot roll back to it; the others: kb versions {state.article_id}")
    return messages


def still_wrong(workspace: Workspace, article_ids: Collection[str]) -> list[str]:
    """Problems of these articles' published versions that remain after they were built, with what to do."""
    messages: list[str] = []
    for article_id in article_ids:
        with workspace.locks.hold([article_id]):
            state = load_state(workspace.layout, article_id)
            version = state.published_version
            problems = list(served_problems(workspace, state, version)) if version else []
        advice = (
            f"another version was put back; release it: kb rollback {article_id} --release"
            if state.pin
            else f"its source now gives a different version; fix what blocks its publication (kb failures), "
            f"then run: kb ingest --article {article_id}"
        )
        messages += [f"{article_id}: {problem}; {advice}" for problem in problems]
    return messages


def _restore(workspace: Workspace, article_ids: Sequence[str], rewrite: Collection[str]) -> list[str]:
    """Publish the published versions of these articles again; returns the articles for which that was possible.

    The entries of articles in ``rewrite`` are removed first.
    """
    size = workspace.settings.publish_every
    batches = [article_ids[start : start + size] for start in range(0, len(article_ids), size)]
    return [article_id for batch in batches for article_id in _restore_together(workspace, batch, rewrite)]


def _restore_together(workspace: Workspace, article_ids: Sequence[str], rewrite: Collection[str]) -> list[str]:
    with workspace.locks.hold(article_ids):
        states = [load_state(workspace.layout, article_id) for article_id in article_ids]
        served = {state.article_id: _serve(workspace, state) for state in states}
        versions = {article_id: version for article_id, version in served.items() if version}
        try:
            # replacing an id that is in the index twice would leave it there twice
            workspace.index.remove(versions.keys() & set(rewrite))
            SearchIndexLayer(workspace).publish(versions, versions)
            return list(versions)
        except KnowledgeBaseError:
            if len(article_ids) == 1:
                return []  # it will be built, and the build raises the error again
    # one article is the reason: publish each alone
    return [restored for article_id in article_ids for restored in _restore_together(workspace, [article_id], rewrite)]


def _serve(workspace: Workspace, state: ArticleState) -> str | None:
    """Put the published version in place; returns it if its entries can be published as well."""
    layout, article_id, version = workspace.layout, state.article_id, state.published_version
    if version is None:
        return None
    files = version_files(state, version)
    try:
        if not is_complete(layout, article_id, version, files):
            restore_from_serving(layout, article_id, version, files)
            if not is_complete(layout, article_id, version, files):
                return None
        ensure_served(layout, article_id, version)
        if not _is_in_generation(workspace, state):
            return None
        published_entries(workspace, state, version)
    except KnowledgeBaseError:
        return None  # it will be built, and the build raises the error again
    return version
