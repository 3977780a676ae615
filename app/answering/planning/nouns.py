"""The nouns for documents of this knowledge base: the types that its documents have, and what is said of any document.

Nothing here lists types that an index may have. Only where English and German name the same type are both known.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kb_pipeline.records import Chunk, DocumentEntry
from kb_pipeline.steps.formats import document_format

_ANY = "document doc article dokument artikel unterlage".split()
"""Words for a document of whatever type."""
_SAME = tuple(
    names.split(",")
    for names in (
        "manual,handbook,handbuch",
        "guide,anleitung,leitfaden",
        "report,bericht",
        "policy,guideline,richtlinie",
        "contract,vertrag",
        "agreement,vereinbarung",
        "presentation,slide deck,deck,slides,präsentation,foliensatz",
        "specification,spec,spezifikation",
        "minutes,meeting minutes,protokoll",
        "checklist,checkliste",
        "study,white paper,studie",
        "notes,note,notiz",
        "incident,vorfall",
    )
)
"""Names of one type in English and German."""
_PLURAL = re.compile(r"(?<=\w{3})(?<!s)s$")
_ENDING = re.compile(r"(?<=\w{3})(?:ern|en|er|e|n)$")
_LEAST_PREFIX = 3
"""Letters of each part of a compound: "Miet" of "Mietvertrag"; two are a preposition, as in "Anlage"."""
_LEAST_LETTERS = 4
"""Letters of a word that is looked up; the few shorter nouns are listed."""
_SHORT = frozenset({"doc", "pdf"})


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word without case, marks and ending, so that "Handbücher" and "Handbuch", "policies" and "policy" are one."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    return re.sub(r"ies$", "y", plain) if plain.endswith("ies") else _ENDING.sub("", _PLURAL.sub("", plain))


def _stems(name: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in re.findall(r"\w+", name))


_CANONICAL = {_stems(name): names[0] for names in _SAME for name in names}


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun for documents within words: ``start`` to ``end``. ``kind`` is "" if it fits any document.

    ``prefix`` is what a compound says before it: "Jahres" of "Jahresbericht".
    """

    kind: str
    start: int
    end: int
    is_plural: bool
    prefix: str = ""


class Nouns:
    """The nouns for documents of these types."""

    @classmethod
    def of(cls, rows: Iterable[Chunk]) -> "Nouns":
        """The nouns for the types that these documents have."""
        return cls(row.document.document_type for row in rows if row.document)

    def __init__(self, document_types: Iterable[str]) -> None:
        types = {each for each in document_types if _stems(each)}
        heads = {each.split()[-1] for each in types}
        kinds = {kind_named(each) for each in (*types, *heads)}
        nouns = [*_ANY, "pdf", *(name for names in _SAME if names[0] in kinds for name in names), *heads, *types]
        self._bases = {_stems(name): ("" if name in _ANY else kind_named(name), name) for name in nouns}
        self._longest = max(map(len, self._bases))

    def find(self, words: Sequence[str]) -> Noun | None:
        """The first noun among words, the longest one that begins there."""
        stems = [stem(word) for word in words]
        for start in range(len(words)):
            if len(words[start]) < _LEAST_LETTERS and words[start].casefold() not in _SHORT:
                continue
            for end in range(min(len(words), start + self._longest), start, -1):
                if known := self._bases.get(tuple(stems[start:end])):
                    kind, base = known
                    return Noun(kind, start, end, _is_longer(words[end - 1], base.split()[-1]))
            if compound := self._compound(stems[start], words[start]):
                kind, base, prefix = compound
                return Noun(kind, start, start + 1, _is_longer(words[start][len(prefix) :], base), prefix)
        return None

    def means_any(self, word: str) -> bool:
        """Whether a word is one for documents of whatever type."""
        noun = self.find([word])
        return noun is not None and not noun.kind

    def _compound(self, stemmed: str, word: str) -> tuple[str, str, str] | None:
        """Return what a German compound ends in: kind, base form, and the part before it."""
        for names, (kind, base) in self._bases.items():
            if len(names) == 1 and kind and stemmed.endswith(names[0]):
                prefix = word[: len(stemmed) - len(names[0])]
                if len(prefix) >= _LEAST_PREFIX and len(names[0]) > _LEAST_PREFIX:
                    return kind, base, prefix.rstrip("-")
        return None


def kind_named(document_type: str) -> str:
    """What a type is compared by: its words without endings, in English where both languages name the same type."""
    stems = _stems(document_type)
    return _CANONICAL.get(stems) or " ".join(_CANONICAL.get((word,), word) for word in stems)


def is_of_kind(row: Chunk, kind: str) -> bool:
    """Whether a document is of a kind, by its type ("Incident report" is a report too), title or ending of its file."""
    entry = row.document or DocumentEntry(filename=row.filename)
    file_format = document_format(entry.filename)
    if not kind or (file_format and file_format.kind == kind):
        return True
    if entry.document_type:
        return f" {kind_named(entry.document_type)}".endswith(f" {kind}")
    return f" {kind} " in f" {kind_named(row.title)} "


def _is_longer(word: str, base: str) -> bool:
    """Return whether a word is another form of its base, which mostly is the plural."""
    return len(word) > len(base) or len(_marks(word)) > len(_marks(base))


def _marks(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", word) if unicodedata.combining(c))
