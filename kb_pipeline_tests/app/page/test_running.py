"""Answers under way: worded in the background, stopped at once, found again by those who asked only."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

from app.client import Client, ClientError, SearchStep, SentPicture, Step, ToolStep
from app.page.running import Running, Runnings
from app.schema.wire import Problem
from kb_pipeline.asking import AskOptions

ANNA, BEN = (("x-ms-client-principal-id", "anna"),), (("x-ms-client-principal-id", "ben"),)
BUSY = Problem(code="upstream_busy", message="too much to do")


class Stream:
    response_id = "resp_1"

    def __init__(self, *said: Step | str | Exception, silent: bool = False) -> None:
        self._said = said
        self._silent = silent

    async def __aiter__(self) -> AsyncIterator[Step | str]:
        for said in self._said:
            if isinstance(said, Exception):
                raise said
            yield said
        if self._silent:
            await asyncio.sleep(60)


class Service:
    """Answers with one stream, and knows whether the asker left it."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.left = threading.Event()

    @asynccontextmanager
    async def ask(
        self,
        question: str,
        options: AskOptions,
        *,
        conversation: str,
        picture: SentPicture | None = None,
    ) -> AsyncIterator[Stream]:
        try:
            yield self._stream
        finally:
            self.left.set()


def asked(*said: Step | str | Exception, silent: bool = False) -> tuple[Service, Runnings, Running]:
    service, runnings = Service(Stream(*said, silent=silent)), Runnings()
    return service, runnings, runnings.ask(cast(Client, service), ANNA, "conv_1", "How?")


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_answer_is_worded_to_its_end() -> None:
    service, _, running = asked(SearchStep(("crop",)), "Crop ", "it.")
    until(lambda: running.done)
    assert (running.text, running.searches, running.response_id) == ("Crop it.", ("crop",), "resp_1")
    assert (running.problem, running.stopped, service.left.is_set()) == (None, False, True)


def test_what_goes_on_is_said_until_the_next_step() -> None:
    _, _, running = asked(ToolStep("rag_list_documents", {}), SearchStep(("crop",)), "Crop ", silent=True)
    assert running.step in ("", "Listing documents", "Reading what was found")
    until(lambda: running.text == "Crop ")
    assert running.step == "Reading what was found"
    running.stop()


def test_stop_leaves_the_service_at_once_though_it_is_silent() -> None:
    service, runnings, running = asked("Crop ", silent=True)
    until(lambda: running.text == "Crop ")
    runnings.stop(ANNA, "conv_1")
    assert service.left.wait(60)
    assert (running.done, running.stopped, running.text) == (True, True, "Crop ")


def test_a_failure_is_kept_with_what_was_said() -> None:
    _, _, running = asked("Crop ", ClientError(BUSY, 503))
    until(lambda: running.done)
    assert (running.text, running.problem) == ("Crop ", BUSY)


def test_who_waits_is_told_of_more() -> None:
    _, _, running = asked("Crop ", silent=True)
    began = time.monotonic()
    running.wait(60, seen=0)
    assert running.text == "Crop "
    assert time.monotonic() - began < 30
    running.stop()


def test_only_the_one_who_asked_finds_it() -> None:
    _, runnings, running = asked("Crop it.")
    assert runnings.find(ANNA, "conv_1") is running
    assert runnings.find(BEN, "conv_1") is None
    assert runnings.find(ANNA, "conv_2") is None
    runnings.forget(ANNA, "conv_1")
    assert runnings.find(ANNA, "conv_1") is None


def test_a_second_question_stops_the_first() -> None:
    service, runnings, first = asked("Crop ", silent=True)
    second = runnings.ask(cast(Client, Service(Stream("Undo."))), ANNA, "conv_1", "And then?")
    assert first.stopped
    until(lambda: service.left.is_set() or not first.text)
    assert runnings.find(ANNA, "conv_1") is second
