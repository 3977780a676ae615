"""A source that a reader opens is in the address of the page, and is counted."""

from dataclasses import dataclass, field

import pytest
import streamlit as st

from app.client.answers import ServiceDownError
from app.page import places, session, source
from app.schema.conversations import Turn

TURN = Turn(response_id="r1", asked_at="2026-11-27", question="How?")


@dataclass
class Counting:
    """The client of a service that counts, or does not answer."""

    is_away: bool = False
    opened: list[tuple[str, int]] = field(default_factory=list)

    def source_opened(self, response_id: str, number: int) -> None:
        if self.is_away:
            raise ServiceDownError("http://127.0.0.1:1")
        self.opened.append((response_id, number))


@pytest.mark.parametrize("is_away", [False, True])
def test_a_source_is_opened_and_counted_if_somebody_counts(monkeypatch: pytest.MonkeyPatch, is_away: bool) -> None:
    client, address = Counting(is_away), dict[str, str]()
    monkeypatch.setattr(session, "client", lambda: client)
    monkeypatch.setattr(st, "query_params", address)
    source.open_source([TURN], "0.2")
    assert address == {places.SOURCE: "r1.2"}
    assert client.opened == ([] if is_away else [("r1", 2)])


@pytest.mark.parametrize("clicked", ["1.2", "x", "0.x", ""])
def test_what_is_no_source_of_the_conversation_is_not_opened(monkeypatch: pytest.MonkeyPatch, clicked: str) -> None:
    client = Counting()
    monkeypatch.setattr(session, "client", lambda: client)
    monkeypatch.setattr(st, "query_params", {})
    source.open_source([TURN], clicked)
    assert not client.opened
