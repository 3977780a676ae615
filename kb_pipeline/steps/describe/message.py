"""Find what a screen tells its reader: errors, warnings and other sentences, with the title above each."""

import re
from collections.abc import Iterable, Sequence

from kb_pipeline.steps.describe.lines import OcrLine, cleaned

_LONGEST = 400
"""Characters of all messages together: more than a dialog says, and no whole page of text."""

_ALIGNED = 1.0
_LINE_GAP = 0.6
_TITLE_GAP = 3.0
"""In line heights: difference of left edges; space between the lines of a paragraph, and below a title."""

_MOST_TITLE_WORDS = 8
"""Words of the title above a message."""
_FEWEST_WORDS = 4
"""Words of a sentence; fewer are a label with a full stop."""
_FEWEST_OF_TROUBLE = 2
"""Words of an error: "Access denied"."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_TROUBLE = re.compile(
    r"error|fail|warning|denied|invalid|unable|cannot|can't|could not|not found|exception|forbidden|expired"
    r"|time[- ]?out|timed out"
    r"|fehler|warnung|ungültig|nicht gefunden|nicht möglich",
    re.IGNORECASE,
)


def message_of(lines: Iterable[OcrLine]) -> str:
    """What a screen says to its reader: of trouble if it does, else its sentences; nothing if it has none."""
    paragraphs = _paragraphs(cleaned(lines))
    troubles = [each for each in paragraphs if _is_trouble(each, _title_of(each, paragraphs))]
    messages = troubles or [each for each in paragraphs if _is_sentence(_text(each))]
    told: dict[str, None] = {}
    for each in sorted(messages, key=lambda each: -each[0].height):
        told |= dict.fromkeys(filter(None, (_text(_title_of(each, paragraphs)), _text(each))))
    return _cut(". ".join(text.rstrip(" .") for text in told))


def _paragraphs(lines: Sequence[OcrLine]) -> list[list[OcrLine]]:
    """Put together the lines that stand below each other at the same left edge, close and equally high."""
    paragraphs: list[list[OcrLine]] = []
    for line in sorted(lines, key=lambda line: (line.top, line.left)):
        above = (each for each in paragraphs if _continues(each[-1], line))
        paragraph = next(above, None)
        if paragraph is None:
            paragraphs.append([line])
        else:
            paragraph.append(line)
    return paragraphs


def _continues(line: OcrLine, below: OcrLine) -> bool:
    gap = below.top - line.bottom
    is_alike = abs(line.height - below.height) <= 0.35 * line.height
    return is_alike and _is_aligned(line, below) and -line.height < gap <= _LINE_GAP * line.height


def _is_aligned(line: OcrLine, other: OcrLine) -> bool:
    return abs(line.left - other.left) <= _ALIGNED * line.height


def _is_sentence(text: str) -> bool:
    return len(_WORD.findall(text)) >= _FEWEST_WORDS and text.rstrip('"”’)').endswith((".", "!", "?"))


def _is_trouble(paragraph: Sequence[OcrLine], title: Sequence[OcrLine]) -> bool:
    is_long_enough = len(_WORD.findall(_text(paragraph))) >= _FEWEST_OF_TROUBLE
    return is_long_enough and _TROUBLE.search(_text([*title, *paragraph])) is not None


def _title_of(paragraph: Sequence[OcrLine], paragraphs: Sequence[Sequence[OcrLine]]) -> Sequence[OcrLine]:
    """Return the short text right above a paragraph, at the same left edge; nothing if there is none."""
    first = paragraph[0]
    above = [
        each
        for each in paragraphs
        if _is_aligned(first, each[-1])
        and 0 <= first.top - each[-1].bottom <= _TITLE_GAP * first.height
        and len(_text(each).split()) <= _MOST_TITLE_WORDS
    ]
    return max(above, key=lambda each: each[-1].bottom, default=())


def _text(paragraph: Sequence[OcrLine]) -> str:
    return " ".join(line.text for line in paragraph)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0]
