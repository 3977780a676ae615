"""The published versions of an article: lists them, compares two, and rolls back to one."""

import difflib
from dataclasses import dataclass

from kb_pipeline.errors import UnknownVersionError
from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.layers.base import outputs_of
from kb_pipeline.flow.layers.serving_article import is_complete, load_manifest
from kb_pipeline.flow.serving_versions import kept_versions
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Manifest
from kb_pipeline.store.audit import os_user
from kb_pipeline.store.files import read_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, Pin, PublishedVersion, load_state, save_state


@dataclass(frozen=True)
class VersionEntry:
    """A version that can be put back. ``in_place``: readers see this version now."""

    version: PublishedVersion
    manifest: Manifest
    in_place: bool
    pinned: bool


def list_versions(workspace: Workspace, article_id: str) -> list[VersionEntry]:
    """List the versions that can be put back, newest first, including the one in place.

    Raises:
        UnknownVersionError: the article was never published.
    """
    state = load_state(workspace.layout, article_id)
    if not state.published:
        raise UnknownVersionError(f"{article_id}: nothing was published yet; run: kb ingest --article {article_id}")
    newest = {version.id: version for version in state.published}
    ids = kept_versions(state, workspace.settings.keep_versions)
    return [
        VersionEntry(
            newest[version],
            load_manifest(workspace.layout.version(article_id, version)),
            version == state.published_version,
            version == state.pinned_version,
        )
        for version in ids
        if is_complete(workspace.layout, article_id, version)
    ]


def pin(workspace: Workspace, article_id: str, version: str | None, run: Run) -> str:
    """Let the next build put back an earlier version, until the source changes; returns the version's id.

    ``version`` is an id or the beginning of one; without it, the version before the one in place is used.

    Raises:
        UnknownVersionError: there is no such version, or no earlier one.
        MissingLayerError: the state does not have the hash of the source.
    """
    with workspace.locks.hold([article_id]):
        state = load_state(workspace.layout, article_id)
        chosen = _find_version(workspace, state, version)
        source = outputs_of(("staged_article",), state, needed_by="a rollback")["staged_article"]
        new = Pin(version=chosen, source_hash=source, pinned_at=run.started_at, run_id=run.id)
        save_state(workspace.layout, state.model_copy(update={"pin": new}))
    about = f"version {chosen}, run {run.id}"
    workspace.audit.add("rollback", os_user(), "pipeline", articles=[article_id], about=about)
    return chosen


def release(workspace: Workspace, article_id: str) -> bool:
    """End a rollback, so that the next build publishes the source again; returns whether there was one."""
    with workspace.locks.hold([article_id]):
        state = load_state(workspace.layout, article_id)
        if state.pin is None:
            return False
        save_state(workspace.layout, state.model_copy(update={"pin": None}))
    workspace.audit.add("release", os_user(), "pipeline", articles=[article_id])
    return True


def _find_version(workspace: Workspace, state: ArticleState, version: str | None) -> str:
    article_id = state.article_id
    ids = [entry.version.id for entry in list_versions(workspace, article_id)]
    if version is None:
        if state.published_version and (state.failure or state.version != state.published_version):
            return state.published_version  # the newest version was never published, so keep the one in place
        earlier = [candidate for candidate in ids if candidate != state.published_version]
        if not earlier:
            raise UnknownVersionError(f"{article_id}: there is no version before the one that is published")
        return earlier[0]
    matches = [candidate for candidate in ids if candidate.startswith(version)]
    if len(matches) != 1:
        raise UnknownVersionError(
            f"{article_id}: {version!r} is {'more than one version' if matches else 'not a version'}; "
            f"there are: {', '.join(ids)}"
        )
    return matches[0]


def compare_versions(workspace: Workspace, article_id: str, old: str, new: str) -> str:
    """Compare the markdown of two versions as a unified diff, which lists the images by their hash at its end.

    Raises:
        UnknownVersionError: there is no such version.
    """
    state = load_state(workspace.layout, article_id)
    versions = [_find_version(workspace, state, name) for name in (old, new)]
    return version_diff(workspace.layout, article_id, versions[0], versions[1])


def version_diff(layout: Layout, article_id: str, old: str, new: str) -> str:
    """As :func:`compare_versions`, for two versions that were made, published or not; ``old`` may be "" for none."""
    before, after = (_text(layout, article_id, version) if version else [] for version in (old, new))
    return "".join(difflib.unified_diff(before, after, old, new))


def _text(layout: Layout, article_id: str, version: str) -> list[str]:
    folder = layout.version(article_id, version)
    lines = read_bytes(folder / "article.md").decode().splitlines(keepends=True)
    images = load_manifest(folder).images
    return [*lines, "\n", *(f"{image.path} {image.width} x {image.height} {image.sha256[:12]}\n" for image in images)]
