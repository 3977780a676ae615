"""The second home in which a preview builds: it begins with what the live one keeps, and is gone afterwards.

Files are hard links to those of the live home. Every writer replaces a file as a whole, so a link that is written to
becomes a file of the second home, and the live one stays as it is. Places outside of the home (the index, the serving
folder) are folders of the second home as well.

Only what services were paid for outlasts it. What they say of an image or a page belongs to no article, so both homes
share one store of it; conversions and vectors are kept for the run that makes the articles like the preview.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from filelock import FileLock, Timeout
from upath import UPath

from kb_pipeline.errors import StorageError
from kb_pipeline.flow.layers.chunk_embeddings import ChunkEmbeddingsLayer, keep_previewed
from kb_pipeline.flow.layers.converted_markdown import ConvertedMarkdownLayer, kept_conversion, previewed_conversion
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.files import TEMPORARY, copy_file
from kb_pipeline.store.kept import COPIES
from kb_pipeline.store.layout import DESCRIPTIONS, Layout
from kb_pipeline.store.state import load_state, save_state

_FOLDER, _IN_USE = "previews", "in-use.lock"
_SAID = (DESCRIPTIONS, "descriptions/by-page", "descriptions/by-recording")
_SHARED = ("models", "network", "locks/images", *_SAID, *(f"{COPIES}/{name}" for name in _SAID))
"""Folders of the live home: models, what was said of images, pages and recordings, and the locks on that."""


@contextmanager
def preview_home(workspace: Workspace) -> Iterator[Path]:
    """An empty folder in the live home, which is removed at the end, also after an error or an interrupt.

    What killed previews left behind is removed, too.

    Raises:
        StorageError: the home folder cannot be written.
    """
    root = workspace.settings.home_path / _FOLDER
    try:
        root.mkdir(exist_ok=True)
        _remove_abandoned(root)
        folder = Path(mkdtemp(prefix="preview-", dir=root))
    except OSError as exc:
        raise StorageError(f"cannot write {root}: {exc.strerror or exc}; check that KB_HOME may be written") from exc
    try:
        with FileLock(folder / _IN_USE):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # another preview is at work
            root.rmdir()


def _remove_abandoned(root: Path) -> None:
    """Remove the folders of previews whose process is gone; the system released their locks."""
    for lock in root.glob(f"preview-*/{_IN_USE}"):
        try:
            with FileLock(lock, timeout=0):
                shutil.rmtree(lock.parent, ignore_errors=True)
        except (Timeout, OSError):
            continue


def seeded(workspace: Workspace, changed: Settings, folder: Path, article_ids: Sequence[str]) -> Settings:
    """``changed`` for a build in ``folder``, which gets what the live home keeps of these articles.

    The index is a local one. Chunks are limited as the live index demands, so that they are those of a full run.

    Raises:
        StorageError: a file cannot be linked or copied.
    """
    folder.mkdir(exist_ok=True)
    least, most = Workspace(changed).chunk_limits
    places = {"home": str(folder), "serving": None, "index": "lancedb", "index_uri": None, "search_index": None}
    scratch = changed.model_copy(update={**places, "chunk_min_tokens": least, "chunk_max_tokens": most})
    live, mine = workspace.layout, Layout.of(scratch)
    for name in _SHARED:
        shared, link = (workspace.settings.home_path / name).absolute(), folder / name
        shared.mkdir(parents=True, exist_ok=True)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(shared)
    for article_id in article_ids:
        with workspace.locks.hold([article_id]):  # so that a run that publishes it meanwhile is not seen half-way
            _seed_article(live, mine, article_id)
    return scratch


def _seed_article(live: Layout, mine: Layout, article_id: str) -> None:
    for path_in in (
        *(Layout.state, Layout.access, Layout.pending_access, Layout.staged, Layout.converted, Layout.conversion),
        *(Layout.descriptions, Layout.summary, Layout.versions, Layout.previewed),
    ):
        source, target = path_in(live, article_id), path_in(mine, article_id)
        _link(source, target)
        name = source.relative_to(live.home)
        _link(live.home / COPIES / str(name), mine.home / COPIES / str(name))
    if mine.state(article_id).is_file():  # so that what the preview spends stands alone
        save_state(mine, load_state(live, article_id).model_copy(update={"spent": {}}))


def keep_paid(workspace: Workspace, scratch: Workspace, article_id: str) -> None:
    """Keep the conversion and the vectors of the article that services were paid for in the second home.

    Raises:
        StorageError: they cannot be written to the live home.
    """
    state = load_state(scratch.layout, article_id)
    if ConvertedMarkdownLayer.name in state.spent and ConvertedMarkdownLayer(scratch).pool():
        paid = kept_conversion(scratch.layout, article_id).read().value
        if paid:
            kept = previewed_conversion(workspace.layout, article_id, paid.made_from)
            kept.write(paid.model_dump_json().encode(), durable=True)
    if ChunkEmbeddingsLayer.name in state.spent and ChunkEmbeddingsLayer(scratch).pool():
        vectors = scratch.layout.vectors(article_id, state.version, scratch.embedder.model_id)
        if vectors.is_file():
            keep_previewed(workspace.layout, article_id, vectors)


def _link(source: UPath, target: UPath) -> None:
    """Link a file, or all files below a folder, except those that a writer has not finished."""
    if source.is_file():
        copy_file(source, target)
        return
    for name, _, files in os.walk(str(source)):
        below = Path(name).relative_to(str(source)).as_posix()
        for file in files:
            if not TEMPORARY.fullmatch(file):
                copy_file(source / below / file, target / below / file)
