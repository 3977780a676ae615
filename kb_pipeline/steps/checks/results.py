"""How a check tells what it found: sentences for a person, numbers for a plot."""

from collections.abc import Iterator, Mapping, Sequence

from kb_pipeline.records import CheckResult

_NAMED = 3
_LONGEST = 80


def outcome(
    name: str, problems: Sequence[str], advice: str, counts: Mapping[str, int | float] | None = None
) -> CheckResult:
    """The check's result: passed if there are no ``problems``; ``advice`` says how to mend them."""
    message = f"{'; '.join(problems)}. {advice}" if problems else ""
    return CheckResult(name=name, passed=not problems, message=message, counts=dict(counts or {}))


def number(count: int, noun: str) -> str:
    """``1 table``, ``2 tables``, ``3 entries``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def named(noun: str, problem: str, items: Sequence[object]) -> Iterator[str]:
    """The problem that these items have, if there are any."""
    if items:
        yield f"{number(len(items), noun)} {problem}: {some(items)}"


def some(items: Sequence[object]) -> str:
    """The first few of them, each on one line and cut where it is long, and how many more there are."""
    shown = ", ".join(repr(short(str(item))) for item in items[:_NAMED])
    more = len(items) - _NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def short(text: str) -> str:
    """The text on one line, no longer than a line."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
