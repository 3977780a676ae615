"""A small world to plan in: a staging folder, articles' states, runs and a clock, all in memory."""

from collections.abc import Collection, Iterable, Mapping

from kb_pipeline.flow.watch import Attempt, Batch, Memory, Status, WatchPlan, plan_changes
from kb_pipeline.settings import Settings
from kb_pipeline.store.staging import StagingScan


class World:
    """Everything the planner asks about, and what it wants to be done."""

    def __init__(self, **limits: object) -> None:
        self.settings = Settings(**{"settle_seconds": 0, **limits})  # type: ignore[arg-type]
        self.now = 1_000_000.0
        self.generation = "one"
        self.staged: dict[str, str] = {}
        self.newest: dict[str, float] = {}
        self.refused: dict[str, str] = {}
        self.beside: set[str] = set()
        self.states: dict[str, Attempt] = {}
        self.runs: dict[str, Status] = {}
        self.batches: dict[str, Batch] = {}
        self.memory: Memory | None = None

    # --- what the planner asks

    def known(self) -> Collection[str]:
        return set(self.states)

    def attempts(self, article_ids: Collection[str]) -> Mapping[str, Attempt]:
        return {name: self.states[name] for name in article_ids if name in self.states}

    def statuses(self, batch_ids: Collection[str]) -> Mapping[str, Status]:
        return {name: self.runs[name] for name in batch_ids if name in self.runs}

    def unfinished(self) -> Iterable[Batch]:
        for name, status in self.runs.items():
            if status == "active":
                batch = self.batches[name]
                yield batch.model_copy(update={"signatures": dict.fromkeys(batch.signatures, "")})

    # --- what happens

    def stage(self, *names: str, signature: str = "v1") -> None:
        self.staged |= dict.fromkeys(names, signature)

    def look(self, *, launch: bool = True) -> WatchPlan:
        """One tick; the memory is what is left of it in the file."""
        scan = StagingScan(dict(self.staged), dict(self.newest), dict(self.refused), frozenset(self.beside))
        plan = plan_changes(scan, self.memory, self, generation=self.generation, now=self.now, settings=self.settings)
        self.memory = Memory.model_validate_json(plan.memory.model_dump_json())
        if launch:
            self.launch(plan)
        return plan

    def launch(self, plan: WatchPlan) -> None:
        for batch in plan.batches:
            if batch.id not in self.runs:  # a run key starts one run
                self.runs[batch.id], self.batches[batch.id] = "active", batch

    def active(self) -> list[Batch]:
        return [self.batches[name] for name, status in self.runs.items() if status == "active"]

    def finish(self, batch: Batch, transient: Collection[str] = (), untouched: Collection[str] = ()) -> None:
        """The batch's run ends: each article is attempted as it is staged then, but for the ``untouched``."""
        for name in batch.signatures.keys() - set(untouched):
            if batch.kind == "ingest" and name in self.staged:
                failed = name in transient
                self.states[name] = Attempt(self.staged[name], failed, None if failed else self.generation)
            elif batch.kind == "remove" and name not in self.staged:
                self.states.pop(name, None)
        self.runs[batch.id] = "finished"

    def ingest_all(self) -> None:
        """Look and ingest until nothing is left to do."""
        while not self.look().idle:
            for batch in self.active():
                self.finish(batch)


def requested(plan: WatchPlan, kind: str = "ingest") -> set[str]:
    """Articles that the plan asks a run for."""
    return {name for batch in plan.batches if batch.kind == kind for name in batch.signatures}
