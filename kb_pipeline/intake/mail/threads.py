"""Puts messages together that answer each other: by the ids that they name, and else by subject and people."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from kb_pipeline.intake.mail.folder import Letter

_MARK = r"(?:[^\W\d_]{1,4}(?:\[\d+\])?\s*[:\uff1a]\s*)"
_ANSWER = re.compile(rf"^\s*(?:\[[^\]]{{1,40}}\]\s*)?{_MARK}+")
_ONE_ANSWER = re.compile(rf"^\s*{_MARK}")
"""What programs put before the subject of an answer, in any language: a few letters and a colon."""


@dataclass(frozen=True)
class Thread:
    """Messages in the order of their dates. ``id`` is that of the message that began it, also if that is not here."""

    id: str
    letters: tuple[Letter, ...]

    @property
    def subject(self) -> str:
        """What it is about, as the message that began it says, or the first answer to it."""
        first = self.letters[0]
        return _ONE_ANSWER.sub("", first.subject) if first.answers else first.subject


def base_subject(subject: str) -> str:
    """A subject without what marks an answer."""
    return _ANSWER.sub("", subject).strip() or subject.strip()


def threads_of(letters: Iterable[Letter]) -> list[Thread]:
    """All threads; a message that is there several times counts once."""
    once = {(letter.id, letter.date): letter for letter in reversed(list(letters))}
    ordered = sorted(once.values(), key=lambda letter: (letter.date, letter.id))
    groups = _Groups()
    for letter in ordered:
        for other in letter.answers:
            groups.join(letter.id, other)
    _join_by_subject(ordered, groups)
    members: dict[str, list[Letter]] = defaultdict(list)
    for letter in ordered:
        members[groups.of(letter.id)].append(letter)
    return [Thread((each[0].answers or (each[0].id,))[0], tuple(each)) for each in members.values()]


def _join_by_subject(ordered: list[Letter], groups: "_Groups") -> None:
    """An answer that names no other message belongs to the last one of its subject with a person in common."""
    last: dict[str, Letter] = {}
    for letter in ordered:
        subject = base_subject(letter.subject).casefold()
        before = last.get(subject)
        is_answer = bool(_ANSWER.match(letter.subject)) and not letter.answers
        if before and is_answer and before.people & letter.people:
            groups.join(letter.id, before.id)
        if subject:
            last[subject] = letter


class _Groups:
    """Which ids belong together."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def of(self, name: str) -> str:
        top = name
        while (above := self._above.get(top, top)) != top:
            top = above
        while (above := self._above.get(name, name)) != top:
            self._above[name], name = top, above
        return top

    def join(self, one: str, other: str) -> None:
        self._above[self.of(one)] = self.of(other)
