"""Checks an answer against its passages while it streams, so that the output can be shown as it is.

Only references to the passages of the book, their images and their links pass. :mod:`app.grounding.prose` handles text,
:mod:`app.grounding.fences` handles code.
"""

import re
from collections.abc import Callable

from app.grounding.citations import CitationBook
from app.grounding.fences import Containers, Fence, opening_fence
from app.grounding.patterns import WAIT, Output
from app.grounding.prose import Prose
from app.grounding.sources import Sources

_FIRST_WORD = re.compile(r"\s*\S*")


class Grounder:
    """Checks one answer against the passages in ``book``, which may grow between two deltas.

    The output does not depend on how the answer is cut into deltas. Text is held back only while it may still become a
    reference, an image, a link, a tag or code in a line; all of these have a limited length.
    """

    def __init__(self, book: CitationBook, shown_number: Callable[[int], int] = lambda number: number) -> None:
        """``shown_number`` returns the number under which a reader sees a passage of the book."""
        self._sources = Sources(book, shown_number)
        self._out = Output()
        self._prose = Prose(self._sources, self._out)
        self._containers = Containers()
        self._fence: Fence | None = None
        self._begins_line = True
        self._text = ""
        self._at = 0
        self._after_return = False

    def feed(self, delta: str, *, is_quoted: bool = False) -> str:
        """Take the next part of the answer, and return the text that is now final.

        ``is_quoted``: code wrote it, whose references have one form; what else looks like one is an article's.
        """
        self._sources.refresh()
        self._sources.is_quoted = is_quoted
        # keep the previous character: it decides whether a reference may follow
        self._text = self._text[max(0, self._at - 1) :] + self._with_one_line_break(delta)
        self._at = min(self._at, 1)
        self._read(final=False)
        return self._out.take()

    def finish(self) -> str:
        """End the answer, and return the rest of its text."""
        self._sources.refresh()
        self._read(final=True)
        return self._out.finish()

    def _with_one_line_break(self, delta: str) -> str:
        """Replace every kind of line break by ``\\n``, even one that is cut in two."""
        if not delta:
            return ""
        text = delta[1:] if self._after_return and delta[0] == "\n" else delta
        self._after_return = delta[-1] == "\r"
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")

    def _read(self, *, final: bool) -> None:
        while self._at < len(self._text):
            before = self._at, self._begins_line, self._fence
            if self._fence:
                self._read_code(self._fence, final=final)
            elif self._begins_line:
                self._begin_line(final=final)
            else:
                self._read_line(final=final)
            if before == (self._at, self._begins_line, self._fence):
                break
        if final and self._fence is None:
            self._prose.read(self._text, self._at, final=True)

    def _begin_line(self, *, final: bool) -> None:
        fence = opening_fence(self._text, self._at, self._containers, final=final)
        if fence is None:
            self._begins_line = False
        elif fence is not WAIT:
            head, run, end = fence
            self._containers.pass_line(head + run, is_fence=True)
            language = _FIRST_WORD.match(self._text, self._at + len(head + run), end)  # readers are shown no more
            self._out.put(head + run + (language[0] if language else ""))
            self._at = end
            self._fence = Fence(head, run)

    def _read_code(self, fence: Fence, *, final: bool) -> None:
        self._at = fence.read(self._text, self._at, self._out, final=final)
        if not fence.is_open:
            self._fence = None
            self._begins_line = False

    def _read_line(self, *, final: bool) -> None:
        self._at = self._prose.read(self._text, self._at, final=final)
        if self._text[self._at : self._at + 1] == "\n":
            self._containers.pass_line(self._out.line)
            self._prose.end_line()
            self._out.write("\n")
            self._at += 1
            self._begins_line = True
