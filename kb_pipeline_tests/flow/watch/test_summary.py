"""What a person reads about a plan."""

from kb_pipeline.flow.watch import summarise
from kb_pipeline_tests.flow.watch.world import World


def test_nothing_to_do() -> None:
    world = World()
    world.stage(*(f"article-{number}" for number in range(1200)))
    world.ingest_all()
    assert summarise(world.look()) == "1,200 articles unchanged"


def test_everything_there_is_to_say() -> None:
    world = World(batch_articles=2, batches_ahead=1, settle_seconds=5)
    world.now = 1_800_000_000.0
    world.stage("gone", "down", *(f"old-{number}" for number in range(9)))
    while not world.look().idle:
        for batch in world.active():
            world.finish(batch)
    del world.staged["gone"]
    world.stage("down", signature="v2")
    world.finish(world.look().batches[0], transient=["down"])
    world.stage("alpha", "beta", "gamma", "copied")
    world.newest["copied"] = world.now
    world.refused = {"a...b": "'a...b' cannot be an article id"}
    assert summarise(world.look()).splitlines() == [
        "waiting for 1 run to ingest 2 articles",
        "1 article to be requested when a batch has ended",
        "changed a moment ago, perhaps still being copied: copied",
        "tried again from 2027-01-15 08:01 UTC on: down",
        "missing, to be removed from 2027-01-15 09:00 UTC on: gone",
        "no article: 'a...b' cannot be an article id",
    ]


def test_the_guard_comes_first() -> None:
    world = World()
    world.stage("alpha")
    world.ingest_all()
    world.staged.clear()
    assert summarise(world.look()).startswith("1 of 1 articles are missing")
