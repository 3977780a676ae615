"""Going back: an article's published versions, how two of them differ, and putting one back."""

import difflib
from dataclasses import dataclass

from kb_pipeline.errors import UnknownVersionError
from kb_pipeline.layers import Run
from kb_pipeline.layers.base import outputs_of
from kb_pipeline.layers.serving_article import is_complete, load_manifest
from kb_pipeline.layers.versions import kept_versions
from kb_pipeline.records import Manifest
from kb_pipeline.state import ArticleState, Pin, PublishedVersion, load_state, save_state
from kb_pipeline.storage import read_bytes
from kb_pipeline.workspace import Workspace


@dataclass(frozen=True)
class VersionEntry:
    """A version that can be put back; ``in_place`` when it is the one that readers see."""

    version: PublishedVersion
    manifest: Manifest
    in_place: bool
    pinned: bool


def list_versions(workspace: Workspace, article_id: str) -> list[VersionEntry]:
    """The article's versions that can be put back, newest first, the one in place included.

    Raises:
        UnknownVersionError: nothing of the article was ever published.
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
    """Have an earlier version put back by the next build; returns its id. It stays until the source changes.

    Without a ``version`` it is the one before the one in place.

    Raises:
        UnknownVersionError: there is no such version, or none before.
        MissingLayerError: it is not known what the source was.
    """
    with workspace.locks.hold([article_id]):
        state = load_state(workspace.layout, article_id)
        chosen = _find(workspace, state, version)
        source = outputs_of(("staged_article",), state, wanted_by="a rollback")["staged_article"]
        new = Pin(version=chosen, source_hash=source, pinned_at=run.started_at, run_id=run.id)
        save_state(workspace.layout, state.model_copy(update={"pin": new}))
    return chosen


def release(workspace: Workspace, article_id: str) -> bool:
    """Let the next build publish what the source says again; returns whether a version had been put back."""
    with workspace.locks.hold([article_id]):
        state = load_state(workspace.layout, article_id)
        if state.pin is None:
            return False
        save_state(workspace.layout, state.model_copy(update={"pin": None}))
        return True


def _find(workspace: Workspace, state: ArticleState, version: str | None) -> str:
    article_id = state.article_id
    there = [entry.version.id for entry in list_versions(workspace, article_id)]
    if version is None:
        if state.published_version and (state.failure or state.version != state.published_version):
            return state.published_version  # the newest one never reached readers: keep what they see
        before = [candidate for candidate in there if candidate != state.published_version]
        if not before:
            raise UnknownVersionError(f"{article_id}: there is no version before the one that is published")
        return before[0]
    found = [candidate for candidate in there if candidate.startswith(version)]
    if len(found) != 1:
        raise UnknownVersionError(
            f"{article_id}: {version!r} is {'no version' if not found else 'more than one version'}; "
            f"there are: {', '.join(there)}"
        )
    return found[0]


def compare_versions(workspace: Workspace, article_id: str, old: str, new: str) -> str:
    """How the markdown of two versions differs, as a unified diff; changed images are named by their hash.

    Raises:
        UnknownVersionError: there is no such version.
    """
    state = load_state(workspace.layout, article_id)
    versions = [_find(workspace, state, name) for name in (old, new)]
    texts = [_text(workspace, article_id, version) for version in versions]
    return "".join(difflib.unified_diff(texts[0], texts[1], versions[0], versions[1]))


def _text(workspace: Workspace, article_id: str, version: str) -> list[str]:
    folder = workspace.layout.version(article_id, version)
    lines = read_bytes(folder / "article.md").decode().splitlines(keepends=True)
    images = load_manifest(folder).images
    return [*lines, "\n", *(f"{image.path} {image.width} x {image.height} {image.sha256[:12]}\n" for image in images)]
