"""Text on pictures, as the doubles of services read it: by Tesseract, which has nothing in common with the pipeline's.

It makes other mistakes than RapidOCR: icons become letters, and small or light text is lost.
"""

import atexit
import json
import struct
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from kb_pipeline_tests.app.model_servers import NODE

_SCRIPT = Path(__file__).parent / "node" / "text_recognition.js"
_WIDEST_SPACE = 1.5
"""Words on one line that are further apart than so many times their height are of different texts."""

_ONE_AT_A_TIME = Lock()


class Word(NamedTuple):
    """A word and its box in pixels, from the top left."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    line: int


def lines_on(png: bytes) -> Iterator[list[Word]]:
    """The words of each piece of text, from the top to the bottom of each column."""
    process = _tesseract()
    with _ONE_AT_A_TIME:
        assert process.stdin
        assert process.stdout
        process.stdin.write(struct.pack(">I", len(png)) + png)
        process.stdin.flush()
        answer = process.stdout.readline()
    assert answer, "Tesseract ended"
    words = (Word(*word) for word in json.loads(answer))
    for _, line in groupby(words, key=lambda word: word.line):
        yield from _pieces(list(line))


def _pieces(line: list[Word]) -> Iterator[list[Word]]:
    height = max(word.bottom for word in line) - min(word.top for word in line)
    piece = line[:1]
    for word in line[1:]:
        if word.left - piece[-1].right > _WIDEST_SPACE * height:
            yield piece
            piece = []
        piece.append(word)
    yield piece


@cache
def _tesseract() -> "subprocess.Popen[bytes]":
    """One for this process; it ends with it."""
    process = subprocess.Popen([NODE, _SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    atexit.register(process.stdin.close)
    return process
