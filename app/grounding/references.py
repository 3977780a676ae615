"""References to passages, ``[Ref #3]``: the forms that models write, and reading them back from an answer.

Finding references in a stream and correcting them is the task of :mod:`app.grounding.prose`.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from app.language.messages import in_every_language

MARKS = tuple(f"*({mark})*" for mark in in_every_language("value_not_in_source"))
"""What follows a value that none of the cited passages has, in each language."""

_WORD = r"(?:ref(?:erence)?s?\b\.?|citations?\b|sources?\b)"
_ITEM = rf"(?:{_WORD}[\s:]*)?\#?\s*([0-9]{{1,4}})(?![0-9])(?:\s*[-–]\s*\#?([0-9]{{1,4}})(?![0-9]))?"
_ITEMS = re.compile(_ITEM, re.IGNORECASE)
_INNER = re.compile(rf"\s*{_ITEM}(?:\s*(?:[,;&]|\band\b)?\s*{_ITEM})*\s*", re.IGNORECASE)
_EXPLICIT = re.compile(rf"\#|{_WORD}", re.IGNORECASE)
_ANNOTATION = re.compile(r"\s*([0-9]{1,4}(?:\s*,\s*[0-9]{1,4})*)\s*(?:†.*)?|[0-9]+:[0-9]+†.*")
_LONGEST = 200
"""Characters of the inside of a reference: room for dozens of numbers."""
_LONGEST_RANGE = 20
"""Passages that a range such as "#3-#7" can name; of a longer one only the ends are meant."""
_LARGEST_PLAUSIBLE = 99
"""A larger number alone in brackets is a year or an amount, unless a passage has this number."""

_WRITTEN = re.compile(r"[ \t]{0,8}(?<!\\)\[Ref #([0-9]{1,4})\](?!\()")
_IMAGE = re.compile(r"[ \t]{0,8}!\[[^\[\]\n]{0,2000}+\](?:\([^()\n]{0,4000}+\)|\[[^\[\]\n]{0,2000}+\])")
_IMAGE_LINK = re.compile(r"\[([^\[\]\n]{0,2000}+)\]\(/api/images/[^()\s]{0,4000}+\)")
_CODE = re.compile(
    r"""
    ^[ \t>]*+(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*+      # a fence, in a quote or a list, up to its end
      (?P<fence>`{3,}+|~{3,}+)[^`\n]*+$ (?s:.*?) (?:^[ \t>]*+(?P=fence)[`~]*+[ \t]*+$|\Z)
  | (?<![`\\])(?P<run>`{1,100}+)[^\n]{1,1000}?(?<!`)(?P=run)(?!`)
    """,
    re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Reference:
    """The numbers that a reference names. ``explicit``: its form can only be a reference, unlike ``[3]``."""

    numbers: tuple[int, ...]
    explicit: bool = True


def read_square(inner: str, numbers: Collection[int]) -> Reference | None:
    """The reference that text between square brackets can be: ``Ref #3``, ``#3``, ``1, 3``, ``Ref #1-3``.

    ``numbers`` are the numbers of the passages. Numbers without a word or a sign must be plausible as one of them.
    """
    if len(inner) > _LONGEST or not _INNER.fullmatch(inner):
        return None
    explicit = _EXPLICIT.search(inner) is not None
    referred: list[int] = []
    for item in _ITEMS.findall(inner):
        first, last = int(item[0]), int(item[1] or item[0])
        if item[1] and not explicit and not {first, last}.issubset(numbers):
            return None
        referred += range(first, last + 1) if 0 <= last - first < _LONGEST_RANGE else (first, last)
    if not explicit and not all(number in numbers or 0 < number <= _LARGEST_PLAUSIBLE for number in referred):
        return None
    return Reference(tuple(referred), explicit)


def read_lenticular(inner: str) -> Reference | None:
    """The reference that text between ``【`` and ``】`` can be; ``4:0†file`` names no passage of ours."""
    annotation = _ANNOTATION.fullmatch(inner) if len(inner) <= _LONGEST else None
    return Reference(tuple(map(int, re.findall("[0-9]+", annotation[1] or "")))) if annotation else None


def read_round(inner: str, numbers: Collection[int]) -> Reference | None:
    """The reference that text between round brackets can be: ``Ref #3``, ``[3], [4]``."""
    bracketed = re.search(r"[\[【]", inner)
    reference = read_square(re.sub(r"[\[\]【】\s]+", " ", inner), numbers)
    explicit = bracketed or _EXPLICIT.search(inner.replace("#", ""))
    return Reference(reference.numbers) if reference and explicit else None


def may_follow(before: str) -> bool:
    """Whether ``[3]`` can be a reference after this character, unlike in ``array[3]`` or ``call()[3]``."""
    return not (before.isalnum() or before in ("_", "]", ")"))


def write_references(numbers: Iterable[int]) -> str:
    """References in the one form that readers and programs expect."""
    return "".join(f"[Ref #{number}]" for number in numbers)


def find_references(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and number of each ``[Ref #N]`` outside of code."""
    for start, end in _prose(text):
        for match in _WRITTEN.finditer(text, start, end):
            yield match.start(1) - len("[Ref #"), match.end(), int(match[1])


def used_numbers(text: str) -> list[int]:
    """Numbers that an answer refers to, in order of first use."""
    return list(dict.fromkeys(number for *_, number in find_references(text)))


def without_references(text: str) -> str:
    """An earlier answer as a model may see it: without the references, marks and images of that answer."""
    parts: list[str] = []
    done = 0
    for start, end in _prose(text):
        prose = _IMAGE_LINK.sub(r"\1", _IMAGE.sub("", _WRITTEN.sub("", without_marks(text[start:end]))))
        parts += (text[done:start], prose)
        done = end
    return re.sub(r"\n{3,}", "\n\n", "".join((*parts, text[done:]))).strip()


def without_marks(text: str) -> str:
    """A text without the marks of values that no passage has."""
    for mark in MARKS:
        text = text.replace(f" {mark}", "")
    return text


def _prose(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each part of the text that is not code."""
    end = 0
    for code in _CODE.finditer(text):
        yield end, code.start()
        end = code.end()
    yield end, len(text)
