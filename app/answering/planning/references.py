"""What words mean one or several documents: a file name, a quoted title, "both manuals", "the newest guide"."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from app.answering.planning.nouns import Nouns
from kb_pipeline.steps.values.numbers import number_of

FILE = r"[\w(][\w.()+&-]*\.(?:pdf|docx?|pptx?|odt|rtf|md|html?|xlsx?|txt)"
_FILE = re.compile(rf"(?<![\w./\\-]){FILE}\b(?![/\\(])", re.IGNORECASE)
TITLE = re.compile(r"[\"“„«]\s*([^\"“”„«»\n]{2,160}?)\s*[\"“”»]")
_PART, _MOST_BESIDE_FILE = 2, 3
"""Words of a part of a title, and words beside the name of a file."""
_BOTH = frozenset("both beide beiden".split())
_MOST = 7
"""Documents that "all three" may mean: as many as can be asked back."""
_NEWEST = frozenset("newest latest neueste neuesten neuester".split())
_OLDEST = frozenset("oldest earliest älteste ältesten ältester".split())
_ONE = frozenset("this that dieser dieses diesem des dem eines".split())
_DEFINITE = _ONE | frozenset("the these those our my your all of der die das den im vom zum alle unser unsere".split())
_ANY = frozenset("a an any some every each ein eine einen einem einer several many multiple mehrere viele".split())

IT, THEM = "it", "them"
"""The documents that the asker chose."""
_DETERMINERS = _DEFINITE | _ANY | _NEWEST | _OLDEST | _BOTH


def is_determiner(word: str) -> bool:
    """Whether a word only says which or how many of the documents are meant that a noun names."""
    return word.casefold() in _DETERMINERS or bool(_several(word))


def _several(word: str) -> int:
    """Return how many documents a word counts that may be meant together; 0 if it counts none, or too many."""
    number = 2 if word.casefold() in _BOTH else number_of(word) or 0
    return number if number in range(2, _MOST + 1) else 0


@dataclass(frozen=True, slots=True)
class DocumentReference:
    """Words of a question that mean documents.

    ``name`` is the file name, the quoted title, or the words without determiners. ``kind`` is that of the noun, and
    ``described`` are the words beside it. ``count``: how many are meant, 0 if several without a number. ``order``: the
    newest or the oldest is meant. ``has_noun``: a noun for documents is among the words.
    """

    name: str
    by: Literal["file", "title", "description"]
    kind: str = ""
    described: str = ""
    count: int = 1
    order: Literal["", "newest", "oldest"] = ""
    has_noun: bool = False
    is_definite: bool = True

    @property
    def is_pronoun(self) -> bool:
        """Whether only documents that the asker chose can be meant."""
        return self.name in (IT, THEM)

    @property
    def is_plural(self) -> bool:
        """Whether several documents are meant."""
        return self.count != 1


def reference_of(words_said: str, nouns: Nouns) -> DocumentReference | None:
    """What words mean as a whole; ``None`` if they mean any document ("a file"), not one that is known."""
    if words_said in (IT, THEM):
        return DocumentReference(words_said, "description", count=int(words_said == IT))
    if (file := _FILE.search(words_said)) and len(words_said.split()) <= _MOST_BESIDE_FILE + 1:
        return DocumentReference(file[0], "file")
    if title := TITLE.search(words_said):
        return DocumentReference(title[1], "title")
    words = re.findall(r"[\w.&'’/+-]*\w", words_said)
    order: Literal["", "newest", "oldest"] = ""
    count, is_definite, is_one = 1, False, False
    while words:
        first = words[0].casefold()
        if first in _ANY:
            return None
        if (several := _several(first)) and (is_definite or not first.isdigit()):
            count = several
            is_definite = is_definite or first in _BOTH
        elif first in _NEWEST | _OLDEST:
            order, is_definite = "newest" if first in _NEWEST else "oldest", True
        elif first in _DEFINITE:
            is_definite, is_one = True, first in _ONE
        else:
            break
        del words[0]
    noun = nouns.find(words)
    name = " ".join(words)
    if not noun:
        return (
            DocumentReference(name, "description", "", name, count, order, is_definite=is_definite) if words else None
        )
    beside = (word for word in (*words[: noun.start], *words[noun.end :]) if not nouns.means_any(word))
    if noun.start and words[noun.start - 1].casefold() in _ANY:
        return None
    described = " ".join((noun.prefix, *beside)).strip()
    if count == 1 and noun.is_plural and not is_one:
        count = 0
    return DocumentReference(
        name, "description", noun.kind, described, count, order, has_noun=True, is_definite=is_definite
    )


def file_in(words_said: str) -> str:
    """The name of a file that words have; "" if they have none."""
    return found[0] if (found := _FILE.search(words_said)) else ""


def sharing_noun(one: DocumentReference, other: DocumentReference) -> tuple[DocumentReference, DocumentReference]:
    """Both of "the 2022 and the 2023 travel policy", which share what only one of them says."""
    if one.has_noun and _is_part(other):
        return one, _like(other, one)
    if other.has_noun and _is_part(one):
        return _like(one, other), other
    return one, other


def _is_part(reference: DocumentReference) -> bool:
    return reference.by == "description" and not reference.has_noun and len(reference.described.split()) <= _PART


def _like(part: DocumentReference, whole: DocumentReference) -> DocumentReference:
    """Return the part with the noun of the whole; a year alone has the other words of the whole as well."""
    is_number = bool(re.fullmatch(r"\S*\d\S*", part.described))
    shared = " ".join(word for word in whole.described.split() if is_number and not re.search(r"\d", word))
    return replace(
        whole,
        name=f"{part.name} {whole.name}",
        described=f"{shared} {part.described}".strip(),
        count=1,
        order=part.order,
    )
