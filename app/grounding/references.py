"""References to passages, ``[Ref #3]``: the forms in which models write them, and reading them back from an answer.

Here: what is a reference. Not here: finding one in a stream and putting it right (:mod:`app.grounding.prose`).
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

_WORD = r"(?:ref(?:erence)?s?\b\.?|citations?\b|sources?\b)"
_ITEM = rf"(?:{_WORD}[\s:]*)?\#?\s*([0-9]{{1,4}})(?![0-9])(?:\s*[-–]\s*\#?([0-9]{{1,4}})(?![0-9]))?"
_ITEMS = re.compile(_ITEM, re.IGNORECASE)
_INNER = re.compile(rf"\s*{_ITEM}(?:\s*(?:[,;&]|\band\b)?\s*{_ITEM})*\s*", re.IGNORECASE)
_EXPLICIT = re.compile(rf"\#|{_WORD}", re.IGNORECASE)
_ANNOTATION = re.compile(r"\s*([0-9]{1,4}(?:\s*,\s*[0-9]{1,4})*)\s*(?:†.*)?|[0-9]+:[0-9]+†.*")
_LONGEST = 200
_LONGEST_RANGE = 20
_LARGEST_PLAUSIBLE = 99
"""A larger number alone in brackets is a year or an amount, unless there is such a passage."""

_WRITTEN = re.compile(r"[ \t]{0,8}(?<!\\)\[Ref #([0-9]{1,4})\]")
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
    """The numbers that a form refers to. ``explicit``: it says that it is a reference, as ``[3]`` does not."""

    numbers: tuple[int, ...]
    explicit: bool = True


def read_square(inner: str, numbers: Collection[int]) -> Reference | None:
    """What stands between square brackets, if it can be a reference: ``Ref #3``, ``#3``, ``1, 3``, ``Ref #1-3``.

    ``numbers`` are those of the passages: without a word that says so, only what can be one of them counts.
    """
    if len(inner) > _LONGEST or not _INNER.fullmatch(inner):
        return None
    explicit = _EXPLICIT.search(inner) is not None
    found: list[int] = []
    for first, last in _ITEMS.findall(inner):
        if last and not explicit and not {int(first), int(last)}.issubset(numbers):
            return None
        found += _range(int(first), int(last or first))
    if not explicit and not all(number in numbers or 0 < number <= _LARGEST_PLAUSIBLE for number in found):
        return None
    return Reference(tuple(found), explicit)


def _range(first: int, last: int) -> Iterable[int]:
    return range(first, last + 1) if 0 <= last - first < _LONGEST_RANGE else (first, last)


def read_lenticular(inner: str) -> Reference | None:
    """What stands between ``【`` and ``】``, if it is a reference; ``4:0†file`` counts otherwise than we do."""
    found = _ANNOTATION.fullmatch(inner) if len(inner) <= _LONGEST else None
    return Reference(tuple(map(int, re.findall("[0-9]+", found[1] or "")))) if found else None


def read_round(inner: str, numbers: Collection[int]) -> Reference | None:
    """What stands between round brackets, if it is nothing but references: ``Ref #3``, ``[3], [4]``."""
    bracketed = re.search(r"[\[【]", inner)
    found = read_square(re.sub(r"[\[\]【】\s]+", " ", inner), numbers)
    return Reference(found.numbers) if found and (bracketed or _EXPLICIT.search(inner.replace("#", ""))) else None


def may_follow(before: str) -> bool:
    """Whether ``[3]`` can be a reference behind this character: not as in ``array[3]`` or ``call()[3]``."""
    return not (before.isalnum() or before in ("_", "]", ")"))


def write_references(numbers: Iterable[int]) -> str:
    """References in the one form that readers and programs know."""
    return "".join(f"[Ref #{number}]" for number in numbers)


def find_references(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and number of each ``[Ref #N]`` outside of code."""
    for start, end in _prose(text):
        for found in _WRITTEN.finditer(text, start, end):
            yield found.start(1) - len("[Ref #"), found.end(), int(found[1])


def used_numbers(text: str) -> list[int]:
    """Numbers that an answer refers to, in order of first use."""
    return list(dict.fromkeys(number for *_, number in find_references(text)))


def without_references(text: str) -> str:
    """An old answer as a model may be shown it: its references and images belonged to the passages of that answer."""
    parts: list[str] = []
    done = 0
    for start, end in _prose(text):
        parts += (text[done:start], _plain(text[start:end]))
        done = end
    return re.sub(r"\n{3,}", "\n\n", "".join((*parts, text[done:]))).strip()


def _plain(prose: str) -> str:
    return _IMAGE_LINK.sub(r"\1", _IMAGE.sub("", _WRITTEN.sub("", prose)))


def _prose(text: str) -> Iterator[tuple[int, int]]:
    """Where a text is no code."""
    end = 0
    for code in _CODE.finditer(text):
        yield end, code.start()
        end = code.end()
    yield end, len(text)
