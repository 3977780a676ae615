"""JSON that people write, read so that no part of it is silently left out.

Usual readers keep the last of two keys of one name, so that an access list can undo the one before it.
"""

import json
import re

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}:]', re.DOTALL)


def strict_json(text: str) -> object:
    """What a text in JSON holds.

    Raises:
        ValueError: it is no JSON, or an object has a key twice; the message names the lines.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_reject_constant)
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    except _DuplicateError as exc:
        raise ValueError(_duplicate_in(text)) from exc


def duplicate(first: str, first_line: int, second: str, second_line: int) -> str:
    """Say that two keys of a mapping are one."""
    places = f"on line {first_line} and on line {second_line}" if first_line != second_line else "in one line"
    if first == second:
        return f"the key {first[:80]!a} occurs twice, {places}; leave one of them"
    both = f"the keys {first[:80]!a} and {second[:80]!a}"
    return f"{both}, {places}, differ only in how they are written; leave one of them"


class _DuplicateError(ValueError):
    pass


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise _DuplicateError
    return values


def _reject_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _duplicate_in(text: str) -> str:
    """Say which key stands twice in an object, and where: the reader itself does not tell."""
    objects: list[dict[str, int]] = []
    written, at = "", 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{":
                objects.append({})
            case "}":
                objects.pop()
            case ":":
                key = json.loads(written)
                if key in objects[-1]:
                    first, second = (text.count("\n", 0, place) + 1 for place in (objects[-1][key], at))
                    return duplicate(key, first, key, second)
                objects[-1][key] = at
            case _:
                written, at = token[0], token.start()
    raise AssertionError("an object has a key twice")
