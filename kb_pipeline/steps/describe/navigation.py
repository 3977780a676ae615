"""Recognise paths through menus and pages, in breadcrumbs and in instructions: ``Settings > Users``."""

import re
from collections.abc import Sequence
from itertools import pairwise

_SEPARATOR = re.compile(r"\s*(?:->|=>|[>›»→⇒▸▶➔➜❯⟩〉》≻])\s*")
_SLASH = re.compile(r"\s+/\s+")
_MARKUP = re.compile(r"[*_`]+|\[(?=[^\]]*\]\()|\]\([^)]*\)")
_NOT_A_PATH = re.compile(r"[<={}();,$\\]|//")
_RECORD = re.compile(r"#?[\w-]*\d[\w-]*")
"""The number of a ticket or document, as the last part of a breadcrumb."""

_MAX_PARTS = 6
"""Parts of a path; more are a listing with arrows."""
_MAX_WORDS = 5
"""Words of each part, and its characters below: what menus and pages are called."""
_MAX_CHARACTERS = 40  # of each part
_CONNECTORS = frozenset({"and", "or", "of", "to", "for", "with", "from", "in", "on", "as", "by", "a", "the", "&", "+"})
_INSTRUCTIONS = frozenset(
    {"go", "open", "click", "select", "choose", "press", "use", "navigate", "see", "under", "from", "in", "via", "then"}
)
_THEN = frozenset({"and", "or", "then", "to"})
_CLAUSE_END = re.compile(r"(?<=[.!?;:,)(\"“”])\s+")

Path = tuple[str, ...]


def breadcrumb(text: str) -> Path:
    """Return the parts of a text that is a path as a whole; empty if it is not."""
    if _NOT_A_PATH.search(text) or not (_SEPARATOR.search(text) or len(_SLASH.split(text)) > 2):
        return ()
    parts = [_clean(part) for piece in _SEPARATOR.split(text) for part in _SLASH.split(piece)]
    is_record = len(parts) > 2 and _RECORD.fullmatch(parts[-1]) is not None
    return (*valid_path(parts[:-1]), parts[-1]) if is_record and valid_path(parts[:-1]) else valid_path(parts)


def path_in_prose(text: str) -> Path:
    """Return the last path named in a sentence ("Go to Settings > Users and ..."); empty if there is none."""
    clauses = _CLAUSE_END.split(_MARKUP.sub("", text))
    paths = (_path_in_clause(clause) for clause in reversed(clauses))
    return next((path for path in paths if path), ())


def _path_in_clause(clause: str) -> Path:
    pieces = _SEPARATOR.split(clause)
    if len(pieces) < 2 or _NOT_A_PATH.search(clause):
        return ()
    first, *between, last = [piece.split() for piece in pieces]
    return valid_path([_name_at_end(first), *(" ".join(words) for words in between), _name_at_start(last)])


def _name_at_end(words: Sequence[str]) -> str:
    """Return the capitalised words before a separator, without the verb of the instruction."""
    start = len(words)
    while start and (_is_name_word(words[start - 1]) or words[start - 1].lower() in _CONNECTORS):
        start -= 1
    name = list(words[start:])
    while name and (name[0].lower() in _INSTRUCTIONS or name[0].lower() in _CONNECTORS):
        name.pop(0)
    return _clean(" ".join(name))


def _name_at_start(words: Sequence[str]) -> str:
    if (length := _next_instruction(words)) is not None:
        return _clean(" ".join(words[:length]))
    end = 0
    while end < len(words) and (_is_name_word(words[end]) or (end and words[end].lower() in _CONNECTORS)):
        end += 1
    name = list(words[:end])
    while name and name[-1].lower() in _CONNECTORS:
        name.pop()
    return _clean(" ".join(name))


def _next_instruction(words: Sequence[str]) -> int | None:
    """Return where the sentence continues with another instruction ("... and click ..."), after a short name."""
    pairs = pairwise(word.lower() for word in words[: _MAX_WORDS + 2])
    starts = (index for index, pair in enumerate(pairs) if pair[0] in _THEN and pair[1] in _INSTRUCTIONS)
    return next((index for index in starts if index and _is_name_word(words[0])), None)


def _is_name_word(word: str) -> bool:
    """Return whether a word may be part of a name: it has a capital, or its script has none."""
    first = word.lstrip("\"'“‘«(")[:1]
    return first.isdigit() or (first.isalpha() and not first.islower())


def _clean(part: str) -> str:
    return part.strip(" \t\"'“”‘’«».,;:…()")


def valid_path(parts: Sequence[str]) -> Path:
    """Return the parts as a path if they are two to six short names; else an empty path."""
    named = all(
        part[:1].isalnum() and len(part) <= _MAX_CHARACTERS and len(part.split()) <= _MAX_WORDS for part in parts
    )
    lettered = all(any(character.isalpha() for character in part) for part in parts)
    return tuple(parts) if named and lettered and 2 <= len(parts) <= _MAX_PARTS else ()
