"""Filters in the OData dialect of the service: tokens, a parser by recursive descent, evaluation.

https://learn.microsoft.com/azure/search/search-query-odata-syntax-reference
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Scope = Mapping[str, Any]
Test = Callable[[Scope], bool]
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "gt": lambda a, b: a is not None and a > b,
    "ge": lambda a, b: a is not None and a >= b,
    "lt": lambda a, b: a is not None and a < b,
    "le": lambda a, b: a is not None and a <= b,
}
_MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
_TOKEN = re.compile(
    rf"\s*(?:('(?:[^']|'')*')|({_MOMENT})|(-?\d+(?:\.\d+)?)|(search\.in\b)|([A-Za-z_]\w*)|([(),:/]))", re.ASCII
)


class FilterError(ValueError):
    """It is no filter, or not one for this index."""


@dataclass(frozen=True)
class Filter:
    """A parsed filter: its test, the fields it names, and what its outermost ``and`` asks of single fields.

    ``compared``: names of fields and the kinds of values that they are compared with.
    """

    test: Test
    fields: frozenset[str]
    collections: frozenset[str]
    one_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    above: Mapping[str, str] = field(default_factory=dict)
    compared: frozenset[tuple[str, str]] = frozenset()


def parse(text: str) -> Filter:
    parser = _Parser(text)
    test = parser.either()
    if parser.kind:
        raise FilterError(f"unexpected {parser.text!r}")
    return Filter(
        test,
        frozenset(parser.fields),
        frozenset(parser.collections),
        parser.one_of,
        parser.above,
        frozenset(parser.compared),
    )


class _Parser:
    def __init__(self, text: str) -> None:
        self.fields: set[str] = set()
        self.collections: set[str] = set()
        self.compared: set[tuple[str, str]] = set()
        self.one_of: dict[str, frozenset[str]] = {}
        self.above: dict[str, str] = {}
        self._conjunct = True
        self._negated = False
        self._variable = ""
        self._tokens = _tokens(text)
        self.kind = self.text = ""
        self._next()

    def _next(self) -> str:
        taken = self.text
        self.kind, self.text = next(self._tokens)
        return taken

    def _take(self, text: str) -> None:
        if self.text != text or self.kind == "string":
            raise FilterError(f"expected {text!r}, found {self.text!r}")
        self._next()

    def _is(self, word: str) -> bool:
        return self.kind == "word" and self.text == word

    def either(self) -> Test:
        tests = [self._both()]
        while self._is("or"):
            self._next()
            self.one_of.clear()  # nothing of it has to hold
            self.above.clear()
            tests.append(self._apart(self._both))
        return tests[0] if len(tests) == 1 else lambda scope: any(test(scope) for test in tests)

    def _both(self) -> Test:
        tests = [self._not()]
        while self._is("and"):
            self._next()
            tests.append(self._not())
        return tests[0] if len(tests) == 1 else lambda scope: all(test(scope) for test in tests)

    def _not(self) -> Test:
        if not self._is("not"):
            return self._one()
        self._next()
        self._negated = not (self.kind == "mark" or self._is("not"))
        test = self._apart(self._not)
        self._negated = False
        return lambda scope: not test(scope)

    def _apart(self, read: Callable[[], Test]) -> Test:
        before, self._conjunct = self._conjunct, False
        test = read()
        self._conjunct = before
        return test

    def _one(self) -> Test:
        if self.text == "(" and self.kind == "mark":
            self._next()
            test = self._apart(self.either)
            self._take(")")
            return test
        if self._is("true") or self._is("false"):
            value = self._next() == "true"
            return lambda _: value
        if self.kind == "in":
            return self._search_in()
        return self._path()

    def _search_in(self) -> Test:
        self._next()
        self._take("(")
        name = self._name()
        self._take(",")
        values = self._string()
        delimiters = " ,"
        if self.text == "," and self.kind == "mark":
            self._next()
            delimiters = self._string()
        self._take(")")
        members = frozenset(re.split(f"[{re.escape(delimiters)}]", values)) if delimiters else frozenset({values})
        members = frozenset(each.strip() for each in members) - {""}
        if self._conjunct and name != self._variable:
            self.one_of[name] = members
        return lambda scope: scope.get(name) in members

    def _path(self) -> Test:
        name = self._name()
        if self.text == "/" and self.kind == "mark":
            self._next()
            return self._quantified(name)
        if self.kind != "word" or self.text not in COMPARE:
            if name == self._variable:
                raise FilterError(f"{name} must be compared")
            raise FilterError(f"expected a comparison of {name}, found {self.text!r}")
        if self._negated:  # it binds more tightly than a comparison, so that the service takes it for the field's
            raise FilterError("a unary operator with an incompatible type was detected, for operator kind 'Not'")
        operator = self._next()
        if name != self._variable:
            self.compared.add((name, self.kind))
        value = self._value()
        if self._conjunct and name != self._variable and isinstance(value, str):
            if operator == "eq":
                self.one_of[name] = frozenset({value})
            if operator == "gt":
                self.above[name] = value
        compare = COMPARE[operator]
        if isinstance(value, datetime):
            return lambda scope: compare(_moment(scope.get(name)), value)
        return lambda scope: compare(scope.get(name), value)

    def _quantified(self, name: str) -> Test:
        if name == self._variable or self._variable:
            raise FilterError("a lambda within a lambda")
        if self.text not in ("any", "all"):
            raise FilterError(f"expected any or all, found {self.text!r}")
        quantify = any if self._next() == "any" else all
        self.fields.discard(name)
        self.collections.add(name)
        self._take("(")
        if self.text == ")" and self.kind == "mark" and quantify is any:
            self._next()
            return lambda scope: bool(scope.get(name))
        self._variable = variable = self._word()
        self._take(":")
        test = self._apart(self.either)
        self._take(")")
        self._variable = ""
        return lambda scope: quantify(test({variable: each}) for each in scope.get(name) or [])

    def _name(self) -> str:
        name = self._word()
        if name != self._variable:
            if self._variable:
                raise FilterError(f"{name} is not the lambda's variable")
            self.fields.add(name)
        return name

    def _word(self) -> str:
        if self.kind != "word":
            raise FilterError(f"expected a name, found {self.text!r}")
        return self._next()

    def _string(self) -> str:
        if self.kind != "string":
            raise FilterError(f"expected a string, found {self.text!r}")
        return self._next()

    def _value(self) -> Any:
        if self.kind == "string":
            return self._next()
        if self.kind == "moment":
            return _moment(self._next())
        if self.kind == "number":
            return float(self._next())
        if self.kind == "word" and self.text in ("null", "true", "false"):
            return {"null": None, "true": True, "false": False}[self._next()]
        raise FilterError(f"expected a value, found {self.text!r}")


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    kinds: Sequence[str] = ("string", "moment", "number", "in", "word", "mark")
    position = 0
    while text[position:].strip():
        found = _TOKEN.match(text, position)
        if not found:
            raise FilterError(f"syntax error at position {position}")
        position = found.end()
        kind, value = next((kinds[i], group) for i, group in enumerate(found.groups()) if group is not None)
        yield kind, value[1:-1].replace("''", "'") if kind == "string" else value
    yield "", ""
