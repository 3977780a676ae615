"""Investigations under way. Each is received in the background: it goes on when its reader clicks elsewhere or reloads,
and a connection that is lost is made again.
"""

import threading
import time
from collections.abc import Iterator

import streamlit as st

from app.client import Client, ClientError
from app.page.session import Who
from app.page.under_way import UnderWay
from app.schema.network import InvestigationEvent
from app.schema.wire import Problem

_TRIES = 3
"""Times that a broken connection is made again without anything new."""
_BEGIN_SECONDS = 60.0
"""Seconds for the first event, which the service writes before anything else."""
_UNEXPECTED = Problem(
    code="unexpected", message="the investigation could not be followed; the page's log has the details"
)


class Following:
    """An investigation and the events of it that have arrived. Any thread may read it; one thread writes it."""

    def __init__(self, events: tuple[InvestigationEvent, ...] = ()) -> None:
        self.events = events
        self.problem: Problem | None = None
        """Why no more events come, though the investigation has not ended."""
        self.done = False
        self._changed = threading.Condition()

    @property
    def id(self) -> str:
        """The service's id of the investigation; empty until it has begun."""
        return str(self.events[0].data.get("run_id", "")) if self.events else ""

    def wait_for_id(self) -> None:
        """Wait until the investigation has begun, or cannot begin."""
        with self._changed:
            self._changed.wait_for(lambda: self.done or bool(self.events), _BEGIN_SECONDS)

    def receive(self, client: Client, events: Iterator[InvestigationEvent]) -> None:
        """Receive these events, and the rest anew where the connection is lost, until the investigation ends."""
        try:
            tries = 0
            while True:
                before = len(self.events)
                try:
                    for event in events:
                        self._add(event)
                    return
                except ClientError as exc:
                    tries = 0 if len(self.events) > before else tries
                    if not self.id or exc.status is not None or tries == _TRIES:
                        self.problem = exc.problem
                        return
                tries += 1
                time.sleep(tries)
                events = client.investigation_events(self.id, after=self.events[-1].id)
        except Exception:
            self.problem = _UNEXPECTED
            raise
        finally:
            with self._changed:
                self.done = True
                self._changed.notify_all()

    def _add(self, event: InvestigationEvent) -> None:
        with self._changed:
            self.events += (event,)
            self._changed.notify_all()


class Followings:
    """The investigations under way that readers look at, by reader and id."""

    def __init__(self) -> None:
        self._all: UnderWay[Following] = UnderWay()

    def begin(self, client: Client, who: Who, alert: str, scenario: str) -> Following:
        """Begin to investigate an alert; returns as soon as the investigation has an id, or has failed.

        Without a scenario, the alert says of which network it is.
        """
        following = Following()
        self._receive(following, client, client.investigate(alert, scenario))
        following.wait_for_id()
        if following.id:
            self._all.keep(who, following.id, following)
        return following

    def follow(
        self, client: Client, who: Who, investigation_id: str, known: tuple[InvestigationEvent, ...]
    ) -> Following:
        """Follow an investigation that is under way, from behind the events that are known."""
        following = Following(known)
        self._all.keep(who, investigation_id, following)
        after = known[-1].id if known else 0
        self._receive(following, client, client.investigation_events(investigation_id, after=after))
        return following

    def find(self, who: Who, investigation_id: str) -> Following | None:
        """The investigation that a reader follows, unless it was forgotten."""
        return self._all.find(who, investigation_id)

    def forget(self, who: Who, investigation_id: str) -> None:
        """Forget an investigation that the service has stored."""
        self._all.forget(who, investigation_id)

    def _receive(self, following: Following, client: Client, events: Iterator[InvestigationEvent]) -> None:
        threading.Thread(target=following.receive, args=(client, events), name="investigation", daemon=True).start()


@st.cache_resource(show_spinner=False)
def followings() -> Followings:
    """The investigations under way in this process."""
    return Followings()
