"""Select the texts on a screen that name things to click, fill in or choose."""

import re
from collections.abc import Collection, Iterable, Sequence

from kb_pipeline.steps.describe.lines import OcrLine
from kb_pipeline.steps.describe.values import is_data, is_sentence

MAX_ELEMENTS = 25
"""As many as a search can use; the description names the rest."""
_MIN_SCORE = 0.85
"""OCR's confidence for a name; stricter than for text, because a misread name leads nowhere."""
_MAX_CHARACTERS = 40
"""Characters of a name on a button or beside a field."""
_MAX_WORDS = 6
"""Words of the same; more are a sentence."""
_MAX_BUTTON_WORDS = 2
"""Words of a button: a verb and its object."""
_ACTION = re.compile(
    r"(?:add|apply|back|browse|cancel|clear|close|continue|copy|create|delete|discard|done|download|edit"
    r"|export|finish|help|import|insert|install|invite|login|logout|new|next|no|ok|open|previous|refresh|remove"
    r"|rename|resend|reset|retry|save|schedule|search|send|show|sign|submit|test|undo|update|upload|yes)\b",
    re.IGNORECASE,
)
"""First words of buttons. They are at the end of a screen, but must not be cut off by the limit."""

_FORBIDDEN = re.compile(r"[<>{}|\\=$@#~]|\w[\[(]|\)\)|\d{3}")
_ICON_NUMBER = re.compile(r"^(?:\d{1,2}|[B-HJ-W])\s(?=[^\W\d_]{2})")
_COUNTER = re.compile(r"(?<=[^\W\d_])\s\(?\d+\)?$")


def element_names(
    lines: Sequence[OcrLine], *, least: Collection[OcrLine] = (), data: Collection[OcrLine] = ()
) -> tuple[str, ...]:
    """Return the distinct names in the given order, at most ``MAX_ELEMENTS``.

    If there are more, ``least`` (side bars, which all screens of a program show) are dropped first, and buttons last.
    Of ``data`` (contents of tables and fields, names of people) only buttons count.
    """
    names: dict[str, str] = {}
    rank: dict[str, int] = {}
    for line in lines:
        name = _name(line.text)
        if not name or line.score < _MIN_SCORE or (line in data and not _is_button_name(name)):
            continue
        name = _COUNTER.sub("", name) if _is_counted(line, lines) else name
        key = name.casefold()
        names.setdefault(key, name)
        importance = 0 if is_action(name) else 2 if line in least else 1
        rank[key] = min(rank.get(key, importance), importance)
    kept = set(sorted(names, key=lambda key: rank[key])[:MAX_ELEMENTS])
    return tuple(name for key, name in names.items() if key in kept)


def is_action(text: str) -> bool:
    """Return whether the text is what is written on buttons: a verb, perhaps with its object."""
    return _ACTION.match(text) is not None and len(text.split()) <= _MAX_WORDS


def _is_button_name(name: str) -> bool:
    return is_action(name) and len(name.split()) <= _MAX_BUTTON_WORDS


def _name(text: str) -> str:
    """Return the text as the name of an element, or an empty text for values, sentences and code."""
    text = text.lstrip("]<> ").rstrip("<> ")
    if is_data(text) or _FORBIDDEN.search(text) or is_sentence(text) or text.endswith(("!", "?", ",", ";")):
        return ""
    name = _ICON_NUMBER.sub("", text).partition(": ")[0].strip(" .:…*&•·")
    letters = sum(1 for character in name if character.isalpha())
    short = len(name) <= _MAX_CHARACTERS and len(name.split()) <= _MAX_WORDS
    named = letters >= 2 and letters * 2 >= len(name) and (text.endswith(":") or not name[:1].islower())
    balanced = name.count("(") == name.count(")") and name.count("[") == name.count("]")
    return name if short and named and balanced and not is_data(name) else ""


def _is_counted(line: OcrLine, lines: Iterable[OcrLine]) -> bool:
    """Return whether a name ends with a count, as its neighbours do ("Active 5", "Inactive 2")."""
    level = (other for other in lines if other is not line and abs(other.middle - line.middle) <= 0.5 * line.height)
    stem = _COUNTER.sub("", line.text)
    return stem != line.text and any(
        _COUNTER.search(other.text) and _COUNTER.sub("", other.text) != stem for other in level
    )
