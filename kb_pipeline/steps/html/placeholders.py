"""Placeholders: what must come through the markdown converter untouched travels as a number.

A placeholder is two private-use characters around digits; a character to be escaped is one such
character. The source was freed of them (``decode``), so a placeholder is always ours.
"""

import re
from collections.abc import Iterator

from kb_pipeline.steps.line_prefix import continuation

_ESCAPED = {0xE100 + code: "\\" + chr(code) for code in range(0x21, 0x7F)}
"""Private-use characters that stand for ASCII ones which markdown must escape."""
_OPEN, _CLOSE = "\ue000", "\ue001"
PLACEHOLDER = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")


def escaped(character: str) -> str:
    """What stands for an ASCII character with a backslash before it."""
    return chr(0xE100 + ord(character))


class Placeholders:
    """The markdown that stands behind each placeholder of one article."""

    def __init__(self) -> None:
        """Start without any."""
        self._markdown: list[str] = []

    def add(self, markdown: str) -> str:
        """Keep ``markdown`` and return what stands for it. Several lines need a line of their own."""
        self._markdown.append(markdown)
        return f"{_OPEN}{len(self._markdown) - 1}{_CLOSE}"

    def restore(self, text: str) -> str:
        """Put all markdown back; the lines of a block get the prefix of the line it stands in."""
        return "\n".join(self._restored_lines(text)).translate(_ESCAPED)

    def _restored_lines(self, text: str) -> Iterator[str]:
        for line in text.split("\n"):
            match = PLACEHOLDER.search(line)
            if match is None:
                yield line
                continue
            prefix = continuation(line[: match.start()])
            first, *others = PLACEHOLDER.sub(lambda match: self._markdown[int(match[1])], line).split("\n")
            # What was put back may hold placeholders in turn: quotes in quotes, code in tables.
            yield from self._restored_lines(
                "\n".join([first, *((prefix + other) if other else prefix.rstrip() for other in others)])
            )


def without_placeholders(text: str) -> str:
    """The text as a reader sees it, without what only we put there."""
    return PLACEHOLDER.sub("", text)
