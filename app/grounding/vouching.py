"""Says of each sentence of a model's answer what code can know of it, while the answer streams, and changes no word.

A value of a sentence (a number with its unit, a date, a code, the name of a button) stands in the passages that the
sentence cites, or a mark follows it. A line without a reference gets a suggested one if one passage is clearly nearest.
How a sentence is worded is not judged: words cannot tell whether it is true.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.grounding.citations import CitationBook
from app.grounding.references import find_references, write_references
from app.grounding.statements import AnswerPart, Shape, Statement, Statements, unreferenced
from app.language.messages import Messages
from app.language.sentences import units_of
from app.schema.passages import Citation
from kb_pipeline.steps.values.reading import Reading, Value, said_otherwise, values_of

Suggest = Callable[[str, Sequence[Citation]], Citation | None]
"""A function from a text without a reference to the passage that is clearly nearest to it, if one is."""

_CLOSERS = re.compile(r"[*_`\"'”’»)\]]*")
_LABEL = re.compile(
    r"\*\*(?P<bold>[^*\n]{1,80})\*\*|`(?P<code>[^`\n]{1,200})`|[“„«](?P<quoted>[^“”„«»\"\n]{1,80})[”“»]"
    r"|(?<!\w)\"(?P<straight>[^\"\n]{1,80})\"(?!\w)|(?<![\w*])\*(?P<italic>[^*\s][^*\n]{0,80})\*(?![\w*])"
)
_ADDRESS = re.compile(r"!\[[^\[\]\n]{0,500}\]\([^()\s]{0,500}\)|\]\([^()\s]{0,500}\)|\bhttps?://[^\s<>()]+")
"""An image, the address of a link, and an address: :mod:`app.grounding.prose` sees that these are of a passage."""
_WORD = re.compile(r"[^\W_]+")
_CODE_LINE = re.compile(r"^(?![ \t]*(?:```|~~~)).*\S.*$", re.MULTILINE)
_LONGEST_NAME = 6
"""Words of a name; what is longer is a quoted sentence, or emphasis."""
_COUNTED = 12
"""Things up to so many are counted by who reads a list of them."""
_BEFORE_A_SENTENCE = re.compile(r"(?:\A|[.!?:;\n|(\"“„»«]|^\s*[-*+>#\d.)]+)[\s*_\"“„‚'(\[]*\Z", re.MULTILINE)
_KEYS = {
    "control": "ctrl", "strg": "ctrl", "umschalt": "shift", "command": "cmd", "befehl": "cmd", "option": "alt",
    "entf": "del", "delete": "del", "eingabe": "enter", "return": "enter", "einfg": "ins", "insert": "ins",
    "maj": "shift", "entrée": "enter", "suppr": "del", "mayús": "shift", "intro": "enter", "supr": "del",
    "escape": "esc",
}  # fmt: skip
_MANY = 30
"""A number that is hardly anything else than a span of time in another unit, if it equals one."""
_ENDING = 2
"""Letters at the end of a word in which a name may differ from its passage: plurals and cases."""


@dataclass(frozen=True)
class KnownPassage:
    """What a passage and its headings say, in the forms in which values are compared."""

    citation: Citation

    @cached_property
    def text(self) -> str:
        """Everything that a reader sees of the passage, on one line, without signs of markdown."""
        c = self.citation
        return _flat("\n".join((c.title, c.section, *c.heading_path, c.passage)))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        return tuple(values_of(self.text))

    @cached_property
    def readings(self) -> frozenset[Reading]:
        with_unit = frozenset(reading for value in self.values for reading in value.readings)
        return with_unit.union(said_otherwise(self.text))

    @cached_property
    def numbers(self) -> frozenset[Reading]:
        """All numbers, whatever they count."""
        return frozenset(reading for value in self.values for reading in value.bare).union(
            ("number", float(part))
            for value in self.values
            if value.kind == "date"
            for reading in value.readings
            for part in reading[1:]
            if isinstance(part, int)
        )

    @cached_property
    def numbers_alone(self) -> frozenset[Reading]:
        """The numbers without a unit; what they count may stand elsewhere, as over the column of a table."""
        return frozenset(reading for value in self.values if value.readings == value.bare for reading in value.bare)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(_WORD.findall(self.text.casefold()))

    @cached_property
    def counts(self) -> frozenset[int]:
        """How many items its lists, rows its tables, and commas its sentences have: what a reader would count."""
        units = units_of(self.citation.passage)
        by_block: dict[tuple[int, int], int] = {}
        for unit in units:
            if unit.label or unit.kind == "row":
                by_block[unit.block, unit.depth] = by_block.get((unit.block, unit.depth), 0) + 1
        headings = sum(unit.kind in ("heading", "term") for unit in units)
        listed = (len(re.split(r",|;|\b(?:and|or|und|oder|et|ou|y|o)\b", unit.text)) for unit in units)
        lines = (len(_CODE_LINE.findall(unit.text)) for unit in units if unit.kind == "code")
        return frozenset((*by_block.values(), headings, *listed, *lines))

    @cached_property
    def numbers_of(self) -> dict[str, set[Reading]]:
        """The numbers that stand before each word."""
        readings: dict[str, set[Reading]] = {}
        for value in self.values:
            if following := _WORD.search(self.text, value.end):
                readings.setdefault(following[0].casefold(), set()).update(value.bare)
        return readings

    def counts_otherwise(self, word: str, value: Value) -> bool:
        """Whether other numbers than this one stand before a word."""
        before = [numbers for known, numbers in self.numbers_of.items() if _is_form_of(word.casefold(), known)]
        return bool(before) and all(value.bare.isdisjoint(numbers) for numbers in before)

    def has(self, value: Value, following: str = "") -> bool:
        """Whether this passage has the value in one of its readings; ``following`` is the word after it."""
        match value.kind:
            case "number":
                if value.readings != value.bare:
                    return not (
                        self.readings.isdisjoint(value.readings)
                        and self.numbers_alone.isdisjoint(value.bare)
                        and self.numbers_alone.isdisjoint(_in_smaller_units(value))
                    )
                if not self.numbers.isdisjoint(value.bare):
                    return True
                few = {number for _, number in value.bare if isinstance(number, float) and number <= _COUNTED}
                return not self.counts.isdisjoint(few) and not self.counts_otherwise(following, value)
            case "date":
                return any(map(self._has_date, value.readings)) or not self.numbers.isdisjoint(value.bare)
            case "time":
                return not self.readings.isdisjoint(value.readings) or not self._hours.isdisjoint(value.readings)
            case "code":
                return all(str(code) in self.text.casefold() for _, code in value.readings)

    @cached_property
    def _hours(self) -> frozenset[Reading]:
        """The full hours of its times: "at 18" is 18:10 as well."""
        return frozenset(
            (kind, at - at % 60) for kind, at, *_ in self.readings if kind == "time" and isinstance(at, int)
        )

    def has_name(self, name: str) -> bool:
        """Whether the words of a name follow each other here; each may have another ending."""
        named = _WORD.findall(_flat(name).casefold())
        ends = range(len(self.words) - len(named) + 1)
        if any(all(map(_is_form_of, named, self.words[at : at + len(named)])) for at in ends):
            return True
        return len(named) == 1 and name.isupper() and named[0] in self.initials

    @cached_property
    def initials(self) -> str:
        """The first letters of its words: "Free Software Foundation" is the FSF."""
        return "".join(word[0] for word in self.words)

    def has_words_of(self, code: str) -> bool:
        """Whether all words of code are here, wherever."""
        return set(_WORD.findall(code.casefold())) <= set(self.words)

    def _has_date(self, date: Reading) -> bool:
        if date[0] == "weekday":
            return date in self.readings
        dates = [reading for reading in self.readings if reading[0] == "date"]
        if any(all(not a or not b or a == b for a, b in zip(date[1:], each[1:], strict=True)) for each in dates):
            return True
        year, month, day = date[1:]
        return not month and not day and ("number", float(str(year))) in self.numbers


class Voucher:
    """Vouches for one answer from the passages in ``book``, which may grow between two deltas.

    The output does not depend on how the answer is cut into deltas. ``unsupported`` are the sentences with a mark,
    ``statements`` all that it states, for a judge.
    """

    def __init__(self, book: CitationBook, question: str, say: Messages, suggest: Suggest | None = None) -> None:
        """``question``: its values are the asker's own, and may be repeated. ``say``: in the language of the answer."""
        self._say = say
        self._mark = f" *({say('value_not_in_source')})*"
        self._book = book
        self._suggest = suggest
        self._asked = KnownPassage(_as_citation(question))
        self._known: dict[int, KnownPassage] = {}
        self._statements = Statements()
        self._line: list[str] = []
        self._is_cited = False
        self._shape: Shape = "prose"
        self._cited_before: tuple[int, ...] = ()
        self.unsupported: list[str] = []
        self.statements: list[Statement] = []

    def feed(self, delta: str) -> str:
        """Take the next part of the answer, and return the text that is now final."""
        return "".join(map(self._vouched, self._statements.feed(delta)))

    def finish(self) -> str:
        """End the answer, and return the rest of its text."""
        text = "".join(map(self._vouched, self._statements.finish()))
        return text + self._end_line().rstrip("\n")

    def quote(self, text: str) -> str:
        """Take text that code wrote, which cites its passages itself, and return what is now final."""
        return self.finish() + text

    def _vouched(self, part: AnswerPart) -> str:
        cited = tuple(dict.fromkeys(number for *_, number in find_references(part.text)))
        text = self._marked(part, cited) if part.said or cited else part.text
        if part.said:
            self._line.append(part.said)
            self.statements.append(Statement(part.said, cited or self._cited_before))
        self._is_cited |= bool(cited)
        if part.text:
            self._shape = part.shape
        if not part.ends_line:
            self._cited_before = cited or self._cited_before
            return text + part.gap
        self._cited_before = ()
        return text + (self._end_line() if part.shape == "prose" else "") + part.gap

    def _end_line(self) -> str:
        """Return the suggested reference of a line without one, if its words clearly come from one passage.

        Behind a table or code it is a paragraph of its own, so that it becomes no row of it.
        """
        said, is_cited = " ".join(self._line), self._is_cited
        self._line, self._is_cited = [], False
        nearest = self._suggest(said, self._book.citations) if said and not is_cited and self._suggest else None
        if nearest is None:
            return ""
        suggested = f"*({self._say('suggested_source', reference=write_references([nearest.number]))})*"
        return f" {suggested}" if self._shape == "prose" else f"\n\n{suggested}\n"

    def _marked(self, part: AnswerPart, cited: Sequence[int]) -> str:
        """Return the text of a part with a mark behind each value that its passages do not have."""
        passages = self._passages(cited or self._cited_before)
        if not passages:
            return part.text
        ends = sorted({_behind(part.text, end) for end in self._missing(part.text, passages)})
        if not ends:
            return part.text
        self.unsupported.append(unreferenced(part.text).strip())
        pieces = [part.text[start:end] for start, end in zip((0, *ends), (*ends, len(part.text)), strict=True)]
        return self._mark.join(pieces)

    def _passages(self, cited: Iterable[int]) -> list[KnownPassage]:
        """The passages that a sentence cites, or all of them if it cites none: it may rest on any."""
        chosen = set(cited)
        wanted = [c for c in self._book.citations if not chosen or c.number in chosen]
        return [self._known.setdefault(c.number, KnownPassage(c)) for c in wanted]

    def _missing(self, text: str, passages: Sequence[KnownPassage]) -> Iterator[int]:
        """Yield where the values end that neither the passages nor the question have."""
        languages = (self._say.language,)
        texts = (*passages, self._asked)
        references = [(start, end) for start, end, _ in find_references(text)]
        references += (address.span() for address in _ADDRESS.finditer(text))
        labels = [label for label in _LABEL.finditer(text) if not _inside(label.start(), references)]
        for label in labels:
            if not _is_known(label, text, texts):
                yield label.end()
        codes = [label.span() for label in labels if label["code"]]
        values = values_of(text, languages)
        for value in values:
            following = _WORD.search(text, value.end)
            word = following[0] if following and following.start() <= value.end + 2 else ""
            counts_itself = text[value.end : value.end + 1] == ":" and value.kind == "number"  # "Two: a and b"
            if _inside(value.start, (*references, *codes)) or counts_itself:
                continue
            if not any(each.has(value, word) for each in texts):
                yield value.end
        for start, end in names_in(text, languages[0]):
            spans = (*references, *(label.span() for label in labels), *((each.start, each.end) for each in values))
            if not _inside(start, spans) and not any(each.has_name(text[start:end]) for each in texts):
                yield end


def names_in(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Start and end of each word of a sentence that is written as a name: with capitals inside, or all in capitals.

    Where only names have a capital, as in English, also those that have one and do not begin a sentence.
    """
    for match in _WORD.finditer(text):
        word = match[0]
        is_shaped = sum(map(str.isupper, word)) > 1 and word.isalpha()
        begins = _BEFORE_A_SENTENCE.search(text, 0, match.start()) is not None
        is_capital = language != "de" and word[0].isupper() and len(word) > 1 and not begins
        if is_shaped or is_capital:
            yield match.span()


def _is_known(label: re.Match[str], text: str, known: Sequence[KnownPassage]) -> bool:
    """Return whether what is set apart is in a passage, or no name."""
    if code := label["code"]:
        flat = _flat(code).casefold()
        if "+" in flat:
            return any(_keys(flat) <= _keys(each.text) for each in known)
        return any(flat in each.text.casefold() or (" " in flat and each.has_words_of(flat)) for each in known)
    name = next(filter(None, label.groups()), "").strip()
    words = _WORD.findall(name)
    is_name = 0 < len(words) <= _LONGEST_NAME and name[:1].isupper() and not name.endswith((".", ":", "!", "?"))
    if "+" in name:
        return any(_keys(name) <= _keys(each.text) for each in known)
    leads = text[label.end() : label.end() + 2].lstrip()[:1] in (":", "–", "—")
    return not is_name or leads or any(each.has_name(name) for each in known)


def _in_smaller_units(value: Value) -> Iterator[Reading]:
    """Yield a span of time as a number of seconds or minutes, as it stands in settings: a TTL of 3600."""
    for kind, *amounts in value.readings:
        for amount in amounts if kind == "duration" else ():
            yield from (("number", n) for per in (1, 60) if isinstance(amount, float) and (n := amount / per) >= _MANY)


def _keys(text: str) -> set[str]:
    """Return the words of a text, with the keys of a keyboard named as in English."""
    return {_KEYS.get(word, word) for word in _WORD.findall(text.casefold())}


def _is_form_of(word: str, other: str) -> bool:
    """Return whether two words are the same but for an ending."""
    if word == other:
        return True
    shared = min(len(word), len(other)) - _ENDING
    return shared > _ENDING and word[:shared] == other[:shared] and abs(len(word) - len(other)) <= _ENDING


def _inside(at: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def _behind(text: str, end: int) -> int:
    """Return where a mark can stand: behind the signs that close emphasis, code and quotation marks."""
    closers = _CLOSERS.match(text, end)
    return closers.end() if closers else end


def _flat(markdown: str) -> str:
    """Markdown on one line, without its signs of emphasis and escapes."""
    return " ".join(re.sub(r"\\(?=[^\w\s])|[*`|>]+|\]\([^()\s]*\)|!?\[", " ", markdown).split())


def _as_citation(question: str) -> Citation:
    return Citation.model_construct(number=0, title="", section="", heading_path=(), passage=question)
