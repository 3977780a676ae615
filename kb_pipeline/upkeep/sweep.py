"""Removes what killed processes left behind: temporary files and empty folders."""

import contextlib
import os
import time
from pathlib import Path

from kb_pipeline.store.files import TEMPORARY
from kb_pipeline.store.kept import COPIES
from kb_pipeline.store.layout import CONVERSIONS, PREVIEWED, Layout

_FOLDERS = (
    "access",
    "state",
    "reports",
    "staged",
    "converted",
    "descriptions",
    "summaries",
    "versions",
    "evaluation",
    CONVERSIONS,
    PREVIEWED,
    COPIES,
)
_ABANDONED_SECONDS = 3600.0
"""Writing a file takes a moment, so an older temporary file has no writer any more."""


def sweep(layout: Layout) -> list[str]:
    """Remove abandoned files and empty folders below the home and serving folders; returns the files.

    Object stores are skipped: they have no empty folders, and write every file as a whole.
    """
    places = [*(layout.home / name for name in _FOLDERS), layout.serving_root]
    roots = [Path(str(place)) for place in places if isinstance(place, Path)]
    return [path for root in roots for path in _sweep(root, time.time() - _ABANDONED_SECONDS)]


def _sweep(root: Path, before: float) -> list[str]:
    removed: list[str] = []
    for name, _, files in os.walk(root, topdown=False):
        folder = Path(name)
        for path in (folder / file for file in files if TEMPORARY.fullmatch(file)):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()
                    removed.append(str(path))
        with contextlib.suppress(OSError):  # rmdir fails for a folder that is not empty
            if folder != root and folder.stat().st_mtime < before:
                folder.rmdir()
    return removed
