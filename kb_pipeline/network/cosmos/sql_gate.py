"""What a query of telemetry in Azure Cosmos DB may be: one SELECT of one declared container.

It is the part of SQL that the local store answers in the same way. It is read token by token and written anew, with
texts as parameters, columns with their alias, and the version of the rows that readers may see.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from kb_pipeline.errors import QueryFailedError, QueryRefusedError
from kb_pipeline.network.sql_names import sql_name

VERSION = "kb_version"
"""The field that says to which version of a container a row belongs."""


@dataclass(frozen=True)
class Contained:
    """A version of a container: the name that its rows carry, its columns, and those of partition and time."""

    name: str
    columns: tuple[str, ...]
    partition_key: str
    time: str
    rows: int


_AGGREGATES = frozenset({"COUNT", "SUM", "AVG", "MIN", "MAX"})
_FUNCTIONS = frozenset("""
    ABS CEILING FLOOR ROUND SQRT POWER LOWER UPPER LENGTH TRIM CONCAT REPLACE LEFT RIGHT CONTAINS STARTSWITH ENDSWITH
    IS_NULL IS_DEFINED
""".split())  # fmt: skip
_ALONE = (
    "aggregates stand alone here: SELECT max(a) AS x, count(*) AS y FROM … WHERE …, without other columns, sums of "
    "them, ORDER BY or LIMIT"
)
_WORDS = frozenset({"AND", "OR", "NOT", "BETWEEN", "LIKE", "IN", "IS", "NULL", "TRUE", "FALSE", "AS", "ASC", "DESC"})
_BEFORE_COLUMNS = frozenset({"DISTINCT", "TOP", "VALUE"})
_CLAUSES = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "OFFSET", "LIMIT")
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>'(?:[^']|'')*')
      | "(?P<quoted>[A-Za-z_]\w*)"
      | (?P<number>\d{1,18}(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?(?![\w.]))
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign><>|!=|<=|>=|\|\||[=<>(),.*+/%-])
    )""",
    re.VERBOSE | re.ASCII,
)
_MOST_ROWS = 2**31 - 1  # an OFFSET needs a LIMIT: the largest that Cosmos DB takes
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_NAMES = ("name", "quoted")
Token = tuple[str, str]
"""The kind of a word or sign, and the word, without quotation marks around a name."""


@dataclass(frozen=True)
class Checked:
    """What to send. ``texts``: one query, or with ``names`` one for each aggregate, whose values make one row.

    ``sorted``: the rows are still to be sorted by all their columns, as ``ORDER BY ALL`` asks. ``renamed``: what the
    query calls columns that it may not call as was asked, because their names are words of SQL.
    """

    container: str
    texts: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    names: tuple[str, ...] = ()
    sorted: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)


def checked(text: str, containers: Mapping[str, Contained], characters: int) -> Checked:
    """Check a query of ``containers``; it sees no rows of other versions than those.

    Raises:
        QueryRefusedError: it asks for something else; the message says what may be asked.
        QueryFailedError: it is no such SQL, or names something that there is not.
    """
    if not text.strip():
        raise QueryRefusedError(f"the query is empty; {_allowed(containers)}")
    if len(text) > characters:
        raise QueryRefusedError(f"the query has {len(text):,} characters; at most {characters:,} are read")
    clauses = _clauses(list(_tokens(text)), containers)
    container, alias = _source(clauses["FROM"], containers)
    contained = containers[container]
    writer = _Writer(container, alias, containers)
    parameters = writer.parameters
    condition = f"c.{VERSION} = {writer.parameter(contained.name)}"
    if "WHERE" in clauses:
        condition += f" AND ({writer.written(clauses['WHERE'])})"
    selected = clauses["SELECT"]
    items = list(_split(_after_top(selected)))
    if any(_is_aggregate(item) for item in items):
        if "ORDER" in clauses or "OFFSET" in clauses or not all(_is_aggregate(item) for item in items):
            raise QueryRefusedError(_ALONE)
        texts, names = zip(*(writer.aggregate(item) for item in items), strict=True)
        queries = tuple(f"SELECT VALUE {each} FROM c WHERE {condition}" for each in texts)  # noqa: S608  (checked)
        return Checked(container, queries, tuple(parameters), tuple(names))
    by_all = [_word(token) for token in clauses.get("ORDER", ())] == ["ALL"]
    skipped, taken = (int(value) for _, value in clauses.get("OFFSET", (("", "0"), ("", "-1"))))
    top = f"TOP {taken} " if taken >= 0 and not skipped and not by_all else ""
    distinct = "DISTINCT " if selected and _word(selected[0]) == "DISTINCT" else ""
    query = f"SELECT {distinct}{top}{writer.written(selected[bool(distinct) :])} FROM c WHERE {condition}"  # noqa: S608
    if by_all:
        query += f' ORDER BY c["{contained.time}"]'
    elif "ORDER" in clauses:
        query += f" ORDER BY {writer.written(clauses['ORDER'])}"
    if taken >= 0 and not top:
        query += f" OFFSET {skipped} LIMIT {taken}"
    return Checked(container, (query,), tuple(parameters), sorted=by_all, renamed=writer.renamed)


def stored_time(at: datetime) -> str:
    """A time as rows hold it: UTC, so that the order of texts is that of times."""
    return (at.astimezone(UTC).replace(tzinfo=None) if at.tzinfo else at).isoformat()


def _tokens(text: str) -> Iterator[Token]:
    text, place = text.strip(), 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if not match:
            at = place + len(text[place:]) - len(text[place:].lstrip())
            raise QueryRefusedError(
                f"{text[at : at + 12]!r} at character {at + 1} is no part of a query here, which has no comments, "
                "semicolons, parameters or nested objects, and texts in single quotation marks"
            )
        kind = str(match.lastgroup)
        place = match.end()
        if kind == "name" and match[kind].upper() == "TIMESTAMP" and re.match(r"\s*'", text[place:]):
            continue  # rows hold times as texts
        yield kind, match[kind]


def _clauses(tokens: list[Token], containers: Mapping[str, Contained]) -> dict[str, list[Token]]:
    """The tokens of each clause, by its first word. ``OFFSET`` holds the rows to leave out, and those to take."""
    if not tokens or _word(tokens[0]) != "SELECT":
        raise QueryRefusedError(_allowed(containers))
    clauses: dict[str, list[Token]] = {}
    current: list[Token] = []
    depth = 0
    for number, token in enumerate(tokens):
        depth += (token == ("sign", "(")) - (token == ("sign", ")"))
        if depth < 0:
            raise QueryFailedError("a bracket is closed that was not opened")
        word = _word(token)
        if word in _CLAUSES and not _names_a_column(tokens, number):
            if word in clauses or depth:
                raise QueryRefusedError(f"{word} stands twice or inside brackets; {_allowed(containers)}")
            clauses[word] = current = []
        elif word != "BY" or current or not clauses or next(reversed(clauses)) not in ("ORDER", "GROUP"):
            current.append(token)
    if "GROUP" in clauses or "HAVING" in clauses:
        raise QueryRefusedError(
            "rows cannot be grouped here; ask for the rows, or for an aggregate of one element: … WHERE id = 'x'"
        )
    if "FROM" not in clauses:
        raise QueryRefusedError(f"FROM is missing; {_allowed(containers)}")
    if depth:
        raise QueryFailedError("a bracket is not closed")
    if "OFFSET" in clauses or "LIMIT" in clauses:
        skipped, taken = clauses.pop("OFFSET", [("number", "0")]), clauses.pop("LIMIT", [("number", str(_MOST_ROWS))])
        if [kind for kind, _ in (*skipped, *taken)] != ["number", "number"]:
            raise QueryFailedError("LIMIT and OFFSET take one number each")
        clauses["OFFSET"] = [*skipped, *taken]
    return clauses


def _names_a_column(tokens: list[Token], number: int) -> bool:
    """Whether a word is the name of a column, because it follows an alias and a dot."""
    return number > 0 and tokens[number - 1] == ("sign", ".")


def _source(tokens: list[Token], containers: Mapping[str, Contained]) -> tuple[str, str]:
    """The container and the alias of ``FROM``."""
    names = [token[1] for token in tokens if token[0] in _NAMES and _word(token) != "AS"]
    by_lower_case = {name.lower(): name for name in containers}
    if not 1 <= len(names) <= 2 or any(kind not in _NAMES for kind, _ in tokens):
        raise QueryRefusedError(f"FROM names one container; {_allowed(containers)}")
    if names[0].lower() not in by_lower_case:
        near = get_close_matches(names[0].lower(), by_lower_case, 1)
        advice = f"did you mean {sql_name(by_lower_case[near[0]])}? " if near else ""
        raise QueryRefusedError(f"there is no container {names[0][:60]!r}; {advice}{_allowed(containers)}")
    return by_lower_case[names[0].lower()], names[-1]


class _Writer:
    def __init__(self, container: str, alias: str, containers: Mapping[str, Contained]) -> None:
        self._container, self._aliases = container, {alias.lower(), container.lower()}
        self._containers = containers
        self._columns = {name.lower(): name for name in containers[container].columns}
        self.parameters: list[tuple[str, str]] = []
        self.renamed: dict[str, str] = {}

    def parameter(self, value: str) -> str:
        """The name of a new parameter with a value."""
        self.parameters.append((f"@p{len(self.parameters)}", value))
        return self.parameters[-1][0]

    def aggregate(self, item: list[Token]) -> tuple[str, str]:
        """An aggregate, and the name of its value."""
        name = "".join(sql_name(value) if kind == "quoted" else value for kind, value in item)
        if len(item) > 2 and _word(item[-2]) == "AS":
            item, name = item[:-2], item[-1][1]
        inside = "1" if [value for _, value in item[2:-1]] == ["*"] else self.written(item[2:-1])
        return f"{item[0][1].upper()}({inside})", name

    def written(self, tokens: list[Token]) -> str:
        """A clause, with its columns qualified and its texts as parameters."""
        parts: list[str] = []
        place = 0
        while place < len(tokens):
            kind, value = tokens[place]
            following = tokens[place + 1 : place + 3]
            if kind == "text":
                parts.append(self.parameter(_stored(value[1:-1].replace("''", "'"))))
            elif kind not in _NAMES:
                parts.append(value)
            elif kind == "name" and following[:1] == [("sign", "(")]:
                parts.append(_function(value))
            elif value.lower() in self._aliases and following[:1] == [("sign", ".")]:
                parts.append("*" if following[1:] == [("sign", "*")] else self._column(following[1:]))
                place += 2
            elif parts and parts[-1] == "AS":
                parts.append(self._alias(value))
            else:
                parts.append(self._column([(kind, value)]) if kind == "quoted" else self._name(value))
            place += 1
            self._rewrite_null(parts)
        return " ".join(parts)

    def _alias(self, value: str) -> str:
        if sql_name(value) == value:
            return value
        stand_in = f"kb_column_{len(self.renamed)}"
        self.renamed[stand_in] = value
        return stand_in

    def _name(self, value: str) -> str:
        if value.upper() in _WORDS or (value.lower() not in self._columns and value.upper() in _BEFORE_COLUMNS):
            return value.upper()
        return self._column([("name", value)])

    def _column(self, tokens: list[Token]) -> str:
        if len(tokens) != 1 or tokens[0][0] not in _NAMES or tokens[0][1].lower() not in self._columns:
            name = tokens[0][1] if tokens else "."
            raise QueryFailedError(
                f"there is no column {name[:60]!r} in {sql_name(self._container)}; {self._advice(name)}"
                f"its columns are {', '.join(map(sql_name, self._columns.values()))}"
            )
        return f'c["{self._columns[tokens[0][1].lower()]}"]'

    def _advice(self, name: str) -> str:
        """What may have been meant by the name of a column."""
        if near := get_close_matches(name.lower(), self._columns, 3):
            return f"did you mean {', '.join(sql_name(self._columns[each]) for each in near)}? "
        homes = [sql_name(other) for other, each in self._containers.items()
                 if name.lower() in map(str.lower, each.columns)]  # fmt: skip
        if homes:
            return f"it is a column of {' and '.join(homes)}; "
        return f"a text stands in single quotation marks, as in '{name[:60]}'; "

    @staticmethod
    def _rewrite_null(parts: list[str]) -> None:
        """``x IS NULL`` becomes a function, as this service has it."""
        if parts[-1:] == ["NULL"] and parts[-2:-1] == ["IS"] and len(parts) > 2:
            parts[-3:] = [f"IS_NULL({parts[-3]})"]
        elif parts[-1:] == ["NULL"] and parts[-3:-1] == ["IS", "NOT"] and len(parts) > 3:
            parts[-4:] = [f"NOT IS_NULL({parts[-4]})"]


def _function(name: str) -> str:
    if name.upper() in ("IN", "AND", "OR", "NOT", "BETWEEN", "LIKE"):
        return name.upper()
    if name.upper() in _AGGREGATES:
        raise QueryRefusedError(_ALONE)
    if name.upper() not in _FUNCTIONS:
        functions = ", ".join(sorted(_FUNCTIONS | _AGGREGATES))
        near = get_close_matches(name.upper(), _FUNCTIONS | _AGGREGATES, 1)
        advice = f"did you mean {near[0]}? " if near else ""
        raise QueryRefusedError(
            f"{name[:40]} is no function of queries here; {advice}there are {functions}, and no subqueries"
        )
    return name.upper()


def _stored(text: str) -> str:
    """A text as rows hold it: times in one form, however they were written."""
    if _TIME.fullmatch(text):
        try:
            return stored_time(datetime.fromisoformat(text))
        except ValueError:
            return text
    return text


def _after_top(tokens: list[Token]) -> list[Token]:
    return tokens[2:] if tokens and _word(tokens[0]) == "TOP" else tokens


def _split(tokens: list[Token]) -> Iterator[list[Token]]:
    depth, item = 0, list[Token]()
    for token in tokens:
        depth += (token == ("sign", "(")) - (token == ("sign", ")"))
        if token == ("sign", ",") and not depth:
            yield item
            item = []
        else:
            item.append(token)
    yield item


def _is_aggregate(item: list[Token]) -> bool:
    """Whether an item of the list is one aggregate and nothing else but its name."""
    called = item[:-2] if len(item) > 2 and _word(item[-2]) == "AS" else item
    is_call = len(called) > 2 and _word(called[0]) in _AGGREGATES and called[1] == ("sign", "(")
    return is_call and called[-1] == ("sign", ")") and sum(token == ("sign", "(") for token in called) == 1


def _word(token: Token) -> str:
    return token[1].upper() if token[0] == "name" else ""


def _allowed(containers: Mapping[str, Contained]) -> str:
    names = ", ".join(map(sql_name, sorted(containers))) or "(none is loaded)"
    return f"a query is one SELECT … FROM … WHERE …; the containers are {names}"  # noqa: S608  (a message)


def plain(row: Any, renamed: Mapping[str, str]) -> dict[str, Any]:  # noqa: ANN401
    """A row with the names that were asked for, and without what the service and the loader add to it."""
    if not isinstance(row, dict):
        return {"value": row}
    shown = {name: value for name, value in row.items() if not name.startswith("_") and name not in ("id", VERSION)}
    return {renamed.get(name, name): value for name, value in shown.items()}
