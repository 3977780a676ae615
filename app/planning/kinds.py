"""Tells the kind of a question by rules, in English and German; whatever is unsure is a search for passages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.planning.references import Reference, references_of
from app.planning.vocabulary import FEATURES
from app.schema.answers import QueryKind

LONGEST = 400
"""Characters of a question that is read; longer ones tell a story, and are searched for."""

_POLITE = re.compile(
    r"^\W*(?:(?:please|bitte|hi|hello|hallo|hey|ok(?:ay)?|so|and|und|now|then|also|thanks)\b[\s,.!:]*"
    r"|(?:can|could|would|will)\s+you\s+(?:please\s+|kindly\s+)?|(?:kannst|könntest|würdest)\s+du\s+(?:mir\s+|uns\s+)?"
    r"|(?:können|könnten|würden)\s+sie\s+(?:mir\s+|uns\s+)?|i(?:'d|\s+would)?\s+(?:need|want|like)\s+(?:to\s+(?:see"
    r"|have|get|know)\s+)?"
    r"|ich\s+(?:brauche|möchte|hätte\s+gern(?:e)?)\s+)+(?:bitte\s+)?",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(
    r"^(?:how\s+(?:do|can|could|should|would|must|to|are|is)\s+(?!the\s|both\s)(?!.*\bdiffer)"
    r"|where\b(?!\s+in\s+the\b)|why\b|what\s+happens"
    r"|who\s+(?:can|may|is\s+allowed|should|must)\b|is\s+it\s+possible|show\s+me\s+(?:how|where)|tell\s+me\s+how"
    r"|explain\s+how"
    r"|(?:can|could|may|should|must|will|shall)\b|wie\s+(?!viele?\b|lang\b|alt\b|heißt\b|unterscheid)|wo\b|warum\b"
    r"|wieso\b"
    r"|wer\s+(?:kann|darf|soll|muss)\b|(?:kann|darf|muss|soll(?:te)?)\s|zeig\w*\s+(?:mir|uns)\s+wie|if\b|when\s+(?:i"
    r"|we|you|a|an)\b)",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:can|could|(?-i:may)|might|must|should|kann|können|darf|dürfen|muss|müssen|soll(?:en|te)?)\b", re.IGNORECASE
)

_COMPARES = re.compile(
    r"\b(?:compar(?:e|es|ed|ing|ison)|contrast|differ(?:s|ed|ent|ence|ences|ently)?|vs\.?|versus|side\s+by\s+side"
    r"|similarit(?:y|ies)"
    r"|in\s+common|agree|(?:what(?:'s|\s+has|\s+have)?|which\s+\w+)\s+changed\s+between|contradict|the\s+same|unlike"
    r"|unterschied(?:e|en|lich)?|unterscheide[nt]|vergleich\w*|gegenüber(?:stell\w*)?|gemeinsam(?:keiten)?"
    r"|widersprechen)\b",
    re.IGNORECASE,
)
_OF_BOTH = re.compile(r"\b(?:both|beide[nr]?|the\s+two|the\s+three|which\s+of\s+the\s+(?:two|three))\b", re.IGNORECASE)

_SUMMARISES = re.compile(
    r"\b(?:summari[sz]e|summari[sz]ing|summar(?:y|ies)|sum(?:med)?\s+up|tl;?\s?dr|gist|(?:key|main"
    r"|central)\s+(?:points?|messages?"
    r"|findings?|statements?)|takeaways?|overview|abstract|in\s+a\s+nutshell|outline|recap|boil\s+down"
    r"|zusammen(?:fass\w*)?"
    r"|überblick|übersicht|kernaussagen?|kernpunkte|kurzfassung|inhalt)\b",
    re.IGNORECASE,
)
_WHAT_DOES = re.compile(r"(?:what\s+do(?:es)?|tell\s+me\s+what|was)\s*", re.IGNORECASE)
_ABOUT = tuple(
    (
        re.compile(before, re.IGNORECASE),
        re.compile(rf"(?:{after})(?:\s+in\s+(?:short|brief|general))?\W*", re.IGNORECASE),
    )
    for before, after in (
        (r"(?:tell\s+me\s+)?what(?:'s|\s+is|\s+are)?\s*", r"\s*(?:is\s+)?(?:all\s+|mainly\s+|really\s+)?about"),
        (
            r"(?:what\s+do(?:es)?|tell\s+me\s+what)\s*",
            r"\s*(?:covers?|contains?|says?|deals?\s+with|describes?|discuss(?:es)?|treats?)",
        ),
        (r"what(?:'s|\s+is)\s+in\s*", r"\s*"),
        (
            r"(?:worum\s+(?:geht\s+es|geht's|dreht\s+es\s+sich)|wovon\s+handel[nt]+|was\s+(?:steht|beinhaltet|enthält))"
            r"(?:\s+(?:in|bei))?\s*",
            r"\s*",
        ),
    )
)
"""What stands before and after the documents in a question for what they are about."""

_PAGES = re.compile(
    r"\b(?:how\s+many\s+pages(?!\s+of\s+(?!the\b|our\b))|number\s+of\s+pages|page\s+(?:count|number)|pages\s+long"
    r"|how\s+long\s+(?:is|are)"
    r"|(?:longer|shorter|more|fewer|less)\s+than\s+\w+\s+pages|wie\s?viele\s+seiten|seitenzahl|anzahl\s+der\s+seiten"
    r"|wie\s+lang\s+(?:ist|sind))",
    re.IGNORECASE,
)
_AUTHOR = re.compile(
    r"\b(?:who\s+(?:wrote|authored|created|made|prepared|drafted|produced|compiled|published)|author(?:s|ed)?\b"
    r"|(?:written|authored)\s+by\s+(?:whom|who)"
    r"|by\s+whom|wer\s+hat\b|wer\s+schrieb|wer\s+ist\s+(?:der|die)\s+(?:autor|verfasser)|verfasser|autor(?:in|en)?\b"
    r"|von\s+wem\b)",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:when\s+(?:was|were|did)\b.*?\b(?:uploaded|added|published|written|created|changed|updated|modified|edited"
    r"|revised|released|issued|come\s+in"
    r"|came\s+in|made|last)|(?:upload|publication|creation|release|issue)\s+date|date\s+of|(?:what|which)\s+(?:date"
    r"|day|year)"
    r"|how\s+(?:old|recent|current|up\s+to\s+date)\s+(?:is|are)|wann\s+(?:wurden?|ist|kam|hat)\b|von\s+wann"
    r"|seit\s+wann|wie\s+alt|welche[snm]?\s+(?:datum|tag|jahr)"
    r"|datum\s+(?:der|des|von))",
    re.IGNORECASE,
)
_DEPARTMENT = re.compile(
    r"\b(?:(?:what|which)\s+(?:department|team|division|unit)|department\s+of|welche[rsnm]?\s+(?:abteilung|bereich"
    r"|team))\b",
    re.IGNORECASE,
)
_TYPE = re.compile(
    r"\b(?:(?:what|which)\s+(?:type|kind|sort)\s+of\s+(?:document|file|doc)|document\s+type|(?:what"
    r"|which)\s+file\s+type"
    r"|dokument(?:en)?typ|dateityp|was\s+für\s+ein(?:e)?\s+(?:dokument|datei)|welche\s+art\s+von\s+(?:dokument"
    r"|datei))\b",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(
    r"\b(?:(?:what|which)\s+language|language\s+of|in\s+welcher\s+sprache|welche\s+sprache)\b", re.IGNORECASE
)
_FILENAME = re.compile(
    r"\b(?:file\s?name\s+(?:of|for|does)|name\s+of\s+the\s+file|(?:what|which)\s+(?:is\s+the\s+)?file\s?name"
    r"|dateiname[ns]?|wie\s+heißt\s+die\s+datei)\b",
    re.IGNORECASE,
)
_TITLE = re.compile(r"\b(?:title\s+of|titel\s+(?:von|des|der|hat)|what\s+title)\b", re.IGNORECASE)
FIELDS = (
    ("page_count", _PAGES),
    ("author", _AUTHOR),
    ("upload_date", _DATE),
    ("department", _DEPARTMENT),
    ("document_type", _TYPE),
    ("language", _LANGUAGE),
    ("filename", _FILENAME),
    ("title", _TITLE),
)
"""The facts about a document, and how a question asks for each."""

_CHANGED = re.compile(
    r"\b(?:(?:last\s+)?(?:changed|updated|modified|edited|revised)|geändert|aktualisiert|bearbeitet|überarbeitet)\b",
    re.IGNORECASE,
)
_CREATED = re.compile(r"\b(?:written|created|made|geschrieben|verfasst|erstellt|creation)\b", re.IGNORECASE)

_IMPERATIVE = re.compile(
    r"^(?:list(?:\s+me)?|show(?:\s+(?:me|us))?|give\s+(?:me|us)|display|enumerate|find(?:\s+(?:me|us))?|get(?:\s+me)?"
    r"|search\s+for|look\s+for"
    r"|(?:an?\s+)?(?:list|overview|index)\s+of|zeige?(?:\s+(?:mir|uns))?|liste(?:\s+(?:mir|uns))?|nenne?(?:\s+(?:mir"
    r"|uns))?|finde|such\w*|gib\s+mir"
    r"|eine\s+(?:liste|übersicht))\b",
    re.IGNORECASE,
)
_WHICH = re.compile(r"^(?:which|what|welche)\b", re.IGNORECASE)
_DEFINITION = re.compile(
    r"^what\s+(?:are|were)\s+(?!(?:the|our|all|my|your|their|his|her|these|those)\b)", re.IGNORECASE
)
"""Asks what something is: "what are shareable files", unlike "what are our reports"."""
_HOW_MANY = re.compile(r"^(?:how\s+many|wie\s?viele|what\s+is\s+the\s+number\s+of)\b", re.IGNORECASE)
_THERE_IS = re.compile(
    r"^(?:are\s+there|is\s+there|do\s+(?:we|you|they)\s+have|have\s+(?:we|you)(?:\s+got)?|has\s+\w+\s+(?:uploaded"
    r"|published|written)"
    r"|does\s+[\w\s]{2,30}\s+have|gibt\s+es|haben\s+wir|habt\s+ihr|hat\s+[\w\s]{2,30}?(?=\s))\b",
    re.IGNORECASE,
)
_HELD = re.compile(
    r"^\W*(?:(?:do|does|did|has|have)\s+[\w\s.'’-]{1,40}?\s*(?:have|has|own|hold|publish(?:ed)?|upload(?:ed)?|wr(?:i"
    r"|o)te|written|add(?:ed)?|got|issued?"
    r"|release[d]?|contribute[d]?)\b|exist\b|are\s+(?:there|available|on\s+file|in\s+the\s+knowledge\s+base|from|by"
    r"|about|on|newer|older|longer|shorter"
    r"|written|dated|owned)\b|(?:were|was|have\s+been|has\s+been|are|got)\s+(?:uploaded|added|published|written"
    r"|created|changed|updated|modified|released"
    r"|issued|made|received)\b|(?:came|come)\s+in\b|(?:from|by|since|about|on|of|in|for)\b|(?:mention|cover"
    r"|deal\s+with|discuss|concern|treat)\b"
    r"|(?:have|has)\s+(?:more|fewer|less|over|at\s+least|up\s+to)\b|belong\b|(?:is|are)\s+(?:the\s+)?(?:newest|latest"
    r"|oldest|longest|longer|shorter|newer|older)\b"
    r"|[A-ZÄÖÜ][\w.'’-]+(?:\s+[A-ZÄÖÜ][\w.'’-]+){0,2}\s+(?:wrote|published|uploaded|added|created|made)\b"
    r"|(?:gibt\s+es|haben\s+wir|hat|haben|sind|liegen|wurden|stammen|kamen|existieren|handeln|behandeln|gehören|von"
    r"|vom|aus|seit|über|zu|zum|zur)\b"
    r"|$|\W*$)",
    re.IGNORECASE,
)
_IN_GENERAL = re.compile(
    r"\b(?:in|within)\s+(?:the\s+)?(?:app|application|product|system|portal|dashboard|menu|api|ui|interface"
    r"|workspace)\b",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"^\W*(?:say|says|tell|tells|recommend|recommends|require|requires|state|states|mention|mentions|define|defines"
    r"|write|specify|specifies|advise|advises"
    r"|explain|explains|contain|contains|suggest|suggests|about|über|zu|zum|zur)\b",
    re.IGNORECASE,
)
_ACCORDING = re.compile(r"(?:\b(?:according\s+to|as\s+per|laut|gemäß|nach)|^(?:in|im|within|from))\s*$", re.IGNORECASE)
_WHERE_IN = re.compile(r"\b(?:where|wo)\b.*\b(?:in|im)\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """The kind of a question and how sure that is, from 0 to 1, with its references to documents.

    ``text`` is the question without what is only polite; the references say where they stand in it. ``fields`` are the
    facts that are asked for. ``is_within``: passages are wanted, of the referenced documents only.
    """

    kind: QueryKind
    confidence: float
    text: str = ""
    references: tuple[Reference, ...] = ()
    fields: tuple[str, ...] = ()
    is_within: bool = False

    @property
    def is_ordinary(self) -> bool:
        """Whether nothing but a search for passages is asked for."""
        return self.kind == "CONTENT_SEARCH" and not self.is_within


ORDINARY = Reading("CONTENT_SEARCH", 0.5)

_SEVERAL = 2
_FEW = 2
_NEAR = 6
"""Words between the beginning of a question and the documents that it is about."""
_QUESTION_WORDS = 3


def reading_of(question: str, given: int = 0) -> Reading:
    """The kind of a question; :data:`ORDINARY` if it is long or unsure.

    ``given`` is how many documents the asker chose: then "summarise it" is about them, though it names none.
    """
    if len(question) > LONGEST or "\n" in question.strip():
        return ORDINARY
    text = _POLITE.sub("", question).strip()
    references = references_of(text)
    if not references and given:
        references = (Reference("", "description", len(text), len(text), count=given),)
    if not references:
        return ORDINARY
    meant = tuple(each for each in references if each.by != "description" or each.is_definite)
    if within := _within(text, meant):
        return Reading("CONTENT_SEARCH", 0.8, text, within, is_within=True)
    if _PROCEDURE.search(text):
        return ORDINARY
    if len(compared := _compared(text, meant)):
        return Reading("COMPARISON", 0.85, text, compared)
    if _is_listing(text, references):
        return Reading("LISTING", 0.85, text, references[:1])
    named = meant or tuple(each for each in references if each.qualifiers and not each.is_plural)
    if named and (fields := _fields(text, named)):
        return Reading("METADATA_SEARCH", 0.85, text, named[:1], fields)
    if named and _is_summary(text, named):
        return Reading("DOCUMENT_SUMMARY", 0.85, text, named)
    return ORDINARY


def _within(text: str, references: Sequence[Reference]) -> tuple[Reference, ...]:
    """Return the references in whose documents passages are wanted: "what does the guide say about accounts"."""
    if _COMPARES.search(text) or sum(max(1, each.count) for each in references) != 1 or references[0].count != 1:
        return ()
    reference = _without_subject(text, references[0])
    before, after = text[: reference.start], text[reference.end :]
    says = _SAYS.match(after)
    if says and _WHAT_DOES.fullmatch(before) and not _is_about(before, after):
        return (reference,)
    if says and re.match(r"(?:does|do|sagt)\b", before, re.IGNORECASE) and len(after.split()) > 1:
        return (reference,)
    if re.match(r"was\s+(?:sagt|steht)\b", before, re.IGNORECASE) and len(after.strip(" ?.").split()) > 1:
        return (reference,)
    if _ACCORDING.search(before) or _WHERE_IN.search(before):
        return (reference,) if len((before + after).split()) > _FEW else ()
    follows = re.search(r"\b(?:in|from|of|im|aus|within|inside)\s*$", before, re.IGNORECASE)
    asks = _PROCEDURE.search(text) or re.match(r"(?:what|which|was|who|when|how)\b", text, re.IGNORECASE)
    asks_otherwise = _SUMMARISES.search(text) or _fields(text, references) or _is_about(before, after)
    is_named = reference.by != "description"
    return (reference,) if is_named and follows and asks and not asks_otherwise else ()


def _without_subject(text: str, reference: Reference) -> Reference:
    """Return the reference without what follows its noun, if that is asked about: "was sagt das Handbuch zu X"."""
    is_asked = re.match(r"was\s+(?:sagt|sagen|steht|schreibt|heißt)\b", text, re.IGNORECASE)
    if not (is_asked and re.match(r"(?:über|zu|zum|zur)\b", reference.about, re.IGNORECASE)):
        return reference
    end = reference.start + text[reference.start : reference.end].rindex(reference.about)
    name = reference.name.removesuffix(reference.about).strip()
    return replace(reference, name=name, about="", end=end)


def _compared(text: str, references: Sequence[Reference]) -> tuple[Reference, ...]:
    """Return the references to the documents that are set side by side: at least two documents."""
    if sum(max(1, each.count) for each in references) < _SEVERAL:
        several = [each for each in references if each.is_plural and each.by == "description"]
        return tuple(several) if several and re.match(r"(?:compare|contrast|vergleich)", text, re.IGNORECASE) else ()
    if _COMPARES.search(text):
        return tuple(references)
    both = [each for each in references if each.count >= _SEVERAL]
    asks = re.match(r"(?:what|which|do|was|welche|is|are)\b", text, re.IGNORECASE)
    summarises = _SUMMARISES.search(text) or _fields(text, references)
    return tuple(both) if both and asks and not summarises and _OF_BOTH.search(text) else ()


def _is_listing(text: str, references: Sequence[Reference]) -> bool:
    """Return whether documents are to be listed or counted."""
    first = references[0]
    before, after = text[: first.start], text[first.end - len(first.about) if first.about else first.end :]
    if _IN_GENERAL.search(text) or _DEFINITION.search(text) or first.by != "description":
        return False
    is_feature = first.noun in FEATURES
    if _THERE_IS.search(text) and len(before.split()) <= _NEAR:
        asks_for_one = not first.is_plural and bool(first.about)
        return (first.is_plural or asks_for_one) and (
            not is_feature or not re.match(r"(?:is|are)\b", text, re.IGNORECASE)
        )
    if not first.is_plural or (first.count > 1 and not first.order):
        return False
    if _IMPERATIVE.search(text):
        return len(before.split()) <= _NEAR
    if _MODAL.search(text):
        return False
    if (_WHICH.search(text) or _HOW_MANY.search(text)) and len(before.split()) <= _QUESTION_WORDS:
        return bool(_HELD.match(after))
    starts_with_it = not before.strip() or re.fullmatch(r"(?:all|the|a\s+list\s+of|alle|die)\s*", before, re.IGNORECASE)
    return (
        bool(starts_with_it)
        and bool(first.order or first.about or _HELD.match(after))
        and not re.search(r"\b(?:is|are|do|does)\b", after)
    )


def _fields(text: str, references: Sequence[Reference]) -> tuple[str, ...]:
    """Return the facts about a document that are asked for."""
    if _MODAL.search(text) or not any(not each.is_plural or each.by == "description" for each in references):
        return ()
    outside = text
    for reference in reversed(references):
        outside = f"{outside[: reference.start]} {outside[reference.end :]}"
    outside = " ".join(outside.split())
    asked = [name for name, wording in FIELDS if wording.search(outside)]
    if "upload_date" in asked and _CHANGED.search(outside):
        asked[asked.index("upload_date")] = "changed"
    elif "upload_date" in asked and _CREATED.search(outside):
        asked[asked.index("upload_date")] = "created"
    return tuple(asked)


def _is_summary(text: str, references: Sequence[Reference]) -> bool:
    """Return whether a summary of the referenced documents is wanted."""
    before, after = text[: references[0].start], text[references[-1].end :]
    if _SUMMARISES.search(before) or _SUMMARISES.search(after):
        return True
    return all(reference.is_definite for reference in references) and _is_about(before, after)


def _is_about(before: str, after: str) -> bool:
    """Return whether the words around a document ask what it is about."""
    return any(opening.fullmatch(before) and closing.fullmatch(after) for opening, closing in _ABOUT)
