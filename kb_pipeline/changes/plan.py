"""The plan: which articles are requested now, in which batches, and what is to be remembered of it.

No article is ever in two batches at a time, whatever happens to it meanwhile.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kb_pipeline.changes.memory import GONE, Batch, Kind, Memory
from kb_pipeline.changes.outcomes import Status, Surroundings, remembered_by_others, take_stock
from kb_pipeline.settings import Settings
from kb_pipeline.staging import StagingScan
from kb_pipeline.steps.fingerprint import fingerprint

FEW = 10
"""So many missing articles are never taken for an accident, unless nothing at all is staged."""


@dataclass(frozen=True)
class Plan:
    """What to do now, and why nothing is done about the others that changed.

    ``batches`` to request: new ones, and those that were requested before and never became a run; ``outstanding``
    is all that are requested or under way. ``waiting`` articles have no room in a batch yet, ``settling`` folders
    changed a moment ago; ``retrying`` and ``missing``: articles with the time at which they are due.
    ``refused``: folders that were not reported before; ``guard`` says why nothing is removed, if so.
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
        """Nothing is to be done until something changes in the staging folder."""
        return not (self.outstanding or self.waiting or self.settling or self.retrying or self.missing)


def plan_changes(
    scan: StagingScan,
    memory: Memory | None,
    surroundings: Surroundings,
    *,
    generation: str,
    now: float,
    settings: Settings,
) -> Plan:
    """Compare what is staged with what is remembered; ``None``: the memory is lost.

    ``generation`` names the index that is being filled: another one wants every article again.
    ``now`` in seconds, like the scan's times; it may go backwards.
    """
    if memory is None:
        memory = remembered_by_others(scan, surroundings, generation, now)
    elif memory.generation != generation:
        memory = memory.model_copy(update={"generation": generation, "done": {}, "retries": {}})
    statuses = surroundings.statuses([batch.id for batch in memory.outstanding]) if memory.outstanding else {}
    memory = take_stock(memory, scan, statuses, surroundings, now)
    # asked after the runs, so that everything they did is seen
    look = _Look(scan, memory, frozenset(surroundings.known()), now, settings)
    return look.plan(statuses)


class _Look:
    """One look at the staging folder; the outstanding batches of the memory have not ended."""

    def __init__(
        self, scan: StagingScan, memory: Memory, known: frozenset[str], now: float, settings: Settings
    ) -> None:
        self._scan, self._memory, self._known, self._now, self._settings = scan, memory, known, now, settings
        self._busy = {article_id for batch in memory.outstanding for article_id in batch.signatures}
        self._missing = sorted(known - scan.signatures.keys() - scan.refused.keys())
        self._unsettled: dict[str, str] = {}
        self._retrying: dict[str, float] = {}

    def plan(self, statuses: Mapping[str, Status]) -> Plan:
        ready = self._ready()
        refused = {name: why for name, why in self._scan.refused.items() if self._is_settled(name, why)}
        guard = self._guard()
        since = {name: self._now if guard else self._missing_since(name) for name in self._missing}
        new = self._ingest(ready) + ([] if guard else self._remove(since))
        outstanding = (*self._memory.outstanding, *new)
        requested = {article_id for batch in new for article_id in batch.signatures}
        return Plan(
            staged=len(self._scan.signatures),
            batches=tuple(batch for batch in outstanding if batch.id not in statuses),
            outstanding=outstanding,
            waiting=len(ready) - len(requested.intersection(ready)),
            settling=tuple(sorted(self._unsettled.keys() - requested - refused.keys())),
            retrying=self._retrying,
            missing={name: time + self._settings.delete_grace_seconds for name, time in since.items()},
            refused={name: why for name, why in refused.items() if self._memory.refused.get(name) != why},
            guard=guard,
            memory=self._remembered(outstanding, len(new), since, refused),
        )

    def _ready(self) -> list[str]:
        """Articles to request, those that are tried again last."""
        ready = [
            article_id
            for article_id, signature in self._scan.signatures.items()
            if not self._is_done(article_id, signature)
            and article_id not in self._busy
            and self._is_due(article_id, signature)
            and self._is_settled(article_id, signature)
        ]
        return sorted(ready, key=lambda article_id: (article_id in self._memory.retries, article_id))

    def _is_done(self, article_id: str, signature: str) -> bool:
        return self._memory.done.get(article_id) == signature and article_id in self._known

    def _is_due(self, article_id: str, signature: str) -> bool:
        retry = self._memory.retries.get(article_id)
        if retry is None or retry.signature != signature or retry.is_due(self._now):
            return True
        self._retrying[article_id] = retry.due_at
        return False

    def _is_settled(self, name: str, seen: str) -> bool:
        """Whether the folder is old enough, or was the same at the last look, not to be still being copied."""
        if self._scan.newest.get(name, 0.0) <= self._now - self._settings.settle_seconds:
            return True
        self._unsettled[name] = seen
        return self._memory.unsettled.get(name) == seen

    # --- what is missing

    def _missing_since(self, article_id: str) -> float:
        return min(self._memory.missing.get(article_id, self._now), self._now)

    def _guard(self) -> str | None:
        missing, known = len(self._missing), len(self._known)
        is_many = missing > FEW and missing > self._settings.delete_max_share * known
        if not missing or (self._scan.signatures and not is_many):
            return None
        return (
            f"{missing:,} of {known:,} articles are missing from the staging folder. None of them is removed, because "
            "its store may be unmounted or half-synchronised. If they were deleted on purpose, confirm it: run the job "
            "remove_articles with confirm_mass_removal: true, or kb remove --missing"
        )

    def _remove(self, since: Mapping[str, float]) -> list[Batch]:
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

    # --- batches

    def _ingest(self, ready: Sequence[str]) -> list[Batch]:
        ahead = sum(batch.kind == "ingest" for batch in self._memory.outstanding)
        return list(self._batches("ingest", ready))[: max(0, self._settings.batches_ahead - ahead)]

    def _batches(self, kind: Kind, article_ids: Sequence[str]) -> Iterator[Batch]:
        size = self._settings.batch_articles
        for start in range(0, len(article_ids), size):
            chosen = article_ids[start : start + size]
            signatures = {article_id: self._scan.signatures.get(article_id, GONE) for article_id in chosen}
            name = fingerprint(kind, self._memory.generation, self._memory.sequence, signatures)[:16]
            yield Batch(id=name, kind=kind, signatures=signatures)

    def _remembered(
        self, outstanding: tuple[Batch, ...], new: int, since: Mapping[str, float], refused: Mapping[str, str]
    ) -> Memory:
        staged, alive = self._scan.signatures, self._scan.signatures.keys() | self._known
        retries = self._memory.retries.items()
        update = {
            "sequence": self._memory.sequence + bool(new),
            "done": {name: seen for name, seen in self._memory.done.items() if name in alive},
            "retries": {
                name: retry for name, retry in retries if name in alive and retry.signature == staged.get(name, GONE)
            },
            "outstanding": outstanding,
            "unsettled": self._unsettled,
            "missing": dict(since),
            "refused": dict(refused),
        }
        return self._memory.model_copy(update=update)
