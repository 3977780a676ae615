"""What a query in Gremlin may be: one traversal that reads. It is parsed, checked, and written anew.

What is sent is what was understood here, with every string quoted again, so that nothing can hide in a text that a
server reads in another way. A traversal sees one version of one network: where it begins, it is told which.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from urllib.parse import quote, unquote

from kb_pipeline.errors import QueryFailedError, QueryRefusedError

MOST_BYTES = 64 * 1024
MOST_STEPS = 400
MOST_REPEATS = 32
"""Limits of Azure Cosmos DB, which cancels a traversal that exceeds them."""
_MOST_NESTED = 40
"""Brackets in brackets: Python's stack has room for them, and no traversal of a person has them."""

PARTITION = "partitionKey"
VERSION = "kb_version"
PAGE = "kb_page"
HIDDEN = frozenset({PARTITION, VERSION, PAGE})
"""Properties that say to which version an element belongs. Readers do not see them."""

STEPS = frozenset("""
    V E out in both outE inE bothE outV inV bothV otherV
    has hasId hasLabel hasNot is where filter not and or dedup simplePath cyclicPath coin
    id label key value values valueMap properties
    count sum min max mean fold unfold group groupCount
    order by limit range skip tail sample
    as select project path tree store aggregate cap
    repeat times until emit loops local flatMap map union coalesce choose option optional constant identity
""".split())  # fmt: skip
_PREDICATES = frozenset("""
    eq neq gt gte lt lte between inside outside within without
    startingWith endingWith containing notStartingWith notEndingWith notContaining
""".split())  # fmt: skip
_OF_PROGRAMS = frozenset({"toList", "toSet", "next", "tryNext", "iterate", "hasNext"})
_OTHER_LANGUAGE = re.compile(r"\s*(SELECT|WITH|MATCH)\b", re.IGNORECASE)
_COMBINING = frozenset({"and", "or", "negate"})
_WORDS = {
    "T": {"id", "label", "key", "value"},
    "Order": {"asc", "desc", "incr", "decr", "shuffle"},
    "Scope": {"local", "global"},
    "Column": {"keys", "values"},
    "Pop": {"first", "last", "all", "mixed"},
}
_BARE = frozenset({"true", "false"}).union(*_WORDS.values())
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<number>-?\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?[lLdDfF]?(?![\w.]))
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign>[().,])
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ALLOWED = "a query is one traversal that begins with g.V( or g.E( and only reads"


@dataclass(frozen=True)
class QuotedText:
    """A quoted text."""

    value: str


@dataclass(frozen=True)
class PlainWord:
    """A number, or a word such as ``desc`` or ``T.id``, as it was written."""

    value: str


@dataclass(frozen=True)
class Call:
    """A name with its arguments."""

    name: str
    arguments: "tuple[Argument, ...]" = ()


@dataclass(frozen=True)
class Chain:
    """Calls one after the other. ``start``: ``g`` for the whole, ``__`` or nothing for a part, ``P`` for predicates."""

    start: str
    calls: tuple[Call, ...]


Argument = QuotedText | PlainWord | Chain


@dataclass(frozen=True)
class NetworkVersion:
    """One version of a network. The ids of its elements begin with it, so that versions lie beside each other."""

    name: str
    _start: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_start", f"{self.name}:")

    def stored(self, element: str) -> str:
        """The id in the database; it holds none of the signs that ids may not have there."""
        return self._start + quote(element, safe="")

    def shown(self, value: str) -> str:
        """The id of an element as its network calls it; other texts are returned as they are."""
        return unquote(value.removeprefix(self._start)) if value.startswith(self._start) else value


def checked(text: str, scope: NetworkVersion, most_rows: int, characters: int = MOST_BYTES) -> str:
    """The traversal to send for ``text``: within ``scope``, with at most ``most_rows`` results.

    Raises:
        QueryRefusedError: it may do more than read; the message says what may be asked.
        QueryFailedError: it is no Gremlin.
    """
    _check_text(text, characters)
    traversal = parse(text)
    _check_steps(traversal)
    return f"{_written(traversal, scope)}.limit({most_rows})"


def parse(text: str) -> Chain:
    """Read a text as one traversal, of whatever steps.

    Raises:
        QueryRefusedError: it holds something that no traversal has.
        QueryFailedError: it does not end well.
    """
    parser = _Parser(list(_tokens(text)))
    traversal = parser.chain(0)
    if parser.kind:
        raise QueryRefusedError(f"{_ALLOWED}; nothing may follow it, and {parser.shown()} does")
    return traversal


def quoted(text: str) -> str:
    """A text as Gremlin writes it."""
    return "'" + text.replace("'", "\\'") + "'"


def _check_text(text: str, characters: int) -> None:
    if not text.strip():
        raise QueryRefusedError(f"the query is empty; {_ALLOWED}")
    if other := _OTHER_LANGUAGE.match(text):
        raise QueryRefusedError(
            f"the graph answers Gremlin, and no {other[1].upper()}; {_ALLOWED}, as in g.V('LINK-1').out().id()"
        )
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise QueryRefusedError("the query holds characters that are no text") from None
    if len(text) > characters or size > MOST_BYTES:
        most = min(characters, MOST_BYTES)
        raise QueryRefusedError(f"the query has {len(text):,} characters; at most {most:,} are read")


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    place = 0
    text = text.strip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if not match:
            at = place + len(text[place:]) - len(text[place:].lstrip())
            raise QueryRefusedError(
                f"{_ALLOWED}, without closures, lists, comments, semicolons or variables; "
                f"{text[at : at + 12]!r} at character {at + 1} is none of its parts"
            )
        kind = str(match.lastgroup)
        yield kind, _unquoted(match[kind], match.start(kind)) if kind == "text" else match[kind], match.start(kind)
        place = match.end()


def _unquoted(written: str, at: int) -> str:
    """The text inside quotation marks. Only these may be escaped in it, and nothing is put into it."""
    inside = re.sub(r"\\(['\"])", r"\1", written[1:-1])
    if (
        "\\" in inside
        or (written[0] == '"' and "$" in inside)
        or any(ord(sign) < 32 or ord(sign) == 127 for sign in inside)
    ):
        raise QueryRefusedError(
            f"the text at character {at + 1} holds a backslash, a control character or a $; ask without it"
        )
    return inside


class _Parser:
    def __init__(self, tokens: list[tuple[str, str, int]]) -> None:
        self._tokens, self._place = tokens, 0

    @property
    def kind(self) -> str:
        return self._tokens[self._place][0] if self._place < len(self._tokens) else ""

    @property
    def value(self) -> str:
        return self._tokens[self._place][1] if self._place < len(self._tokens) else ""

    def shown(self) -> str:
        """The token in a message."""
        if not self.kind:
            return "its end"
        return f"{self.value[:40]!r} at character {self._tokens[self._place][2] + 1}"

    def chain(self, depth: int) -> Chain:
        """``g.V()...`` as a whole, or the same without ``g`` or with ``__`` as an argument."""
        start = ""
        if self.kind == "name" and self.value in ("g", "__", "P", "TextP") and self._followed_by("."):
            start = {"TextP": "P"}.get(self.value, self.value)
            self._place += 2
        calls = [self._call(depth)]
        while self._is("."):
            self._place += 1
            calls.append(self._call(depth))
        return Chain(start, tuple(calls))

    def _call(self, depth: int) -> Call:
        if self.kind != "name":
            raise QueryFailedError(f"a step is expected, and there is {self.shown()}")
        name = self.value
        self._place += 1
        if not self._is("("):
            raise QueryFailedError(f"{name[:40]} needs brackets, as in {name[:40]}(); there is {self.shown()}")
        self._place += 1
        arguments: list[Argument] = []
        while not self._is(")"):
            if arguments:
                if not self._is(","):
                    raise QueryFailedError(f"{name[:40]}( is not closed: a comma or ) is expected, not {self.shown()}")
                self._place += 1
            arguments.append(self._argument(depth + 1))
        self._place += 1
        return Call(name, tuple(arguments))

    def _argument(self, depth: int) -> Argument:
        if depth > _MOST_NESTED:
            raise QueryRefusedError(f"the query nests more than {_MOST_NESTED} brackets")
        kind, value = self.kind, self.value
        if kind == "text":
            self._place += 1
            return QuotedText(value)
        if kind == "number":
            self._place += 1
            return PlainWord(value)
        if kind != "name":
            raise QueryFailedError(f"a value is expected, and there is {self.shown()}")
        if self._followed_by("("):
            return self.chain(depth)
        if value in _WORDS and self._followed_by("."):
            self._place += 2
            if self.value not in _WORDS[value]:
                raise QueryRefusedError(f"{value} has {', '.join(sorted(_WORDS[value]))}, and not {self.shown()}")
            self._place += 1
            return PlainWord(f"{value}.{self._tokens[self._place - 1][1]}")
        if value in _BARE:
            self._place += 1
            return PlainWord(value)
        if value in ("g", "__", "P", "TextP") and self._followed_by("."):
            return self.chain(depth)
        raise QueryRefusedError(f"{self.shown()} is no value; put texts in quotation marks, as in has('name', 'x')")

    def _is(self, sign: str) -> bool:
        return self.kind == "sign" and self.value == sign

    def _followed_by(self, sign: str) -> bool:
        following = self._tokens[self._place + 1 : self._place + 2]
        return bool(following) and following[0][:2] == ("sign", sign)


def _check_steps(traversal: Chain) -> None:
    if traversal.start != "g" or traversal.calls[0].name not in ("V", "E"):
        raise QueryRefusedError(_ALLOWED)
    every = list(chains(traversal))
    for chain in every:
        if chain is not traversal and chain.start == "g":
            raise QueryRefusedError(f"{_ALLOWED}; inside of it traversals begin with __ or without anything")
        names = _PREDICATES | _COMBINING if is_predicate(chain) else STEPS
        for call in chain.calls:
            if call.name not in names:
                if call.name in _OF_PROGRAMS:
                    raise QueryRefusedError(f"{call.name}() is for programs; leave it out, all results come back")
                near = get_close_matches(call.name, sorted(names), 3)
                advice = f"did you mean {', '.join(near)}?" if near else f"the steps are {', '.join(sorted(STEPS))}"
                raise QueryRefusedError(f"{call.name[:40]} is no step that a query may have; {advice}")
        _check_repeats(chain)
    if sum(len(chain.calls) for chain in every) > MOST_STEPS:
        raise QueryRefusedError(f"the query has more than {MOST_STEPS} steps; ask for less at once")


def _check_repeats(chain: Chain) -> None:
    """Each ``repeat`` ends: after a number of times, or because no way goes through an element twice."""
    names = [call.name for call in chain.calls]
    for call in chain.calls:
        if call.name == "times":
            (times,) = call.arguments if len(call.arguments) == 1 else (PlainWord("-"),)
            if not isinstance(times, PlainWord) or not times.value.isdigit() or int(times.value) > MOST_REPEATS:
                raise QueryRefusedError(f"times() takes a number up to {MOST_REPEATS}")
        if call.name == "repeat":
            inside = {
                each.name for argument in call.arguments if isinstance(argument, Chain) for each in argument.calls
            }
            if names.count("times") < names.count("repeat") and not ("until" in names and "simplePath" in inside):
                raise QueryRefusedError(
                    f"repeat() needs an end: .times(n), n up to {MOST_REPEATS}, or .until(…) with simplePath() inside"
                )


def is_predicate(chain: Chain) -> bool:
    """Whether a chain compares values, and is no traversal."""
    return chain.start == "P" or (not chain.start and chain.calls[0].name in _PREDICATES)


def chains(chain: Chain) -> Iterator[Chain]:
    """A chain, and all that are arguments in it."""
    pending = [chain]
    while pending:
        current = pending.pop()
        yield current
        pending += [each for call in current.calls for each in call.arguments if isinstance(each, Chain)]


def _written(chain: Chain, scope: NetworkVersion) -> str:
    steps = [_step(call, scope) for call in chain.calls]
    return ".".join([chain.start, *steps] if chain.start else steps)


def _step(call: Call, scope: NetworkVersion) -> str:
    arguments = call.arguments
    if call.name in ("V", "E"):
        ids = ", ".join(_ids(argument, scope) for argument in arguments)
        key = PARTITION if call.name == "V" else VERSION
        return f"{call.name}({ids}).has('{key}', {quoted(scope.name)})"
    if call.name == "hasId":
        return f"hasId({', '.join(_ids(argument, scope) for argument in arguments)})"
    if call.name == "has" and len(arguments) == 2 and _names_the_id(arguments[0]):
        return f"hasId({_ids(arguments[1], scope)})"
    if call.name == "has" and len(arguments) == 3 and _names_the_id(arguments[1]):
        return f"hasLabel({_argument(arguments[0], scope)}).hasId({_ids(arguments[2], scope)})"
    if call.name == "values" and len(arguments) == 1 and _names_the_id(arguments[0]):
        return "id()"
    if call.name == "by" and arguments and arguments[0] == QuotedText("id"):
        return f"by({', '.join(['id', *(_argument(each, scope) for each in arguments[1:])])})"
    return f"{call.name}({', '.join(_argument(argument, scope) for argument in arguments)})"


def _names_the_id(argument: Argument) -> bool:
    return argument in (QuotedText("id"), PlainWord("id"), PlainWord("T.id"))


def _argument(argument: Argument, scope: NetworkVersion) -> str:
    if isinstance(argument, QuotedText):
        return quoted(argument.value)
    return argument.value if isinstance(argument, PlainWord) else _written(argument, scope)


def _ids(argument: Argument, scope: NetworkVersion) -> str:
    """An argument that names elements, or compares their ids."""
    if isinstance(argument, QuotedText):
        return quoted(scope.stored(argument.value))
    if isinstance(argument, Chain) and is_predicate(argument):
        calls = [f"{call.name}({', '.join(_ids(each, scope) for each in call.arguments)})" for call in argument.calls]
        return ".".join([argument.start, *calls] if argument.start else calls)
    raise QueryRefusedError("ids are texts in quotation marks, as in V('LINK-1')")
