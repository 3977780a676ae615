"""Select the texts on a screen that name things to click, fill in or choose."""

import re
from collections.abc import Iterable

from kb_pipeline.steps.describe.lines import OcrLine

MAX_ELEMENTS = 25
_MIN_SCORE = 0.85
_MAX_CHARACTERS = 40
_MAX_WORDS = 5
_ACTION = re.compile(
    r"(?:add|apply|back|browse|cancel|close|continue|copy|create|delete|discard|done|download|edit"
    r"|export|finish|help|import|install|login|logout|new|next|no|ok|open|previous|refresh|remove"
    r"|rename|reset|retry|save|search|send|sign|submit|undo|update|upload|yes)\b"
)
"""First words of buttons. They are at the end of a screen, but must not be cut off by the limit."""

_VALUE = re.compile(
    r"[\W\d_]*(?:px|pt|mm|cm|in|dpi|ppi|kb|mb|gb|ms|s|%|x)?[\W\d_]*"  # numbers with a unit
    r"|\S+\.\w{2,5}|(?:\w:)?[\\/]\S*|\w+://\S*|\S+@\S+"  # files, paths, addresses
    r"|(?:ctrl|alt|shift|cmd|strg)\+.*|f\d{1,2}",  # keyboard shortcuts
    re.IGNORECASE,
)
_ENDS_LIKE_A_SENTENCE = re.compile(r"[^.][.!?,;]$")
_FORBIDDEN = re.compile(r"[<>{}|\\=$@#~]|\w[\[(]|\)\)|\d{3}")


def element_names(lines: Iterable[OcrLine]) -> tuple[str, ...]:
    """Return the distinct names in the given order, at most ``MAX_ELEMENTS``; buttons are dropped last."""
    names: dict[str, str] = {}
    for line in lines:
        name = _name(line.text)
        if name and line.score >= _MIN_SCORE:
            names.setdefault(name.casefold(), name)
    ranked = sorted(names, key=lambda key: _ACTION.match(key) is None)
    kept = set(ranked[:MAX_ELEMENTS])
    return tuple(name for key, name in names.items() if key in kept)


def _name(text: str) -> str:
    """Return the text as the name of an element, or an empty text for values, sentences and code."""
    if _VALUE.fullmatch(text) or _FORBIDDEN.search(text) or _ENDS_LIKE_A_SENTENCE.search(text):
        return ""
    name = text.partition(": ")[0].strip(" .:…*")
    letters = sum(1 for character in name if character.isalpha())
    short = len(name) <= _MAX_CHARACTERS and len(name.split()) <= _MAX_WORDS
    named = letters >= 2 and letters * 2 >= len(name) and not name[:1].islower()
    balanced = name.count("(") == name.count(")") and name.count("[") == name.count("]")
    return name if short and named and balanced else ""
