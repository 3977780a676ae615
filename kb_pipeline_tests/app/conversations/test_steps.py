"""What was said before a response is found along what each one follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversations.entries import Entry, ResponseLink, chain_of, entry, page_of, steps_of, unsettled


def step(previous: str | None, *said: str) -> ResponseLink:
    return ResponseLink(previous, said[:1], said[1:], final=True)


TREE = {
    "r1": step(None, "q1", "a1"),
    "r2": step("r1", "q2", "a2"),
    "r3": step("r1", "q3", "a3"),
    "r4": step("r3", "q4", "a4"),
}


@pytest.mark.parametrize(
    ("response_id", "said"),
    [
        ("r1", ["q1", "a1"]),
        ("r2", ["q1", "a1", "q2", "a2"]),
        ("r4", ["q1", "a1", "q3", "a3", "q4", "a4"]),
        ("r9", []),
        (None, []),
    ],
)
def test_the_chain_leads_back_to_the_first_question(response_id: str | None, said: list[str]) -> None:
    assert chain_of(TREE, response_id) == said


def test_a_chain_that_bites_its_tail_ends() -> None:
    assert chain_of({"a": step("b", "1"), "b": step("a", "2")}, "a") == ["2", "1"]


def test_a_long_chain_is_no_trouble() -> None:
    steps = {str(n): step(str(n - 1) if n else None, f"q{n}") for n in range(5000)}
    assert chain_of(steps, "4999")[:2] == ["q0", "q1"]


def test_an_item_is_said_once() -> None:
    assert chain_of({"a": step(None, "1", "2"), "b": step("a", "2", "3")}, "b") == ["1", "2", "3"]


@given(st.booleans(), st.integers(1, 30), st.integers(1, 30))
def test_pages_put_together_are_the_list(ascending: bool, limit: int, length: int) -> None:
    ids = [str(number) for number in range(length)]
    seen: list[str] = []
    while page := page_of(ids, limit, ascending, seen[-1] if seen else None, None):
        assert len(page) <= limit
        seen += page
    assert seen == (ids if ascending else ids[::-1])


def test_a_page_can_end_before_an_item_and_knows_its_bounds() -> None:
    ids = [str(number) for number in range(200)]
    assert page_of(ids, 10, True, "3", "6") == ["4", "5"]
    assert page_of(ids, 10, True, "unknown", None) == ids[:10]
    assert (len(page_of(ids, 0, True, None, None)), len(page_of(ids, 1000, True, None, None))) == (1, 100)


def kept(response_id: str, *, final: bool) -> Entry:
    return entry("step", response_id, ResponseLink(None, final=final).to_json())


def test_a_turn_that_has_ended_is_settled_when_its_response_is_kept() -> None:
    begun, ended = kept("r1", final=False), entry("ended", "r1", {})
    for said, waits in (
        ([begun], False),
        ([begun, ended], True),
        ([begun, ended, kept("r1", final=True)], False),
        ([kept("r1", final=True), ended], False),
        ([ended], False),
    ):
        assert unsettled(said, steps_of(said), since="2000") is waits
    assert not unsettled([begun, ended], steps_of([begun, ended]), since="2999")
