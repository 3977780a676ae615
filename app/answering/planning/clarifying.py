"""Asks back which document is meant, and reads the reply: a number, an ordinal, part of a name, all, none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.answering.planning.nouns import Nouns
from app.answering.planning.references import DocumentReference
from app.language.messages import Messages
from app.schema.answers import Clarification, DocumentOption, QueryKind
from kb_pipeline.records import Chunk, DocumentEntry
from kb_pipeline.steps.values.numbers import number_of, place_of

MOST_OPTIONS = 7
"""As many as a reader takes in at a glance, and can choose by number."""
_LONGEST_REPLY = 200
"""Characters of a reply; a longer message is a question of its own."""
_LONGEST_NAME = 8
"""Words of a reply that can be a name; more are a sentence."""
_LEAST_LETTERS = 3
"""Letters of a part of a title that names it; two stand in nearly every title."""

_LAST = frozenset("last letzte letzten letzter letztes".split())
_ALL = frozenset(
    "all both each everything every one of them these those together alle beide alles zusammen davon".split()
)
_ALL_BEGIN = frozenset("all both each everything every alle beide alles".split())
_NONE = frozenset("none neither no nothing of these them those nor keine keiner keines kein nichts davon nein".split())
_NONE_BEGIN = _NONE - frozenset("of these them those nor davon".split())
_FILLING = frozenset(
    "the please bitte i mean meant ich meine want möchte number no nr nummer option document dokument file datei one"
    " ones das die der den dem it's its take nimm that es ist with mit from of von vom aus about on über nur only just"
    " ok okay yes ja".split()
)
_SEPARATOR = re.compile(r"\s*(?:,|;|&|\+|\b(?:and|und|or|oder)\b)\s*", re.IGNORECASE)
_QUESTION_WORD = re.compile(
    r"^\W*(?:how|what|why|when|where|who|which|can|could|is|are|do|does|summari[sz]e|compare|list|show"
    r"|wie|was|warum|wann|wo|wer|welche\w*|kann|gibt|fasse?|vergleiche?|liste|zeige?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What was chosen: numbers of options, in their order; nothing if none of them is meant."""

    numbers: tuple[int, ...]


def clarification_of(
    asked: str, kind: QueryKind, reference: DocumentReference, candidates: Sequence[Chunk], say: Messages
) -> Clarification:
    """The question that is asked back, with at most seven options.

    All of them together are an answer to a question for summaries or comparisons.
    """
    many = len(candidates) > MOST_OPTIONS and not reference.is_plural
    clarification = Clarification(
        question=say("which_of_many" if many else "which_documents" if reference.is_plural else "which_document"),
        asked=asked,
        options=tuple(_option(number, row) for number, row in enumerate(candidates[:MOST_OPTIONS], 1)),
        allows_all=kind in ("DOCUMENT_SUMMARY", "COMPARISON", "METADATA_SEARCH"),
    )
    options = (each.model_copy(update={"reply": _reply_for(each, clarification)}) for each in clarification.options)
    return clarification.model_copy(update={"options": tuple(options)})


def _option(number: int, row: Chunk) -> DocumentOption:
    entry = row.document or DocumentEntry(filename=row.filename)
    facts = {
        name: getattr(entry, name) for name in ("filename", "document_type", "department", "upload_date", "page_count")
    }
    return DocumentOption(number=number, article_id=row.article_id, title=row.title, **facts)


def _reply_for(option: DocumentOption, clarification: Clarification) -> str:
    chooses = (
        each for each in (option.title, option.filename) if read_reply(each, clarification) == Reply((option.number,))
    )
    return next(chooses, str(option.number))


def read_reply(text: str, clarification: Clarification) -> Reply | None:
    """What a reply chooses; ``None`` if it is no reply but a new question."""
    said, options = " ".join(text.split()).strip(" .!"), clarification.options
    if not said or len(said) > _LONGEST_REPLY:
        return None
    if named := _named_wholly(said, options):
        return Reply((named,))
    words = _plain(said).split()
    if _is_said_by(words, _NONE_BEGIN, _NONE):
        return Reply(())
    if _is_said_by([word for word in words if not number_of(word)], _ALL_BEGIN, _ALL):
        return Reply(tuple(option.number for option in options)) if clarification.allows_all else None
    if said.endswith("?") or _QUESTION_WORD.match(said):
        return None
    chosen = [_chosen(part, options) for part in _SEPARATOR.split(said) if part.strip()]
    if chosen and all(chosen):
        return Reply(tuple(sorted({number for number in chosen if number})))
    whole = _named_in_part(said, options)
    return Reply((whole,)) if whole else None


def is_name(text: str) -> bool:
    """Whether a text that chooses no option may be the name of a document that is not among them, not a question."""
    said = text.strip()
    return len(said.split()) <= _LONGEST_NAME and not said.endswith("?") and not _QUESTION_WORD.match(said)


def _is_said_by(words: Sequence[str], beginnings: frozenset[str], others: frozenset[str]) -> bool:
    bare = [word for word in words if word not in _FILLING or word in others]
    return bool(bare) and bare[0] in beginnings and all(word in others for word in bare)


def _chosen(part: str, options: Sequence[DocumentOption]) -> int | None:
    """Return the number of the option that a part of a reply means."""
    words = _plain(part).split()
    bare = [word for word in words if word not in _FILLING] or words
    if len(bare) != 1:
        return _named_in_part(part, options)
    [word] = bare
    number = len(options) if word in _LAST else number_of(word) or place_of(word) or 0
    if number or word.isdecimal():
        return number if 0 < number <= len(options) else None
    return _named_in_part(part, options)


def _named_wholly(said: str, options: Sequence[DocumentOption]) -> int | None:
    names = {each.number: (each.title, each.filename, each.article_id) for each in options}
    numbers = [number for number, several in names.items() if _plain(said) in map(_plain, several)]
    return numbers[0] if len(numbers) == 1 else None


def _named_in_part(said: str, options: Sequence[DocumentOption]) -> int | None:
    """Return the only option whose name, file, type, department or day has all of these words."""
    words = [word for word in _plain(said).split() if word not in _FILLING]
    nouns = Nouns(each.document_type for each in options)
    words = [word for word in words if not nouns.find([word])] or words
    if not words:
        return None
    numbers = [each.number for each in options if set(words) <= set(_plain(_facts(each)).split())]
    if len(numbers) != 1:
        spoken = " ".join(words)
        numbers = [each.number for each in options if spoken in _plain(f"{each.title} {each.filename}")]
        numbers = numbers if len(spoken) >= _LEAST_LETTERS else []
    return numbers[0] if len(numbers) == 1 else None


def _facts(option: DocumentOption) -> str:
    day = option.upload_date
    return " ".join((option.title, option.filename, option.document_type, option.department, day, day[:4]))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[\w']+", text.casefold().replace("_", " ")))
