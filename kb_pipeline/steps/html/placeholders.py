"""Placeholders: markdown that must pass through html-to-markdown unchanged is replaced by a number.

A placeholder is digits between two private-use characters; an escaped character is a single private-use character.
``decode`` removes such characters from the source, so every placeholder is ours.
"""

import re
from collections.abc import Iterator

from kb_pipeline.steps.merge_images import continuation

_ESCAPED = {0xE100 + code: "\\" + chr(code) for code in range(0x21, 0x7F)}
"""Maps private-use characters to the escaped ASCII characters that they replace."""
_OPEN, _CLOSE = "\ue000", "\ue001"
PLACEHOLDER = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")


def escaped(character: str) -> str:
    """Return the private-use character that replaces an escaped ASCII character."""
    return chr(0xE100 + ord(character))


class Placeholders:
    """The placeholders of one article and the markdown they replace."""

    def __init__(self) -> None:
        self._markdown: list[str] = []
        self._words: list[str] = []

    def add(self, markdown: str, words: str = "") -> str:
        """Store ``markdown`` and return its placeholder; one for several lines must be alone on its line.

        ``words`` is what readers read in its place if it is part of a sentence, without markup.
        """
        self._markdown.append(markdown)
        self._words.append(words)
        return f"{_OPEN}{len(self._markdown) - 1}{_CLOSE}"

    def as_words(self, text: str) -> str:
        """Return the text as readers see it, with the words of all placeholders."""
        return PLACEHOLDER.sub(lambda match: self._words[int(match[1])], text)

    def restore(self, text: str) -> str:
        """Replace all placeholders by their markdown; all lines of a block get the prefix of the placeholder's line."""
        return "\n".join(self._restored_lines(text)).translate(_ESCAPED)

    def _restored_lines(self, text: str) -> Iterator[str]:
        for line in text.split("\n"):
            match = PLACEHOLDER.search(line)
            if match is None:
                yield line
                continue
            prefix = continuation(line[: match.start()])
            first, *others = PLACEHOLDER.sub(lambda match: self._markdown[int(match[1])], line).split("\n")
            # The markdown may contain placeholders itself: quotes in quotes, code in tables.
            yield from self._restored_lines(
                "\n".join([first, *((prefix + other) if other else prefix.rstrip() for other in others)])
            )


def without_placeholders(text: str) -> str:
    """Return the text as readers see it, without placeholders."""
    return PLACEHOLDER.sub("", text)
