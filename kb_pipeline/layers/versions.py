"""Versions of an article: put one in place for readers, forget the ones that nobody can ask for any more."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from upath import UPath

from kb_pipeline.blob import folder as blob_folder
from kb_pipeline.blob.folder import UNFINISHED, Content, is_blob_folder
from kb_pipeline.errors import DamagedLayerError, KnowledgeBaseError
from kb_pipeline.layers.serving_article import load_manifest
from kb_pipeline.layout import Layout, is_version
from kb_pipeline.records import Manifest
from kb_pipeline.state import ArticleState
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.storage import copy_file, names_in, read_bytes, remove_file, remove_folder, write_bytes

_TEXTS = ("article.md", "manifest.json")
_BLOCK = 4096
"""Bytes by which a file may be larger on the disk than it says."""


@contextmanager
def replacing(layout: Layout, article_ids: Iterable[str]) -> Iterator[None]:
    """Nobody replaces what readers see of these articles meanwhile, on another machine either.

    On this one the articles' locks see to that; readers' files in the cloud may have writers that do not share them.

    Raises:
        TransientError: somebody does, and goes on doing so.
    """
    if is_blob_folder(layout.serving_root):
        with blob_folder.replacing([layout.serving(article_id) for article_id in article_ids]):
            yield
    else:
        yield


def is_in_place(layout: Layout, article_id: str, version: str) -> bool:
    """Whether the serving folder shows this version."""
    source, target = layout.version(article_id, version), layout.serving(article_id)
    if is_blob_folder(target):
        wanted = _contents(layout, article_id, version)
        return blob_folder.shows(target, {name: content.sha256 for name, content in wanted.items()})
    manifest, there = load_manifest(source), names_in(target)
    if UNFINISHED in there or not there.issuperset(_TEXTS):
        return False
    if any(read_bytes(target / name) != read_bytes(source / name) for name in _TEXTS):
        return False
    return _image_names(manifest) <= names_in(target / "images")


def put_in_place(layout: Layout, article_id: str, version: str) -> None:
    """Make the serving folder show this version.

    Images come first and the manifest last; what only the former version shows is left for :func:`tidy_place`,
    because readers may still be looking at it. Until then, the former version can be put back.
    """
    source, target = layout.version(article_id, version), layout.serving(article_id)
    if is_blob_folder(target):
        blob_folder.put(target, _contents(layout, article_id, version), last=_TEXTS)
        return
    manifest, there = load_manifest(source), names_in(target / "images")
    shown = _shown(target)
    if names_in(target).intersection((*_TEXTS, UNFINISHED)):  # a new folder is seen to be unfinished by its manifest
        # as large as the files it guards, so that there is room to put them back when the disk is full
        write_bytes(target / UNFINISHED, bytes(_room(target)))
    for image in manifest.images:
        if shown.get(image.path) != image.sha256 or image.path.removeprefix("images/") not in there:
            copy_file(layout.version_image(article_id, image.sha256), target / image.path)
    for name in _TEXTS:
        write_bytes(target / name, read_bytes(source / name))


def _contents(layout: Layout, article_id: str, version: str) -> dict[str, Content]:
    """The files that show a version."""
    source = layout.version(article_id, version)
    texts = {name: read_bytes(source / name) for name in _TEXTS}
    images = {
        image.path: Content(image.sha256, partial(read_bytes, layout.version_image(article_id, image.sha256)))
        for image in load_manifest(source).images
    }
    return images | {name: Content(sha256(data), partial(bytes, data)) for name, data in texts.items()}


def _room(folder: UPath) -> int:
    """Bytes to set aside; none when the files are put back, which is when they are needed."""
    there = names_in(folder)
    if UNFINISHED in there:
        return 0
    return sum((folder / name).stat().st_size + _BLOCK for name in there.intersection(_TEXTS))


def tidy_place(layout: Layout, article_id: str, *, keep_images: bool = False) -> None:
    """Remove images that the version in place does not show; from now on it is what it seems.

    ``keep_images``: they stay, because readers of an older generation of the index still cite them.
    """
    folder = layout.serving(article_id)
    if is_blob_folder(folder):
        shown = set() if keep_images else _image_names(load_manifest(folder))
        blob_folder.tidy(folder, lambda name: not keep_images and _is_spare(name, shown))
        return
    spare = set() if keep_images else names_in(folder / "images") - _image_names(load_manifest(folder))
    for name in spare:
        remove_file(folder / "images" / name)
    remove_file(folder / UNFINISHED)


def _is_spare(name: str, shown: set[str]) -> bool:
    return name.startswith("images/") and name.removeprefix("images/") not in shown


def remove_place(layout: Layout, article_id: str) -> None:
    """Take the article away from readers."""
    folder = layout.serving(article_id)
    if is_blob_folder(folder):
        blob_folder.remove(folder, first="manifest.json")
    else:
        remove_folder(folder)


def _image_names(manifest: Manifest) -> set[str]:
    return {image.path.removeprefix("images/") for image in manifest.images}


def _shown(folder: UPath) -> dict[str, str]:
    """Hash of each image by its path, as far as it is known."""
    there = names_in(folder)
    if UNFINISHED in there or "manifest.json" not in there:
        return {}
    try:
        return {image.path: image.sha256 for image in load_manifest(folder).images}
    except DamagedLayerError:
        return {}


def made_versions(layout: Layout, article_id: str) -> set[str]:
    """Names of the versions that there are, complete or not; what somebody else left beside them is none."""
    return {name for name in names_in(layout.versions(article_id)) if is_version(name)}


def kept_versions(state: ArticleState, keep: int) -> list[str]:
    """Ids of the published versions that can be put back, newest first, the one in place included."""
    newest_first = dict.fromkeys(version.id for version in reversed(state.published))
    return list(newest_first)[: keep + 1]


def prune(layout: Layout, state: ArticleState, keep: int) -> None:
    """Forget versions that are neither published of late, nor pinned, nor the one made last."""
    pinned = {state.pin.version} if state.pin else set()
    kept = {*kept_versions(state, keep), *pinned, state.version}
    there = made_versions(layout, state.article_id)
    if there <= kept:
        return
    for version in there - kept:
        remove_folder(layout.version(state.article_id, version))
    try:
        manifests = [load_manifest(layout.version(state.article_id, version)) for version in kept & there]
    except KnowledgeBaseError:
        return  # one that is damaged by hand does not say which images it needs
    used = {image.sha256 for manifest in manifests for image in manifest.images}
    for name in names_in(layout.versions(state.article_id) / "images") - {f"{digest}.png" for digest in used}:
        remove_file(layout.versions(state.article_id) / "images" / name)
