"""Investigations on disk: one file each, one line per event, only ever appended to. An event's id is its line number.

The first line also says who asked, and about which scenario; the line of the message also has findings and citations.
Each line says which articles were read until then: the investigation rests on them.
"""

import asyncio
import json
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.schema.network import Findings, Investigation, InvestigationEvent, InvestigationSummary, RunStatus
from kb_pipeline.errors import StorageError

_ID = re.compile(r"\d{8}-\d{9}-[0-9a-f]{16}")
_SHOWN = 200
"""Characters of an alert in the list of investigations."""


def new_id() -> str:
    """An id that nobody can guess; ids sort by time."""
    now = datetime.now(UTC)
    return f"{now:%Y%m%d-%H%M%S}{now.microsecond // 1000:03}-{secrets.token_hex(8)}"


@dataclass(frozen=True)
class FileRecord:
    """What a file says."""

    id: str
    lines: Sequence[Mapping[str, Any]]
    changed: float

    @property
    def asker(self) -> str:
        """The user id of whoever asked."""
        return str(self.lines[0].get("asker", ""))

    @property
    def scenario(self) -> str:
        """The name of the scenario."""
        return str(self.lines[0].get("scenario", ""))

    @property
    def readers(self) -> tuple[str, ...]:
        """The access control list of the scenario at that time."""
        return tuple(self.lines[0].get("readers", ()))

    @property
    def rests_on(self) -> frozenset[str] | None:
        """The ids of the articles that it may tell anything of; ``None`` if an earlier release did not note them."""
        if not any("rests_on" in line for line in self.lines):
            return None
        noted = (str(article_id) for line in self.lines for article_id in line.get("rests_on", ()))
        cited = (str(each["article_id"]) for line in self.lines for each in line.get("citations", ()))
        return frozenset((*noted, *cited))

    def events(self, *, is_running: bool) -> list[InvestigationEvent]:
        """The events; one that nobody goes on with gets an end, always the same."""
        told = [
            InvestigationEvent(id=number, event=line["event"], data=line["data"])
            for number, line in enumerate(self.lines, 1)
        ]
        if not is_running:
            began = datetime.fromisoformat(told[0].data["timestamp"]).timestamp()
            told += endings(told, "the service ended before this step did", max(0.0, round(self.changed - began, 3)))
        return told

    def whole(self, *, is_running: bool) -> Investigation:
        """The whole investigation, as clients get it."""
        events = self.events(is_running=is_running)
        message = next((line for line in self.lines if line["event"] == "message"), None)
        findings = Findings.model_validate(message["findings"]) if message and message.get("findings") else None
        summary = self._summary(events, findings, is_running=is_running).model_dump()
        return Investigation(
            **summary | {"alert": events[0].data["alert"]},
            events=tuple(events),
            report=message["data"]["text"] if message else None,
            findings=findings,
            citations=tuple(message.get("citations", ())) if message else (),
        )

    def summary(self, *, is_running: bool) -> InvestigationSummary:
        """The investigation as lists show it."""
        whole = self.whole(is_running=is_running)
        return InvestigationSummary.model_validate(whole.model_dump() | {"alert": whole.alert[:_SHOWN]})

    def _summary(
        self, events: Sequence[InvestigationEvent], found: Findings | None, *, is_running: bool
    ) -> InvestigationSummary:
        names = {event.event for event in events}
        end = events[-1].data if events[-1].event == "run_complete" else {}
        status: RunStatus = "finished" if "message" in names else "failed" if "error" in names else "broken_off"
        return InvestigationSummary(
            id=self.id,
            scenario=self.scenario,
            alert="",
            began=events[0].data["timestamp"],
            status="running" if is_running and not end else status,
            steps=sum(event.event == "step_complete" for event in events),
            seconds=end.get("time", 0.0),
            cause=found.causes[0].id if found and found.causes else None,
        )


def endings(events: Sequence[InvestigationEvent], why: str, seconds: float) -> list[InvestigationEvent]:
    """What a stream lacks that was cut off: the ends of its open steps, and of itself."""
    if events[-1].event == "run_complete":
        return []
    closed = {event.data["step"] for event in events if event.event == "step_complete"}
    open_ = [event.data for event in events if event.event == "step_start" and event.data["step"] not in closed]
    number = len(events)
    made = [
        InvestigationEvent(
            id=number + more,
            event="step_complete",
            data={**step, "duration": 0.0, "query": "", "response": why, "error": True},
        )
        for more, step in enumerate(open_, 1)
    ]
    end = {"steps": len(closed) + len(made), "tokens": 0, "time": seconds}
    return [*made, InvestigationEvent(id=number + len(made) + 1, event="run_complete", data=end)]


class InvestigationRecords:
    """The files of a folder. Methods can be called from several tasks; the work is done in threads of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="investigations")

    async def append(self, record_id: str, line: Mapping[str, Any]) -> None:
        """Add a line.

        Raises:
            StorageError: it cannot be written.
        """
        await asyncio.get_running_loop().run_in_executor(self._pool, self.append_now, record_id, line)

    async def read(self, record_id: str) -> FileRecord | None:
        """A record; ``None`` if there is none of this id.

        Raises:
            StorageError: it cannot be read.
        """
        return await asyncio.get_running_loop().run_in_executor(self._pool, self.read_now, record_id)

    async def ids(self) -> list[str]:
        """The ids of all records, the newest first."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self.ids_now)

    def read_now(self, record_id: str) -> FileRecord | None:
        """As :meth:`read`, without waiting for others."""
        if not _ID.fullmatch(record_id):
            return None
        path = self._path(record_id)
        try:
            body = path.read_bytes()
            changed = path.stat().st_mtime
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise StorageError(f"{path} cannot be read: {exc.strerror}") from exc
        lines = []
        for written in body.split(b"\n")[:-1]:  # what follows the last end of a line was cut off when it was written
            try:
                lines.append(json.loads(written))
            except ValueError as exc:
                raise StorageError(f"{path}, line {len(lines) + 1}, is damaged: {exc}; remove the file") from exc
        return FileRecord(record_id, lines, changed) if lines else None

    def ids_now(self) -> list[str]:
        """As :meth:`ids`, without waiting for others."""
        if not self.folder.is_dir():
            return []
        return sorted((path.stem for path in self.folder.glob("*.jsonl") if _ID.fullmatch(path.stem)), reverse=True)

    def close(self) -> None:
        """End the threads, after what they are writing."""
        self._pool.shutdown()

    def append_now(self, record_id: str, line: Mapping[str, Any]) -> None:
        """As :meth:`append`, without waiting for others."""
        path = self._path(record_id)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                with open(file, "ab", closefd=False) as stream:
                    stream.write(json.dumps(line, ensure_ascii=False, default=str).encode() + b"\n")
            finally:
                os.close(file)
        except OSError as exc:
            raise StorageError(f"{path} cannot be written: {exc.strerror}; make room or give the right to") from exc

    def _path(self, record_id: str) -> Path:
        return self.folder / f"{record_id}.jsonl"
