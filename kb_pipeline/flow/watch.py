"""Plans what the sensor requests: which articles to ingest or remove now, in which batches.

The plan follows from a scan of the staging folder and from a memory of what was requested before. An article is never
in two batches at a time. Nothing here depends on Dagster.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple, Protocol

from pydantic import Field

from kb_pipeline.records import Record
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint, seal, unseal
from kb_pipeline.store.files import read_bytes, write_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.staging import StagingScan

FIRST_WAIT = 60.0
LONGEST_WAIT = 6 * 3600.0
"""Seconds between two attempts: the first pause, which doubles with each attempt up to the longest."""
GONE = ""
"""The signature of an article that is no longer staged."""
CRASHES_AT_ONCE = 3
"""How often an article whose run ended before its turn is requested again without a pause."""
FEW = 10
"""So few missing articles are never taken for an accident, unless nothing at all is staged."""

_FILE = "sensor.json"
_NAMED = 5
"""Article ids that a summary names."""

Kind = Literal["ingest", "remove"]
Status = Literal["active", "finished"]


class Batch(Record):
    """The articles of one run. ``signatures`` are those of the staging folders when the run was requested, by id."""

    id: str
    kind: Kind
    signatures: dict[str, str]


class Retry(Record):
    """An article to try again: after ``attempts`` that failed and ``crashes`` of its run before its turn."""

    signature: str
    since: float
    attempts: int = 0
    crashes: int = 0

    @property
    def due_at(self) -> float:
        """The time from which it may be requested."""
        steps = self.attempts + max(0, self.crashes - CRASHES_AT_ONCE)
        if not steps:
            return self.since
        return self.since + min(FIRST_WAIT * 2.0 ** min(steps - 1, 20), LONGEST_WAIT)

    def is_due(self, now: float) -> bool:
        """Whether it may be requested; also true when the clock was set back to before the failure."""
        return now >= self.due_at or now < self.since


class Memory(Record):
    """What the planner remembers between two scans.

    Attributes:
        generation: the generation of the index that the articles are ingested into.
        sequence: makes the ids of batches with equal content differ, because one run is started for each id.
        done: by article, the signature that was last ingested or failed permanently.
        outstanding: batches that are requested or under way.
        retries: articles to try again.
        unsettled: signatures of folders that have just changed.
        missing: by article, since when it is missing.
        refused: the folders that were reported as refused, with the reason.
    """

    generation: str = ""
    sequence: int = 0
    done: dict[str, str] = Field(default_factory=dict)
    outstanding: tuple[Batch, ...] = ()
    retries: dict[str, Retry] = Field(default_factory=dict)
    unsettled: dict[str, str] = Field(default_factory=dict)
    missing: dict[str, float] = Field(default_factory=dict)
    refused: dict[str, str] = Field(default_factory=dict)


def load_memory(layout: Layout) -> Memory | None:
    """Read the memory; ``None`` if there is none yet, or it is damaged or was written by another version.

    Raises:
        StorageError: the file exists and cannot be read.
    """
    path = layout.home / _FILE
    if not path.is_file():
        return None
    try:
        return Memory.model_validate_json(unseal(_FILE, read_bytes(path)))
    except ValueError:  # pydantic's ValidationError is one
        return None


def save_memory(layout: Layout, memory: Memory) -> None:
    """Write the memory, atomically.

    Raises:
        StorageError: it cannot be written.
    """
    write_bytes(layout.home / _FILE, seal(_FILE, memory.model_dump_json(exclude_defaults=True).encode()))


class Attempt(NamedTuple):
    """The last attempt at an article: its signature then, and whether it failed for a transient reason.

    ``generation`` is the one that it was published in; ``None`` if it failed, which does not depend on a generation.
    """

    signature: str = ""
    transient: bool = False
    generation: str | None = None

    def is_of(self, signature: str, generation: str) -> bool:
        """Whether a new attempt would have the same result."""
        return self.signature == signature and self.generation in (None, generation)


class PlannerQueries(Protocol):
    """What the planner needs to know about articles and runs. It asks only when it has to."""

    def known(self) -> Collection[str]:
        """Ids of all articles that have a state or a partition."""

    def attempts(self, article_ids: Collection[str]) -> Mapping[str, Attempt]:
        """The last attempt at each of these articles; those without an attempt may be left out."""

    def statuses(self, batch_ids: Collection[str]) -> Mapping[str, Status]:
        """The status of each batch; those without a run are left out."""

    def unfinished(self) -> Iterable[Batch]:
        """The batches of all runs under way, for when the memory is lost; their signatures may be empty."""


@dataclass(frozen=True)
class WatchPlan:
    """What to request now, and why the other changed articles have to wait.

    Attributes:
        staged: how many articles are staged.
        batches: to request now: new ones, and those that were requested before but never became a run.
        outstanding: all batches that are requested or under way.
        waiting: how many articles wait for room in a batch.
        settling: folders that have just changed and may still be being copied.
        retrying: by article, when it may be tried again.
        missing: by article, when it will be removed.
        refused: folders to report as refused, with the reason.
        guard: why no missing article is removed, if so.
        memory: what to remember.
    """

    staged: int
    batches: tuple[Batch, ...]
    outstanding: tuple[Batch, ...]
    waiting: int
    settling: tuple[str, ...]
    retrying: Mapping[str, float]
    missing: Mapping[str, float]
    refused: Mapping[str, str]
    guard: str | None
    memory: Memory

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do until the staging folder changes."""
        return not (self.outstanding or self.waiting or self.settling or self.retrying or self.missing)


def plan_changes(
    scan: StagingScan,
    memory: Memory | None,
    queries: PlannerQueries,
    *,
    generation: str,
    now: float,
    settings: Settings,
) -> WatchPlan:
    """Compare the staging folder with the memory, and plan what to request.

    Args:
        scan: what is staged.
        memory: of the last plan; ``None`` if it is lost, and rebuilt from the articles' states and the runs under way.
        queries: answers questions about articles and runs.
        generation: the generation of the index that is being filled; a new one needs every article again.
        now: in seconds, like the scan's times; it may go backwards.
        settings: sizes of batches, and times to wait.
    """
    if memory is None:
        memory = rebuilt_memory(scan, queries, generation, now)
    elif memory.generation != generation:
        memory = memory.model_copy(update={"generation": generation, "done": {}, "retries": {}})
    statuses = queries.statuses([batch.id for batch in memory.outstanding]) if memory.outstanding else {}
    memory = close_finished(memory, scan, statuses, queries, now)
    # read after the statuses of the runs, so that it includes everything those runs did
    articles = frozenset(queries.known())
    return _Planner(scan, memory, articles, now, settings).plan(statuses)


def rebuilt_memory(scan: StagingScan, queries: PlannerQueries, generation: str, now: float) -> Memory:
    """A new memory, from the articles' states and the runs under way."""
    under_way = tuple(queries.unfinished())
    # the sequence goes on from the current time, so that no batch gets an id that the lost memory gave
    fold = _OutcomeFold(Memory(generation=generation, sequence=int(now)), scan, now)
    for article_id, attempt in queries.attempts(scan.signatures.keys()).items():
        if attempt.is_of(scan.signatures[article_id], generation):
            fold.add_attempt(article_id, attempt)
    return fold.memory(under_way)


def close_finished(
    memory: Memory, scan: StagingScan, statuses: Mapping[str, Status], queries: PlannerQueries, now: float
) -> Memory:
    """The memory without the finished batches, and with their outcomes.

    An article is done when its last attempt was for what is staged now, in this generation. An article that failed for
    a transient reason, or whose run ended before its turn, is tried again. One that has changed since is requested
    like a new one.
    """
    finished = [batch for batch in memory.outstanding if statuses.get(batch.id) == "finished"]
    if not finished:
        return memory
    fold = _OutcomeFold(memory, scan, now)
    for batch in finished:
        if batch.kind == "remove":
            fold.add_removal(batch, queries.known())
        else:
            fold.add_ingest(batch, queries.attempts(batch.signatures.keys()))
    return fold.memory(batch for batch in memory.outstanding if batch not in finished)


class _OutcomeFold:
    """Folds the outcomes of finished batches into a memory."""

    def __init__(self, memory: Memory, scan: StagingScan, now: float) -> None:
        self._memory, self._staged, self._now = memory, scan.signatures, now
        self._done, self._retries = dict(memory.done), dict(memory.retries)

    def add_removal(self, batch: Batch, known: Collection[str]) -> None:
        for article_id in batch.signatures:
            if article_id in known and article_id not in self._staged:
                self._retry(article_id, GONE, crashes=1)
            else:
                self._done.pop(article_id, None)
                self._retries.pop(article_id, None)

    def add_ingest(self, batch: Batch, attempts: Mapping[str, Attempt]) -> None:
        for article_id, requested in batch.signatures.items():
            attempt = attempts.get(article_id, Attempt())
            staged = self._staged.get(article_id, requested)
            if attempt.is_of(staged, self._memory.generation):
                self.add_attempt(article_id, attempt)
            elif staged == requested:  # the run ended before its turn
                self._retry(article_id, staged, crashes=1)

    def add_attempt(self, article_id: str, attempt: Attempt) -> None:
        if attempt.transient:
            self._retry(article_id, attempt.signature, attempts=1)
        else:
            self._done[article_id] = attempt.signature
            self._retries.pop(article_id, None)

    def _retry(self, article_id: str, signature: str, *, attempts: int = 0, crashes: int = 0) -> None:
        last = self._retries.get(article_id)
        if last and last.signature == signature:
            attempts, crashes = attempts + last.attempts, crashes + last.crashes
        self._retries[article_id] = Retry(signature=signature, since=self._now, attempts=attempts, crashes=crashes)
        self._done.pop(article_id, None)

    def memory(self, outstanding: Iterable[Batch]) -> Memory:
        return self._memory.model_copy(
            update={"done": self._done, "retries": self._retries, "outstanding": tuple(outstanding)}
        )


class _Planner:
    """Makes one plan. No outstanding batch of the memory has finished."""

    def __init__(
        self, scan: StagingScan, memory: Memory, known: frozenset[str], now: float, settings: Settings
    ) -> None:
        self._scan, self._memory, self._known, self._now, self._settings = scan, memory, known, now, settings
        self._busy = {article_id for batch in memory.outstanding for article_id in batch.signatures}
        self._missing = sorted(known - scan.signatures.keys() - scan.refused.keys())
        self._unsettled: dict[str, str] = {}
        self._retrying: dict[str, float] = {}

    def plan(self, statuses: Mapping[str, Status]) -> WatchPlan:
        ready = self._ready()
        refused = {name: reason for name, reason in self._scan.refused.items() if self._is_settled(name, reason)}
        guard = self._guard()
        # while the guard is up, the grace period does not begin
        since = {
            name: self._now if guard else min(self._memory.missing.get(name, self._now), self._now)
            for name in self._missing
        }
        new = self._new_ingests(ready) + ([] if guard else self._new_removals(since))
        outstanding = (*self._memory.outstanding, *new)
        requested = {article_id for batch in new for article_id in batch.signatures}
        return WatchPlan(
            staged=len(self._scan.signatures),
            batches=tuple(batch for batch in outstanding if batch.id not in statuses),
            outstanding=outstanding,
            waiting=len(ready) - len(requested.intersection(ready)),
            settling=tuple(sorted(self._unsettled.keys() - requested - refused.keys())),
            retrying=self._retrying,
            missing={name: time + self._settings.delete_grace_seconds for name, time in since.items()},
            refused={name: reason for name, reason in refused.items() if self._memory.refused.get(name) != reason},
            guard=guard,
            memory=self._updated_memory(outstanding, len(new), since, refused),
        )

    def _ready(self) -> list[str]:
        """Articles to request; retries come last."""
        ready = [
            article_id
            for article_id, signature in self._scan.signatures.items()
            if not (self._memory.done.get(article_id) == signature and article_id in self._known)
            and article_id not in self._busy
            and self._is_due(article_id, signature)
            and self._is_settled(article_id, signature)
        ]
        return sorted(ready, key=lambda article_id: (article_id in self._memory.retries, article_id))

    def _is_due(self, article_id: str, signature: str) -> bool:
        retry = self._memory.retries.get(article_id)
        if retry is None or retry.signature != signature or retry.is_due(self._now):
            return True
        self._retrying[article_id] = retry.due_at
        return False

    def _is_settled(self, name: str, signature: str) -> bool:
        """Whether the folder is no longer being copied: it is old enough, or did not change since the last scan."""
        if self._scan.newest.get(name, 0.0) <= self._now - self._settings.settle_seconds:
            return True
        self._unsettled[name] = signature
        return self._memory.unsettled.get(name) == signature

    def _guard(self) -> str | None:
        missing, known = len(self._missing), len(self._known)
        is_many = may_be_accident(missing, known, self._settings)
        if not missing or (self._scan.signatures.keys() - self._scan.beside and not is_many):
            return None
        return (
            f"{missing:,} of {known:,} articles are missing from the staging folder. None of them is removed, because "
            "its store may be unmounted or half-synchronized. If they were deleted on purpose, confirm it: run the job "
            "remove_articles with confirm_mass_removal: true, or kb remove --missing"
        )

    def _new_ingests(self, ready: Sequence[str]) -> list[Batch]:
        ahead = sum(batch.kind == "ingest" for batch in self._memory.outstanding)
        return list(self._batches("ingest", ready))[: max(0, self._settings.batches_ahead - ahead)]

    def _new_removals(self, since: Mapping[str, float]) -> list[Batch]:
        if any(batch.kind == "remove" for batch in self._memory.outstanding):
            return []
        gone = [
            name
            for name, time in since.items()
            if self._now - time >= self._settings.delete_grace_seconds
            and name not in self._busy
            and self._is_due(name, GONE)
        ]
        return list(self._batches("remove", gone))[:1]

    def _batches(self, kind: Kind, article_ids: Sequence[str]) -> Iterator[Batch]:
        size = self._settings.batch_articles
        for start in range(0, len(article_ids), size):
            chosen = article_ids[start : start + size]
            signatures = {article_id: self._scan.signatures.get(article_id, GONE) for article_id in chosen}
            batch_id = fingerprint(kind, self._memory.generation, self._memory.sequence, signatures)[:16]
            yield Batch(id=batch_id, kind=kind, signatures=signatures)

    def _updated_memory(
        self, outstanding: tuple[Batch, ...], new: int, since: Mapping[str, float], refused: Mapping[str, str]
    ) -> Memory:
        staged, alive = self._scan.signatures, self._scan.signatures.keys() | self._known
        retries = self._memory.retries.items()
        update = {
            "sequence": self._memory.sequence + bool(new),
            "done": {name: signature for name, signature in self._memory.done.items() if name in alive},
            "retries": {
                name: retry for name, retry in retries if name in alive and retry.signature == staged.get(name, GONE)
            },
            "outstanding": outstanding,
            "unsettled": self._unsettled,
            "missing": dict(since),
            "refused": dict(refused),
        }
        return self._memory.model_copy(update=update)


def may_be_accident(missing: int, known: int, settings: Settings) -> bool:
    """Whether so many articles are missing that somebody has to confirm that they were deleted on purpose."""
    return missing > FEW and missing > settings.delete_max_share * known


def summarise(plan: WatchPlan) -> str:
    """The plan for a person, one line for each point."""
    return "\n".join(_lines(plan)) or unchanged(plan.staged)


def unchanged(staged: int) -> str:
    """The summary when there is nothing to do."""
    return f"{_articles(staged)} unchanged"


def _lines(plan: WatchPlan) -> Iterator[str]:
    if plan.guard:
        yield plan.guard
    for kind in ("ingest", "remove"):
        batches = [batch for batch in plan.outstanding if batch.kind == kind]
        if batches:
            runs = f"{len(batches)} run{'s' * (len(batches) != 1)}"
            yield f"waiting for {runs} to {kind} {_articles(sum(len(batch.signatures) for batch in batches))}"
    if plan.waiting:
        yield f"{_articles(plan.waiting)} to be requested when a batch has ended"
    if plan.settling:
        yield f"changed a moment ago, perhaps still being copied: {_named(plan.settling)}"
    if plan.retrying:
        yield f"tried again from {_time(min(plan.retrying.values()))} on: {_named(plan.retrying)}"
    if plan.missing and not plan.guard:
        yield f"missing, to be removed from {_time(min(plan.missing.values()))} on: {_named(plan.missing)}"
    for reason in plan.refused.values():
        yield f"no article: {reason}"


def _articles(count: int) -> str:
    return f"{count:,} article{'s' * (count != 1)}"


def _named(names: Collection[str]) -> str:
    first = sorted(names)[:_NAMED]
    more = len(names) - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more else "")


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
