"""Takes in a source: lists it, and makes, updates and removes its articles in the staging folder.

A run can be killed at any moment and repeated. An item counts as made only when its article is on the disk, and what is
listed but not made is fetched by the next run. A run that finds nothing changed costs only the listing.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from upath import UPath

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.watch import may_be_accident
from kb_pipeline.intake.base import Fetched, IntakeSource, Item, LeftOut, Refused, Unused
from kb_pipeline.intake.folders import ArticleFolders, Files, metadata_of
from kb_pipeline.intake.naming import article_ids
from kb_pipeline.intake.state import IntakeState, ListedItem, WhyLeftOut, token_of
from kb_pipeline.records import HIDDEN
from kb_pipeline.services.retry import after_transient_errors
from kb_pipeline.settings import Settings
from kb_pipeline.steps.metadata import METADATA_FILE
from kb_pipeline.store.files import remove_folder, settle
from kb_pipeline.store.locks import Locks
from kb_pipeline.wording import counted

_LONGEST_PAUSE = 30.0
"""Seconds between tries of one item, which the others wait for."""
_SETTLED_AT_ONCE = 50
"""Articles that are flushed to the disk together, which takes far less than one by one; a kill costs so many again."""
_log = logging.getLogger(__name__)

Progress = Callable[[int], None]
"""Is told how many items were fetched so far."""


@dataclass
class Taken:
    """What a run did, or a preview would do.

    Attributes:
        source: its name.
        listed: how many items it has.
        new: ids of articles that were not there before.
        changed: ids of those that were, with another content.
        gone: ids of those that were removed, as their items are gone.
        unchanged: how many articles stay as they are.
        left_out: how many items are no articles, such as indexes, and how many files neither that nor shown.
        why_left_out: their reasons.
        hidden: how many items nobody may read, as their readers are not known.
        refused: why items are not taken; their articles, if they have any, stay as they are.
        guard: why no missing article is removed, if so.
        bytes: written.
        seconds: it took.
    """

    source: str
    listed: int = 0
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    unchanged: int = 0
    left_out: int = 0
    why_left_out: tuple[WhyLeftOut, ...] = ()
    hidden: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    guard: str = ""
    bytes: int = 0
    seconds: float = 0.0

    @property
    def needs_attention(self) -> bool:
        """Whether a person should look at it."""
        return bool(self.refused or self.guard)

    def __str__(self) -> str:
        counts = {"new": self.new, "changed": self.changed, "gone": self.gone}
        parts = [f"{counted(self.listed, 'item')}: {', '.join(f'{len(ids):,} {name}' for name, ids in counts.items())}"]
        parts += [f"{self.unchanged:,} unchanged"]
        parts += [f"{self.left_out:,} left out"] if self.left_out else []
        parts += [f"{self.hidden:,} hidden, as no readers are known"] if self.hidden else []
        parts += [f"{len(self.refused):,} refused"] if self.refused else []
        return ", ".join(parts)


def state_path(settings: Settings, source: str) -> Path:
    """Where the state of a source is."""
    return settings.home_path / "intake" / f"{source}.sqlite"


def run(
    source: IntakeSource, settings: Settings, *, confirmed: bool = False, progress: Progress | None = None
) -> Taken:
    """Take in a source. ``confirmed``: missing articles are removed, however many they are.

    Raises:
        KnowledgeBaseError: the source cannot be listed, and nothing was changed; or nothing can be written.
    """
    began = time.monotonic()
    source.prepare(progress)
    # one source at a time: they share the names in the staging folder
    with Locks(settings.home_path / "locks" / "intake").hold(["intake"]), _opened(source, settings) as intake:
        intake.folders.prepare()
        number = intake.state.begin(datetime.now(UTC).isoformat(timespec="seconds"))
        with intake.state.transaction():
            intake.list_items(number)
        intake.fetch(number, progress)
        intake.remove_gone(number, confirmed=confirmed)
        intake.taken.why_left_out = intake.state.why_left_out()
        intake.taken.left_out = sum(each.count for each in intake.taken.why_left_out)
        intake.state.end(number, str(intake.taken))
        intake.taken.seconds = round(time.monotonic() - began, 2)
        return intake.taken


def preview(source: IntakeSource, settings: Settings) -> Taken:
    """What :func:`run` would do, as far as listing tells: which items are no articles is only known when they are read.

    Raises:
        KnowledgeBaseError: the source cannot be listed.
    """
    began = time.monotonic()
    source.prepare()
    with _opened(source, settings) as intake:
        with intake.state.transaction(keep=False):
            number = intake.state.begin("")
            intake.list_items(number)
            for row in intake.state.listed(number):
                intake.foresee(row)
            intake.remove_gone(number, confirmed=False, really=False)
        intake.taken.seconds = round(time.monotonic() - began, 2)
        return intake.taken


def forget(name: str, settings: Settings) -> list[str]:
    """Remove the articles of a source that is not declared any more, and what is known of it; returns their ids.

    Raises:
        StorageError: something cannot be removed.
    """
    with Locks(settings.home_path / "locks" / "intake").hold(["intake"]):
        folders = ArticleFolders(name, settings)
        folders.prepare()
        removed = [article_id for article_id, _ in list(folders.own()) if folders.remove(article_id)]
        kept = settings.home_path / "intake"
        for suffix in ("", "-shm", "-wal"):
            (kept / f"{name}.sqlite{suffix}").unlink(missing_ok=True)
        for suffix in (".git", ".site", ".mail"):
            remove_folder(UPath(kept / f"{name}{suffix}"))
        return removed


@contextmanager
def _opened(source: IntakeSource, settings: Settings) -> Iterator["_Intake"]:
    with closing(IntakeState(state_path(settings, source.name))) as state:
        yield _Intake(source, settings, state)


class _Intake:
    """One run of one source."""

    def __init__(self, source: IntakeSource, settings: Settings, state: IntakeState) -> None:
        self.source, self.state, self.taken = source, state, Taken(source.name)
        self.folders = ArticleFolders(source.name, settings)
        self._settings = settings
        self._kept: set[str] = set()
        """Ids of items that could not be listed; with "/" at the end, of all below."""
        self._emptied: list[tuple[ListedItem, str]] = []
        """Articles whose items are none now, and why."""

    def list_items(self, number: int) -> None:
        """List the source, and give each new item the id of its article."""
        if self.state.is_empty():  # the first run, or KB_HOME was removed
            for article_id, item_id in self.folders.own():
                self.state.adopt(Item(id=item_id, version=""), article_id)
        for item in self.source.items():
            if isinstance(item, Refused):
                self.taken.refused[item.id] = item.reason
                self._kept.add(item.id)
                continue
            if isinstance(item, Unused):
                self.state.list_unused(item, number)
                continue
            self.taken.listed += 1
            self.taken.hidden += item.readers is None
            self.state.list_item(item, self.state.known_id(item.id) or self._new_id(item), number)

    def _new_id(self, item: Item) -> str:
        """An id that no other item has, and no folder of somebody else."""
        plain, own = article_ids(self.source.name, item.id, item.name)
        is_free = not self.state.is_taken(plain) and not self.folders.is_there(plain)
        return plain if is_free else own

    def _is_due(self, row: ListedItem) -> bool:
        if row.made != token_of(row.item, self.source.made_by):
            return True
        if row.outcome == "article" and not self.folders.is_there(row.article_id):
            return True
        return bool(row.parts) and self.source.versions(row.parts) != row.parts

    def foresee(self, row: ListedItem) -> None:
        """Count what would become of an item."""
        if not self._is_due(row):
            self._count_unchanged(row)
        elif row.outcome == "article" and self.folders.is_there(row.article_id):
            self.taken.changed.append(row.article_id)
        else:
            self.taken.new.append(row.article_id)

    def _count_unchanged(self, row: ListedItem) -> None:
        if row.outcome == "left out":
            self.taken.left_out += 1
        else:
            self.taken.unchanged += 1

    def fetch(self, number: int, progress: Progress | None) -> None:
        """Fetch the items that are new or changed, several at once."""
        pending: deque[tuple[ListedItem, Future[_Made]]] = deque()
        done: list[tuple[ListedItem, _Made]] = []
        fetched = 0
        with ThreadPoolExecutor(self.source.at_once, thread_name_prefix="intake") as pool:
            try:
                for row in self.state.listed(number):
                    if not self._is_due(row):
                        self._count_unchanged(row)
                        continue
                    pending.append((row, pool.submit(self._make, row)))
                    if len(pending) > 2 * self.source.at_once:  # so many at most are in memory
                        done.append(_result(*pending.popleft()))
                    if len(done) >= _SETTLED_AT_ONCE:
                        fetched += self._record(done)
                        if progress:
                            progress(fetched)
                done += [_result(*each) for each in pending]
            finally:
                for _, future in pending:
                    future.cancel()
        self._record(done)
        if progress:
            progress(fetched + len(done))

    def _make(self, row: ListedItem) -> "_Made":
        item = row.item
        readers = (HIDDEN,) if item.readers is None else item.readers
        self.folders.restrict(row.article_id, readers)
        attempts = after_transient_errors(self._settings.attempts, _LONGEST_PAUSE)
        fetched = attempts(self.source.fetch, item, self.state.article_of)
        if isinstance(fetched, LeftOut):
            return _Made(note=fetched.reason, for_now=fetched.for_now)
        try:
            return self._write(row, fetched, readers)
        finally:
            if fetched.folder:
                remove_folder(UPath(fetched.folder))

    def _write(self, row: ListedItem, fetched: Fetched, readers: tuple[str, ...]) -> "_Made":
        item, files = row.item, _files_of(row.item, fetched, readers)
        was_there = self.folders.is_there(row.article_id)
        is_changed = self.folders.write(row.article_id, item.id, files)
        paths = tuple(self.folders.paths(row.article_id, files))
        size = sum(map(_size, files.values()))
        return _Made(paths, size, fetched.parts, is_new=not was_there, is_changed=is_changed)

    def _record(self, done: "list[tuple[ListedItem, _Made]]") -> int:
        """Store what was made, after it is safely on the disk; returns how many that are."""
        settle(path for _, made in done if made.is_changed for path in made.paths)
        with self.state.transaction():
            for row, made in done:
                self._record_one(row, made)
        number = len(done)
        done.clear()
        return number

    def _record_one(self, row: ListedItem, made: "_Made") -> None:
        now = row._replace(made="" if made.for_now else token_of(row.item, self.source.made_by))
        if made.problem:
            self.taken.refused[row.item.id] = made.problem
            self.state.failed(row, made.problem)
        elif not made.paths and row.outcome == "article":
            self._emptied.append((now, made.note))
        elif not made.paths:
            self._leave_out(now, made.note)
        else:
            self.state.made(now, "article", parts=made.parts)
            if made.is_new:
                self.taken.new.append(row.article_id)
            elif made.is_changed:
                self.taken.changed.append(row.article_id)
            else:
                self.taken.unchanged += 1
            self.taken.bytes += made.bytes if made.is_changed else 0

    def _leave_out(self, row: ListedItem, note: str) -> None:
        self.folders.remove(row.article_id)
        self.state.made(row, "left out", note)

    def remove_gone(self, number: int, *, confirmed: bool, really: bool = True) -> None:
        """Remove the articles whose items are gone or left out now, unless so many are that it may be an accident."""
        missing = sum(1 for _ in self._gone(number)) + len(self._emptied)
        staged = self.state.counts().articles
        if missing and not confirmed and (not self.taken.listed or may_be_accident(missing, staged, self._settings)):
            self.taken.guard = (
                f"{missing:,} of {staged:,} articles are missing from the source {self.source.name}. None of them is "
                "removed, because its store may be unmounted or half-synchronized. If they were deleted on purpose, "
                f"confirm it: kb intake run {self.source.name} --confirm-mass-removal"
            )
            return
        for row in self._gone(number):
            if really:
                self.folders.remove(row.article_id)
                self.state.made(row, "gone")
            self.taken.gone.append(row.article_id)
        for row, note in self._emptied:
            self._leave_out(row, note)
            self.taken.gone.append(row.article_id)
        if really:
            self.state.forget_unlisted(number)

    def _gone(self, number: int) -> Iterator[ListedItem]:
        for row in self.state.not_listed(number):
            steps = row.item.id.split("/")
            above = {"/".join(steps[:number]) + "/" for number in range(1, len(steps))}
            if self._kept.isdisjoint({row.item.id, *above}):
                yield row


@dataclass(frozen=True)
class _Made:
    """What became of an item: an article of files at ``paths``, nothing because of ``note``, or a ``problem``."""

    paths: tuple[Path, ...] = ()
    bytes: int = 0
    parts: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    for_now: bool = False
    problem: str = ""
    is_new: bool = False
    is_changed: bool = False


def _result(row: ListedItem, future: "Future[_Made]") -> "tuple[ListedItem, _Made]":
    try:
        made = future.result()
    except KnowledgeBaseError as exc:
        made = _Made(problem=str(exc))
    except Exception as exc:  # a defect that one item brings to light concerns only this item
        _log.exception("the item %s cannot be taken in", row.item.id)
        made = _Made(problem=f"{row.item.id}: {type(exc).__name__}: {exc}")
    return row, made


def _files_of(item: Item, fetched: Fetched, readers: tuple[str, ...]) -> Files:
    metadata = metadata_of(
        {
            "title": item.title,
            "source_url": item.link or fetched.link,
            "author": item.author,
            "upload_date": item.date,
            "key_topics": list(item.topics),
            "access_control_list": list(readers),
        }
    )
    others = {name: data for name, data in fetched.files.items() if name != fetched.main}
    return {**others, fetched.main: fetched.files[fetched.main], METADATA_FILE: metadata}


def _size(data: bytes | Path) -> int:
    return len(data) if isinstance(data, bytes) else data.stat().st_size
