"""Fenced code in a stream of markdown: recognizes where it begins, and controls where it ends.

Implements as much of the block structure of https://spec.commonmark.org/0.31.2/#blocks-and-inlines as fences need.
Where readers of markdown could disagree about a line of code, the line is indented so that they all agree.
"""

import re
from typing import NamedTuple

from app.grounding.patterns import WAIT, Output, Wait

_HEAD = 64
_LONGEST_INFO = 200
_MARKER = re.compile(r"(?P<number>[0-9]{1,9})?(?P<kind>(?(number)[.)]|[-*+]))(?P<gap> +)(?=\S)")
_THEMATIC_BREAK = re.compile(r"(?:([-*_]) *)(?:\1 *){2,}")
_LINE_HEAD = re.compile(r"(?:[ \t>]|(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t]))*+")
_PART_OF_MARKER = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)]?)?\Z")
_RUN = re.compile(r"`+|~+")
_FENCE_HERE = re.compile(r" {0,3}(?:`{3}|~{3})")
_INFO = re.compile(rf"[^`|\n]{{0,{_LONGEST_INFO}}}")  # some readers of markdown take a line with a bar for a table


class _Container(NamedTuple):
    """A block quote, or a list item with the indentation of its content and the kind of its marker."""

    kind: str
    indent: int = 0


_QUOTE = _Container(">")


class Containers:
    """The open block quotes and list items, without any that a reader of markdown could consider closed."""

    def __init__(self) -> None:
        self._open: list[_Container] = []
        self._in_paragraph = False
        self._in_code = False

    def pass_line(self, line: str, *, is_fence: bool = False) -> None:
        """Take in a complete line outside of fenced code; ``is_fence``: it opens a fence."""
        text = line.expandtabs(4)
        self._open, column = self._read(text)
        if is_fence or text[column:].strip():
            self._in_paragraph = not is_fence
            self._in_code = not is_fence and _indent(text, column) > 3
        else:
            self._in_paragraph = self._in_code  # indented code continues over blank lines

    def allow_fence(self, head: str) -> bool:
        """Whether every reader of markdown sees a fence after this beginning of a line."""
        text = f"{head}```"
        return "\t" not in head and _FENCE_HERE.match(text, self._read(text)[1]) is not None

    def _read(self, text: str) -> tuple[list[_Container], int]:
        """Return the containers of a line, and the column behind their markers."""
        kept, column = self._continued(text)
        closed = self._open[len(kept)].kind if len(kept) < len(self._open) else ""
        return self._with_new(text, kept, column, closed)

    def _continued(self, text: str) -> tuple[list[_Container], int]:
        """Return the open containers that the line continues."""
        column = 0
        for depth, container in enumerate(self._open):
            indent = _indent(text, column)
            if container == _QUOTE:
                if indent > 3 or text[column + indent : column + indent + 1] != ">":
                    return self._open[:depth], column
                column += indent + 1
                column += text[column : column + 1] == " "
            elif indent < container.indent and text[column:].strip(" "):
                return self._open[:depth], column
            else:
                column += min(indent, container.indent)
        return self._open, column

    def _with_new(self, text: str, kept: list[_Container], column: int, closed: str) -> tuple[list[_Container], int]:
        """Add the containers that begin in the line; ``closed`` is the kind of the first one that it closed."""
        containers = list(kept)
        while (indent := _indent(text, column)) <= 3:
            start = column + indent
            marker = _MARKER.match(text, start)
            if text[start : start + 1] == ">":
                containers.append(_QUOTE)
                column = start + 1 + (text[start + 1 : start + 2] == " ")
            elif marker and self._begins_item(marker, closed) and not _THEMATIC_BREAK.fullmatch(text, start):
                content = marker.end() if len(marker["gap"]) <= 4 else marker.start("gap") + 1
                containers.append(_Container(marker["kind"], content - column))
                column = content
            else:
                break
            closed = ""
        return containers, column

    def _begins_item(self, marker: re.Match[str], closed: str) -> bool:
        """Return whether every reader sees an item: only "1." or an item of the same list interrupts a paragraph."""
        return not (marker["number"] and self._in_paragraph) or int(marker["number"]) == 1 or marker["kind"] == closed


def _indent(text: str, column: int) -> int:
    return len(text) - column - len(text[column:].lstrip(" "))


class Fence:
    """An open fence: passes on its lines of code, indented so that none of them closes it by accident."""

    def __init__(self, head: str, run: str) -> None:
        """``head`` is the beginning of the opening line, ``run`` its backticks or tildes."""
        self._char, self._length = run[0], len(run)
        # the space after a quote's mark belongs to the mark, even if only later lines have it
        prefix = re.sub(r"[^> ]", " ", re.sub(r">(?=[^> ])", "> ", head.expandtabs(4)))
        quotes, _, indent = prefix.rpartition(">")
        self._quotes = f"{quotes}>" if ">" in prefix else ""
        self._indent = len(indent)
        self._head = re.compile(rf"(?:[ \t]{{0,16}}>){{0,{self._quotes.count('>')}}}+([ \t]*+)")
        self._closing = re.compile(rf"(?:{self._char}{{{self._length},}}+)[ \t]*+")
        self._in_line = True
        self.is_open = True

    def read(self, text: str, at: int, out: Output, *, final: bool) -> int:
        """Pass on the code from ``at`` on as far as it is decided, and return the place reached."""
        while self.is_open and at < len(text):
            if not self._in_line:
                end = self._read_head(text, at, out, final=final)
                if end is WAIT:
                    break
                at = end
            if self._in_line:
                end = text.find("\n", at) + 1 or len(text)
                if end > at:
                    out.put(text[at:end])
                self._in_line = end == at or text[end - 1] != "\n"
                at = end
        return at

    def _read_head(self, text: str, at: int, out: Output, *, final: bool) -> int | Wait:
        limit = at + _HEAD
        head = self._head.match(text, at, limit)
        end = head.end() if head else at
        undecided = end == len(text) < limit and not final
        closing = self._closing.match(text, end, limit)
        if closing and not undecided:
            after = closing.end()
            if after == len(text) < limit and not final:
                return WAIT
            if after >= min(limit, len(text)) or text[after] == "\n":
                return self._close(text, after, closing[0], out)
        elif undecided or (not final and len(text) < limit and not text[end:].strip(self._char)):
            return WAIT
        blank = text[end : end + 1] == "\n"
        out.put(self._quotes if blank else self._indented(text[at:end]))
        self._in_line = True
        return end

    def _close(self, text: str, end: int, run: str, out: Output) -> int:
        out.put(self._indented("") + run.rstrip())
        if text[end : end + 1] not in ("", "\n"):
            out.put("\n")  # a run longer than any closing fence is likely to be
        self.is_open = False
        return end

    def _indented(self, head: str) -> str:
        """Return the beginning of a line of code, indented at least as far as the fence."""
        if not self._quotes and not self._indent:
            return head
        columns = head.expandtabs(4)
        return self._quotes + " " * max(self._indent, len(columns) - len(columns.rstrip(" ")))


def opening_fence(text: str, at: int, containers: Containers, *, final: bool) -> tuple[str, str, int] | Wait | None:
    """The head, the run and the end of the line at ``at`` if it opens a fence, else ``None``."""
    limit = at + _HEAD
    head = _LINE_HEAD.match(text, at, limit)
    end = head.end() if head else at
    if not final and len(text) < limit and _PART_OF_MARKER.match(text, end):
        return WAIT
    run = _RUN.match(text, end, limit)
    if run is None:
        return None
    if not final and run.end() == len(text) < limit:
        return WAIT
    if len(run[0]) < 3 or run.end() >= limit or not containers.allow_fence(text[at:end]):
        return None
    info = _INFO.match(text, run.end())
    if info is None or len(info[0]) == _LONGEST_INFO or text[info.end() : info.end() + 1] not in ("", "\n"):
        return None
    if info.end() == len(text) and not final:
        return WAIT
    return text[at:end], run[0], info.end()
