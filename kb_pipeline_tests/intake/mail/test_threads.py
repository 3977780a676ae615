"""Messages that answer each other are one thread, however their programs say so, and its id stays when more come."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kb_pipeline.intake.mail.folder import Letter
from kb_pipeline.intake.mail.threads import threads_of


def letter(name: str, minute: int, subject: str = "Pump", answers: str = "", people: str = "a b") -> Letter:
    date = datetime(2024, 5, 6, 10, minute, tzinfo=UTC)
    return Letter(Path(name), 0, 1, name, tuple(answers.split()), subject, date, people[0], frozenset(people.split()),
                  name, may_have_files=False)  # fmt: skip


def threads(*letters: Letter) -> dict[str, str]:
    return {thread.id: " ".join(each.id for each in thread.letters) for thread in threads_of(letters)}


def test_answers_belong_to_what_they_name_also_over_a_message_that_is_missing() -> None:
    found = threads(letter("1", 1), letter("3", 3, answers="1 2"), letter("4", 4, answers="2"), letter("9", 9, "Valve"))
    assert found == {"1": "1 3 4", "9": "9"}


def test_the_id_is_that_of_the_first_message_also_before_it_comes_and_after_others_came() -> None:
    late = letter("3", 3, answers="1 2")
    assert threads(late) == {"1": "3"}
    assert threads(late, letter("1", 1)) == {"1": "1 3"}
    assert threads(late, letter("1", 1), letter("2", 2, answers="1")) == {"1": "1 2 3"}


@pytest.mark.parametrize("mark", ["Re: ", "AW: ", "SV: ", "RE: FW: ", "Re[2]: ", "回复: ", "回复\uff1a", "[list] Re: "])
def test_an_answer_that_names_none_belongs_to_its_subject_and_people(mark: str) -> None:
    assert threads(letter("1", 1), letter("2", 2, f"{mark}Pump")) == {"1": "1 2"}
    assert len(threads(letter("1", 1), letter("2", 2, f"{mark}Pump", people="c d"))) == 2


def test_messages_of_one_subject_are_no_thread_if_none_answers() -> None:
    assert len(threads(letter("1", 1, "Report"), letter("2", 2, "Report"))) == 2


def test_a_message_that_is_there_twice_counts_once() -> None:
    assert threads(letter("1", 1), letter("1", 1)) == {"1": "1"}


def test_messages_that_answer_each_other_in_a_circle_are_one_thread() -> None:
    assert list(threads(letter("1", 1, answers="2"), letter("2", 2, answers="1")).values()) == ["1 2"]


def test_a_subject_with_a_colon_is_kept_whole() -> None:
    assert threads_of([letter("1", 1, "API: limits")])[0].subject == "API: limits"
    assert threads_of([letter("2", 2, "Re: API: limits", answers="1")])[0].subject == "API: limits"
