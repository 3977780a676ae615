"""What is asked about documents once those are known: what they are compared about, what one of them is asked."""

import re

from app.grounding.words import words
from app.planning.kinds import Reading
from app.planning.references import Reference, without

_COMPARING = frozenset(
    words(
        "compare compared comparison contrast difference differences different differ side say says regard regarding"
        " give gives two three both changed change"
        " similarities similar common agree same vs versus unterschied unterschiede unterscheiden vergleiche"
        " vergleich vergleichen beiden beide worin zwischen"
        " gemeinsam sagen sagt documents document put allows allow worin respect terms according with to"
    )
)
_SAYS_ABOUT = re.compile(
    r"(?:(?:say|says|tell|tells|state|states|write|recommend|recommends|mention|mentions|require|requires|suggest|suggests"
    r"|advise|advises|explain|explains|define|defines|specify|specifies)\s+)?(?:us\s+|me\s+)?"
    r"(?:about|on|regarding|concerning|über|zu|zum|zur)\s+|(?:mention|mentions|define|defines|explain|explains)\s+",
    re.IGNORECASE,
)
_OPENINGS = ("according to", "as per", "laut", "gemäß", "nach", "in", "im", "within", "from", "of", "aus", "inside")


def subject_of(reading: Reading) -> str:
    """Return what the documents are compared about; "" if nothing is said."""
    rest = without(reading.text, reading.references)
    tails = [reference.about for reference in reading.references if _is_subject(reference)]
    return " ".join(filter(None, (" ".join(_telling(rest)), *(tail.partition(" ")[2] for tail in tails[-1:]))))


def _telling(text: str) -> list[str]:
    return [word.strip("?.,:;!") for word in text.split() if any(stem not in _COMPARING for stem in words(word))]


def _is_subject(reference: Reference) -> bool:
    """Return whether what is said after a noun is rather what a comparison is about: "the handbook on holidays"."""
    return reference.about.lower().startswith(("on ", "about ", "regarding ", "über ", "zu ", "zum ", "zur "))


def question_within(reading: Reading) -> str:
    """Return the question without the words for its document; "" if too little remains."""
    [reference] = reading.references
    before, after = reading.text[: reference.start].rstrip(), reading.text[reference.end :].strip()
    if asks_for := _SAYS_ABOUT.match(after):
        return after[asks_for.end() :].strip(" ,?.")
    lower = before.lower()
    for opening in _OPENINGS:
        if lower == opening or lower.endswith(f" {opening}"):
            before = before[: len(before) - len(opening)].rstrip(" ,")
            break
    asked = " ".join((before, after)).strip(" ,")
    return asked if len(words(asked)) else ""
