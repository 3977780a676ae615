"""The second home in which a preview builds: it begins with what the live one keeps, and is gone afterwards.

Files are hard links to those of the live home. Every writer replaces a file as a whole, so a link that is written to
becomes a file of the second home, and the live one stays as it is. Places outside of the home (the index, the serving
folder) are folders of the second home as well.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from filelock import FileLock, Timeout
from upath import UPath

from kb_pipeline.errors import StorageError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.files import copy_file
from kb_pipeline.store.kept import COPIES
from kb_pipeline.store.layout import DESCRIPTIONS, Layout
from kb_pipeline.store.state import load_state, save_state

_FOLDER, _IN_USE = "previews", "in-use.lock"
_SHARED = (DESCRIPTIONS, "descriptions/by-page")
"""What services and OCR said of images and pages; it belongs to no single article."""
_TEMPORARY = re.compile(r"\.[0-9a-f]{32}")


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
    for name in ("models", "network"):
        if (workspace.settings.home_path / name).is_dir():
            (folder / name).symlink_to((workspace.settings.home_path / name).absolute())
    for name in _SHARED:
        for prefix in ("", f"{COPIES}/"):
            _link(live.home / f"{prefix}{name}", mine.home / f"{prefix}{name}")
    for article_id in article_ids:
        with workspace.locks.hold([article_id]):  # so that a run that publishes it meanwhile is not seen half-way
            _seed_article(live, mine, article_id)
    return scratch


def _seed_article(live: Layout, mine: Layout, article_id: str) -> None:
    for path_in in (
        *(Layout.state, Layout.access, Layout.pending_access, Layout.staged, Layout.converted, Layout.conversion),
        *(Layout.descriptions, Layout.summary, Layout.versions),
    ):
        source, target = path_in(live, article_id), path_in(mine, article_id)
        _link(source, target)
        name = source.relative_to(live.home)
        _link(live.home / COPIES / str(name), mine.home / COPIES / str(name))
    if mine.state(article_id).is_file():  # so that what the preview spends stands alone
        save_state(mine, load_state(live, article_id).model_copy(update={"spent": {}}))


def _link(source: UPath, target: UPath) -> None:
    """Link a file, or all files below a folder, except those that a writer has not finished."""
    if source.is_file():
        copy_file(source, target)
        return
    for name, _, files in os.walk(str(source)):
        below = Path(name).relative_to(str(source)).as_posix()
        for file in files:
            if not _TEMPORARY.fullmatch(file):
                copy_file(source / below / file, target / below / file)
