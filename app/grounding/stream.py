"""Checks an answer against its passages line by line while it streams, so that the output can be shown as it is.

Only references to the passages of the book, their images and their links pass. A line is checked when it is complete:
nothing that is checked goes beyond its line, except code. :mod:`app.grounding.prose` handles text,
:mod:`app.grounding.fences` handles code.
"""

from collections.abc import Callable

from app.grounding.citations import CitationBook
from app.grounding.fences import Fence, OpenBlocks
from app.grounding.output import Output
from app.grounding.prose import Prose
from app.grounding.sources import Sources


class Grounder:
    """Checks one answer against the passages in ``book``, which may grow between two deltas.

    The output does not depend on how the answer is cut into deltas::

        grounder = Grounder(book)
        for delta in answer:
            show(grounder.feed(delta))
        show(grounder.finish())
    """

    def __init__(self, book: CitationBook, shown_number: Callable[[int], int] = lambda number: number) -> None:
        """``shown_number`` returns the number under which a reader sees a passage of the book."""
        self._sources = Sources(book, shown_number)
        self._out = Output()
        self._prose = Prose(self._sources, self._out)
        self._blocks = OpenBlocks()
        self._fence: Fence | None = None
        self._pending: list[str] = []
        """The line that is not complete yet, in pieces."""
        self._checked = 0
        """Characters of that line that are checked already."""
        self._after_return = False

    def feed(self, delta: str, *, is_quoted: bool = False) -> str:
        """Take the next part of the answer, and return the lines that are now final.

        ``is_quoted``: code wrote it, whose references have one form; what else looks like one is an article's.
        """
        if self._sources.are_outdated() or is_quoted != self._sources.is_quoted:
            self._check_pending()  # by what was true when it was written
            self._sources.refresh()
            self._sources.is_quoted = is_quoted
        *lines, rest = self._with_one_line_break(delta).split("\n")
        for line in lines:
            self._check_line("".join((*self._pending, line, "\n")))
            self._pending.clear()
            self._checked = 0
        self._pending.append(rest)
        return self._out.take()

    def finish(self) -> str:
        """End the answer, and return the rest of its text. More may follow, which code adds."""
        if line := "".join(self._pending):
            self._check_line(line)
            self._pending.clear()
            self._checked = 0
        return self._out.finish()

    def _with_one_line_break(self, delta: str) -> str:
        """Replace every kind of line break by ``\\n``, even one that is cut in two."""
        if not delta:
            return ""
        text = delta[1:] if self._after_return and delta[0] == "\n" else delta
        self._after_return = delta[-1] == "\r"
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")

    def _check_pending(self) -> None:
        """Check the beginning of a line; code waits for its end, because nothing in it is checked."""
        line = "".join(self._pending)
        if line and self._fence is None:
            self._prose.read(line, self._checked)
            self._checked = len(line)

    def _check_line(self, line: str) -> None:
        if self._fence:
            self._out.put(self._fence.line(line))
            if not self._fence.is_open:
                self._blocks.close_fence(self._fence)
                self._fence = None
        elif not self._checked and not self._out.line and (fence := self._blocks.open_fence(line)):
            self._out.put(fence.opening)
            self._fence = fence
        else:
            self._prose.read(line, self._checked)
            self._blocks.add(self._out.line)
            self._prose.end_line()
            if line.endswith("\n"):
                self._out.write("\n")
