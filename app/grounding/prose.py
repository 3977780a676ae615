"""The text of an answer outside of fenced code, line by line: checks every reference, image, link and tag.

The output means to every reader of markdown what it means here: whatever could be read as a link, an image or a tag
that is not allowed is escaped.
"""

import re
from collections.abc import Callable, Collection, Mapping

from app.grounding import patterns
from app.grounding.addresses import Addresses, BareAddresses
from app.grounding.output import Output
from app.grounding.patterns import Reading, Replacement, end_of_code
from app.grounding.pointers import Pointers, read_label
from app.grounding.references import Reference, may_follow, read_lenticular, read_round, read_square
from app.grounding.source_style import end_of_source, read_sources
from app.grounding.sources import Sources

_WORD = re.compile(r"\w")
_OURS = re.compile(r"\[Ref #[0-9]{1,4}\]")
"""A reference as our code writes it."""

Numbers = Collection[int]
Placed = tuple[int, Reference]
"""Where a reference ends, and the reference."""


def read_reference(text: str, at: int, numbers: Numbers) -> Placed | None:
    """The reference that begins at ``at``, if any; ``numbers`` are the numbers of the passages."""
    reference: Reference | None
    match text[at]:
        case "[":
            return _square(text, at, numbers)
        case "(":
            whole = patterns.ROUND.match(text, at)
            reference = read_round(whole[1], numbers) if whole else None
        case "【":
            whole = patterns.LENTICULAR.match(text, at)
            reference = read_lenticular(whole[1]) if whole else None
        case _:
            whole = patterns.BARE_REFERENCE.match(text, at)
            reference = Reference((int(whole[1]),)) if whole else None
    return (whole.end(), reference) if whole and reference else None


def _square(text: str, at: int, numbers: Numbers) -> Placed | None:
    label = read_label(text, at)
    if label is None:
        return None
    inner = label.inner
    if inner.startswith("[") and inner.endswith("]"):
        inner = re.sub(r"[\[\]]", " ", inner)
    reference = read_square(inner, numbers)
    if reference is None or (not reference.explicit and _WORD.match(text, label.end)):
        return None
    return label.end, reference


_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")
_TICKS = re.compile(f"`{{1,{patterns.LONGEST_RUN}}}+")
_TEXT_BEFORE = "…["
"""What precedes the text of a label: a name that begins it is whole."""


class Prose:
    """Grounds text from one line break to the next."""

    def __init__(self, sources: Sources, out: Output, *, in_link: bool = False) -> None:
        """Write grounded text to ``out``. ``in_link``: the text is the label of a link."""
        self._sources = sources
        self._out = out
        self._pointers = Pointers(sources, self._ground_label, in_link=in_link)
        self._addresses = Addresses(sources, out, in_link=in_link)
        self._bare = BareAddresses(sources, out)
        self._in_link = in_link
        self._behind_link = False
        """A link or an image has just ended: a bare number in brackets is a reference there, unlike after a call."""
        self._referred: set[int] | None = None
        """The numbers of the adjacent references just read; ``None`` if the last thing read was not a reference."""
        self._brackets: list[bool] = []
        """For each open bracket of the line, whether the text of the line begins with it."""
        self._readers: Mapping[str, Callable[[str, int], Reading]] = {
            "`": self._code,
            "[": self._bracket,
            "]": self._closing_bracket,
            "!": self._pointers.image,
            "<": self._addresses.tag,
            "\\": self._escape,
            "~": self._tildes,
            "(": self._parenthesis,
            ":": self._bare.colon,
            "@": self._bare.at_sign,
            ".": self._bare.dot,
            "&": self._bare.entity,
            "/": lambda text, at: self._bare.slash(text, at) or self._word(text, at),
            "【": self._reference,
            " ": self._space,
            "\t": self._space,
        }

    def read(self, text: str, at: int = 0) -> None:
        """Ground the text from ``at`` on, at most to the end of the line."""
        while True:
            reading = self._next_reference(text, at)
            if reading is None:
                special = patterns.SPECIAL.search(text, at)
                start = special.start() if special else len(text)
                self._out.write(text[at:start])
                self._behind_link = self._behind_link and start == at
                at = start
                if at == len(text) or text[at] == "\n":
                    return
                reading = self._readers.get(text[at], self._word)(text, at)
            at = self._accept(text, at, reading)

    def end_line(self) -> None:
        self._behind_link = False
        self._brackets.clear()

    def _accept(self, text: str, at: int, reading: Replacement | None) -> int:
        self._behind_link = reading is not None and text[at] in "[!" and text[reading.end - 1] == ")"
        if reading is None:
            if text[at] == "[":
                self._brackets.append(self._out.at_start)
            self._out.write(text[at])
            return at + 1
        if reading.text:
            self._out.replace(reading.text)
        elif reading.text is not None:
            self._out.drop()
        return reading.end

    def _ground_label(self, label: str, in_link: bool) -> str:
        out = Output(self._out.line if self._out.at_start else _TEXT_BEFORE)
        prose = Prose(self._sources, out, in_link=in_link)
        prose.read(label)
        return out.finish()

    # --- code, escapes and other signs -----------------------------------------------------------

    def _space(self, text: str, at: int) -> Reading:
        space = patterns.SPECIAL.match(text, at)
        if space is None:
            return None
        self._out.hold(space[0])
        return Replacement(space.end(), None)

    def _escape(self, text: str, at: int) -> Reading:
        if not _ESCAPED.match(text, at):
            return None
        if reading := self._bare.escape(text, at):
            return reading
        self._out.write(text[at : at + 2])
        return Replacement(at + 2, None)

    def _tildes(self, _: str, at: int) -> Reading:
        self._out.write(r"\~\~\~")  # not a fence here: those are read before prose
        return Replacement(at + 3, None)

    def _closing_bracket(self, _: str, at: int) -> Reading:
        begins_line = self._brackets.pop() if self._brackets else True
        self._out.write("]")
        if begins_line and not self._out.line.lstrip(" \t>").startswith("[^"):
            self._out.end_label()
        return Replacement(at + 1, None)

    def _code(self, text: str, at: int) -> Reading:
        """Keep code that ends in this line; escape backticks that do not, so that no later line closes them."""
        run = _TICKS.match(text, at)
        length = len(run[0]) if run else 1
        end = end_of_code(text, at + length, length)
        # some readers of markdown split table cells before they read code, so a link inside code must be allowed too
        if end and all(map(self._sources.allows, patterns.FOREIGN_TARGET.findall(text, at, end))):
            self._out.write(text[at:end])
            return Replacement(end, None)
        self._out.write(r"\`" * length)
        return Replacement(at + length, None)

    def _word(self, text: str, at: int) -> Reading:
        if text[at] in "rR" and (reading := self._reference(text, at)):
            return reading
        return self._addresses.address(text, at)

    # --- references ------------------------------------------------------------------------------

    def _bracket(self, text: str, at: int) -> Reading:
        reading: Reading = None
        if self._out.at_start and not self._in_link:
            reading = self._pointers.definition(text, at)
        return reading or self._pointers.link(text, at) or self._reference(text, at)

    def _reference(self, text: str, at: int) -> Reading:
        if self._sources.is_quoted and not _OURS.match(text, at):
            return None
        placed = read_reference(text, at, self._sources.numbers)
        if placed is None:
            return None
        end, reference = placed
        if not reference.explicit and not self._behind_link and not may_follow(text[at - 1 : at]):
            return None
        return self._refer(end, reference)

    def _parenthesis(self, text: str, at: int) -> Reading:
        """Read a source in words back into references; one that no passage bears out is removed."""
        reading = self._reference(text, at)
        if reading is not None or self._sources.is_quoted:
            return reading
        end = end_of_source(text, at)
        sources = read_sources(text[at:end])
        if not sources:
            return None
        numbers = self._sources.meant_by(sources)
        if not numbers and not any(each.is_file for each in sources) and self._sources.say(text[at:end]):
            return None  # an article names where something is from
        return self._refer(end, Reference(numbers))

    def _refer(self, end: int, reference: Reference) -> Replacement:
        before = self._referred or set()
        new = [
            number
            for number in dict.fromkeys(reference.numbers)
            if number in self._sources.numbers and number not in before
        ]
        self._referred = before | set(new)
        if new:
            begins_line = self._out.at_start
            self._out.write(self._sources.refer(new))
            if begins_line:
                self._out.end_label()
        return Replacement(end, None)

    def _next_reference(self, text: str, at: int) -> Reading:
        """Read another reference directly after a reference; a comma between the two is dropped."""
        if self._referred is None:
            return None
        between = patterns.BETWEEN_REFERENCES.match(text, at)
        next_at = between.end() if between else at
        if text[next_at : next_at + 1] in (("[",) if self._sources.is_quoted else ("[", "【", "(", "r", "R")):
            placed = read_reference(text, next_at, self._sources.numbers)
            if placed and not (text[next_at] == "[" and text[placed[0] : placed[0] + 1] == "("):
                return self._refer(*placed)
        if not self._referred:
            self._out.drop()
        self._referred = None
        return None
