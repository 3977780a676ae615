"""Whatever authors, runs and daemons do, and in whichever order: the planner's promises hold."""

from collections.abc import Iterable

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kb_pipeline.flow.watch import Attempt
from kb_pipeline_tests.flow.watch.world import World

NAMES = st.sampled_from([f"article-{number:02}" for number in range(15)])
SOME = st.sets(NAMES, max_size=8)
GRACE = 600


class Knowledge(RuleBasedStateMachine):
    """Articles come, change and go; runs succeed, fail and crash; the memory and the clock are not safe either."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(batch_articles=3, batches_ahead=2, delete_grace_seconds=GRACE, delete_max_share=1.0)
        self.world.stage("always")  # an empty staging folder would stop all removals
        self.versions = 0
        self.gone_since: dict[str, float] = {}
        self.asked: set[str] = set()

    # --- authors

    @rule(names=SOME)
    def change(self, names: set[str]) -> None:
        self.versions += 1
        self.world.stage(*names, signature=f"v{self.versions}")
        for name in names:
            self.gone_since.pop(name, None)

    @rule(names=SOME)
    def delete(self, names: set[str]) -> None:
        for name in names & self.world.staged.keys():
            del self.world.staged[name]
            self.gone_since[name] = self.world.now

    # --- what runs and daemons do

    @rule(launched=st.booleans())
    def look(self, launched: bool) -> None:
        plan = self.world.look(launch=False)
        for batch in plan.batches:
            if batch.kind == "remove" and batch.id not in self.asked:
                self.asked.add(batch.id)
                self.may_be_removed(batch.signatures)
        if launched:
            self.world.launch(plan)

    def may_be_removed(self, names: Iterable[str]) -> None:
        for name in names:
            assert name not in self.world.staged
            assert self.world.now - self.gone_since[name] >= GRACE

    @rule(transient=SOME, untouched=SOME)
    def run_ends(self, transient: set[str], untouched: set[str]) -> None:
        for batch in self.world.active()[:1]:
            self.world.finish(batch, transient, untouched)

    @rule()
    def memory_is_lost(self) -> None:
        self.world.memory = None
        self.world.now += 1

    @rule(generation=st.sampled_from(["one", "two"]))
    def generation_changes(self, generation: str) -> None:
        self.world.generation = generation

    @rule(seconds=st.integers(1, GRACE))
    def time_passes(self, seconds: int) -> None:
        self.world.now += seconds

    @rule(seconds=st.integers(1, 3600))
    def clock_is_set_back(self, seconds: int) -> None:
        self.world.now -= seconds
        # what was missing by the old clock is missing since now by the new one, at the latest
        self.gone_since = {name: min(since, self.world.now) for name, since in self.gone_since.items()}

    # --- promises

    @invariant()
    def no_article_is_in_two_batches(self) -> None:
        under_way = [name for batch in self.world.active() for name in batch.signatures]
        assert len(under_way) == len(set(under_way))

    @invariant()
    def no_more_batches_than_allowed(self) -> None:
        kinds = [batch.kind for batch in self.world.active()]
        assert kinds.count("ingest") <= 2
        assert kinds.count("remove") <= 1
        assert all(len(batch.signatures) <= 3 for batch in self.world.active())

    def teardown(self) -> None:
        """In the end everything staged was attempted as it is, in this generation, and nothing else is left."""
        for _ in range(60):
            for batch in self.world.active():
                self.world.finish(batch)
            if self.world.look().idle:
                break
            self.world.now += 6 * 3600
        assert self.world.look().idle
        expected = {name: Attempt(seen, False, self.world.generation) for name, seen in self.world.staged.items()}
        assert self.world.states == expected


Knowledge.TestCase.settings = hypothesis_settings(max_examples=60, stateful_step_count=40)
TestKnowledge = Knowledge.TestCase
TestKnowledge.pytestmark = [pytest.mark.slow("many histories")]
