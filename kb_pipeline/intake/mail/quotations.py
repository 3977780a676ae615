"""What a message only repeats of the messages before it in its thread.

Which text is a quotation follows from comparing, which needs no words of any language and no habits of mail programs.
What a message quotes that is in no other one stays.
"""

import re
from collections.abc import Iterable, Sequence, Set

from kb_pipeline.sources.mail.text import MailBlock, words_of

_RUN = 4
"""Words that are compared at once."""
_REPEATED = 0.8
"""Share of its runs of words that a repeated block has in common with earlier messages; quoting changes some words."""
_SENTENCE = 8
"""Words. A shorter block may be said twice, and is taken for a quotation only if it is marked as one or beside one."""
_INTRODUCTION = 40
"""Words that may say who wrote what is quoted below."""
_RULED = 6
"""Words that may stand in a line that separates."""
_RULE = re.compile(r"^\W*[-_=*]{3,}")
_FIELD = re.compile(r"^\W*[^\W\d_][\w -]{0,20}[:\uff1a]\W*\s\S")


class Said:
    """What the messages of a thread said so far."""

    def __init__(self) -> None:
        self._runs: set[tuple[str, ...]] = set()
        self._whole = " "
        self.people: set[str] = set()
        """The words in the names of those who wrote."""

    def add(self, blocks: Iterable[MailBlock], sender: str) -> None:
        """Remember what a message says, and who wrote it."""
        self.people.update(words_of(sender.partition("@")[0]))
        for block in blocks:
            words = words_of(block.text)
            self._runs.update(_runs(words))
            self._whole += " ".join(words) + " "

    def has(self, text: str) -> bool:
        """Whether this was said before."""
        words = words_of(text)
        if len(words) < _RUN:
            return f" {' '.join(words)} " in self._whole
        runs = _runs(words)
        return sum(run in self._runs for run in runs) >= _REPEATED * len(runs)


def repeated(blocks: Sequence[MailBlock], said: Said) -> list[bool]:
    """Which blocks of a message only repeat earlier ones, or lead to what does."""
    was_said = [bool(words_of(block.text)) and said.has(block.text) for block in blocks]
    repeats = [
        is_known and (block.is_marked or len(words_of(block.text)) >= _SENTENCE)
        for block, is_known in zip(blocks, was_said, strict=True)
    ]
    for number in range(1, len(blocks)):  # what is short, below what is long
        repeats[number] |= repeats[number - 1] and _goes_on(blocks, was_said, number)
    for number in range(len(blocks) - 1, 0, -1):
        if repeats[number] and not repeats[number - 1]:
            start = number  # and above it, if it is said there whose text follows
            while start and _goes_on(blocks, was_said, start - 1, below=True):
                start -= 1
            count = _introduction(blocks[:start], said.people)
            if count:
                repeats[start - count : number] = [True] * (number - start + count)
    return repeats


def _goes_on(blocks: Sequence[MailBlock], known: Sequence[bool], number: int, *, below: bool = False) -> bool:
    beside = blocks[number + 1 if below else number - 1]
    is_same = blocks[number].is_marked == beside.is_marked
    return is_same and (known[number] or not words_of(blocks[number].text))


def _introduction(before: Sequence[MailBlock], people: Set[str]) -> int:
    """How many of these blocks, from the last one back, only say whose text follows: a head, a rule, or a sentence."""
    head: list[str] = []
    count = 0
    for block in reversed(before):
        lines = [line for line in block.text.splitlines() if line.strip()]
        if not all(_FIELD.match(line) or _is_rule(line) for line in lines):
            break
        head += lines
        count += 1
    fields = [line for line in head if not _is_rule(line)]
    if len(fields) > 1 and people & set(words_of("\n".join(fields))):
        return count
    if head and not fields:
        return count
    last = before[-1].text.rstrip() if before else ""
    words = words_of(last)
    has_date_and_name = any(map(str.isdecimal, last)) and people & set(words)
    return int(last.endswith((":", "\uff1a")) and len(words) <= _INTRODUCTION and bool(has_date_and_name))


def _is_rule(line: str) -> bool:
    return bool(_RULE.match(line)) and len(words_of(line)) <= _RULED


def _runs(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)]
