"""The checked text of an answer: its parts are kept from joining into markdown that means something."""

import re

from app.grounding.patterns import ENDS_ADDRESS, ENDS_NAME, ENDS_WWW

_HEAD = 200
"""Characters kept of the current line, enough to see where its text begins."""

_MARKERS = re.compile(r"(?:[ \t>*+.)0-9-]|\[\^[^\[\]]*+\]:)*+")
_GAP = 8
"""Characters of white space that are held back: an indentation; of more, the beginning is written at once."""
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
