"""What an answer claims, and which of it the passages that it refers to bear out: word overlap, no model.

A claim is a sentence that says something: no heading, no lead-in to what follows, no remark of ours around quotations.
As in :mod:`app.grounding.support`, a reference stands for the sentence it is in or follows, and for those before it
that have none of their own; behind an image it stands for that.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.answering.extracted import CLOSEST, MADE_OF_QUOTATIONS
from app.grounding.references import find_references, write_references
from app.grounding.sentence_ends import sentence_spans
from app.grounding.sentences import units_of
from app.grounding.support import LONGEST_ANSWER, mark_used
from app.grounding.words import words
from app.schema import Citation

_IMAGE = re.compile(r"!\[(?:[^\[\]\\]|\\.)*+\]\([^()\s]*+\)")
_REMARKS = (CLOSEST, MADE_OF_QUOTATIONS)
_MARKER = re.compile(r"(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*")
_SAYS_NOTHING = re.compile(
    r"#{1,6}\s.*|\*[^*]+\*|\*\*[^*]+\*\*|[|:\s-]+"  # a heading, in emphasis as well; the line below a table's head
    r"|.*[:：][\s*_\"'”’)]*|.*:\s\*[^*]+\*",  # what leads to something else, or only names it
    re.DOTALL,
)
_TABLE_HEAD = re.compile(r"^[ \t>]*\|.*\n(?=[ \t>]*\|?[ \t]*:?-+[-:| \t]*$)", re.MULTILINE)
_PLACE = re.compile(r"^\*[^*\n]+\*:\s+")
_FEWEST_WORDS = 2
_SENTENCES_OF_A_REFERENCE = 12
_WRITTEN_ON_PICTURE = 0.5


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, and the numbers of the passages that it refers to."""

    text: str
    numbers: tuple[int, ...] = ()


def claims_of(answer: str) -> list[Claim]:
    """The claims of an answer in its order."""
    text, references = _apart(_without_remarks(answer[:LONGEST_ANSWER]))
    spans = list(_sentences(text))
    numbers = _numbers([start for start, _ in spans], references)
    said = (_PLACE.sub("", _IMAGE.sub("", text[start:end]), count=1) for start, end in spans)
    claims = (Claim(sentence, tuple(dict.fromkeys(of))) for sentence, of in zip(said, numbers, strict=True))
    return [claim for claim in claims if _says_something(claim.text)]


def _without_remarks(answer: str) -> str:
    for remark in _REMARKS:
        answer = answer.replace(remark, "")
    return _TABLE_HEAD.sub("", answer)


def _apart(answer: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its references, and where in that each one stood, with its number."""
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
    """Where the sentences are; a line begins one, whatever list or quotation it is in."""
    for line in re.finditer(r"[^\n]+", text):
        begin = _MARKER.match(text, line.start(), line.end())
        begins = begin.end() if begin else line.start()
        for start, end in sentence_spans(text[begins : line.end()]):
            yield begins + start, begins + end


def _numbers(starts: Sequence[int], references: Sequence[tuple[int, int]]) -> list[list[int]]:
    """For each sentence the numbers that stand for it; an image is a sentence of its own."""
    numbers: list[list[int]] = [[] for _ in starts]
    first = last = -1
    for position, number in references:
        at = bisect_left(starts, position) - 1  # the sentence that begins before it
        if at > last:
            first, last = max(last + 1, at + 1 - _SENTENCES_OF_A_REFERENCE), at
        for sentence in range(max(first, 0), last + 1):
            numbers[sentence].append(number)
    return numbers


def _says_something(sentence: str) -> bool:
    return not _SAYS_NOTHING.fullmatch(sentence) and len(set(words(sentence))) >= _FEWEST_WORDS


def supporters(claim: Claim, citations: Sequence[Citation]) -> frozenset[int]:
    """Those of the claim's own numbers whose passages hold its words, as text or as written on their pictures."""
    referred = [citation for citation in citations if citation.number in claim.numbers]
    marked = mark_used(claim.text + write_references(claim.numbers), referred)
    return frozenset(
        citation.number for citation in marked if citation.quotes or _is_on_picture(claim.text, citation.passage)
    )


def _is_on_picture(claim: str, passage: str) -> bool:
    said = set(words(claim))
    described = {word for unit in units_of(passage) if unit.kind == "image" for word in words(unit.text)}
    return len(said & described) >= _WRITTEN_ON_PICTURE * len(said)
