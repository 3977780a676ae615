"""``[SEARCH: words]`` in what a model says: how a model without tools has something looked up.

A model may write markers instead of an answer. Up to :data:`MOST_SEARCHES` of them are run, and the model is asked once
more with what was found. What it wrote with them is for nobody's eyes. Markers that stand in passages, in the question
or in code are no wishes of the model, and are not run. Pure.
"""

import re
from collections.abc import Collection, Iterable

MOST_SEARCHES = 3
HELD = 240
"""Characters that a response may have before readers see it: one with a marker begins with it, or with a sentence."""

_MARKER = re.compile(r"\[[ \t]{0,4}SEARCH[ \t]{0,4}:(?P<words>[^\[\]\n]{0,300}+)\]")
_OPENED = re.compile(r"\[[ \t]{0,4}(?:S(?:E(?:A(?:R(?:C(?:H(?:[ \t]{0,4}(?::[^\[\]\n]{0,300}+)?)?)?)?)?)?)?)?\Z")
_CODE = re.compile(
    r"(?ms)^[ \t>]*(?P<fence>```+|~~~+).*?(?:^[ \t>]*(?P=fence)[ \t]*$|\Z)|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
)
_LONGEST = 200


def searches_of(said: str, foreign: Iterable[str] = ()) -> list[str]:
    """What the markers of a response want to be searched for: at most :data:`MOST_SEARCHES`, each once, in order.

    ``foreign`` are the texts that the model was given: what stands there as a marker is not run.
    """
    known = {_key(match["words"]) for text in foreign for match in _MARKER.finditer(text)}
    wanted: dict[str, str] = {}
    for match in _MARKER.finditer(_without_code(said)):
        words = " ".join(match["words"].split())[:_LONGEST]
        if words and _key(words) not in known:
            wanted.setdefault(_key(words), words)
    return list(wanted.values())[:MOST_SEARCHES]


def has_marker(said: str) -> bool:
    """Whether a response holds a marker outside of code, whether it is run or not."""
    return _MARKER.search(_without_code(said)) is not None


class FirstResponse:
    """A response that may hold markers, as it arrives: withheld while it may turn out to be none for readers.

    One that says more than :data:`HELD` characters without a marker is an answer; markers further on are removed.
    """

    def __init__(self, foreign: Iterable[str]) -> None:
        """``foreign`` are the texts that the model was given."""
        self._foreign = tuple(foreign)
        self._held: str | None = ""
        self._rest = WithoutMarkers()

    def feed(self, piece: str) -> str:
        """Take the next piece, and return the text that may be shown now."""
        if self._held is None:
            return self._rest.feed(piece)
        self._held += piece
        if len(self._held) <= HELD or has_marker(self._held) or _OPENED.search(self._held):
            return ""
        held, self._held = self._held, None
        return self._rest.feed(held)

    @property
    def searches(self) -> list[str]:
        """What is to be searched for, once the response is complete: then nothing of it was shown, nor ever is."""
        return searches_of(self._held, self._foreign) if self._held else []

    def finish(self) -> str:
        """Return the text that was held back."""
        held, self._held = self._held or "", None
        return self._rest.feed(held) + self._rest.finish()


class WithoutMarkers:
    """Removes the markers of a text that arrives piece by piece; those in code stay."""

    def __init__(self) -> None:
        self._text = ""
        self._done = 0

    def feed(self, piece: str) -> str:
        """Take the next piece, and return the text that may be shown now."""
        self._text += piece
        opened = _OPENED.search(self._text, self._done)
        end = opened.start() if opened else len(self._text)
        return self._upto(min(end, _unclosed(self._text, self._done)))

    def finish(self) -> str:
        """Return the text that was held back."""
        return self._upto(len(self._text))

    def _upto(self, end: int) -> str:
        code = _code_of(self._text[:end])
        parts: list[str] = []
        for match in _MARKER.finditer(self._text, self._done, end):
            if not any(start <= match.start() < stop for start, stop in code):
                parts.append(self._text[self._done : match.start()])
                self._done = match.end()
        parts.append(self._text[self._done : end])
        self._done = end
        return "".join(parts)


def _code_of(text: str) -> Collection[tuple[int, int]]:
    return [match.span() for match in _CODE.finditer(text)] if "`" in text or "~~~" in text else ()


def _unclosed(text: str, start: int) -> int:
    """Where code begins that may still be closed behind a marker; the end of the text if there is none."""
    paragraph = max(0, text.rfind("\n\n"))
    at = _without_code(text).rfind("`", paragraph) if "`" in text[paragraph:] else -1
    if at < 0 or "[" not in text[at:]:
        return len(text)
    return max(start, at - (len(text[:at]) - len(text[:at].rstrip("`"))))


def _without_code(text: str) -> str:
    return _CODE.sub(lambda match: " " * len(match[0]), text)


def _key(words: str) -> str:
    return " ".join(words.lower().split())
