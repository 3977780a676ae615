"""JSON that people write, read so that no part of it is silently left out.

Usual readers keep the last of two keys of one name, so that an access list can undo the one before it.
"""

import json
import math
import re
import unicodedata

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}:]', re.DOTALL)


def strict_json(text: str) -> object:
    """What a text in JSON holds. Keys that differ only in how they are written, see :func:`folded`, are one key.

    Raises:
        ValueError: it is no JSON, an object has a key twice, or a number is too large; the message names the lines of
            the keys.
    """
    try:
        return json.loads(
            text, object_pairs_hook=_without_duplicates, parse_constant=_reject_constant, parse_float=finite
        )
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    except _DuplicateError as exc:
        raise ValueError(_duplicate_in(text)) from exc


def folded(key: str) -> str:
    """Return what two keys have in common that look the same: neither case, forms of letters, space nor what has no
    glyph counts."""
    if key.isascii() and key.isprintable():
        return key.lower().strip()
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", key).casefold())
    return "".join(letter for letter in plain if letter.isprintable()).strip()


def finite(written: str) -> float:
    """Return the number.

    Raises:
        ValueError: it is so large that it would be read as infinite.
    """
    if not math.isfinite(number := float(written)):
        raise ValueError(f"{written[:80]} is no finite number")
    return number


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
    if len({folded(key) for key, _ in pairs}) < len(pairs):
        raise _DuplicateError
    return dict(pairs)


def _reject_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _duplicate_in(text: str) -> str:
    """Say which key stands twice in an object, and where: the reader itself does not tell."""
    objects: list[dict[str, tuple[str, int]]] = []
    written, at = "", 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{":
                objects.append({})
            case "}":
                objects.pop()
            case ":":
                key, line = json.loads(written), text.count("\n", 0, at) + 1
                if known := objects[-1].get(folded(key)):
                    return duplicate(*known, key, line)
                objects[-1][folded(key)] = key, line
            case _:
                written, at = token[0], token.start()
    raise AssertionError("an object has a key twice")
