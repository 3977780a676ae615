"""Asks back which document is meant, and reads the reply: a number, an ordinal, part of a name, all, none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from app.planning.references import Reference
from app.planning.vocabulary import is_german, kind_of_noun
from app.schema.answers import Clarification, DocumentOption, QueryKind
from kb_pipeline.records import Chunk, DocumentEntry

MOST_OPTIONS = 7
NONE_OF_THESE = "None of these, then. Ask again with the title or the file name of the document."
"""The answer to the reply that none is meant."""
_LONGEST_REPLY = 200
_LONGEST_NAME = 8

_ORDINALS = MappingProxyType(
    {
        name: number
        for number, names in enumerate(
            (
                "first 1st one ersten erste erster erstes eins",
                "second 2nd two zweiten zweite zweiter zweites zwei",
                "third 3rd three dritten dritte dritter drittes drei",
                "fourth 4th four vierten vierte vierter viertes vier",
                "fifth 5th five fünften fünfte fünfter fünftes fünf",
                "sixth 6th six sechsten sechste sechster sechstes sechs",
                "seventh 7th seven siebten siebte siebter siebtes sieben",
            ),
            1,
        )
        for name in names.split()
    }
)
_LAST = frozenset("last letzte letzten letzter letztes".split())
_ALL = re.compile(
    r"(?:(?:all|both|each|every\s+one)(?:\s+(?:of\s+(?:them|these|those)|(?:two|three|four|five|six|seven)"
    r"|together))*|everything"
    r"|alle(?:\s+(?:zusammen|davon|drei|vier|fünf|sechs|sieben))?|beide|alles)",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"(?:none(?:\s+of\s+(?:these|them|those))?|neither(?:\s+of\s+(?:them|these))?|no(?:ne)?|nothing"
    r"|keine?[nrs]?(?:\s+(?:davon|von\s+(?:diesen|beiden)))?|weder\s+noch"
    r"|nichts(?:\s+davon)?|nein)",
    re.IGNORECASE,
)
_FILLING = re.compile(
    r"\b(?:the|please|bitte|i\s+mean(?:t)?|ich\s+meine|i\s+want|ich\s+möchte|number|no\.|nr\.?|nummer|option|document"
    r"|dokument|file|datei|one|ones|das|die|der|den"
    r"|dem|it's|its|take|nimm|that|es\s+ist|with|mit|from|of|von|vom|aus|about|on|über|nur|only|just|ok(?:ay)?|yes"
    r"|ja)(?=\W|$)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"\s*(?:,|;|&|\+|\band\b|\bund\b|\bor\b|\boder\b)\s*", re.IGNORECASE)
_QUESTION_WORD = re.compile(
    r"^\W*(?:how|what|why|when|where|who|which|can|could|is|are|do|does|summari[sz]e|compare|list|show|wie|was|warum"
    r"|wann|wo|wer|welche\w*|kann|gibt"
    r"|fasse?|vergleiche?|liste|zeige?)\b",
    re.IGNORECASE,
)

_WORDS = MappingProxyType(
    {
        "en": {
            "which": "Which document do you mean?",
            "which several": "Which documents do you mean?",
            "of many": "Several documents fit; these are the closest. Which one do you mean?",
        },
        "de": {
            "which": "Welches Dokument meinen Sie?",
            "which several": "Welche Dokumente meinen Sie?",
            "of many": "Mehrere Dokumente passen; diese am besten. Welches meinen Sie?",
        },
    }
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What was chosen: numbers of options, in their order; nothing if none of them is meant."""

    numbers: tuple[int, ...]


def clarification_of(asked: str, kind: QueryKind, reference: Reference, candidates: Sequence[Chunk]) -> Clarification:
    """The question that is asked back, with at most seven options.

    All of them together are an answer to a question for summaries or comparisons.
    """
    texts = _WORDS["de" if is_german(asked) else "en"]
    many = len(candidates) > MOST_OPTIONS and not reference.is_plural
    clarification = Clarification(
        question=texts["of many" if many else "which several" if reference.is_plural else "which"],
        asked=asked,
        options=tuple(_option(number, row) for number, row in enumerate(candidates[:MOST_OPTIONS], 1)),
        allows_all=kind in ("DOCUMENT_SUMMARY", "COMPARISON", "METADATA_SEARCH"),
    )
    options = (
        option.model_copy(update={"reply": _reply_for(option, clarification)}) for option in clarification.options
    )
    return clarification.model_copy(update={"options": tuple(options)})


def _option(number: int, row: Chunk) -> DocumentOption:
    entry = row.document or DocumentEntry(filename=row.filename)
    return DocumentOption(
        number=number,
        article_id=row.article_id,
        title=row.title,
        filename=entry.filename,
        document_type=entry.document_type,
        department=entry.department,
        upload_date=entry.upload_date,
        page_count=entry.page_count,
    )


def _reply_for(option: DocumentOption, clarification: Clarification) -> str:
    names = (option.title, option.filename)
    return next(
        (name for name in names if read_reply(name, clarification) == Reply((option.number,))), str(option.number)
    )


def read_reply(text: str, clarification: Clarification) -> Reply | None:
    """What a reply chooses; ``None`` if it is no reply but a new question."""
    said = " ".join(text.split()).strip(" .!")
    if not said or len(said) > _LONGEST_REPLY:
        return None
    numbers = tuple(option.number for option in clarification.options)
    if named := _named_wholly(said, clarification.options):
        return Reply((named,))
    bare = _without_filling(said)
    if _NONE.fullmatch(bare) or _NONE.fullmatch(said):
        return Reply(())
    if _ALL.fullmatch(bare) or _ALL.fullmatch(said):
        return Reply(numbers) if clarification.allows_all else None
    if said.endswith("?") or _QUESTION_WORD.match(said):
        return None
    chosen = [_chosen(part, clarification.options) for part in _SEPARATOR.split(said) if part.strip()]
    if chosen and all(chosen):
        return Reply(tuple(sorted({number for number in chosen if number})))
    whole = _named_in_part(bare, clarification.options)
    return Reply((whole,)) if whole else None


def is_name(text: str) -> bool:
    """Whether a text that chooses no option may be the name of a document that is not among them, not a question."""
    said = text.strip()
    return len(said.split()) <= _LONGEST_NAME and not said.endswith("?") and not _QUESTION_WORD.match(said)


def _without_filling(text: str) -> str:
    return " ".join(_FILLING.sub(" ", text).split()).strip(" .,!:#)(")


def _chosen(part: str, options: Sequence[DocumentOption]) -> int | None:
    """Return the number of the option that a part of a reply means."""
    said = part.strip(" .,!:#)(").lower()
    bare = _without_filling(said)
    words = [word.strip(".") for word in (bare or said).lower().split()]
    if len(words) == 1 and words[0].isdecimal():
        number = int(words[0])
        return number if number <= len(options) and number else None
    if len(words) == 1 and (words[0] in _ORDINALS or words[0] in _LAST):
        number = len(options) if words[0] in _LAST else _ORDINALS[words[0]]
        return number if number <= len(options) else None
    return _named_in_part(bare or said, options)


def _named_wholly(said: str, options: Sequence[DocumentOption]) -> int | None:
    found = [
        each.number
        for each in options
        if _plain(said) in (_plain(each.title), _plain(each.filename), _plain(each.article_id))
    ]
    return found[0] if len(found) == 1 else None


def _named_in_part(said: str, options: Sequence[DocumentOption]) -> int | None:
    """Return the only option whose name, file, type, department, year or author has all of these words."""
    words = _plain(said).split()
    words = [word for word in words if not kind_of_noun(word)] or words
    if not words:
        return None
    found = [each.number for each in options if set(words) <= set(_plain(_facts(each)).split())]
    if len(found) == 1:
        return found[0]
    found = [each.number for each in options if _plain(said) in _plain(f"{each.title} {each.filename}")]
    return found[0] if len(found) == 1 and len(_plain(said)) >= _LEAST_LETTERS else None


_LEAST_LETTERS = 3


def _facts(option: DocumentOption) -> str:
    return " ".join(
        (
            option.title,
            option.filename,
            option.document_type,
            option.department,
            option.upload_date,
            option.upload_date[:4],
        )
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold().replace("_", " ")))
