"""Finds the claims of an answer, and which of them the cited passages support, by word overlap without a model.

A claim is a sentence with content: not a heading, not a lead-in to what follows, not our own remark about quotations.
As in :mod:`app.grounding.support`, a reference belongs to its sentence or the one before it, and to the sentences
before that one that have no reference of their own. A reference after an image belongs to the image. A statement that
needs no evidence ("The articles do not say that.") is a claim only if it has a reference.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.grounding.references import find_references, without_marks, write_references
from app.grounding.statements import FEWEST_WORDS, IMAGE, MARKER, SAYS_NOTHING, stated
from app.grounding.support import LONGEST_ANSWER, mark_used
from app.language.messages import in_every_language
from app.language.sentences import sentence_spans, units_of
from app.language.words import words
from app.schema.passages import Citation

_REMARKS = tuple(
    remark
    for key in ("closest", "none_answers_clearly", "made_of_quotations", "quoted_as_model_is_away", "quoted_from_web")
    for remark in in_every_language(key)
)
_TABLE_HEAD = re.compile(r"^[ \t>]*\|.*\n(?=[ \t>]*\|?[ \t]*:?-+[-:| \t]*$)", re.MULTILINE)
_PLACE = re.compile(r"^\*[^*\n]+\*:\s+")
_SENTENCES_OF_A_REFERENCE = 12
"""As in ``app.grounding.support``."""
_WRITTEN_ON_PICTURE = 0.5
"""Share of a claim's words that must stand on a picture; half, as of sentences."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, and the numbers of the passages that it refers to."""

    text: str
    numbers: tuple[int, ...] = ()


def claims_of(answer: str) -> list[Claim]:
    """The claims of an answer, in its order."""
    answer = without_marks(answer[:LONGEST_ANSWER])
    for remark in _REMARKS:
        answer = answer.replace(remark, "")
    text, references = _apart(_TABLE_HEAD.sub("", answer))
    spans = list(_sentences(text))
    claims: list[Claim] = []
    for (start, end), numbers in zip(spans, _numbers([start for start, _ in spans], references), strict=True):
        sentence = _PLACE.sub("", IMAGE.sub("", text[start:end]), count=1)
        says_something = not SAYS_NOTHING.fullmatch(sentence) and len(set(words(sentence))) >= FEWEST_WORDS
        if says_something and (numbers or stated(sentence)):
            claims.append(Claim(sentence, tuple(dict.fromkeys(numbers))))
    return claims


def _apart(answer: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without its references, and the place of each one in that text with its number."""
    parts: list[str] = []
    references: list[tuple[int, int]] = []
    done = length = 0
    for start, end, number in find_references(answer):
        parts.append(answer[done:start])
        length += start - done
        references.append((length, number))
        done = end
    return "".join((*parts, answer[done:])), references


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence. Every line begins a new one, after its markers of lists and quotes."""
    for line in re.finditer(r"[^\n]+", text):
        marker = MARKER.match(text, line.start(), line.end())
        line_start = marker.end() if marker else line.start()
        for start, end in sentence_spans(text[line_start : line.end()]):
            yield line_start + start, line_start + end


def _numbers(starts: Sequence[int], references: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the numbers that each sentence refers to; an image is a sentence of its own."""
    numbers: list[list[int]] = [[] for _ in starts]
    first = last = -1
    for position, number in references:
        at = bisect_left(starts, position) - 1  # the sentence that begins before it
        if at > last:
            first, last = max(last + 1, at + 1 - _SENTENCES_OF_A_REFERENCE), at
        for sentence in range(max(first, 0), last + 1):
            numbers[sentence].append(number)
    return numbers


def supporters(claim: Claim, citations: Sequence[Citation]) -> frozenset[int]:
    """The numbers that the claim refers to whose passages contain its words, in their text or on their pictures."""
    referred = [citation for citation in citations if citation.number in claim.numbers]
    claim_words = set(words(claim.text))
    supporting: set[int] = set()
    for citation in mark_used(claim.text + write_references(claim.numbers), referred):
        pictures = (unit for unit in units_of(citation.passage) if unit.kind == "image")
        picture_words = {word for unit in pictures for word in words(unit.text)}
        if citation.quotes or len(claim_words & picture_words) >= _WRITTEN_ON_PICTURE * len(claim_words):
            supporting.add(citation.number)
    return frozenset(supporting)
