"""The plain commands that are about documents: summarise, compare, who wrote it, when, how many pages, and alike.

A command is a cue, words for documents, and little words. Whether its words mean documents of this knowledge base is
not known here; if one of them means none, it is a question: "compare files by content" is one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.answering.planning.references import FILE, IT, THEM, TITLE, is_determiner
from app.schema.answers import QueryKind

LONGEST = 400
"""Characters of a question that is read; longer ones tell a story, and are searched for."""

_FACTS = {
    "author": r"who|whom|authors?|wer|wem|autor(?:in)?|verfasser(?:in)?",
    "page_count": r"(?:how many|number of) pages|page count|pages|how long|wie ?viele seiten|seitenzahl|wie lang",
    "upload_date": r"when|(?:upload )?date|(?:which|what) (?:day|year)|how old|(?:von )?wann|datum|wie alt",
    "department": r"departments?|team|(?:welche[rs]? )?abteilung",
    "document_type": r"(?:type|kind|sort) of document|document type|was für ein dokument|dokumenttyp",
    "language": r"language|sprache|in (?:english|german|french|spanish)(?: or \w+)?",
    "filename": r"file ?name|(?:the )?name of the file|dateiname",
    "title": r"title|titel",
}
"""The facts of a document, and how each is asked for."""
_CREATED = re.compile(r"\b(?:written|created|made|geschrieben|verfasst|erstellt)\b", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(?:changed|updated|modified|edited|revised|geändert|aktualisiert|überarbeitet)\b", re.IGNORECASE
)
_SUMMARY = (
    r"summari[sz]e|summary|sum up|overview|gist|outline|recap|abstract|tl;?dr|takeaways?|in a nutshell|about"
    r"|(?:key|main|central) (?:points?|messages?|findings?|takeaways?)|brief (?:me|us) on|covers?|contains?|says?"
    r"|deals? with|describes?|(?:what|was)(?:'s| is| steht| ist)? (?:in|im)|fass\w*|zusammen(?:fass\w*)?|überblick"
    r"|übersicht|kurzfassung|kernaussagen?|inhalt|contents of|(?:worum|um was) geht(?:'s| es)?|wovon|enthält|beinhaltet"
)
_COMPARISON = (
    r"compar(?:e|es|ed|ing|ison)(?: of)?|contrast|differs?|differences?|distinguish(?:es)?|similar(?:ity|ities)?"
    r"|in common|side by side|ähnlich\w*"
    r"|change[sd]?(?: are there)? (?:between|from)|vergleich\w*|unterschiede?|unterscheide[nt]|vs\.?|versus"
)
AROUND = frozenset(
    (
        "please can could would you will i i'd i'll we us me my to know get give tell show want need like see"
        " have has had having got do does did is are was were be been what what's which how of from in on for by"
        " with and or at it its they them there put explain name create created made make wrote write written"
        " authored prepared drafted published publish uploaded upload added add released issued changed updated"
        " modified edited revised last come came out own owns owned responsible belong belongs short brief briefly"
        " quick executive mainly all really long old different between sentences so now hi hello hey ok okay"
        " thanks up if any one same bitte schrieb um da mal denn kannst könntest können könnten würden du sie mir"
        " uns ich möchte brauche hätte gern gerne ist sind war waren welche welcher welches welchem wie gib nenne"
        " zeig zeige sich von vom über zu zum zur aus mit und oder geht es handelt handeln steht kurz kurze kurzen"
        " eine einen hat haben wurde wurden geschrieben verfasst erstellt hochgeladen veröffentlicht hinzugefügt"
        " geändert aktualisiert kam kamen herein rein an stammt kommt gehört gehören worin bei hallo lautet"
        " zwischen"
    ).split()
)
"""Little words around a cue and the words for documents."""
_PARTED = re.compile(r"\s+(?:and|with|to|from|against|than|und|mit|von|vom|\|)\s+", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?::| (?:on|about|regarding|concerning|with (?:regard|respect) to|in terms of|über|zu|zum|zur|bezüglich))"
    r" (?P<about>.+)$",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"how (?:do|can|could|should|would|to|many (?!pages))\b(?! (?:the|these|those|both)\b)(?!.*\bdiffer)"
    r"|why|where|warum|wo\b"
    r"|wie (?!viele seiten|lang|alt|lautet|unterscheid)"
    r"|.*\b(?:can(?! (?:you|(?:i|we) (?:get|have)))|(?-i:may)|might|must|should)\b"
    r"|.*\b(?:kann|darf|dürfen|muss|müssen|soll(?:te)?n?)\b",
    re.IGNORECASE,
)
"""Asks how something is done, or whether it may be."""
_SUMMARISES = r"summar\w*|overview|gist|tl;?dr|takeaways|topics|zusammen\w*|überblick|inhalt\w*"
"""Cues of a summary whatever else is said; "what does it say about laptops" asks for something else."""
# {x} are words for documents, {what} is what is asked about them
_WITHIN = tuple(
    re.compile(rf"\W*(?:{wording})\W*".replace("{x}", "(?P<x>.+?)").replace("{what}", "(?P<what>.+?)"), re.IGNORECASE)
    for wording in (
        r"what do(?:es)? {x} (?:say|tell us|recommend|require|state|mention) (?:(?:about|on|regarding|for) )?{what}",
        r"do(?:es)? {x} (?:say|mention|require|recommend|define) (?:anything )?(?:(?:about|on) )?{what}",
        r"was (?:sagt|sagen|steht)(?: in)? {x} (?:über|zu|zum|zur) {what}",
        r"(?:according to|as per|laut|gemäß) {x}(?:, ?| (?=(?:how|what|which|when|where|who|wie|was|wo|wer) )){what}",
        r"(?:in|im|within) {x}, ?{what}",
        rf"{{what}} (?:in|according to|laut) (?P<x>{FILE})".replace("{what}", "(?P<what>.+?)"),
    )
)


@dataclass(frozen=True, slots=True)
class Command:
    """What is asked of which documents: ``sides`` are the words for them. ``about`` is what they are asked about.

    ``fields`` are facts.
    """

    kind: QueryKind
    sides: tuple[str, ...]
    about: str = ""
    fields: tuple[str, ...] = ()


def commands_in(question: str) -> Iterator[Command]:
    """The commands that a question may be, except lists; none if it is long or tells a story."""
    text = " ".join(question.split())
    if not is_short(question):
        return
    for pattern in _WITHIN:
        if found := pattern.fullmatch(text):
            yield Command("CONTENT_SEARCH", (found["x"],), found["what"].strip(" ,"))
    if _QUESTION.match(text):
        return
    yield from _comparisons(text)
    fields = tuple(name for name, wording in _FACTS.items() if _cue(wording).search(_outside_names(text)))
    if fields and (words := _beside("|".join(_FACTS[name] for name in fields), text)):
        dated = "changed" if _CHANGED.search(text) else "created" if _CREATED.search(text) else "upload_date"
        facts = tuple(dated if name == "upload_date" else name for name in fields)
        yield Command("METADATA_SEARCH", (words,), fields=facts)
    if words := _beside(_SUMMARY, text):
        yield Command("DOCUMENT_SUMMARY", (words,))


def has_cue(question: str) -> bool:
    """Whether a question may be a command whatever else it says."""
    cues = (_COMPARISON, _SUMMARISES, *_FACTS.values())
    return (
        is_short(question) and not _QUESTION.match(question.strip()) and any(_cue(cue).search(question) for cue in cues)
    )


def cued_in(question: str, spans: Sequence[str]) -> Iterator[Command]:
    """The commands that a question may be, whatever else it says, because it has a cue and names documents.

    ``spans`` are the words of the question that are made of a noun for documents and of words of their names.
    """
    text = " ".join(question.split())
    if not is_short(question) or _QUESTION.match(text):
        return
    if spans and _cue(_COMPARISON).search(text):
        yield Command("COMPARISON", tuple(spans[:2]))
    if len(spans) == 1:
        if fields := tuple(name for name, wording in _FACTS.items() if _cue(wording).search(text)):
            yield Command("METADATA_SEARCH", tuple(spans), fields=fields)
        if _cue(_SUMMARISES).search(text):
            yield Command("DOCUMENT_SUMMARY", tuple(spans))


def is_short(question: str) -> bool:
    """Whether a question is short enough for a command."""
    return len(question) <= LONGEST and "\n" not in question.strip()


def _comparisons(text: str) -> Iterator[Command]:
    """Yield the ways in which words may be two documents that are compared, or several that are named together."""
    match = _ABOUT.search(text)
    for about in (match["about"].strip(" ?.!"), "") if match else ("",):
        compared = text[: match.start()] if match and about else text
        words = _beside(_COMPARISON, compared)
        parts = [part for part in _PARTED.split(words) if _trimmed(part)] if words else []
        for at in range(1, len(parts)):
            yield Command("COMPARISON", (" and ".join(parts[:at]), " and ".join(parts[at:])), about)
        if words:
            yield Command("COMPARISON", (words,), about)


def _cue(wording: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{wording})(?![\w-])", re.IGNORECASE)


def _outside_names(text: str) -> str:
    return TITLE.sub(" ", text)


def _beside(cue: str, text: str) -> str:
    """Return what stands beside cues without little words, if that is all in one place; else nothing.

    Where only little words are, the documents are meant that the asker chose.
    """
    names = [match[0] for match in TITLE.finditer(text)]
    cut, count = _cue(cue).subn(" | ", TITLE.sub(" “” ", text))
    for name in names:
        cut = cut.replace("“”", name, 1)
    pieces = [piece for part in cut.split("|") if (piece := _trimmed(part))]
    if not count or len(pieces) > 1 + (cue is _COMPARISON):
        return ""
    return " | ".join(pieces) or (THEM if cue is _COMPARISON else IT)


def _trimmed(text: str) -> str:
    """Return words without the little ones at both ends; nothing if only determiners are left."""
    words = text.strip(" ?.!,:;").split()
    while words and words[0].casefold().strip("?.!,:;") in AROUND:
        del words[0]
    while words and words[-1].casefold().strip("?.!,:;") in AROUND:
        del words[-1]
    if all(is_determiner(word.strip("?.!,")) for word in words):
        return ""
    return " ".join(words).strip(" ?.!,:;")
