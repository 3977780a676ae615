"""AsciiDoc, read by pandoc. What Asciidoctor's preprocessor does is done here, because pandoc leaves it to others."""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

from kb_pipeline.sources.pandoc.page_sources import PageSource
from kb_pipeline.sources.plain_bytes import text_in

_CONDITION = re.compile(r"(ifdef|ifndef|ifeval|endif)::([^\[]*)\[(.*)\]\s*")
_ATTRIBUTE = re.compile(r":(!?)([\w-]+)(!?):(?:\s+(.*))?")
_USED = re.compile(r"(?<!\\)\{([\w-]+)\}")
_TAG = re.compile(r"\s*(?://|#)\s*(?:tag|end)::[^\s\[]+\[\]\s*")
_VERBATIM = re.compile(r"-{4,}|\.{4,}|`{3,}.*|\+{4,}")
_LONGEST_VALUE, _MOST_GROWTH = 1_000, 1_000_000
"""Characters of an attribute, and those that all their uses may add; those made of others grow beyond all bounds."""


class AsciidocSource(PageSource):
    """Reads AsciiDoc."""

    reader: ClassVar[str] = "asciidoc"
    takes_in: ClassVar[re.Pattern[str] | None] = re.compile(
        r"(?<=\n)(?P<kept>)include::(?P<file>[^\[\n]+)\[.*\][ \t]*(?=\n)"
    )

    def prepare(self, name: str, data: bytes) -> tuple[bytes, tuple[str, ...]]:
        lines = text_in(name, data).split("\n")
        return super().prepare(name, "\n".join(_Preprocessor().lines(lines)).encode())


class _Preprocessor:
    """Knows the attributes and the conditions above a line."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._holding: list[bool] = []
        self._room = _MOST_GROWTH
        self._left_out = 0
        """Conditions around the line that do not hold."""

    def lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines under no condition, or under one that holds, with the values of their attributes."""
        is_head, fence = True, ""
        for line in lines:
            is_head = is_head and bool(line.strip())
            if condition := _CONDITION.fullmatch(line):
                yield from self._decided(*condition.groups())
            elif self._left_out or _TAG.fullmatch(line) or (is_head and line.startswith("//")):
                continue  # pandoc takes the head for over at a comment
            elif fence or _VERBATIM.fullmatch(line):
                fence = "" if line == fence else fence or line[:3] * line.startswith("```") or line
                yield line
            else:
                line = self._with_values(line)
                if attribute := _ATTRIBUTE.fullmatch(line):
                    self._set(*attribute.groups(default=""))
                yield line

    def _decided(self, kind: str, names: str, inside: str) -> Iterator[str]:
        if kind == "endif":
            if self._holding:
                self._left_out -= not self._holding.pop()
            return
        some = any if "," in names else all
        holds = kind == "ifeval" or some(name in self._values for name in re.split("[,+]", names)) == (kind == "ifdef")
        if not inside or kind == "ifeval":  # what that compares is Asciidoctor's own
            self._holding.append(holds)
            self._left_out += not holds
        elif holds and not self._left_out:
            yield inside

    def _with_values(self, line: str) -> str:
        written = _USED.sub(lambda used: self._values.get(used[1], used[0]), line) if self._room > 0 else line
        self._room -= max(0, len(written) - len(line))
        return written

    def _set(self, before: str, name: str, after: str, value: str) -> None:
        if before or after:
            self._values.pop(name, None)
        elif len(value) <= _LONGEST_VALUE:
            self._values[name] = value.strip()
