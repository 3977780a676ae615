"""Gives every statement of a model's answer the references that bear it out, while the answer streams.

No model is trusted with references: one that it wrote is kept if its passage bears out the statement, replaced if
another passage does clearly better, and removed if none does. What no passage bears out is marked. All of it is the
text of :class:`app.grounding.stream.Grounder`, which also has to read the result: removing a reference could join what
stood around it.
"""

import re
from collections.abc import Sequence

from app.grounding.bearing import Bearing
from app.grounding.citations import CitationBook
from app.grounding.references import NOT_BORNE_OUT, find_references, write_references
from app.grounding.statements import CLAUSE_END, FEWEST_WORDS, MARKER, AnswerPart, Statements, unreferenced
from app.grounding.words import words
from app.schema.passages import Citation

MOSTLY = 0.5
"""Share of an answer, by the words of its statements, that passages must bear out."""

DOUBTFUL = "No article clearly answers this. What the closest ones say:\n\n"
"""Stands before an answer from passages that the search does not trust."""

ASKED = 1 / 3
"""Share of the question of which an answer must speak if the search does not expect that its passages answer."""

_UNTOLD = 3
"""Statements that nothing bears out, after which an answer that has not said more than them is given up."""
_TELLING = 3
"""Words of a statement that can show that the answer is from the passages; "Click OK" is in most of them."""
_RECENT = 500
_LONGEST_HELD = 1500
_ONLY_SOURCES = re.compile(r"\W*(?:sources?|references?|refs?|citations?|quellen?)?\W*", re.IGNORECASE)


class Attributor:
    """Attributes one answer to the passages in ``book``, which may grow between two deltas.

    The beginning is held back until a passage bears out one of its statements that does not only repeat the question;
    an answer without one is withdrawn. When three statements are not borne out, and these are most of what was said,
    the answer is ``given_up``: nothing more comes out, and something else must be said. If that is still its beginning,
    it is also ``withdrawn``: readers have seen nothing of it. So is an answer that does not speak of what is asked, if
    the search does not expect that its passages answer: a model that has to say something repeats any sentence.
    The output does not depend on how the answer is cut into deltas.
    """

    def __init__(self, book: CitationBook, question: str = "") -> None:
        self._book = book
        self._question = question
        self._citations: tuple[Citation, ...] = ()
        self._bearing = Bearing(())
        self._statements = Statements()
        self._out: list[str] = []
        self._is_held = True
        self._behind = ""
        """What belongs behind the last statement, unless the next one in its line ends with the same."""
        self._gap = ""
        self._said = ""
        self._beside = ""
        """What was said last without being stated."""
        self._cited: list[int] = []
        self._borne_out = 0
        self._adds_something = False
        self._told = frozenset[str]()
        self.is_doubtful = False
        """Set before the answer begins if the search does not expect that its passages answer."""
        self.not_borne_out: list[str] = []
        self.given_up = self.withdrawn = False

    def feed(self, delta: str) -> str:
        """Take the next part of the answer, and return the text that is now final."""
        if self._book.citations != self._citations:
            self._citations = self._book.citations
            self._bearing = Bearing(self._citations, self._question)
        for part in self._statements.feed(delta):
            self._take(part)
        return self._released()

    def quote(self, text: str) -> str:
        """Take text that cites its passages itself and is not judged, and return what is now final."""
        for part in self._statements.finish():
            self._take(part)
        self._end_statement()
        self._out.append(text)
        self._release()
        return self._released()

    def finish(self) -> str:
        """End the answer, and return the rest of its text."""
        for part in self._statements.finish():
            self._take(part)
        self._end_statement()
        if self._is_held:
            only_repeats = self._borne_out > 0 and not self._adds_something
            self.withdrawn |= only_repeats or not self.is_mostly_borne_out or self._tells_nothing() or self._is_astray
            self._release()
        return self._released()

    @property
    def is_mostly_borne_out(self) -> bool:
        """Whether passages bear out enough of the statements so far, longer ones counting more."""
        not_borne_out = sum(map(_size, self.not_borne_out))
        return self._borne_out >= MOSTLY * (self._borne_out + not_borne_out)

    @property
    def needs_another(self) -> bool:
        """Whether something else must be said, once the answer has ended."""
        return self.withdrawn or not self.is_mostly_borne_out

    @property
    def _is_astray(self) -> bool:
        """Whether what passages bear out is not about what is asked, where that has to be shown."""
        return self.is_doubtful and self._borne_out > 0 and self._bearing.asked_share(self._told) < ASKED

    def _tells_nothing(self) -> bool:
        """Return whether an answer is one word without a reference: small models repeat "(no matches)"."""
        text = "".join(self._out)
        is_short = text.isascii() and _size(text) < FEWEST_WORDS
        return is_short and bool(text.strip()) and not any(find_references(text))

    def _release(self) -> None:
        if self._is_held and self.is_doubtful and self._borne_out:
            self._out.insert(0, DOUBTFUL)
        self._is_held = False

    def _released(self) -> str:
        if self._is_held or self.withdrawn:
            return ""
        text = "".join(self._out)
        self._out.clear()
        return text

    def _take(self, part: AnswerPart) -> None:
        if self.given_up:
            return
        text = part.text.replace(f" {NOT_BORNE_OUT}", "").replace(NOT_BORNE_OUT, "")  # it is ours to say
        behind = ""
        if part.said:
            text, behind = self._attributed(text, part)
        elif _ONLY_SOURCES.fullmatch(unreferenced(text)):
            text = self._with_cited_only(text)
        if found := self._found_beside(part):
            text, more = _placed(text if part.said else _without_references(text), found, part)
            behind += more.lstrip(" ") if behind else more
        if self._behind and (behind != self._behind or "\n" in self._gap):
            self._out.append(self._behind)
        self._out.append(self._gap + text)
        self._behind, self._gap = behind, part.gap
        if "\n" in part.gap:
            self._end_statement()
        if self._is_held and sum(map(len, self._out)) > _LONGEST_HELD:
            self.given_up = self.withdrawn = self._is_astray
            self._is_held = self.withdrawn

    def _end_statement(self) -> None:
        self._out.append(self._behind + self._gap)
        self._behind = self._gap = ""

    def _attributed(self, text: str, part: AnswerPart) -> tuple[str, str]:
        """Return the text of a statement, and what belongs behind it: its references, or the mark."""
        self._said = f"{self._said} {part.said}"[-_RECENT:]
        if not self._bearing.compares(self._said):
            self._is_held = False
            return text, ""
        written = tuple(dict.fromkeys(number for *_, number in find_references(text)))
        numbers = self._bearing.supporters(part.said, written, self._cited[-1:])
        self._cited += numbers
        self._count(part.said, numbers)
        if numbers and numbers == written and not _leads(text):
            return text, ""
        return _placed(_without_references(text), write_references(numbers) or NOT_BORNE_OUT, part)

    def _found_beside(self, part: AnswerPart) -> str:
        """Return the references of what a part says without stating it, or the mark; nothing if it says too little.

        A model that obeys a passage says in a heading, or word by word in lines of their own, what it is told to say.
        """
        before = "" if part.said else self._beside
        self._beside = f"{before} {part.beside}"[-_RECENT:]
        is_enough = self._bearing.adds(part.beside) and self._bearing.adds(self._beside) >= _TELLING
        if not is_enough or not self._bearing.compares(part.beside):
            return ""
        together = [self._beside] if self._bearing.sources(part.beside, 1) else []
        for words_of in (*together, *CLAUSE_END.split(part.beside)):
            if numbers := self._bearing.sources(words_of, _TELLING):
                self._cited += numbers
                return write_references(numbers)
        if not self._bearing.adds_number(part.beside):
            return ""
        self._count(part.beside, ())
        return NOT_BORNE_OUT

    def _count(self, said: str, numbers: Sequence[int]) -> None:
        if numbers:
            self._borne_out += _size(said)
            self._adds_something |= self._bearing.answers(said)
            self._told |= self._bearing.told(said, numbers)
            if _size(said) >= _TELLING and self._adds_something and not self._is_astray:
                self._release()
        else:
            self.not_borne_out.append(said)
            self.given_up = len(self.not_borne_out) >= _UNTOLD and not self.is_mostly_borne_out
            self.withdrawn = self.given_up and self._is_held

    def _with_cited_only(self, text: str) -> str:
        """Return a line of references without those that no statement has."""
        for start, end, number in reversed(list(find_references(text))):
            if number not in self._cited:
                text = text[:start].rstrip(" \t") + text[end:]
        return text


def _leads(text: str) -> bool:
    """Return whether a statement begins with a reference; readers look for it behind."""
    marker = MARKER.match(text)
    return any(start == (marker.end() if marker else 0) for start, *_ in find_references(text))


def _without_references(text: str) -> str:
    if not _leads(text):
        return unreferenced(text)
    marker = MARKER.match(text)
    end = marker.end() if marker else 0
    return text[:end] + unreferenced(text[end:]).lstrip(" \t")


def _placed(text: str, behind: str, part: AnswerPart) -> tuple[str, str]:
    """Return a statement with its references where they can stand, and what belongs behind it otherwise."""
    match part.shape:
        case "row":
            cells = text.rstrip("| \t")
            return f"{cells} {behind}{text[len(cells) :]}", ""
        case "code":
            head = text[: len(text) - len(text.lstrip(" \t>"))]
            return f"{text}\n{head}{behind}", ""
        case "prose":
            return text, f" {behind}"


def _size(said: str) -> int:
    return len(set(words(said)))
