"""Investigations under way: whatever happens to one, its stream is whole, and its asker alone can read it."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from app.callers.principal import Principal
from app.errors import StoreUnavailableError
from app.library.articles import Articles
from app.network import running
from app.network.base import Investigator, ReportedEvent
from app.network.networks import NetworkNotFoundError, Networks
from app.network.records import InvestigationRecords, new_id
from app.network.running import InvestigationNotFoundError, Investigations, OpenInvestigation, TooManyRunsError
from app.schema.network import Findings, FoundCause
from app.schema.network import InvestigationEvent as Told
from kb_pipeline.errors import QueryFailedError, StorageError
from kb_pipeline.flow.access import Access
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests.app.network.streams import check_stream

ANN, BOB = Principal.of("ann"), Principal.of("bob")
SAMPLES = str(Path(__file__).parents[3] / "samples" / "scenarios")
FOUND = Findings(causes=(FoundCause(id="L1", type="Link", name="", probability=0.9, certainty="very likely"),))
Script = Callable[[asyncio.Event], AsyncGenerator[ReportedEvent, None]]


def event(name: Any, **data: Any) -> ReportedEvent:
    return ReportedEvent(name, data)


def started(step: int) -> ReportedEvent:
    return event("step_start", step=step, agent="TelemetryAgent")


def completed(step: int) -> ReportedEvent:
    return event("step_complete", step=step, agent="TelemetryAgent", duration=0.1, query="q", response="r")


async def finds(_: asyncio.Event) -> AsyncGenerator[ReportedEvent, None]:
    yield event("run_start", run_id="", alert="", timestamp="")
    yield event("step_thinking", agent="TelemetryAgent", status="reading")
    yield started(1)
    yield completed(1)
    yield ReportedEvent("message", {"text": "# Report"}, FOUND)
    yield event("run_complete", steps=1, tokens=0, time=0.1)


async def waits(going_on: asyncio.Event) -> AsyncGenerator[ReportedEvent, None]:
    yield started(1)
    await going_on.wait()
    yield completed(1)
    yield event("message", text="# Late")
    yield event("run_complete", steps=1, tokens=0, time=0.1)


async def quotes_nothing(_: asyncio.Event) -> AsyncGenerator[ReportedEvent, None]:
    yield started(1)
    yield completed(1)
    raise QueryFailedError("the graph does not answer")


async def breaks(_: asyncio.Event) -> AsyncGenerator[ReportedEvent, None]:
    yield started(1)
    raise ZeroDivisionError


async def cannot(_: asyncio.Event) -> AsyncGenerator[ReportedEvent, None]:
    yield started(1)
    raise QueryFailedError("the graph does not answer at /srv/secret/place")


async def breaks_after_its_report(_: asyncio.Event) -> AsyncGenerator[ReportedEvent, None]:
    yield event("message", text="# Report")
    raise ZeroDivisionError


async def stops_short(_: asyncio.Event) -> AsyncGenerator[ReportedEvent, None]:
    yield started(1)
    yield started(2)
    yield completed(2)


class Scripted(Investigator):
    """Says what it is told to, and how often it was closed."""

    def __init__(self, script: Script) -> None:
        self.script, self.going_on, self.closed = script, asyncio.Event(), 0
        self.read: set[str] = set()

    @property
    def rests_on(self) -> set[str]:
        return self.read

    async def investigate(self, alert: str, run_id: str = "") -> AsyncGenerator[ReportedEvent, None]:
        async for each in self.script(self.going_on):
            yield each

    async def close(self) -> None:
        self.closed += 1


class World:
    """Investigations by a scripted investigator, and a reader of them."""

    def __init__(self, home: Path, script: Script, **limits: Any) -> None:
        settings = Settings(home=str(home), scenarios=SAMPLES, network="mock")
        self.investigator = Scripted(script)
        self.networks = Networks(settings)
        self.articles = Articles(Layout.of(settings))
        self.runs = Investigations(
            self.networks,
            home,
            lambda *_: self.investigator,
            self.articles,
            **{"at_once": 2, "seconds": 30.0, **limits},
        )

    def restrict(self, article_id: str) -> None:
        self.articles.access.record(article_id, Access(readers=("hr",)), pending=True)

    async def whole(self, run: OpenInvestigation) -> list[Told]:
        """All events of a run, as a reader gets them that stays to the end."""
        events: list[Told] = []
        while not run.is_over or len(events) < len(run.events):
            events += await run.after(len(events), 5)
        self.runs.leave(run)
        return events


def within(home: Path, script: Script, work: Callable[[World], Awaitable[None]], **limits: Any) -> None:
    async def run() -> None:
        world = World(home, script, **limits)
        try:
            await work(world)
        finally:
            await world.runs.close()
            await world.networks.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("script", "status", "told"),
    [
        (finds, "finished", ""),
        (breaks, "failed", "something went wrong"),
        (cannot, "failed", "the graph does not answer at …"),
        (breaks_after_its_report, "finished", ""),
        (stops_short, "broken_off", ""),
    ],
)
def test_whatever_happens_the_stream_is_whole_and_kept_as_it_was_told(
    tmp_path: Path, script: Script, status: str, told: str
) -> None:
    async def work(world: World) -> None:
        run = await world.runs.start("LINK_DOWN L1", ANN)
        events = await world.whole(run)
        check_stream(events, cancelled=status == "broken_off")
        kept = await world.runs.investigation(run.id, ANN)
        assert (kept.status, kept.events, kept.alert) == (status, tuple(events), "LINK_DOWN L1")
        assert told in next((each.data["message"] for each in events if each.event == "error"), "")
        assert world.investigator.closed == 1
        (summary,) = await world.runs.summaries(ANN, 10)
        assert (summary.id, summary.status) == (run.id, status)
        again = await world.runs.follow(run.id, ANN)
        assert await world.whole(again) == events

    within(tmp_path, script, work)


def test_what_was_found_is_kept_and_not_sent(tmp_path: Path) -> None:
    async def work(world: World) -> None:
        run = await world.runs.start("x", ANN)
        await world.whole(run)
        kept = await world.runs.investigation(run.id, ANN)
        assert (kept.report, kept.findings, kept.cause, kept.steps) == ("# Report", FOUND, "L1", 1)
        lines = (tmp_path / "investigations" / f"{run.id}.jsonl").read_text().splitlines()
        assert [json.loads(line)["event"] for line in lines] == [each.event for each in kept.events]
        assert all(each.data.keys() <= {"text"} for each in kept.events if each.event == "message")

    within(tmp_path, finds, work)


def test_the_last_reader_who_leaves_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_GRACE_SECONDS", 0.01)

    async def work(world: World) -> None:
        run = await world.runs.start("x", ANN)
        other = await world.runs.follow(run.id, ANN)
        assert other is run
        world.runs.leave(run)
        await asyncio.sleep(0.05)
        assert not run.is_over
        world.runs.leave(run)
        assert run.task
        await run.task
        check_stream(run.events, cancelled=True)
        assert world.investigator.closed == 1
        assert (await world.runs.investigation(run.id, ANN)).status == "broken_off"
        assert not world.runs._running

    within(tmp_path, waits, work)


def test_a_reader_who_comes_back_at_once_goes_on_after_its_last_event(tmp_path: Path) -> None:
    async def work(world: World) -> None:
        run = await world.runs.start("x", ANN)
        first = await run.after(0, 5)
        world.runs.leave(run)
        again = await world.runs.follow(run.id, ANN)
        world.investigator.going_on.set()
        rest: list[Told] = []
        while not again.is_over or len(first) + len(rest) < len(again.events):
            rest += await again.after(len(first) + len(rest), 5)
        check_stream([*first, *rest])

    within(tmp_path, waits, work)


def test_a_run_that_takes_too_long_fails_and_says_so(tmp_path: Path) -> None:
    async def work(world: World) -> None:
        events = await world.whole(await world.runs.start("x", ANN))
        check_stream(events)
        assert "KB_RUN_SECONDS" in next(each.data["message"] for each in events if each.event == "error")

    within(tmp_path, waits, work, seconds=0.05)


def test_no_more_run_than_may_and_there_is_room_again_afterwards(tmp_path: Path) -> None:
    async def work(world: World) -> None:
        runs = [await world.runs.start("x", ANN) for _ in range(2)]
        with pytest.raises(TooManyRunsError) as refused:
            await world.runs.start("x", BOB)
        assert refused.value.retry_after
        world.investigator.going_on.set()
        for run in runs:
            await world.whole(run)
        await world.whole(await world.runs.start("x", BOB))

    within(tmp_path, waits, work)


def test_only_the_asker_sees_an_investigation(tmp_path: Path) -> None:
    async def work(world: World) -> None:
        run = await world.runs.start("x", ANN)
        await world.whole(run)
        for ask in (world.runs.follow, world.runs.investigation):
            with pytest.raises(InvestigationNotFoundError):
                await ask(run.id, BOB)
        assert await world.runs.summaries(BOB, 10) == []

    within(tmp_path, finds, work)


@pytest.mark.parametrize("hostile", ["", "..", "../x", "x" * 5000, "\0", "20260101-000000000-0123456789abcdef"])
def test_an_id_that_nobody_was_given_is_no_investigation(tmp_path: Path, hostile: str) -> None:
    async def work(world: World) -> None:
        with pytest.raises(InvestigationNotFoundError):
            await world.runs.investigation(hostile, ANN)

    within(tmp_path, finds, work)


def test_where_there_is_no_network_nothing_begins(tmp_path: Path) -> None:
    async def work(world: World) -> None:
        world.networks.settings = Settings(home=str(tmp_path), scenarios=str(tmp_path / "none"))
        with pytest.raises(NetworkNotFoundError):
            await world.runs.start("x", ANN)
        assert not world.runs._running

    within(tmp_path, finds, work)


def test_one_that_the_service_did_not_survive_is_broken_off_with_its_steps(tmp_path: Path) -> None:
    run_id = new_id()

    async def work(world: World) -> None:
        lines: list[dict[str, Any]] = [
            {
                "event": "run_start",
                "data": {"run_id": run_id, "alert": "x", "timestamp": "2026-01-01T00:00:00+00:00"},
                "asker": "ann",
                "scenario": "telco",
                "readers": [],
            },
            {"event": "step_start", "data": dict(started(1).data)},
            {"event": "step_complete", "data": dict(completed(1).data)},
            {"event": "step_start", "data": dict(started(2).data)},
        ]
        for line in lines:
            await world.runs.records.append(run_id, line)
        with (tmp_path / "investigations" / f"{run_id}.jsonl").open("a") as file:
            file.write('{"event": "step_compl')
        kept = await world.runs.investigation(run_id, ANN)
        assert (kept.status, kept.steps) == ("broken_off", 2)
        check_stream(kept.events, cancelled=True)
        assert await world.runs.investigation(run_id, ANN) == kept
        followed = await world.whole(await world.runs.follow(run_id, ANN))
        assert tuple(followed) == kept.events

    within(tmp_path, finds, work)


def test_what_cannot_be_kept_is_refused_or_fails_for_its_readers_to_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = False
    append = InvestigationRecords.append_now

    def filling(self: InvestigationRecords, record_id: str, line: Any) -> None:
        if full:
            raise StorageError("no space left; make room")
        append(self, record_id, line)

    monkeypatch.setattr(InvestigationRecords, "append_now", filling)

    async def work(world: World) -> None:
        nonlocal full
        run = await world.runs.start("x", ANN)
        await run.after(1, 5)
        full = True
        world.investigator.going_on.set()
        events = await world.whole(run)
        check_stream(events)
        assert "no space left" in str(events)
        with pytest.raises(StorageError):
            await world.runs.start("x", ANN)
        assert not world.runs._running

    within(tmp_path, waits, work)
    assert StoreUnavailableError.status == 503


def test_an_end_in_the_middle_of_writing_leaves_file_and_stream_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, going_on = threading.Event(), threading.Event()
    append = InvestigationRecords.append_now

    def slow(self: InvestigationRecords, record_id: str, line: Any) -> None:
        if line["event"] == "step_start":
            writing.set()
            going_on.wait(60)
        append(self, record_id, line)

    monkeypatch.setattr(InvestigationRecords, "append_now", slow)

    async def work(world: World) -> None:
        run = await world.runs.start("x", ANN)
        await asyncio.to_thread(writing.wait, 10)
        assert run.task
        run.task.cancel()
        await asyncio.sleep(0)
        going_on.set()
        await run.task
        check_stream(run.events, cancelled=True)
        assert (await world.runs.investigation(run.id, ANN)).events == tuple(run.events)

    within(tmp_path, waits, work)


# --- what an investigation rests on ---


@pytest.mark.parametrize("script", [finds, quotes_nothing], ids=["finished", "failed"])
def test_it_is_withheld_from_who_may_no_longer_read_an_article_that_it_read(tmp_path: Path, script: Script) -> None:
    async def work(world: World) -> None:
        world.investigator.read = {"runbook"}
        run = await world.runs.start("x", ANN)
        await world.whole(run)
        assert (await world.runs.investigation(run.id, ANN)).alert == "x"
        [before] = await world.runs.summaries(ANN, 5)
        assert before.cause == ("L1" if script is finds else None)
        world.restrict("runbook")
        for read in (world.runs.investigation, world.runs.follow):
            with pytest.raises(InvestigationNotFoundError, match="may no longer read"):
                await read(run.id, ANN)
        assert await world.runs.summaries(ANN, 5) == [before.model_copy(update={"cause": None})]  # their own words

    within(tmp_path, script, work)


def test_who_follows_one_is_told_no_more_when_an_article_is_restricted_meanwhile(tmp_path: Path) -> None:
    async def work(world: World) -> None:
        run = await world.runs.start("x", ANN)
        world.investigator.read = {"runbook"}
        await run.after(1, 5)
        assert await world.runs.is_shown(run, ANN)
        world.restrict("runbook")
        world.investigator.going_on.set()
        await world.whole(run)
        assert not await world.runs.is_shown(run, ANN)
        assert await world.runs.is_shown(run, Principal("ann", ("hr",)))

    within(tmp_path, waits, work)


def test_one_that_was_kept_before_that_was_noted_may_rest_on_any_article(tmp_path: Path) -> None:
    async def work(world: World) -> None:
        kept = "20260101-000000000-0123456789abcdef"
        start = {"run_id": kept, "alert": "x", "timestamp": "2026-01-01T00:00:00+00:00"}
        line = {"event": "run_start", "data": start, "asker": "ann", "scenario": "telco", "readers": []}
        world.runs.records.append_now(kept, line)
        world.runs.leave(await world.runs.follow(kept, ANN))
        world.restrict("runbook")
        for read in (world.runs.investigation, world.runs.follow):
            with pytest.raises(InvestigationNotFoundError, match="may no longer read"):
                await read(kept, ANN)

    within(tmp_path, finds, work)


def test_when_the_service_ends_its_runs_end_as_well(tmp_path: Path) -> None:
    runs: list[OpenInvestigation] = []

    async def work(world: World) -> None:
        runs.append(await world.runs.start("x", ANN))
        await runs[0].after(1, 5)

    within(tmp_path, waits, work)
    check_stream(runs[0].events, cancelled=True)


@pytest.mark.slow("waits for a silent or slow service")
def test_many_at_once_are_neither_lost_nor_mixed_up(tmp_path: Path) -> None:
    async def work(world: World) -> None:
        async def one(number: int) -> None:
            who = Principal.of(f"user{number % 8}")
            run = await world.runs.start(f"alert {number}", who)
            events = await world.whole(run)
            check_stream(events)
            assert events[0].data["alert"] == f"alert {number}"
            assert (await world.runs.investigation(run.id, who)).alert == f"alert {number}"

        await asyncio.gather(*(one(number) for number in range(64)))
        assert len(await world.runs.summaries(Principal.of("user3"), 100)) == 8
        assert not world.runs._running

    within(tmp_path, finds, work, at_once=64)
