"""What a question says about documents: file names, quoted titles, "the report", "both manuals", "the newest guide"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from app.planning.vocabulary import ANY_NOUN, is_plural, kind_of_noun, qualifier_of

_FILE = re.compile(
    r"(?<![\w./\\-])[\w(][\w.()+&-]*\.(?:pdf|docx?|pptx?|odt|rtf|md|html?|xlsx?|txt)\b(?![/\\(])", re.IGNORECASE
)
_TITLE = re.compile(r"[\"“„«]\s*([^\"“”„«»\n]{2,160}?)\s*[\"“”»]")
_LEAST, _MOST = 2, 7
_NUMBERS = {
    **{"both": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7},
    **{"beide": 2, "beiden": 2, "beider": 2, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7},
    **{str(number): number for number in range(_LEAST, _MOST + 1)},
}
_NEWEST = r"newest|latest|most\s+recent|current|neueste[nrsm]?|aktuelle?(?:ste)?[nrsm]?|jüngste[nrsm]?|letzte[nrsm]?"
_OLDEST = r"oldest|earliest|älteste[nrsm]?"
_DETERMINER = (
    r"the|this|that|these|those|our|my|your|his|her|their|both|all|which\s+of\s+the|each\s+of\s+the"
    r"|der|die|das|dem|den|des|dieser?|dieses|diesem|diesen|unser(?:e[nrsm]?)?|mein(?:e[nrsm]?)?|beide[nr]?|im|vom"
    r"|zum|am"
    rf"|alle[nr]?|{'|'.join(name for name in _NUMBERS if not name.isdigit())}"
)
_NOT_QUALIFYING = (
    r"a|an|the|of|in|on|at|to|for|from|by|with|about|and|or|vs|versus|is|are|was|were|be|been|has|have|had|do|does"
    r"|did|can"
    r"|could|should|would|will|may|must|how|what|which|who|when|where|why|that|this|these|those|i|we|you|it|they|me|us"
    r"|say|says|said|between|than|as|into|under|not|if|there|every|each|any|some|no|write|wrote|make|made|create"
    r"|created"
    r"|upload|uploaded|open|show|find|publish|published|add|added|delete|export|list|number|date|author|kind|type"
    r"|page|pages"
    r"|ein|eine[nrsm]?|und|oder|von|vom|zu|zum|zur|mit|für|bei|aus|über|ist|sind|war|wird|wurde|hat|haben|ich|wir|sie"
    r"|es"
    r"|der|die|das|dem|den|des|im|in|auf|an|wie|was|wer|wo|wann|nicht|kein|keine|zwischen|kann|kannst"
    r"|many|much|all|both|most|give|get|compare|summari[sz]e|contrast|liste?|zeige?|nenne?|welche[nrs]?|alle[nr]?"
    r"|beide[nr]?"
    r"|viele|gibt|vergleiche?|fasse?|finde|our|my|your|his|her|their|exist|our|unsere?[nrsm]?|one|more|please|bitte"
    r"|then"
)
_WORD = rf"(?!(?:{_NOT_QUALIFYING})\b)\w(?:[\w.&'’/+-]*\w)?"
_ENDS_TAIL = (
    r"uploaded|written|published|created|added|released|changed|updated|say|says|cover|covers|differ|compared?|belongs?"
    r"|have|has|does|do|did|is|are|was|were|owns?|allows?|requires?|mentions?|contains?|please|bitte|zusammen|kurz"
    r"|hochgeladen|geschrieben|verfasst|erstellt|veröffentlicht|in\s+total|with\s+regard"
)
"""Words that go on with the question after what is said about a noun ("the report on churn *has* ...")."""
_PREPOSITION = r"(?:on|about|for|with|from|of|by|über|zu|zum|zur|mit|für|von|vom|aus|der|des)"
_TAIL_WORD = rf"(?!(?:{_ENDS_TAIL}|{ANY_NOUN})\b){_WORD}"
_TAIL = (
    r"(?:\s+(?:19|20)\d\d\b|\s+Q[1-4](?:\s+(?:19|20)\d\d)?\b"
    rf"|\s+{_PREPOSITION}\s+(?:(?:the|our|der|dem|den)\s+)?(?!(?:me|us|you|mich|mir|uns|one)\b)"
    rf"{_TAIL_WORD}(?:\s+{_TAIL_WORD}){{0,4}}?"
    rf"(?=\s*(?:[?.,;:!]|$)|\s(?:and|und|or|oder|to|in|vs|versus|{_PREPOSITION}|{_ENDS_TAIL})\b))*"
)
_DESCRIBED = re.compile(
    rf"(?<![\w-])(?P<determiner>(?:(?:{_DETERMINER})\s+)*)(?P<newest>(?:{_NEWEST})\s+)?(?P<oldest>(?:{_OLDEST})\s+)?"
    rf"(?P<number>(?:[2-7]|{'|'.join(name for name in _NUMBERS if not name.isdigit())})\s+)?"
    rf"(?P<qualifiers>(?:{_WORD}\s+){{0,5}}?)(?P<noun>{ANY_NOUN})(?![\w-])(?P<tail>{_TAIL})",
    re.IGNORECASE,
)
_YEARS = re.compile(
    r"\b(?:the\s+)?(?P<one>(?:19|20)\d\d|Q[1-4])\s+(?:and|to|with|vs\.?|versus|und)\s+(?:the\s+)?(?P<other>(?:19"
    r"|20)\d\d|Q[1-4])\s+"
    rf"(?P<what>(?:{_WORD}\s+){{0,4}}?{ANY_NOUN})\b",
    re.IGNORECASE,
)
_PLACE_IN_PRODUCT = re.compile(
    r"\s+(?:page|pages|tab|menu|button|dashboard|section|settings?|view|editor|screen|list|field|type|template|id"
    r"|name|names|size|format|seite|menü|ansicht)\b",
    re.IGNORECASE,
)
_NAMED_NEXT = re.compile(rf"\s+(?:called\s+|named\s+)?(?:[\"“„«]|{_FILE.pattern})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reference:
    """Words of a question that mean documents.

    ``name`` is the file name, the quoted title, or the words without determiners; ``noun`` the kind of document it
    names, "" if none; ``qualifiers`` are the words before it, ``about`` those after it ("on churn"). ``count``: how
    many are meant, 0 if several without a number. ``is_definite``: a document that is known to the asker ("the
    report"), not any ("reports"). ``order`` says that the newest or the oldest is meant.
    """

    name: str
    by: Literal["file", "title", "description"]
    start: int
    end: int
    noun: str = ""
    qualifiers: str = ""
    about: str = ""
    count: int = 1
    is_definite: bool = True
    order: Literal["", "newest", "oldest"] = ""

    @property
    def is_plural(self) -> bool:
        """Whether several documents are meant."""
        return self.count != 1


def references_of(text: str) -> tuple[Reference, ...]:
    """All references to documents, in their order; those within another are left out."""
    found: list[Reference] = []
    for reference in (*_files(text), *_titles(text), *_pairs(text), *_descriptions(text)):
        if all(reference.end <= other.start or reference.start >= other.end for other in found):
            found.append(reference)
    return tuple(sorted(found, key=lambda reference: reference.start))


def _files(text: str) -> Iterator[Reference]:
    for match in _FILE.finditer(text):
        if not match[0].lower().startswith("index.htm"):
            yield Reference(match[0], "file", *match.span())


def _titles(text: str) -> Iterator[Reference]:
    for match in _TITLE.finditer(text):
        by: Literal["file", "title"] = "file" if _FILE.fullmatch(match[1]) else "title"
        yield Reference(match[1], by, *match.span())


def _pairs(text: str) -> Iterator[Reference]:
    """Yield both of "the 2022 and the 2023 policy", which share a noun."""
    for match in _YEARS.finditer(text):
        noun = match["what"].split()[-1]
        qualifiers = " ".join(match["what"].split()[:-1])
        for group, end in (("one", match.end("one")), ("other", match.end())):
            named = f"{match[group]} {match['what']}"
            qualified = f"{match[group]} {qualifiers}".strip()
            yield Reference(named, "description", match.start(group), end, kind_of_noun(noun), qualified)


def _descriptions(text: str) -> Iterator[Reference]:
    for match in _DESCRIBED.finditer(text):
        if _PLACE_IN_PRODUCT.match(text, match.end("noun")) or _NAMED_NEXT.match(text, match.end("noun")):
            continue
        noun, determiner = match["noun"], match["determiner"].lower()
        proper = f"{qualifier_of(noun)} {match['qualifiers'].strip()}".strip()
        number = next(
            (
                _NUMBERS[word]
                for word in (*determiner.split(), (match["number"] or "").strip().lower())
                if word in _NUMBERS
            ),
            0,
        )
        several = is_plural(noun)
        order: Literal["", "newest", "oldest"] = "newest" if match["newest"] else "oldest" if match["oldest"] else ""
        yield Reference(
            name=" ".join(f"{match['qualifiers']}{noun}{match['tail']}".split()),
            by="description",
            start=match.start(),
            end=match.end(),
            noun=kind_of_noun(noun),
            qualifiers=proper,
            about=" ".join(match["tail"].split()),
            count=number if number else 0 if several else 1,
            is_definite=bool(determiner or order),
            order=order,
        )


def without(text: str, references: tuple[Reference, ...]) -> str:
    """The text with the references cut out."""
    pieces, end = [], 0
    for reference in references:
        pieces.append(text[end : reference.start])
        end = reference.end
    return " ".join("".join((*pieces, text[end:])).split())
