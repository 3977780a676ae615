"""``[SEARCH: words]`` in what a model says: how a model without tools has something looked up.

A model may write markers instead of an answer. Up to :data:`MOST_SEARCHES` of them are run, and the model is asked once
more with what was found. What it wrote with them is for nobody's eyes. Markers in code are no wishes of the model, and
neither are those that stand in what it was given, in whatever form: what it read there, it only repeats. A search that
an article asks for in words cannot be told from the model's own; like all, it finds what the asker may read. Pure.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from html import unescape

MOST_SEARCHES = 3
"""Each is a search for which a reader waits."""
HELD = 240
"""Characters that a response may have before readers see it: one with a marker begins with it, or with a sentence."""

_MARKER = re.compile(r"\[[ \t]{0,4}SEARCH[ \t]{0,4}:(?P<words>[^\[\]\n]{0,300}+)\]")
_OPENED = re.compile(r"\[[ \t]{0,4}(?:S(?:E(?:A(?:R(?:C(?:H(?:[ \t]{0,4}(?::[^\[\]\n]{0,300}+)?)?)?)?)?)?)?)?\Z")
_CODE = re.compile(
    r"(?ms)^[ \t>]*(?P<fence>```+|~~~+).*?(?:^[ \t>]*(?P=fence)[ \t]*$|\Z)|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
)
_LONGEST = 200
"""Characters of what is searched for; a question in a marker is never longer."""
_NOT_SEEN = re.compile(r"</?[a-z!][^<>:]*>|\]\([^()\s]*\)|[\\*_~`|]", re.I)
"""What readers of markdown do not see: tags, the targets of links, and signs of emphasis, code, tables and escapes."""
_GAP = r"\W{0,9}+"
_SEARCH = _GAP.join(rf"(?:{letter}|[^\W_a-z])" for letter in "search")
"""A digit or a letter of another alphabet may look like any of them."""
_FOREIGN = re.compile(rf"(?s)(?<=[\[<]){_GAP}{_SEARCH}\W(?P<words>.{{0,{_LONGEST}}})")
_ESCAPED = re.compile(r"(?:%|\\+(?:x|u00))([2-7][0-9a-f])", re.I)
"""A sign of ASCII as addresses and programs write it: ``%5B``, ``\\x5b``, ``\\u005b``."""
_PASSES = 3
"""Times that the references of a text are resolved: ``&amp;#91;`` is two of a bracket."""


def searches_of(said: str, foreign: Iterable[str] = ()) -> list[str]:
    """What the markers of a response want to be searched for: at most :data:`MOST_SEARCHES`, each once, in order.

    ``foreign`` are the texts that the model was given: a search is not run if it repeats a marker there, see
    :func:`_repeats`.
    """
    wanted: dict[str, str] = {}
    for match in _MARKER.finditer(_without_code(said)):
        words = " ".join(match["words"].split())[:_LONGEST]
        if words:
            wanted.setdefault(words.casefold(), words)
    given = [words for text in foreign for words in _foreign_words(text)] if wanted else []
    return [words for words in wanted.values() if not any(_repeats(words, each) for each in given)][:MOST_SEARCHES]


def _foreign_words(text: str) -> list[str]:
    """Return what stands behind the beginning of each marker in a text that the model was given, as readers see it."""
    plain = _as_seen(text)
    return [match["words"] for match in _FOREIGN.finditer(plain)]


def _repeats(search: str, given: str) -> bool:
    """Return whether more than half of the words of a search stand in ``given``, or all its letters in a row."""
    words, others = _words(_as_seen(search)), set(_words(given))
    return sum(word in others for word in words) * 2 > len(words) or "".join(words) in "".join(_words(given))


def _as_seen(text: str) -> str:
    """Return a text without markup and invisible characters, in lower case and one form, all its brackets as ``[``."""
    for _ in range(_PASSES):
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), unescape(text))
    plain = unicodedata.normalize("NFKC", _NOT_SEEN.sub("", text)).casefold()
    return "".join(
        "[" if kind in ("Ps", "Pi") else sign for sign in plain if (kind := unicodedata.category(sign)) != "Cf"
    )


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


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
        self.repeats = False
        """Set in the end if it holds markers that it only repeats."""

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
        self.repeats = has_marker(held)
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
