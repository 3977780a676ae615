"""The versions of an article: puts one in place for readers, repairs damaged ones and prunes old ones.

A version is made in the home folder (:mod:`kb_pipeline.flow.layers.serving_article`). Readers see it in the serving
folder, which may be on Blob Storage.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import product
from pathlib import Path

from pydantic import ValidationError
from upath import UPath

from kb_pipeline.errors import DamagedLayerError, KnowledgeBaseError
from kb_pipeline.flow.access import AccessLists
from kb_pipeline.flow.layers.serving_article import TEXTS, SharedFile, content_hash_of, load_manifest, shared_files
from kb_pipeline.records import Manifest
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store import serving as blob_folder
from kb_pipeline.store.files import copy_file, is_file_of, names_in, read_bytes, remove_file, remove_folder, write_bytes
from kb_pipeline.store.layout import Layout, is_version
from kb_pipeline.store.serving import UNFINISHED, FileToServe, is_blob_folder
from kb_pipeline.store.state import ArticleState, version_id

_BLOCK = 4096
"""Bytes that a file may take on disk in addition to its size."""


def replacing(layout: Layout, article_ids: Iterable[str]) -> AbstractContextManager[None]:
    """Keep writers on other machines from replacing the serving files of these articles.

    Writers on this machine hold the articles' locks, which serving files on Blob Storage need not share.

    Raises:
        TransientError: another writer holds one of them for too long.
    """
    if is_blob_folder(layout.serving_root):
        return blob_folder.replacing([layout.serving(article_id) for article_id in article_ids])
    return nullcontext()


def is_served(layout: Layout, article_id: str, version: str) -> bool:
    """Whether the serving folder shows this version."""
    source, target = layout.version(article_id, version), layout.serving(article_id)
    if is_blob_folder(target):
        expected = _served_files(layout, article_id, version)
        return blob_folder.shows(target, {name: file.sha256 for name, file in expected.items()})
    manifest, names = load_manifest(source), names_in(target)
    if UNFINISHED in names or not names.issuperset(TEXTS):
        return False
    if any(read_bytes(target / name) != data for name, data in published_texts(layout, article_id, version).items()):
        return False
    return all(_is_shown(target, file) for file in shared_files(layout, manifest))


def _is_shown(folder: UPath, file: SharedFile) -> bool:
    """Whether readers see the version's file. Usually both paths are hard links to one file, which need no read."""
    served, made = folder / file.path, file.made
    try:
        if isinstance(served, Path) and isinstance(made, Path) and Path(served).samefile(made):
            return True
    except OSError:
        pass  # one of them is missing
    return is_file_of(served, file.sha256)


def restore_from_serving(layout: Layout, article_id: str, version: str, files: Mapping[str, str]) -> None:
    """Repair a damaged version from its serving files, as far as they are as they were made.

    ``files`` are the hashes of its files, as far as they are recorded.
    """
    made, served = layout.version(article_id, version), layout.serving(article_id)
    candidates = [(_read_if_present(made / name), _read_if_present(served / name)) for name in TEXTS]
    texts = next((texts for texts in product(*candidates) if _is_version(texts, version, files)), None)
    if texts is None:
        return
    for name, text, (current, _) in zip(TEXTS, texts, candidates, strict=True):
        if text != current:
            write_bytes(made / name, text)
    for file in shared_files(layout, load_manifest(made)):
        if not is_file_of(file.made, file.sha256) and is_file_of(served / file.path, file.sha256):
            write_bytes(file.made, read_bytes(served / file.path))


def _read_if_present(path: UPath) -> bytes:
    return read_bytes(path) if path.is_file() else b""


def _is_version(texts: Sequence[bytes], version: str, files: Mapping[str, str]) -> bool:
    if any(files.get(name, sha256(text)) != sha256(text) for name, text in zip(TEXTS, texts, strict=True)):
        return False
    try:
        return version_id(content_hash_of(texts[0], Manifest.model_validate_json(texts[1]))) == version
    except (ValidationError, DamagedLayerError):
        return False


def publish_to_serving(layout: Layout, article_id: str, version: str) -> None:
    """Make the serving folder show this version.

    Images and documents are written first and the manifest last. Those that only the former version shows stay until
    :func:`clean_serving`, because readers may still be looking at it, and so that it can be put back.
    """
    source, target = layout.version(article_id, version), layout.serving(article_id)
    if is_blob_folder(target):
        blob_folder.put(target, _served_files(layout, article_id, version), last=TEXTS)
        return
    manifest, shown = load_manifest(source), _shown_files(layout, target)
    names = names_in(target)
    if names.intersection((*TEXTS, UNFINISHED)):  # a new folder needs no mark: it has no manifest until the end
        # the mark reserves as much space as the texts need, so that they can be put back when the disk is full;
        # when it is there already, they are being put back now, and the space is given back to them
        texts = set() if UNFINISHED in names else names.intersection(TEXTS)
        reserve = sum((target / name).stat().st_size + _BLOCK for name in texts)
        write_bytes(target / UNFINISHED, bytes(reserve))
    for file in shared_files(layout, manifest):
        if shown.get(file.path) != file.sha256 or not _is_shown(target, file):
            copy_file(file.made, target / file.path)
    for name, data in published_texts(layout, article_id, version).items():
        write_bytes(target / name, data)


def _shown_files(layout: Layout, folder: UPath) -> dict[str, str]:
    """The hash of each shared file by its path, as the manifest in place says; empty if there is none to rely on."""
    names = names_in(folder)
    if UNFINISHED in names or "manifest.json" not in names:
        return {}
    try:
        return {file.path: file.sha256 for file in shared_files(layout, load_manifest(folder))}
    except DamagedLayerError:
        return {}


def _served_files(layout: Layout, article_id: str, version: str) -> dict[str, FileToServe]:
    shared = {
        file.path: FileToServe(file.sha256, partial(read_bytes, file.made))
        for file in shared_files(layout, load_manifest(layout.version(article_id, version)))
    }
    texts = published_texts(layout, article_id, version)
    return shared | {name: FileToServe(sha256(data), partial(bytes, data)) for name, data in texts.items()}


def published_texts(layout: Layout, article_id: str, version: str) -> dict[str, bytes]:
    """The version's ``article.md`` and ``manifest.json`` as they are served, in the order in which they are written.

    The served manifest names the readers of the article's newest list, not of the list that the version was made with.
    """
    source = layout.version(article_id, version)
    markdown, manifest = (read_bytes(source / name) for name in TEXTS)
    if newest := AccessLists(layout).get(article_id):
        made = load_manifest(source)
        if newest.readers != made.access_control_list:
            served = made.model_copy(update={"access_control_list": newest.readers})
            manifest = served.model_dump_json(indent=1).encode()
    return dict(zip(TEXTS, (markdown, manifest), strict=True))


def readers_files(layout: Layout, article_id: str, version: str) -> list[UPath]:
    """The files that readers see of a version that is in place."""
    shared = shared_files(layout, load_manifest(layout.version(article_id, version)))
    return [layout.serving(article_id) / name for name in (*TEXTS, *(file.path for file in shared))]


def ensure_served(layout: Layout, article_id: str, version: str) -> None:
    """Put a version in place, unless it is there.

    Raises:
        KnowledgeBaseError: the version is damaged, or the serving folder cannot be written.
    """
    if not is_served(layout, article_id, version):
        with replacing(layout, [article_id]):
            publish_to_serving(layout, article_id, version)
            clean_serving(layout, article_id)


def clean_serving(layout: Layout, article_id: str, *, keep_images: bool = False) -> None:
    """Remove images and documents that the version in place does not show, and the mark that it is unfinished.

    ``keep_images``: keep them, because readers of an older generation of the index still cite them.
    """
    folder = layout.serving(article_id)
    shown = set() if keep_images else {file.path for file in shared_files(layout, load_manifest(folder))}

    def is_spare(path: str) -> bool:
        return not keep_images and path.startswith(("images/", "document/")) and path not in shown

    if is_blob_folder(folder):
        blob_folder.tidy(folder, is_spare)
        return
    if not keep_images:
        for kind in ("images", "document"):
            for name in names_in(folder / kind):
                if is_spare(f"{kind}/{name}"):
                    remove_file(folder / kind / name)
    remove_file(folder / UNFINISHED)


def remove_from_serving(layout: Layout, article_id: str) -> None:
    """Remove the serving files of an article, so that readers no longer see it."""
    folder = layout.serving(article_id)
    if is_blob_folder(folder):
        blob_folder.remove(folder, first="manifest.json")
    else:
        remove_folder(folder)


def made_versions(layout: Layout, article_id: str) -> set[str]:
    """Ids of all versions on disk, complete or not."""
    return {name for name in names_in(layout.versions(article_id)) if is_version(name)}


def kept_versions(state: ArticleState, keep: int) -> list[str]:
    """Ids of the published versions that can be put back, newest first, including the one in place."""
    newest_first = dict.fromkeys(version.id for version in reversed(state.published))
    return list(newest_first)[: keep + 1]


def prune(layout: Layout, state: ArticleState, keep: int) -> None:
    """Remove versions that are not among the last ``keep`` published ones, not pinned and not the newest one made."""
    pinned = {state.pin.version} if state.pin else set()
    kept = {*kept_versions(state, keep), *pinned, state.version}
    made = made_versions(layout, state.article_id)
    if made <= kept:
        return
    for version in made - kept:
        remove_folder(layout.version(state.article_id, version))
    try:
        manifests = [load_manifest(layout.version(state.article_id, version)) for version in kept & made]
    except KnowledgeBaseError:
        return  # a damaged manifest does not say which files its version needs
    used = {file.made.name for manifest in manifests for file in shared_files(layout, manifest)}
    for folder in (layout.versions(state.article_id) / kind for kind in ("images", "documents")):
        for name in names_in(folder) - used:
            remove_file(folder / name)
