"""Answers in progress. Each is received in the background: it survives a click elsewhere, a reload and a lost
connection, and Stop ends it at once.
"""

import asyncio
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any

import streamlit as st

from app.client import SERVICE_DOWN, AnswerStream, Client, ClientError, SearchStep, SentPicture
from app.page import steps
from app.page.session import Who
from app.page.under_way import UnderWay
from app.schema.wire import Problem
from kb_pipeline.asking import NO_OPTIONS, AskOptions

_AGAIN_SECONDS = 2.0
"""Between two attempts to send a question that the service did not take."""
_UNEXPECTED = Problem(code="unexpected", message="the answer failed unexpectedly; the page's log has the details")


class Running:
    """A question and the part of its answer that has arrived. Any thread may read it; one thread writes it."""

    def __init__(self, question: str, options: AskOptions = NO_OPTIONS, picture: SentPicture | None = None) -> None:
        self.question = question
        self.options = options
        self.picture = picture
        self.text = ""
        self.searches: tuple[str, ...] = ()
        self.step = ""
        """What goes on, in words, once the service has said so."""
        self.problem: Problem | None = None
        self.done = False
        self.stopped = False
        self._asked_at = time.monotonic()
        self._changed = threading.Condition()
        self._future: Future[None] | None = None
        self._stream: AnswerStream | None = None

    @property
    def response_id(self) -> str | None:
        """The service's id of the answer, once the stream has begun."""
        return self._stream.response_id if self._stream else None

    @property
    def was_refused(self) -> bool:
        """Whether the service was not there to take the question."""
        return self.done and not self.text and self.problem is not None and self.problem.code == SERVICE_DOWN

    @property
    def may_be_sent_again(self) -> bool:
        """Whether it was sent long enough ago to be sent again by itself."""
        return time.monotonic() - self._asked_at >= _AGAIN_SECONDS

    def start(self, client: Client, conversation: str, loop: asyncio.AbstractEventLoop) -> None:
        """Ask the question in the event loop of another thread."""
        answering: Coroutine[Any, Any, None] = self._answer(client, conversation)
        self._future = asyncio.run_coroutine_threadsafe(answering, loop)

    def stop(self) -> None:
        """Stop the answer here and in the service; the text so far stays."""
        self.stopped = not self.done
        if self._future is not None:
            self._future.cancel()
        self._update(done=True)

    def wait(self, seconds: float, seen: int) -> None:
        """Wait until there are more than ``seen`` characters, or the answer is done, or the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: self.done or len(self.text) > seen, seconds)

    async def _answer(self, client: Client, conversation: str) -> None:
        try:
            asking = client.ask(self.question, self.options, conversation=conversation, picture=self.picture)
            async with asking as stream:
                self._stream = stream
                async for part in stream:
                    if isinstance(part, str):
                        self._update(self.text + part)
                        continue
                    if isinstance(part, SearchStep):
                        self.searches += part.queries
                    self.step = steps.now(part) or self.step
        except ClientError as exc:
            self.problem = exc.problem
        except Exception:
            self.problem = _UNEXPECTED
            raise
        finally:
            self._update(done=True)

    def _update(self, text: str | None = None, *, done: bool = False) -> None:
        with self._changed:
            self.text = self.text if text is None or self.stopped else text
            self.done = self.done or done
            self._changed.notify_all()


class Runnings:
    """The answers in progress of all readers, by reader and conversation."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._answers: UnderWay[Running] = UnderWay()
        threading.Thread(target=self._loop.run_forever, name="answers", daemon=True).start()

    def ask(
        self,
        client: Client,
        who: Who,
        conversation: str,
        question: str,
        options: AskOptions = NO_OPTIONS,
        picture: SentPicture | None = None,
    ) -> Running:
        """Start an answer; stop the one that is in progress in this conversation."""
        self.stop(who, conversation)
        running = Running(question, options, picture)
        self._answers.keep(who, conversation, running)
        running.start(client, conversation, self._loop)
        return running

    def find(self, who: Who, conversation: str) -> Running | None:
        """The reader's last answer in a conversation, unless it was forgotten."""
        return self._answers.find(who, conversation)

    def stop(self, who: Who, conversation: str) -> None:
        """Stop the answer in progress in a conversation."""
        if running := self.find(who, conversation):
            running.stop()

    def forget(self, who: Who, conversation: str) -> None:
        """Forget an answer that the service has stored."""
        self._answers.forget(who, conversation)


@st.cache_resource(show_spinner=False)
def runnings() -> Runnings:
    """The answers in progress in this process."""
    return Runnings()
