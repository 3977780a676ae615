"""What of an answer is final: written so that every reader of markdown sees in it what we saw.

Taking something out brings together what stood apart; here is what keeps that from becoming syntax.
"""

import re

_HEAD = 200
"""Characters of a line that are kept: enough to know where its text begins."""

_MARKERS = re.compile(r"(?:[ \t>*+.)0-9-]|\[\^[^\[\]]*+\]:)*+")
_GAP = 8


class Output:
    """Collects what is final."""

    def __init__(self, line: str = "") -> None:
        """Start in a line that begins like that."""
        self.line = line
        self._parts: list[str] = []
        self._last = line[-1:]
        self._gap = ""
        self._removed = False
        self._seam = False
        self._ends_label = False

    def write(self, text: str) -> None:
        """Add text."""
        if text:
            self.put(self._joined(text))

    def put(self, text: str) -> None:
        """Add text as it is: a part of code."""
        if not text:
            return
        self._removed = self._seam = self._ends_label = False
        self._parts.append(text)
        self._last = text[-1]
        start = text.rfind("\n") + 1
        kept = self.line if not start else ""
        if len(kept) < _HEAD:
            self.line = kept + text[start : start + _HEAD - len(kept)]

    def hold(self, gap: str) -> None:
        """Add white space, which goes away again if what comes next does."""
        gap = self._gap + gap
        self._gap = ""
        if len(gap) > _GAP:
            self.write(gap[:-_GAP])
        self._gap = "" if self._removed and not self.line.strip() else gap[-_GAP:]

    def drop(self) -> None:
        """Something was left out here."""
        self._gap = ""
        self._removed = self._seam = True

    def replace(self, text: str) -> None:
        """Add text that stands for something else."""
        self._seam = True
        self.write(text)
        self._seam = True

    def end_label(self) -> None:
        """A ``]`` was written that a definition of a link could begin with, if a colon came next."""
        self._ends_label = True

    def take(self) -> str:
        """What became final since."""
        text = "".join(self._parts)
        self._parts.clear()
        return text

    def finish(self) -> str:
        """The rest, when nothing comes any more."""
        self.put(self._gap)
        return self.take()

    @property
    def at_start(self) -> bool:
        """Whether nothing of the line's text is written yet, only markers of quotes and lists."""
        found = _MARKERS.match(self.line)
        return found is not None and found.end() == len(self.line)

    def _joined(self, text: str) -> str:
        """The text as it may follow what is there."""
        gap, self._gap = self._gap, ""
        if self._removed and not self.line.strip():
            text = text.lstrip(" \t")
        if not text or gap:
            return gap + text
        if self._seam and self._would_join(text[0]):
            return f" {text}"
        if (self._last == "]" and text[0] == "(") or (self._ends_label and text[0] == ":"):
            return f"\\{text}"  # no link, no definition
        if self._last == "`" == text[0]:
            return f" {text}"
        return text

    def _would_join(self, first: str) -> bool:
        if self._removed and self._last.isalnum() and first.isalnum():
            return True
        if self._last == "\\":
            return not first.isalnum()
        return (self._last == "<" and not first.isspace()) or self._last + first in ("~~", "![")
