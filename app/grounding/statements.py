"""Cuts an answer into statements while it streams: sentences, items and steps, table rows, blocks of code.

Vouching for their values is the task of :mod:`app.grounding.vouching`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.grounding.references import find_references, without_marks
from app.language.sentences import SENTENCE_END, ends_sentence
from app.language.words import words

IMAGE = re.compile(r"!\[((?:[^\[\]\\]|\\.)*+)\]\([^()\s]*+\)")
MARKER = re.compile(r"(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*")
"""What begins a line before its text: markers of quotes and lists."""
SAYS_NOTHING = re.compile(
    r"#{1,6}\s.*|\*[^*]+\*|\*\*[^*]+\*\*|[|:\s-]+"  # a heading, also one in emphasis; the line below a table head
    r"|.*[:：][\s*_\"'”’)]*|.*:\s\*[^*]+\*",  # a lead-in to what follows, or only a name of it
    re.DOTALL,
)
FEWEST_WORDS = 2
"""Meaningful words that a statement has at least."""

Shape = Literal["prose", "row", "code"]

_LONGEST = 1000
"""Characters of a sentence; a longer one is cut at a space, so that a stream never waits for a full stop."""
_AHEAD = 24
"""Characters that must follow a full stop before it is certain that no reference does."""
_GAP_AHEAD = 12
"""White space after a full stop; more of it ends the sentence, whatever follows."""
_WITHOUT_GAP = "。！？"
"""Signs behind which a sentence may begin without white space, as in Chinese and Japanese."""
_REFERENCE = re.compile(r"[ \t]{0,8}\[Ref #[0-9]{1,4}\]")
_MAY_BE_REFERENCE = re.compile(r"[ \t]{0,8}(?:\[(?:R(?:e(?:f(?: (?:#(?:[0-9]{1,4})?)?)?)?)?)?)?\Z")
_GAP = re.compile(r"[ \t]*")
_FENCE = re.compile(r"(?P<head>(?:[ \t>]|(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t]))*)(?P<run>`{3,}+|~{3,}+)")
_ROW = re.compile(r"[ \t>]*\|")

_STEP = re.compile(
    r"[*_\[(]{0,3}(?:(?:step|schritt)[ \t]#?\d{1,3}[*_\])]{0,2}[:.)\]–—-][*_\])]{0,3}|\d{1,2}[.)])[ \t]+", re.IGNORECASE
)
"""The number that a step has in an answer; the passages may count otherwise, or not at all."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What an answer states, without its references. ``passages`` are the numbers of those that it refers to.

    One that refers to none is compared with all passages.
    """

    text: str
    passages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A piece of an answer: ``text`` with the white space ``gap`` after it.

    ``said`` is what it states, without markup of its line, references and images; empty if it states nothing, as a
    question, a heading and a lead-in do. The texts and gaps of all parts together are the answer.
    """

    text: str
    gap: str = ""
    said: str = ""
    shape: Shape = "prose"

    @property
    def ends_line(self) -> bool:
        return "\n" in self.gap


def stated(text: str) -> str:
    """What a sentence, an item or a row states, without the number of a step; empty if it states nothing."""
    said = unreferenced(IMAGE.sub("", without_marks(text))).strip()
    if SAYS_NOTHING.fullmatch(said) or said.rstrip("*_\"'”’) ").endswith(("?", "？")):
        return ""
    step = _STEP.match(said)
    said = said[step.end() :] if step else said
    return said if len(set(words(said))) >= FEWEST_WORDS else ""


def unreferenced(text: str) -> str:
    """A statement without its references, and without the space before them."""
    out, done = [], 0
    for start, end, _ in find_references(text):
        out.append(text[done:start].rstrip(" \t"))
        done = end
    return "".join((*out, text[done:]))


class Statements:
    """Reads an answer whose references have the form ``[Ref #N]``.

    The parts do not depend on how the answer is cut into deltas. A part is held back until its end is certain.
    """

    def __init__(self) -> None:
        self._text = ""
        self._begins_line = True
        self._fence = ""
        self._code: list[str] = []
        self._in_table = False

    def feed(self, delta: str) -> Iterator[AnswerPart]:
        """Take the next piece of the answer, and yield the parts that are complete."""
        self._text += delta
        yield from self._parts(final=False)

    def finish(self) -> Iterator[AnswerPart]:
        """End the answer, and yield the rest of it."""
        yield from self._parts(final=True)

    def _parts(self, *, final: bool) -> Iterator[AnswerPart]:
        at = 0
        while at < len(self._text):
            newline = self._text.find("\n", at)
            end = newline if newline >= 0 else len(self._text)
            closed = newline >= 0 or final
            part = self._next(at, end, closed=closed)
            if part is None:
                break
            at += len(part.text) + len(part.gap)
            yield part
        self._text = self._text[at:]

    def _next(self, at: int, end: int, *, closed: bool) -> AnswerPart | None:
        """Return the part that begins at ``at`` in a line up to ``end``, or ``None`` if it is not complete yet."""
        whole = self._text[at:end]
        newline = self._text[end : end + 1]
        if self._begins_line:
            if not closed and (self._fence or _is_undecided(whole)):
                return None
            if closed and (self._fence or _FENCE.match(whole)):
                return self._line_of_code(whole, newline)
            is_row = _ROW.match(whole) is not None
            if is_row:
                if not closed:
                    return None
                said = stated(whole.strip("|> \t").replace("|", " ")) if self._in_table and not _is_rule(whole) else ""
                self._in_table = True
                return AnswerPart(whole, newline, said, "row")
            self._in_table = False
        return self._sentence(at, end, newline, closed=closed)

    def _line_of_code(self, line: str, newline: str) -> AnswerPart:
        if not self._fence:
            fence = _FENCE.match(line)
            self._fence, self._code = fence["run"] if fence else "", []
            return AnswerPart(line, newline, shape="code")
        if not re.fullmatch(rf"[ \t>]*{re.escape(self._fence[0])}{{{len(self._fence)},}}[ \t]*", line):
            self._code.append(line)
            return AnswerPart(line, newline, shape="code")
        self._fence = ""
        said = " ".join(self._code)[:_LONGEST]
        return AnswerPart(line, newline, said if len(set(words(said))) >= FEWEST_WORDS else "", "code")

    def _sentence(self, at: int, end: int, newline: str, *, closed: bool) -> AnswerPart | None:
        marker = MARKER.match(self._text, at, end) if self._begins_line else None
        start = marker.end() if marker else at
        stop = _sentence_end(self._text, start, end, closed=closed)
        if stop is None:
            return None
        gap = _GAP.match(self._text, stop, end)
        gap_end = gap.end() if gap else stop
        if gap_end == end:
            if not closed:
                return None
            self._begins_line = bool(newline)
            return AnswerPart(self._text[at:stop], self._text[stop:end] + newline, stated(self._text[start:stop]))
        self._begins_line = False
        return AnswerPart(self._text[at:stop], self._text[stop:gap_end], stated(self._text[start:stop]))


def _is_rule(line: str) -> bool:
    return re.fullmatch(r"[|:\s>-]+", line) is not None


def _is_undecided(line: str) -> bool:
    """Return whether the beginning of a line does not show yet whether it is text, a row or a fence."""
    marker = MARKER.match(line)
    rest = line[marker.end() if marker else 0 :]
    return len(rest) < 3 or rest[:3] in ("```", "~~~") or rest[0] == "|"


def _sentence_end(text: str, start: int, end: int, *, closed: bool) -> int | None:
    """Return where the sentence ends that begins at ``start``, with its references; ``None`` if that is not certain."""
    line = text[start : min(end, start + _LONGEST + _AHEAD)]  # what follows the line must not decide: it comes later
    for sign in SENTENCE_END.finditer(line, 0, _LONGEST):
        stop = start + sign.end()
        while reference := _REFERENCE.match(text, stop, end):
            stop = reference.end()
        if not closed and (end - stop < _AHEAD or _MAY_BE_REFERENCE.match(text, stop, end)):
            return None
        is_last = text[stop:end].strip(" \t") == ""
        if is_last or (stop > start + sign.end() and _is_balanced(line[: sign.end()])):
            return stop
        gap = _GAP.match(line, sign.end())
        following = gap.end() if gap else sign.end()
        if (following == sign.end() and sign[0][0] not in _WITHOUT_GAP) or not _is_balanced(line[: sign.end()]):
            continue
        if following > sign.end() + _GAP_AHEAD or ends_sentence(line, 0, sign, following):
            return start + sign.end()
    if end - start >= _LONGEST + _AHEAD:
        cut = text.rfind(" ", start + 1, start + _LONGEST)
        return cut if cut > start else start + _LONGEST
    return len(text[:end].rstrip(" \t")) if closed else None


def _is_balanced(sentence: str) -> bool:
    """Return whether emphasis, code and brackets that the sentence opens are closed in it."""
    return (
        sentence.count("`") % 2 == 0
        and sentence.count("**") % 2 == 0
        and sentence.count("*") % 2 == 0
        and sentence.count("[") == sentence.count("]")
        and sentence.count("(") == sentence.count(")")
    )
