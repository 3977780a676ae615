"""The regular expressions of the stream guard, the results of its readers, and its output.

Every pattern is bounded and free of backtracking, so that hostile text takes no more time than other text. ``OPEN_...``
patterns match a beginning whose end has not arrived yet.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, Literal

LONGEST_LABEL = 1000
LONGEST_TARGET = 2000
LONGEST_CODE = 1000
LONGEST_RUN = 100
LONGEST_REFERENCE = 210

_INSIDE = r"[^\[\]\\\n]++|\\[^\n]"
_LABEL = rf"\[(?:{_INSIDE}|\[(?:{_INSIDE})*+\])*+"
LABEL = re.compile(rf"{_LABEL}\]")
OPEN_LABEL = re.compile(rf"{_LABEL}(?:\[(?:{_INSIDE})*+)?\\?\Z")

_INNER = r"[^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+"
TARGET = re.compile(rf"\(({_INNER})\)")
LOOSE_TARGET = re.compile(r"\(([^)\n]*+)\)?")
TITLE = re.compile(r"""(?<!\s)\s++(?:"[^"]*+"|'[^']*+'|\([^()]*+\))\Z""")

DEFINITION = re.compile(
    r"""\[(?P<label>[^\[\]\n]{1,999})\]:[ \t]*+(?P<target><[^<>\n]*+>|[^\s<>]++)"""
    r"""(?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'|\([^()\n]*+\)))?[ \t]*+(?=\n|\Z)"""
)
LEADS_SOMEWHERE = re.compile(r"[/.:<\\]")

LENTICULAR = re.compile(r"【([^【】\n]{0,200})】")
OPEN_LENTICULAR = re.compile(r"【[^【】\n]{0,200}\Z")
ROUND = re.compile(r"\(([^()\n]{1,100})\)")
BARE_REFERENCE = re.compile(r"ref ?#([0-9]{1,4})(?![\w-])", re.IGNORECASE)
BETWEEN_REFERENCES = re.compile(r"[ \t]{0,8}(?:[,;][ \t]{0,8})?")

TAG = re.compile(rf"<[^<>\n]{{0,{LONGEST_TARGET}}}+>")
OPEN_TAG = re.compile(rf"<[^<>\n]{{0,{LONGEST_TARGET}}}+\Z")
READ_TAGS = frozenset({"img", "br", "sub", "sup", "/sub", "/sup"})
HOLDS_IMAGE = re.compile(r"!\[|<img", re.IGNORECASE)
TAG_NAME = re.compile(r"<(/?[A-Za-z][\w.+-]*+)")
AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+)>")
MAIL = re.compile(r"<([\w.+-]+@[\w.-]+)>")
KEPT_TAG = re.compile(r"<(?:br ?/?|/?su[bp])>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""\b(src|alt)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)

ENDS_SENTENCE = re.compile(r"[?!.,:;)]*(?=\s|\Z)")
SCHEME_OR_WWW = re.compile(
    r"\A(?:[a-z][a-z0-9+.-]*:(?=//)|(?:mailto|xmpp|tel|javascript):|/+|(?:www|ftp)\.)", re.IGNORECASE
)
ENDS_ADDRESS = re.compile(r"(?:://|(?<![A-Za-z0-9])www\.|@)[^\s>`]*\Z", re.IGNORECASE)
ENDS_NAME = re.compile(r"[.@:/][^\s>`]*\Z")
ENDS_WWW = re.compile(r"(?:\A|[^A-Za-z0-9])(?:www|ftp)\Z", re.IGNORECASE)
ADDRESS = re.compile(r"""[^\s<>"`|\\^{}\[\]【】]*+""")
FOREIGN_TARGET = re.compile(r"\]\(([^)\n]*//[^)\n]*)")


def _reaching(word: str) -> str:
    """Return a pattern for the word, or for as much of it as stands at the end of the text."""
    pattern = ""
    for char in reversed(word):
        pattern = f"(?:\\Z|{re.escape(char)}{pattern})"
    return pattern.removeprefix("(?:\\Z|").removesuffix(")")


_WORDS = "|".join(map(_reaching, ("references", "refs", "ref", "citations", "citation", "sources", "source", "and")))
OPEN_ROUND = re.compile(rf"\((?:[ \t\[\]【】#0-9,;.:&–†-]|{_WORDS})*\Z", re.IGNORECASE)
OPEN_BARE = re.compile(rf"(?:{_reaching('ref #')}|{_reaching('ref#')})[0-9]{{0,4}}\Z", re.IGNORECASE)
_WEB = f"{_reaching('https://')}|{_reaching('http://')}"
_ADDRESSES = ("www.", "ftp.", "mailto:", "api/images/", "/api/images/", "attachment:", "sandbox:", "ref #", "ref#")
_BEGINNINGS = rf"{_WEB}|(?<![A-Za-z0-9])(?:{'|'.join(map(_reaching, _ADDRESSES))})"
BEGINS_ADDRESS = re.compile(r"https?://|(?:www|ftp)\.|mailto:|/?api/images/|attachment:|sandbox:", re.IGNORECASE)
SPECIAL = re.compile(
    rf"""
    [\n`\[\]【(<\\] | !(?=\[|\Z) | ~(?=~~|~?\Z)
  | [ \t]{{1,8}}(?=[\[【(!<]|\Z|{_BEGINNINGS})     # dropped with what follows it
  | {_BEGINNINGS}
  | :(?=/?\Z|//) | (?<=[/\\])/ | @ | &(?=[#A-Za-z]|\Z)      # signs of an address
  | \.(?=[^\W\d_]) | (?<=\S)\.\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)


class _Undecided(Enum):
    WAIT = "wait"


WAIT: Final = _Undecided.WAIT
"""More of the text is needed to decide."""

Wait = Literal[_Undecided.WAIT]


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A bracketed part of the text: where it ends, and what is between the brackets."""

    end: int
    inner: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """What the text up to ``end`` becomes: ``text``, nothing if that is empty; ``None`` if it is already written.

    ``unclosed``: the text after it, up to a closing bracket or the end of the line, is dropped as well.
    """

    end: int
    text: str | None = ""
    unclosed: bool = False


Reading = Replacement | Wait | None
"""What a reader of a sign returns; ``None`` stands for plain text."""


def end_of_code(text: str, start: int, length: int, *, final: bool) -> int | Wait | None:
    """Where code in a line ends, behind as many backticks as it began with.

    ``start`` is the place behind the ``length`` opening backticks.
    """
    limit = start + LONGEST_CODE
    if length >= LONGEST_RUN:
        return None
    newline = text.find("\n", start, limit)
    stop = newline if newline != -1 else min(len(text), limit)
    is_open = newline == -1 and len(text) < limit and not final
    if start == len(text) and is_open:
        return WAIT
    closing = _closing_ticks(length).search(text, start, stop)
    if closing is None:
        return WAIT if is_open else None
    if closing.end() == len(text):
        return closing.end() if final else WAIT
    return closing.end() if text[closing.end()] != "`" else None


@lru_cache(maxsize=LONGEST_RUN)
def _closing_ticks(length: int) -> re.Pattern[str]:
    return re.compile(f"(?<!`)`{{{length}}}(?!`)")


_HEAD = 200
"""Characters kept of the current line, enough to see where its text begins."""

_MARKERS = re.compile(r"(?:[ \t>*+.)0-9-]|\[\^[^\[\]]*+\]:)*+")
_GAP = 8
_TAIL = 160
"""Characters kept of the end of the output, enough for a mail address or a host name."""
_PUNCTUATION = frozenset("?!.,;)")
_CODE_BEFORE_ADDRESS = ("://`", "www.`", "ftp.`", "mailto:`")
"""Beginnings of addresses that were written as code."""


class Output:
    """Collects the text that is final, and keeps separate parts from joining into markdown that means something."""

    def __init__(self, line: str = "") -> None:
        self.line = line
        self._parts: list[str] = []
        self._last = line[-1:]
        self._tail = line
        self._gap = ""
        self._removed = False
        self._seam = False
        self._ends_label = False

    def write(self, text: str) -> None:
        """Add text, with a space or a backslash before it where it would join with the text before it."""
        if text:
            self.put(self._joined(text))

    def put(self, text: str) -> None:
        """Add text as it is, for instance a part of code."""
        if not text:
            return
        self._removed = self._seam = self._ends_label = False
        self._parts.append(text)
        self._last = text[-1]
        self._tail = (self._tail + text)[-_TAIL:]
        start = text.rfind("\n") + 1
        kept = self.line if not start else ""
        if len(kept) < _HEAD:
            self.line = kept + text[start : start + _HEAD - len(kept)]

    def hold(self, gap: str) -> None:
        """Hold back white space, which is dropped if the text that follows it is dropped."""
        gap = self._gap + gap
        self._gap = ""
        if len(gap) > _GAP:
            self.write(gap[:-_GAP])
        self._gap = "" if self._removed and not self.line.strip() else gap[-_GAP:]

    def drop(self) -> None:
        # after an address the space stays: the address would continue with the next text
        self._gap = " " if self._gap and ENDS_ADDRESS.search(self._tail) else ""
        self._removed = self._seam = True

    def replace(self, text: str) -> None:
        self._seam = True
        self.write(text)
        self._seam = True

    def end_label(self) -> None:
        """Note that the ``]`` just written would begin a link definition if a colon came next."""
        self._ends_label = True

    def take(self) -> str:
        """Return the text that became final since the last call."""
        text = "".join(self._parts)
        self._parts.clear()
        return text

    def finish(self) -> str:
        self.put(self._gap)
        return self.take()

    @property
    def tail(self) -> str:
        """The end of the output that the next text directly follows; empty if a space will be between them."""
        return "" if self._gap else self._tail

    @property
    def at_start(self) -> bool:
        """Whether the line holds only markers of quotes and lists so far."""
        markers = _MARKERS.match(self.line)
        return markers is not None and markers.end() == len(self.line)

    def _joined(self, text: str) -> str:
        gap, self._gap = self._gap, ""
        if self._removed and not self.line.strip():
            text = text.lstrip(" \t")
        if not text or gap:
            return gap + text
        if self._seam and self._would_join(text[0]):
            return f" {text}"
        if (self._last == "]" and text[0] == "(") or (self._ends_label and text[0] == ":"):
            return f"\\{text}"  # neither a link nor a definition
        if self._last == "`" == text[0]:
            return f" {text}"
        return text

    def _would_join(self, first: str) -> bool:
        if self._removed and self._last.isalnum() and first.isalnum():
            return True
        if self._removed and first in ".:-":
            return bool(ENDS_WWW.search(self._tail) or ENDS_ADDRESS.search(self._tail))
        if ENDS_NAME.search(self._tail) and (first.isalnum() or first in "/@_%+\\"):
            return True
        if self._tail.endswith(_CODE_BEFORE_ADDRESS):
            return not first.isspace() and first not in _PUNCTUATION
        if self._last == "\\":
            return not first.isalnum()
        return (self._last == "<" and not first.isspace()) or self._last + first in ("~~", "![")
