"""Investigations under way: received in the background, resumed where a connection is lost, found by their reader."""

import time
from collections.abc import Iterator
from typing import Any, cast

import pytest

from app.client import Client, ClientError
from app.page.investigations import Followings
from app.schema.network import InvestigationEvent
from app.schema.wire import Problem

ANNA, BEN = (("x-ms-client-principal-id", "anna"),), (("x-ms-client-principal-id", "ben"),)
LOST = Problem(code="cut_short", message="the connection was lost")
ALL = tuple(
    InvestigationEvent.model_validate({"id": number, "event": event, "data": data})
    for number, (event, data) in enumerate(
        [("run_start", {"run_id": "run-1"}), ("message", {"text": "R-1"}), ("run_complete", {"steps": 0})], 1
    )
)


class Service:
    """Sends the events of one investigation, and loses the connection after some of them as often as it is told to."""

    def __init__(self, *lost_after: int, refusal: ClientError | None = None) -> None:
        self.lost_after, self.refusal = list(lost_after), refusal
        self.resumed: list[int] = []

    def investigate(self, _alert: str, _scenario: str) -> Iterator[InvestigationEvent]:
        if self.refusal:
            raise self.refusal
        yield from self._send(0)

    def investigation_events(self, _: str, after: int = 0) -> Iterator[InvestigationEvent]:
        self.resumed.append(after)
        yield from self._send(after)

    def _send(self, after: int) -> Iterator[InvestigationEvent]:
        stop = self.lost_after.pop(0) if self.lost_after else len(ALL)
        yield from ALL[after:stop]
        if stop < len(ALL):
            raise ClientError(LOST)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.page.investigations.time.sleep", lambda _: None)


def begun(service: Service) -> tuple[Followings, Any]:
    followings = Followings()
    following = followings.begin(cast(Client, service), ANNA, "LINK_DOWN", "")
    deadline = time.monotonic() + 60
    while not following.done:
        assert time.monotonic() < deadline
    return followings, following


def test_events_arrive_and_the_investigation_is_found_by_who_began_it() -> None:
    followings, following = begun(Service())
    assert (following.id, following.events, following.problem) == ("run-1", ALL, None)
    assert followings.find(ANNA, "run-1") is following and followings.find(BEN, "run-1") is None
    followings.forget(ANNA, "run-1")
    assert followings.find(ANNA, "run-1") is None


def test_a_lost_connection_is_made_again_behind_the_last_event() -> None:
    service = Service(1, 2)
    _, following = begun(service)
    assert following.events == ALL and following.problem is None
    assert service.resumed == [1, 2]


def test_who_cannot_connect_again_says_so_after_some_tries() -> None:
    service = Service(*[1] * 9)
    _, following = begun(service)
    assert following.events == ALL[:1] and following.problem == LOST
    assert len(service.resumed) == 3


def test_an_alert_that_is_refused_is_not_tried_again() -> None:
    busy = Problem(code="too_many_investigations", message="8 investigations are under way already")
    followings, following = begun(Service(refusal=ClientError(busy, 503)))
    assert (following.id, following.problem) == ("", busy)
    assert followings.find(ANNA, "") is None


def test_an_investigation_of_before_is_followed_from_where_it_stands() -> None:
    service, followings = Service(), Followings()
    following = followings.follow(cast(Client, service), BEN, "run-1", ALL[:1])
    deadline = time.monotonic() + 60
    while not following.done:
        assert time.monotonic() < deadline
    assert following.events == ALL and service.resumed == [1]
    assert followings.find(BEN, "run-1") is following
