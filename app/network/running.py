"""Investigations under way: they are written down while they run, and any number of readers of the asker follows them.

A run ends when its readers have left. A reader that only lost its connection comes back within a moment and goes on
after the last event that it has.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.callers.principal import Principal
from app.errors import AnswerError, without_places
from app.library.articles import Articles
from app.library.withheld import INVESTIGATION_WITHHELD, may_read_all
from app.logs.lines import note
from app.network.base import Investigator, ReportedEvent
from app.network.networks import Networks
from app.network.records import FileRecord, InvestigationRecords, endings, new_id
from app.network.served import Network
from app.schema.network import EventName, Investigation, InvestigationEvent, InvestigationSummary
from kb_pipeline.errors import KnowledgeBaseError

_log = logging.getLogger(__name__)
_GRACE_SECONDS = 0.7
"""How long a run goes on without a reader."""
_RETRY_SECONDS = 2.0
"""Seconds: investigations by rules end within a few."""


class TooManyRunsError(AnswerError):
    """As many investigations are under way as the service allows."""

    status = 503
    code = "too_many_investigations"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"{most} investigations are under way already (KB_RUNS_AT_ONCE); try again soon", retry_after=_RETRY_SECONDS
        )


class InvestigationNotFoundError(KnowledgeBaseError):
    """There is no investigation of this id that the caller may see."""

    def __init__(self, investigation_id: str, why: str = "") -> None:
        super().__init__(why or f"there is no investigation {investigation_id[:80]!r}")


@dataclass
class OpenInvestigation:
    """An investigation whose events are in memory: under way, or just ended, or read from its file."""

    id: str
    scenario: str
    readers_of_scenario: tuple[str, ...]
    events: list[InvestigationEvent] = field(default_factory=list)
    rests_on: frozenset[str] = frozenset()
    is_over: bool = False
    is_kept: bool = True
    readers: int = 0
    began: float = field(default_factory=time.perf_counter)
    task: asyncio.Task[None] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, event: InvestigationEvent) -> None:
        """Give readers an event."""
        self.events.append(event)
        self.is_over = event.event == "run_complete"
        self.changed.set()
        self.changed = asyncio.Event()

    async def after(self, number: int, seconds: float) -> list[InvestigationEvent]:
        """The events after the one of this number, for which the caller waits so long; none if nothing happened."""
        if number >= len(self.events) and not self.is_over:
            try:
                await asyncio.wait_for(self.changed.wait(), seconds)
            except TimeoutError:
                return []
        return self.events[number:]


@dataclass(frozen=True)
class _Listed:
    asker: str
    scenario: str
    readers: tuple[str, ...]
    rests_on: frozenset[str] | None
    summary: InvestigationSummary


class Investigations:
    """Starts investigations, keeps them, and gives them to whoever asked."""

    def __init__(
        self,
        networks: Networks,
        home: Path,
        investigator: Callable[[Network, Principal], Investigator],
        articles: Articles,
        *,
        at_once: int,
        seconds: float,
    ) -> None:
        self.records = InvestigationRecords(home / "investigations")
        self._networks = networks
        self._investigator = investigator
        self._articles = articles
        self._at_once, self._seconds = at_once, seconds
        self._running: dict[str, OpenInvestigation] = {}
        self._listed: dict[str, _Listed] = {}

    async def start(self, alert: str, who: Principal, scenario: str = "") -> OpenInvestigation:
        """Begin to investigate in a network. The caller is a reader, and has to :meth:`leave`.

        Raises:
            TooManyRunsError: others are under way.
            NetworkNotFoundError: there is no network that this person may see.
            StorageError: it cannot be written down.
        """
        network = await self._networks.open_for(alert, who, scenario)
        served = network.folder.scenario
        if len(self._running) >= self._at_once:
            raise TooManyRunsError(self._at_once)
        run = OpenInvestigation(new_id(), served.name, tuple(served.access_control_list), readers=1)
        self._running[run.id] = run
        try:
            about = {"asker": who.user_id, "scenario": served.name, "readers": list(served.access_control_list)}
            now = datetime.now(UTC).isoformat(timespec="seconds")
            await self._write(run, "run_start", {"run_id": run.id, "alert": alert, "timestamp": now}, **about)
        except BaseException:
            del self._running[run.id]
            raise
        run.task = asyncio.create_task(self._investigate(run, alert, network, who))
        return run

    async def follow(self, investigation_id: str, who: Principal) -> OpenInvestigation:
        """An investigation to read, under way or not. The caller has to :meth:`leave`.

        Raises:
            InvestigationNotFoundError: there is none that this person may see.
        """
        run = self._running.get(investigation_id)  # before it is read: it may end meanwhile
        record = await self._of(investigation_id, who)
        if run is None:
            rests_on = record.rests_on or frozenset()
            about = record.scenario, record.readers
            events = record.events(is_running=False)
            run = OpenInvestigation(investigation_id, *about, events, rests_on, is_over=True)
        run.readers += 1
        return run

    async def is_shown(self, run: OpenInvestigation, who: Principal) -> bool:
        """Whether somebody may see the network of an investigation, and read all that it rests on so far.

        Raises:
            StorageError: an access list cannot be read.
        """
        sees = await self._networks.may_see(run.scenario, run.readers_of_scenario, who)
        return sees and await asyncio.to_thread(may_read_all, self._articles, run.rests_on, who)

    def leave(self, run: OpenInvestigation) -> None:
        """A reader has left; the last one ends the run."""
        run.readers -= 1
        if not run.readers and not run.is_over:
            asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._stop_if_alone, run)

    async def investigation(self, investigation_id: str, who: Principal) -> Investigation:
        """An investigation as it is now.

        Raises:
            InvestigationNotFoundError: there is none that this person may see.
        """
        is_running = investigation_id in self._running  # before it is read: it may end meanwhile
        return (await self._of(investigation_id, who)).whole(is_running=is_running)

    async def summaries(self, who: Principal, limit: int) -> list[InvestigationSummary]:
        """The person's investigations, the newest first; of those that are withheld not what they found."""
        summaries: list[InvestigationSummary] = []
        for each in await self.records.ids():
            listed = self._listed.get(each) or await self._listing(each)
            if listed is None or listed.asker != who.user_id:
                continue
            if await self._networks.may_see(listed.scenario, listed.readers, who):
                is_shown = await asyncio.to_thread(may_read_all, self._articles, listed.rests_on, who)
                summaries.append(listed.summary if is_shown else listed.summary.model_copy(update={"cause": None}))
            if len(summaries) == limit:
                break
        return summaries

    async def close(self) -> None:
        """End all runs."""
        tasks = [run.task for run in self._running.values() if run.task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(self.records.close)

    async def _of(self, investigation_id: str, who: Principal) -> FileRecord:
        record = await self.records.read(investigation_id)
        may_see = self._networks.may_see
        if not (record and record.asker == who.user_id and await may_see(record.scenario, record.readers, who)):
            raise InvestigationNotFoundError(investigation_id)
        if not await asyncio.to_thread(may_read_all, self._articles, record.rests_on, who):
            raise InvestigationNotFoundError(investigation_id, INVESTIGATION_WITHHELD)
        return record

    async def _listing(self, investigation_id: str) -> "_Listed | None":
        """What lists need of an investigation; it is remembered of those that are over."""
        is_running = investigation_id in self._running  # before it is read: it may end meanwhile
        record = await self.records.read(investigation_id)
        if record is None:
            return None
        summary = record.summary(is_running=is_running)
        listed = _Listed(record.asker, record.scenario, record.readers, record.rests_on, summary)
        if not is_running:
            self._listed[investigation_id] = listed
        return listed

    def _stop_if_alone(self, run: OpenInvestigation) -> None:
        if not run.readers and not run.is_over and run.task:
            run.task.cancel()

    async def _investigate(self, run: OpenInvestigation, alert: str, network: Network, who: Principal) -> None:
        try:
            try:
                async with asyncio.timeout(self._seconds):
                    await self._follow_investigator(run, alert, self._investigator(network, who))
            except TimeoutError:
                await self._fail(run, f"it took longer than {self._seconds:g} seconds (KB_RUN_SECONDS) and was ended")
            except KnowledgeBaseError as exc:
                _log.warning("an investigation failed: %s", exc)
                await self._fail(run, without_places(str(exc)))
            except Exception as exc:
                _log.error("an investigation failed unexpectedly", exc_info=exc)
                await self._fail(run, "something went wrong; the service's log has the details")
            except asyncio.CancelledError:
                await self._end(run, "the investigation was ended before this step was")
        finally:
            run.is_over = True
            run.changed.set()
            del self._running[run.id]

    async def _follow_investigator(self, run: OpenInvestigation, alert: str, investigator: Investigator) -> None:
        events: AsyncGenerator[ReportedEvent, None] = investigator.investigate(alert, run.id)
        try:
            async for event in events:
                run.rests_on |= frozenset(investigator.rests_on)
                if event.event == "message":
                    findings = event.findings.model_dump(mode="json") if event.findings else None
                    citations = [each.model_dump(mode="json") for each in event.citations]
                    await self._write(run, event.event, event.data, findings=findings, citations=citations)
                elif event.event != "run_start":  # that was the first thing that readers were told
                    await self._write(run, event.event, event.data)
        finally:
            await events.aclose()
            await investigator.close()
        await self._end(run, "the investigation ended before this step did")

    async def _fail(self, run: OpenInvestigation, message: str) -> None:
        if not any(event.event in ("message", "error") for event in run.events):
            await self._write(run, "error", {"message": message})
        await self._end(run, message)

    async def _end(self, run: OpenInvestigation, why: str) -> None:
        for event in endings(run.events, why, round(time.perf_counter() - run.began, 3)):
            await self._write(run, event.event, event.data)

    async def _write(self, run: OpenInvestigation, event: EventName, data: Mapping[str, Any], **beside: Any) -> None:
        """Keep an event, then tell it. A run that cannot be kept any more fails, and its readers are told why."""
        line = {"event": event, "data": data, "rests_on": sorted(run.rests_on), **beside}
        writing = asyncio.create_task(self._keep(run, line))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait((writing,))  # what is in the file has to be told: its line is its id
            if not writing.exception():
                self._tell(run, event, data)
            raise
        self._tell(run, event, data)

    async def _keep(self, run: OpenInvestigation, line: Mapping[str, Any]) -> None:
        if not run.is_kept:
            return
        try:
            await self.records.append(run.id, line)
        except KnowledgeBaseError:
            run.is_kept = False
            raise

    @staticmethod
    def _tell(run: OpenInvestigation, event: EventName, data: Mapping[str, Any]) -> None:
        if event == "step_complete":
            failed = ", failed" if data.get("error") else ""
            note(f"investigation {run.id[:18]}: {data['agent']} took {data['duration']:.2f} s{failed}")
        run.tell(InvestigationEvent(id=len(run.events) + 1, event=event, data=dict(data)))
