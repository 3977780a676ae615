"""Suggested questions, made from the headings of the articles. Pure and deterministic."""

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

_IMPERATIVES = frozenset(
    """
    add adjust apply assign attach build change choose clear close collect combine compare compose configure connect
    convert copy create crop customise customize define delete disable draw edit enable export fill filter find fix
    format generate group hide import insert install invite manage mark measure merge migrate move open organise
    organize paint paste pause publish remove rename repair replace reply reset resize restore rotate run save scale
    schedule search select send set share sort split start stop switch test track turn undo uninstall update upgrade
    upload use verify view write
    """.split()
)
_QUESTION = re.compile(r"^(how|what|when|where|why|who|which|can|does|do|is|are|should)\b.*\?$", re.IGNORECASE)
_NUMBERED = re.compile(r"^(?:(?:step|chapter|appendix)\s+)?(?:\d+|[A-Z](?=\.\d))(?:\.\d+)*[.):]?\s+", re.IGNORECASE)
_SHORTEST, LONGEST = 12, 70
"""Characters of a heading that makes a question."""


def suggest(articles: Iterable[Sequence[str]], count: int = 4) -> tuple[str, ...]:
    """Up to ``count`` questions, each from a different article; ``articles`` has the title and headings of each.

    Headings that are questions come first, then tasks ("Export a report"). Within each, the order is by hash.
    """
    suggested: list[tuple[int, str, str]] = []
    for headings in articles:
        best = min(filter(None, map(_ranked, headings)), default=None)
        if best is not None:
            rank, question = best
            suggested.append((rank, sha256(question.encode()).hexdigest(), question))
    return tuple(dict.fromkeys(question for _, _, question in sorted(suggested)))[:count]


def as_question(heading: str) -> str | None:
    """The question that a section with this heading answers; ``None`` if the heading makes none."""
    ranked = _ranked(heading)
    return ranked[1] if ranked else None


def without_number(heading: str) -> str:
    """A heading on one line without its number: "3.2. Export a report" is "Export a report"."""
    return _NUMBERED.sub("", " ".join(heading.split())).rstrip(".:")


def _ranked(heading: str) -> tuple[int, str] | None:
    text = without_number(heading)
    if not _SHORTEST <= len(text) <= LONGEST or not text[0].isalpha():
        return None
    if _QUESTION.match(text):
        return 0, text[0].upper() + text[1:]
    verb, _, rest = text.partition(" ")
    if verb.lower() in _IMPERATIVES and rest:
        return 1, f"How do I {verb.lower()} {rest}?"
    return None
