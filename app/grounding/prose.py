"""The text of an answer, outside of fenced code, while it streams: every reference, image, link and tag put right.

What is written means to every reader of markdown what it means here: what could be read as a link, an image or a tag
and is none of ours is escaped. Nothing is held back but what may be the beginning of one of them.
"""

import re
from collections.abc import Callable, Mapping

from app.grounding import patterns
from app.grounding.addresses import Addresses
from app.grounding.found import WAIT, Found, Reading
from app.grounding.inline_code import end_of_code
from app.grounding.output import Output
from app.grounding.pointers import Pointers
from app.grounding.reference_forms import read_reference
from app.grounding.references import Reference, may_follow, write_references
from app.grounding.sources import Sources

_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")
_TICKS = re.compile(f"`{{1,{patterns.LONGEST_RUN}}}+")
_TEXT_BEFORE = "…"
_SKIPPED = re.compile(r"[^)\n]*+(\)?)")


class Prose:
    """Reads text from one line break to the next."""

    def __init__(self, sources: Sources, out: Output, *, in_link: bool = False) -> None:
        """Write to ``out`` what may be shown. ``in_link``: the text is the label of a link."""
        self._sources = sources
        self._out = out
        self._pointers = Pointers(sources, self._ground_label, in_link=in_link)
        self._addresses = Addresses(sources, in_link=in_link)
        self._in_link = in_link
        self._skipping = False
        self._behind_link = False
        """A link or an image has just ended: a bare number in brackets is a reference there, unlike behind a call."""
        self._referred: set[int] | None = None
        """The numbers of the references that stand together here; ``None`` where none do."""
        self._brackets: list[bool] = []
        """For each open bracket of the line, whether the line's text begins with it."""
        self._readers: Mapping[str, Callable[[str, int, bool], Reading]] = {
            "`": self._code,
            "[": self._bracket,
            "]": self._closing_bracket,
            "!": lambda text, at, final: self._pointers.image(text, at, final=final),
            "<": lambda text, at, final: self._addresses.tag(text, at, final=final, at_start=out.at_start),
            "\\": self._escape,
            "~": self._tildes,
            "(": self._reference,
            "【": self._reference,
            " ": self._space,
            "\t": self._space,
        }

    def read(self, text: str, at: int, *, final: bool) -> int:
        """Deal with the text from ``at`` on; up to where it is dealt with, at most up to the end of the line."""
        while True:
            if self._skipping:
                at = self._skip(text, at)
            found = self._next_reference(text, at, final)
            if found is None:
                special = patterns.SPECIAL.search(text, at)
                start = special.start() if special else len(text)
                self._out.write(text[at:start])
                self._behind_link = self._behind_link and start == at
                at = start
                if at == len(text) or text[at] == "\n":
                    return at
                found = self._readers.get(text[at], self._word)(text, at, final)
            if found is WAIT:
                return at
            at = self._accept(text, at, found)

    def end_line(self) -> None:
        """The line is over."""
        self._skipping = self._behind_link = False
        self._brackets.clear()

    def _accept(self, text: str, at: int, found: Found | None) -> int:
        self._behind_link = found is not None and text[at] in "[!" and text[found.end - 1] == ")"
        if found is None:
            if text[at] == "[":
                self._brackets.append(self._out.at_start)
            self._out.write(text[at])
            return at + 1
        if found.text:
            self._out.replace(found.text)
        elif found.text is not None:
            self._out.drop()
        self._skipping = found.goes_on
        return found.end

    def _skip(self, text: str, at: int) -> int:
        found = _SKIPPED.match(text, at)
        assert found is not None  # it matches everything
        self._skipping = found.end() == len(text) and not found[1]
        return found.end()

    def _ground_label(self, label: str, in_link: bool) -> str:
        out = Output(self._out.line if self._out.at_start else _TEXT_BEFORE)
        prose = Prose(self._sources, out, in_link=in_link)
        prose.read(label, 0, final=True)
        return out.finish()

    # --- what stands for itself ------------------------------------------------------------------

    def _space(self, text: str, at: int, _: bool) -> Reading:
        space = patterns.SPECIAL.match(text, at)
        if space is None:
            return None
        self._out.hold(space[0])
        return Found(space.end(), None)

    def _escape(self, text: str, at: int, final: bool) -> Reading:
        if at + 1 == len(text) and not final:
            return WAIT
        if not _ESCAPED.match(text, at):
            return None
        self._out.write(text[at : at + 2])
        return Found(at + 2, None)

    def _tildes(self, text: str, at: int, final: bool) -> Reading:
        if not text.startswith("~~~", at):
            return None if final else WAIT
        self._out.write(r"\~\~\~")  # a fence would have been read as one
        return Found(at + 3, None)

    def _closing_bracket(self, _: str, at: int, __: bool) -> Reading:
        begins_line = self._brackets.pop() if self._brackets else True
        self._out.write("]")
        if begins_line and not self._out.line.lstrip(" \t>").startswith("[^"):
            self._out.end_label()
        return Found(at + 1, None)

    def _code(self, text: str, at: int, final: bool) -> Reading:
        """Code in the line, as it is; what does not end in this line must not end in a later one either."""
        run = _TICKS.match(text, at)
        length = len(run[0]) if run else 1
        end = end_of_code(text, at + length, length, final=final)
        if end is WAIT:
            return WAIT
        # some readers of markdown let cells of tables go before code: what would be a link then is none of ours here
        if end and all(map(self._sources.allows, patterns.FOREIGN_TARGET.findall(text, at, end))):
            self._out.write(text[at:end])
            return Found(end, None)
        self._out.write(r"\`" * length)
        return Found(at + length, None)

    def _word(self, text: str, at: int, final: bool) -> Reading:
        if text[at] in "rR" and (found := self._reference(text, at, final)):
            return found
        return self._addresses.address(text, at, final=final)

    # --- references ------------------------------------------------------------------------------

    def _bracket(self, text: str, at: int, final: bool) -> Reading:
        found: Reading = None
        if self._out.at_start and not self._in_link:
            found = self._pointers.definition(text, at, final=final)
        return found or self._pointers.link(text, at, final=final) or self._reference(text, at, final)

    def _reference(self, text: str, at: int, final: bool) -> Reading:
        found = read_reference(text, at, self._sources.numbers, final=final)
        if found is None or found is WAIT:
            return found
        end, reference = found
        if not reference.explicit and not self._behind_link and not may_follow(text[at - 1 : at]):
            return None
        return self._refer(end, reference)

    def _refer(self, end: int, reference: Reference) -> Found:
        before = self._referred or set()
        new = [
            number
            for number in dict.fromkeys(reference.numbers)
            if number in self._sources.numbers and number not in before
        ]
        self._referred = before | set(new)
        if new:
            begins_line = self._out.at_start
            self._out.write(write_references(new))
            if begins_line:
                self._out.end_label()
        return Found(end, None)

    def _next_reference(self, text: str, at: int, final: bool) -> Reading:
        """Another reference right behind a reference, perhaps with a comma between them, which goes."""
        if self._referred is None:
            return None
        between = patterns.BETWEEN_REFERENCES.match(text, at)
        next_at = between.end() if between else at
        if next_at == len(text) and not final:
            return WAIT
        if text[next_at : next_at + 1] in ("[", "【", "(", "r", "R"):
            found = read_reference(text, next_at, self._sources.numbers, final=final)
            if found is WAIT:
                return WAIT
            if found and not (text[next_at] == "[" and text[found[0] : found[0] + 1] == "("):
                return self._refer(*found)
        if not self._referred:
            self._out.drop()
        self._referred = None
        return None
