"""What is requested when: each article when it changed, once at a time, and again when it may help."""

import pytest

from kb_pipeline.flow.watch import Attempt
from kb_pipeline_tests.flow.watch.world import World, requested


def names(count: int) -> list[str]:
    return [f"article-{number:04}" for number in range(count)]


@pytest.fixture
def world() -> World:
    """Three articles, ingested."""
    world = World()
    world.stage("alpha", "beta", "gamma")
    world.ingest_all()
    return world


def test_what_is_new_or_changed_is_requested_and_nothing_else(world: World) -> None:
    world.stage("delta")
    world.stage("beta", signature="v2")
    assert requested(world.look()) == {"beta", "delta"}


def test_nothing_to_do_is_idle(world: World) -> None:
    plan = world.look()
    assert plan.idle
    assert plan.batches == ()


def test_an_article_whose_state_was_taken_away_is_requested_again(world: World) -> None:
    del world.states["alpha"]
    assert requested(world.look()) == {"alpha"}


# --- batches


def test_a_burst_is_worked_off_in_bounded_batches() -> None:
    world = World(batch_articles=500, batches_ahead=2)
    world.stage(*names(5000))
    seen: list[str] = []
    while not (plan := world.look()).idle:
        assert len(world.active()) <= 2
        assert all(len(batch.signatures) <= 500 for batch in plan.batches)
        seen += [name for batch in plan.batches for name in batch.signatures]
        world.finish(world.active()[0])
    assert sorted(seen) == names(5000)


def test_what_has_no_room_yet_is_told() -> None:
    world = World(batch_articles=2, batches_ahead=1)
    world.stage("alpha", "beta", "gamma")
    assert world.look().waiting == 1


def test_nothing_is_requested_again_while_it_is_under_way_even_if_it_changes() -> None:
    world = World()
    world.stage("alpha")
    plan = world.look()
    world.stage("alpha", signature="v2")
    assert world.look().batches == ()
    world.states["alpha"] = Attempt("v1", generation="one")
    world.runs[plan.batches[0].id] = "finished"
    assert requested(world.look()) == {"alpha"}


def test_a_change_that_the_run_has_seen_already_is_not_requested() -> None:
    world = World()
    world.stage("alpha")
    batch = world.look().batches[0]
    world.stage("alpha", signature="v2")
    world.finish(batch)
    assert world.look().idle


def test_a_batch_that_never_became_a_run_is_offered_again_with_the_same_id() -> None:
    world = World()
    world.stage("alpha")
    first, second = world.look(launch=False), world.look()
    assert first.batches == second.batches
    assert world.look().batches == ()


def test_batches_of_the_same_content_have_different_ids() -> None:
    world = World()
    world.stage("alpha")
    first = world.look().batches[0]
    world.finish(first, untouched=["alpha"])
    second = world.look().batches[0]
    assert (first.signatures, first.id == second.id) == (second.signatures, False)


# --- folders that are still being copied


def test_a_folder_that_changed_a_moment_ago_must_be_the_same_twice() -> None:
    world = World(settle_seconds=5)
    world.stage("alpha")
    world.newest["alpha"] = world.now - 1
    plan = world.look()
    assert (plan.batches, plan.settling, plan.idle) == ((), ("alpha",), False)
    world.stage("alpha", signature="v2")
    assert world.look().batches == ()
    assert requested(world.look()) == {"alpha"}


@pytest.mark.parametrize(("age", "at_once"), [(6, True), (1, False), (-3600, False)])
def test_only_an_old_folder_is_requested_at_once(age: float, at_once: bool) -> None:
    world = World(settle_seconds=5)
    world.stage("alpha")
    world.newest["alpha"] = world.now - age
    assert bool(world.look().batches) == at_once


# --- trying again


@pytest.fixture
def failing() -> World:
    """One article that failed for a passing reason, just now."""
    world = World()
    world.stage("alpha")
    world.finish(world.look().batches[0], transient=["alpha"])
    world.look()
    return world


def test_a_passing_failure_is_tried_again_later_and_later(failing: World) -> None:
    waits = []
    for _ in range(12):
        plan = failing.look()
        assert plan.batches == ()
        waits.append(plan.retrying["alpha"] - failing.now)
        failing.now += waits[-1]
        failing.finish(failing.look().batches[0], transient=["alpha"])
        failing.look()
    assert waits[:4] == [60, 120, 240, 480]
    assert waits[-1] == 6 * 3600


def test_a_failing_article_that_changes_is_requested_at_once(failing: World) -> None:
    failing.stage("alpha", signature="v2")
    assert requested(failing.look()) == {"alpha"}


def test_an_article_that_works_again_is_done(failing: World) -> None:
    failing.now += 60
    failing.finish(failing.look().batches[0])
    assert failing.look().idle


def test_a_clock_that_is_set_back_does_not_delay_a_retry(failing: World) -> None:
    failing.now -= 24 * 3600
    assert requested(failing.look()) == {"alpha"}


def test_a_permanent_failure_waits_for_the_folder_to_change(world: World) -> None:
    world.stage("bad")
    batch = world.look().batches[0]
    world.finish(batch)
    world.states["bad"] = Attempt("v1", transient=False, generation=None)
    world.now += 24 * 3600
    assert world.look().idle


def test_what_a_crashed_run_did_not_reach_is_requested_at_once_a_few_times() -> None:
    world = World()
    world.stage("alpha", "beta")
    world.finish(world.look().batches[0], untouched=["beta"])
    for _ in range(3):
        plan = world.look()
        assert requested(plan) == {"beta"}
        world.finish(plan.batches[0], untouched=["beta"])
    assert world.look().batches == ()
    world.now += 60
    assert requested(world.look()) == {"beta"}


# --- articles that are gone


@pytest.fixture
def large() -> World:
    """A hundred articles, ingested."""
    world = World()
    world.stage(*names(100))
    world.ingest_all()
    return world


def unstage(world: World, count: int) -> set[str]:
    gone = names(count)
    for name in gone:
        world.staged.pop(name)
    return set(gone)


def test_a_missing_article_is_removed_after_the_grace_period(large: World) -> None:
    gone = unstage(large, 3)
    assert set(large.look().missing) == gone
    large.now += 3599
    assert large.look().batches == ()
    large.now += 1
    plan = large.look()
    assert requested(plan, "remove") == gone
    assert large.look().batches == ()
    large.finish(plan.batches[0])
    assert large.look().idle


def test_an_article_that_comes_back_is_forgotten_to_be_missing(large: World) -> None:
    gone = unstage(large, 3)
    large.look()
    large.stage(*gone)
    large.now += 3600
    assert large.look().idle
    unstage(large, 3)
    assert large.look().batches == ()


def test_an_article_that_comes_back_after_its_removal_is_new(large: World) -> None:
    gone = unstage(large, 1)
    large.look()
    large.now += 3600
    large.finish(large.look().batches[0])
    large.stage(*gone)
    assert requested(large.look()) == gone


def test_a_clock_that_is_set_back_starts_the_grace_period_anew(large: World) -> None:
    unstage(large, 1)
    large.look()
    large.now -= 24 * 3600
    large.look()
    large.now += 3599
    assert large.look().batches == ()
    large.now += 1
    assert requested(large.look(), "remove") == set(names(1))


def test_an_article_is_not_removed_while_a_run_is_to_ingest_it(large: World) -> None:
    large.stage("article-0000", signature="v2")
    batch = large.look().batches[0]
    gone = unstage(large, 1)
    large.look()
    large.now += 3600
    assert large.look().batches == ()
    large.finish(batch)
    assert requested(large.look(), "remove") == gone


def test_a_removal_that_failed_is_requested_again(large: World) -> None:
    gone = unstage(large, 1)
    large.look()
    large.now += 3600
    batch = large.look().batches[0]
    large.finish(batch, untouched=gone)
    again = large.look().batches[0]
    assert (again.signatures, again.id == batch.id) == (batch.signatures, False)


def test_a_folder_that_is_refused_is_not_missing(large: World) -> None:
    large.refused = {name: f"{name}: there is no index.html" for name in unstage(large, 1)}
    large.look()
    large.now += 24 * 3600
    assert large.look().idle


@pytest.mark.parametrize(("known", "missing", "guarded"), [(100, 20, False), (100, 21, True), (30, 10, False)])
def test_many_missing_articles_are_not_removed(known: int, missing: int, guarded: bool) -> None:
    world = World()
    world.stage(*names(known))
    world.ingest_all()
    unstage(world, missing)
    world.look()
    world.now += 24 * 3600
    plan = world.look()
    assert (plan.guard is not None, plan.batches == ()) == (guarded, guarded)


def test_the_guard_tells_how_many_why_and_how_to_confirm(large: World) -> None:
    unstage(large, 40)
    guard = large.look().guard
    assert guard
    for part in ("40 of 100", "unmounted", "confirm_mass_removal: true", "kb remove --missing"):
        assert part in guard


def test_an_empty_staging_folder_removes_nothing(world: World) -> None:
    world.staged.clear()
    world.look()
    world.now += 24 * 3600
    plan = world.look()
    assert plan.guard
    assert plan.batches == ()


def test_an_empty_staging_folder_removes_nothing_although_there_are_articles_beside_it(world: World) -> None:
    world.staged.clear()
    world.stage("made")
    world.beside.add("made")
    world.look()
    world.now += 24 * 3600
    assert world.look().guard


def test_a_store_that_comes_back_bit_by_bit_has_the_whole_grace_period_for_it(large: World) -> None:
    gone = unstage(large, 40)
    large.look()
    large.now += 24 * 3600
    large.look()
    large.stage(*list(gone)[:30])
    assert large.look().batches == ()
    large.now += 3599
    assert large.look().batches == ()


def test_changes_are_ingested_while_the_guard_is_up(large: World) -> None:
    unstage(large, 40)
    large.stage("new")
    assert requested(large.look()) == {"new"}


# --- folders that are no article


def test_a_refused_folder_is_reported_once_and_again_for_another_reason(world: World) -> None:
    world.refused = {"a...b": "rename it"}
    assert world.look().refused == {"a...b": "rename it"}
    assert world.look().refused == {}
    world.refused = {"a...b": "still not good"}
    assert world.look().refused == {"a...b": "still not good"}


def test_a_folder_whose_index_html_is_still_to_come_is_not_reported() -> None:
    world = World(settle_seconds=5)
    world.refused, world.newest = {"new": "there is no index.html"}, {"new": world.now}
    plan = world.look()
    assert (plan.refused, plan.idle) == ({}, False)
    world.refused = {}
    world.stage("new")
    assert world.look().refused == {}


# --- another generation of the index


def test_another_generation_wants_every_article_again_in_bounded_batches() -> None:
    world = World(batch_articles=40, batches_ahead=1)
    world.stage(*names(100))
    world.ingest_all()
    world.generation = "two"
    seen: set[str] = set()
    while not (plan := world.look()).idle:
        assert len(requested(plan)) <= 40
        seen |= requested(plan)
        world.finish(world.active()[0])
    assert seen == set(names(100))


def test_what_is_in_the_generation_before_only_does_not_count(world: World) -> None:
    world.stage("alpha", signature="v2")
    batch = world.look().batches[0]
    world.finish(batch)
    world.generation = "two"
    assert requested(world.look()) == {"alpha", "beta", "gamma"}


def test_a_crashed_run_for_another_generation_is_requested_again(world: World) -> None:
    world.generation = "two"
    world.finish(world.look().batches[0], untouched=["alpha"])
    assert requested(world.look()) == {"alpha"}


# --- a memory that is lost


def test_what_the_states_say_is_done_is_not_requested_again(world: World) -> None:
    world.memory = None
    world.stage("beta", signature="v2")
    assert requested(world.look()) == {"beta"}


def test_what_is_under_way_is_not_requested_again() -> None:
    world = World()
    world.stage("alpha")
    batch = world.look().batches[0]
    world.memory = None
    assert world.look().batches == ()
    world.finish(batch)
    assert world.look().idle


def test_batches_have_other_ids_than_those_that_were_forgotten(world: World) -> None:
    world.stage("alpha", signature="v2")
    first = world.look().batches[0]
    world.finish(first, untouched=["alpha"])
    world.memory = None
    world.now += 30
    second = world.look().batches[0]
    assert (first.signatures, first.id == second.id) == (second.signatures, False)


def test_what_failed_for_a_passing_reason_is_tried_again_later(failing: World) -> None:
    failing.memory = None
    assert failing.look().batches == ()
    failing.now += 60
    assert requested(failing.look()) == {"alpha"}
