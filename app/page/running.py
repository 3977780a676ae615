"""Answers that are under way: each is worded in the background, so that a click elsewhere, a reload or a lost
connection does not end it, and Stop does, at once.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any

import streamlit as st

from app.client import AnswerStream, Client, Searching, ServiceError
from app.page.session import Who
from app.schema import Problem

_KEPT = 100
_UNEXPECTED = Problem(code="unexpected", message="the answer failed unexpectedly; the page's log says how")


class Running:
    """One question and the answer as far as it is worded. Read by any thread, written by its own."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.text = ""
        self.searches: tuple[str, ...] = ()
        self.problem: Problem | None = None
        self.done = False
        self.stopped = False
        self._changed = threading.Condition()
        self._future: Future[None] | None = None
        self._stream: AnswerStream | None = None

    @property
    def response_id(self) -> str | None:
        """What the service calls the answer, once it has begun."""
        return self._stream.response_id if self._stream else None

    def start(self, client: Client, conversation: str, loop: asyncio.AbstractEventLoop) -> None:
        """Ask, in the loop of another thread."""
        answering: Coroutine[Any, Any, None] = self._answer(client, conversation)
        self._future = asyncio.run_coroutine_threadsafe(answering, loop)

    def stop(self) -> None:
        """Leave the answer as it is; the service stops as well."""
        self.stopped = not self.done
        if self._future is not None:
            self._future.cancel()
        self._tell(done=True)

    def wait(self, seconds: float, seen: int) -> None:
        """Wait until there is more than ``seen`` characters, or nothing more to come, or the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: self.done or len(self.text) > seen, seconds)

    async def _answer(self, client: Client, conversation: str) -> None:
        try:
            async with client.ask(self.question, conversation=conversation) as stream:
                self._stream = stream
                async for said in stream:
                    if isinstance(said, Searching):
                        self.searches += said.queries
                    else:
                        self._tell(self.text + said)
        except ServiceError as exc:
            self.problem = exc.problem
        except Exception:
            self.problem = _UNEXPECTED
            raise
        finally:
            self._tell(done=True)

    def _tell(self, text: str | None = None, *, done: bool = False) -> None:
        with self._changed:
            self.text = self.text if text is None or self.stopped else text
            self.done = self.done or done
            self._changed.notify_all()


class Runnings:
    """The answers under way of all who look at this page, found again by conversation."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._known: OrderedDict[tuple[Who, str], Running] = OrderedDict()
        self._lock = threading.Lock()
        threading.Thread(target=self._loop.run_forever, name="answers", daemon=True).start()

    def ask(self, client: Client, who: Who, conversation: str, question: str) -> Running:
        """Begin an answer; one that is under way in this conversation is stopped."""
        self.stop(who, conversation)
        running = Running(question)
        with self._lock:
            self._known[who, conversation] = running
            while len(self._known) > _KEPT and next(iter(self._known.values())).done:
                self._known.popitem(last=False)
        running.start(client, conversation, self._loop)
        return running

    def find(self, who: Who, conversation: str) -> Running | None:
        """The last answer of a conversation, for the one who asked it, unless it was forgotten."""
        with self._lock:
            return self._known.get((who, conversation))

    def stop(self, who: Who, conversation: str) -> None:
        """Stop what is under way in a conversation."""
        if running := self.find(who, conversation):
            running.stop()

    def forget(self, who: Who, conversation: str) -> None:
        """Let go of an answer that the service has stored."""
        with self._lock:
            self._known.pop((who, conversation), None)


@st.cache_resource(show_spinner=False)
def runnings() -> Runnings:
    """All of this process."""
    return Runnings()
