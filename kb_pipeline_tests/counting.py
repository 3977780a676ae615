"""Counts what an ingest does: calls to models, files read and written, rows of the index, whatever way it is coded.

Files are seen by Python's audit events, which every way to open, move or remove one raises. Not seen is what a native
library does by itself: LanceDB's own files, which are counted as commits and rows.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.settings import Settings
from kb_pipeline.steps.html import dom
from kb_pipeline_tests.doubles import PaidAnalyzer

Counts = dict[str, int]

NAMES = (
    *("parsed", "described", "embedded", "commits", "rows"),
    *("staged_read", "staged_bytes", "read", "written", "bytes", "removed", "left_over", "unsafe"),
)
"""HTML pages parsed, images described, texts embedded; commits to the index and the entries in them; staged files
opened and the bytes in them; own files read, put in place, and their bytes; files and whole folders removed; temporary
files that stayed; files written where readers see them half."""

_ASIDE = ("/locks/", "/index/", "/dagster/", "/audit/", "/ledger")
_WRITES = os.O_WRONLY | os.O_RDWR

_watching: list["_Files"] = []


class _Files:
    """What happens to files below the staging and the home folder."""

    def __init__(self, settings: Settings) -> None:
        self._staging, self._home = f"{settings.staging}/", f"{settings.home}/"
        self.counts: Counter[str] = Counter()
        self.temporary: set[str] = set()

    def see(self, event: str, args: tuple[Any, ...]) -> None:
        match event, args:
            case "open", (str() | bytes() | os.PathLike() as path, _, int(flags)):
                self._opened(os.fsdecode(path), writes=bool(flags & _WRITES))
            case "os.rename" | "os.link", (source, target, *_):
                self._placed(os.fsdecode(source), os.fsdecode(target))
            case "os.remove" | "shutil.rmtree", (str() | bytes() | os.PathLike() as path, *_):
                self._removed(os.fsdecode(path))

    def _opened(self, path: str, *, writes: bool) -> None:
        if path.startswith(self._staging) and Path(path).is_file():
            self.counts["staged_read"] += 1
            self.counts["staged_bytes"] += Path(path).stat().st_size
        elif self._is_ours(path) and writes:
            self.temporary.add(path)
            self.counts["unsafe"] += not _is_hidden(path)
        elif self._is_ours(path):
            self.counts["read"] += 1

    def _placed(self, source: str, target: str) -> None:
        if self._is_ours(target) and not _is_hidden(target):
            self.counts["written"] += 1
            self.counts["bytes"] += Path(source).stat().st_size
            self.temporary.discard(source)

    def _removed(self, path: str) -> None:
        if self._is_ours(path) and Path(path).exists():
            self.temporary.discard(path)
            self.counts["removed"] += not _is_hidden(path)

    def _is_ours(self, path: str) -> bool:
        return path.startswith(self._home) and not any(part in path for part in _ASIDE)


def _is_hidden(path: str) -> bool:
    return Path(path).name.startswith(".") and Path(path).name != ".unfinished"


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watching:
        _watching[-1].see(event, args)


sys.addaudithook(_hook)  # there is no way to take it away again; idle, it costs nothing that can be measured


@contextmanager
def counting(settings: Settings) -> Iterator[Counts]:
    """What is done inside, by this process; complete when it is over."""
    counts: Counts = {}
    files = _Files(settings)
    with pytest.MonkeyPatch.context() as patch:
        calls = _count_calls(patch, settings)
        _watching.append(files)
        try:
            yield counts
        finally:
            _watching.remove(files)
    files.counts["left_over"] = sum(Path(path).exists() for path in files.temporary)
    counts |= {name: (calls + files.counts)[name] for name in NAMES}


def _count_calls(patch: pytest.MonkeyPatch, settings: Settings) -> Counter[str]:
    calls: Counter[str] = Counter()

    def watch(owner: Any, name: str, **measures: Any) -> None:
        original = getattr(owner, name)

        def call(*args: Any, **options: Any) -> Any:
            for measure, amount in measures.items():
                calls[measure] += amount(*args)
            return original(*args, **options)

        patch.setattr(owner, name, call)

    index = type(open_workspace(settings).index)
    watch(dom, "_parse", parsed=lambda *_: 1)
    watch(PaidAnalyzer, "describe", described=lambda *_: 1)
    watch(HashingEmbedder, "embed_batch", embedded=lambda _, texts: len(texts))
    watch(index, "publish", commits=lambda *_: 1, rows=lambda _, entries: sum(map(len, entries.values())))
    return calls
