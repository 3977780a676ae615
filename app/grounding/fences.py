"""Fenced code in an answer: recognizes where it begins, by markdown-it, and controls where it ends.

Where readers of markdown could disagree about a line of code, the line is indented so that they all agree.
"""

import re

from kb_pipeline.steps.markdown_parsers import block_parser

_MOST_LINES = 60
"""Lines above a fence that may belong to its list or quote. All are read again for every fence, so their number bounds
the time; behind more of them, ticks are shown as ticks. A line at the edge behind a blank one starts anew."""
_OPENING = re.compile(
    r"(?P<head>(?:[ >]|(?:[-*+]|[0-9]{1,9}[.)])(?= ))*+)(?P<run>`{3,}+|~{3,}+)"
    r"(?P<language>[ \t]*[^\s`|]*)[^`|\n]*\n?\Z"  # some readers of markdown take a line with a bar for a table
)
_STARTS_ANEW = re.compile(r"[^\s>]")


class Fence:
    """Open code: passes on its lines, indented so that none of them closes it by accident."""

    def __init__(self, head: str, run: str, rest: str) -> None:
        """``head`` is the beginning of the opening line, ``run`` its backticks or tildes, ``rest`` what follows."""
        self.opening = head + run + rest
        # the space after a quote's mark belongs to the mark, even if only later lines have it
        prefix = re.sub(r"[^> ]", " ", re.sub(r">(?=[^> ])", "> ", head))
        quotes, _, indent = prefix.rpartition(">")
        self._quotes = f"{quotes}>" if ">" in prefix else ""
        self._indent = len(indent)
        self._head = re.compile(rf"(?:[ \t]{{0,16}}>){{0,{self._quotes.count('>')}}}+[ \t]*+")
        self._closing = re.compile(rf"{run[0]}{{{len(run)},}}+(?=[ \t]*+\n?\Z)")
        self.closing = self._indented("") + run
        self.is_open = True

    @property
    def is_inside(self) -> bool:
        """Whether it stands in a list or a quote."""
        return bool(self._quotes or self._indent)

    def line(self, line: str) -> str:
        """The line of code; the fence is closed behind one that closes it."""
        head = self._head.match(line)
        end = head.end() if head else 0
        if closing := self._closing.match(line, end):
            self.is_open = False
            return self._indented("") + closing[0] + ("\n" if line.endswith("\n") else "")
        return self._quotes + line[end:] if line[end:] == "\n" else self._indented(line[:end]) + line[end:]

    def _indented(self, head: str) -> str:
        """Return the beginning of a line of code, indented at least as far as the fence."""
        if not self.is_inside:
            return head
        columns = head.expandtabs(4)
        return self._quotes + " " * max(self._indent, len(columns) - len(columns.rstrip(" ")))


class OpenBlocks:
    """The lines above, as far as they say whether the next line can open a fence."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        """Take in a line outside of code, as readers see it."""
        if self._lines and not self._lines[-1].strip() and _STARTS_ANEW.match(line):
            self._lines.clear()
        self._lines.append(line)

    def open_fence(self, line: str) -> Fence | None:
        """The fence that the line opens, if any."""
        opening = _OPENING.match(line)
        if opening is None:
            return None
        self.add(opening["head"] + opening["run"])
        if opening["head"] and not self._ends_in_fence():
            self._lines.pop()
            return None
        # readers are shown no more than the language
        return Fence(opening["head"], opening["run"], opening["language"] + ("\n" if line.endswith("\n") else ""))

    def _ends_in_fence(self) -> bool:
        if len(self._lines) > _MOST_LINES:
            return False
        tokens = block_parser().parse("\n".join(self._lines))
        return any(token.type == "fence" and token.map == [len(self._lines) - 1, len(self._lines)] for token in tokens)

    def close_fence(self, fence: Fence) -> None:
        """Take in where the fence that was opened ends."""
        if fence.is_inside:
            self._lines.append(fence.closing)
        else:
            self._lines.clear()
