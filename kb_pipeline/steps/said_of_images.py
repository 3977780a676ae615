"""What an author says of pictures in ``metadata.json``: a sentence for each file name, ``{"images": {...}}``.

A sentence only ever adds to what readers get, so one that cannot be used is left out with a warning, and fails nothing.
Names are compared with those of the article's pictures, and never opened.
"""

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from kb_pipeline.steps.html.decode import clean
from kb_pipeline.steps.strict_json import strict_json

IMAGES = "images"
"""The key of ``metadata.json``."""

_PLACE = "metadata.json: images"
_LONGEST_NAME = 1000
"""Characters of a name with its folders; no file system knows longer ones of a few folders."""
_LONGEST_SENTENCE = 500
"""Characters: as many as a title may have. The text that was read from the picture follows it in the same passage."""
_NONE = "no picture has this name"
_MOST_NAMED = 20
"""Names that warnings show; of more, the others are counted."""


class SaidOfImages(NamedTuple):
    """The sentences by the picture's file, and warnings about those that were left out or shortened."""

    sentences: Mapping[str, str]
    warnings: tuple[str, ...]


def read_said(data: bytes, files: Collection[str]) -> SaidOfImages:
    """Read what a valid ``metadata.json`` says of these pictures of the article.

    A picture is named as it lies in the article's folder, or by the last part of its name if no other ends alike.
    """
    stated = _values(data).get(IMAGES) or {}
    if not isinstance(stated, dict):
        return SaidOfImages({}, (f'{_PLACE} is not of the form {{"login.png": "A sentence."}} and was left out',))
    called = _called(files)
    sentences: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    for name, value in stated.items():
        found = called.get(unicodedata.normalize("NFC", name), [])
        text = _one_line(value) if isinstance(value, str) else ""
        if problem := _problem(name, value, found):
            problems.append((name, problem))
        elif len(text) > _LONGEST_SENTENCE:
            sentences[found[0]] = text[: _LONGEST_SENTENCE - 1] + "…"
            problems.append((name, f"what is said of {name} is longer than {_LONGEST_SENTENCE} characters, and is cut"))
        elif text:
            sentences[found[0]] = text
    warnings = [
        f"{_PLACE}: {_nearest(name, files) if problem is _NONE else problem}"
        for name, problem in problems[:_MOST_NAMED]
    ]
    if len(problems) > _MOST_NAMED:
        warnings.append(f"{_PLACE}: {len(problems) - _MOST_NAMED:,} more entries cannot be used")
    return SaidOfImages(sentences, tuple(warnings))


def besides_images(data: bytes) -> object:
    """What a ``metadata.json`` says besides; nothing (``{}``) if that is all, its bytes as text if it is not valid."""
    try:
        return {key: value for key, value in _values(data).items() if key != IMAGES}
    except ValueError:
        return data.decode("latin-1")


def misplaced(stated: object) -> object:
    """What stands below ``images`` and is no sentence of a picture: it may be meant as something else."""
    if not isinstance(stated, dict):
        return stated
    return {key: value for key, value in stated.items() if not isinstance(value, str) or "." not in key}


def _values(data: bytes) -> dict[str, object]:
    values = strict_json(data.decode("utf-8-sig"))
    return values if isinstance(values, dict) else {}


def _called(files: Iterable[str]) -> dict[str, list[str]]:
    """The files by what they may be called: their whole names, which count first, and the last parts of them."""
    called: dict[str, list[str]] = {}
    for file in files:
        called.setdefault(unicodedata.normalize("NFC", file).rpartition("/")[2], []).append(file)
    return called | {unicodedata.normalize("NFC", file): [file] for file in files}


def _problem(name: str, value: object, found: Sequence[str]) -> str:
    """Why an entry cannot be used; "" if it can."""
    if not _may_be_name(name):
        return f"{name[:80]!a} cannot be the name of a picture and was left out"
    if not isinstance(value, str):
        return f"what is said of {name} is not a text and was left out"
    if len(found) > 1:
        return f"{len(found)} pictures are called {name}; write {found[0]} or {found[1]}"
    return "" if found else _NONE


def _may_be_name(name: str) -> bool:
    """Whether it leads to nothing but a file of the article, and looks as it is."""
    is_plain = len(name) <= _LONGEST_NAME and name.isprintable() and clean(name) == name and "\\" not in name
    return is_plain and not {"", ".", ".."} & {*name.split("/")}


def _nearest(name: str, files: Collection[str]) -> str:
    matcher = SequenceMatcher(b=name.casefold())

    def likeness(file: str) -> float:
        matcher.set_seq1(file.rpartition("/")[2].casefold())
        return matcher.ratio()

    nearest = f"; the nearest is {max(files, key=likeness)}" if files else ""
    return f"the article has no picture {name}{nearest}"


def _one_line(text: str) -> str:
    return " ".join(clean(text.encode("utf-8", "replace").decode()).split())
