"""The words for documents in English and German, and which of them mean the same kind of document."""

import re
from types import MappingProxyType

_KINDS = MappingProxyType(
    {
        "document": r"documents?|docs?|files?|dokument(?:e|en|s|es)?|datei(?:en)?|unterlagen?|schriftstücke?",
        "pdf": r"pdfs?(?:\s+files?)?|pdf-datei(?:en)?",
        "manual": r"manuals?|handbooks?|handb(?:uch|uchs|uches|ücher|üchern)",
        "guide": r"guides?|anleitung(?:en)?|leitf(?:aden|adens|äden)|tutorials?",
        "report": r"reports?|bericht(?:e|en|s|es)?",
        "policy": r"polic(?:y|ies)|guidelines?|richtlinien?",
        "presentation": r"presentations?|slide\s?decks?|slides|decks?|präsentation(?:en)?|foliens(?:atz|ätze)",
        "contract": r"contracts?|vertr(?:ag|ags|ages|äge|ägen)",
        "agreement": r"agreements?|vereinbarung(?:en)?",
        "article": r"articles?|artikeln?",
        "specification": r"specifications?|specs?|spezifikation(?:en)?|pflichtenhefte?",
        "study": r"stud(?:y|ies)|white\s?papers?|studien?",
        "review": r"reviews?",
        "memo": r"memos?|memorand(?:um|a)|aktennotiz(?:en)?",
        "minutes": r"minutes|protokoll(?:e|en|s)?",
        "brochure": r"brochures?|leaflets?|flyers?|broschüren?",
        "roadmap": r"roadmaps?",
        "newsletter": r"newsletters?",
        "datasheet": r"data\s?sheets?|datenbl(?:att|atts|ätter|ättern)",
        "notes": r"(?:(?:release|service|meeting)\s+)?notes",
    }
)
GENERIC = frozenset({"document", "article"})
"""Kinds that say nothing about what a document is."""

FEATURES = frozenset({"article", "report", "policy", "review", "notes", "study", "minutes", "roadmap", "specification"})
"""Kinds that products have as well: "which reports can I schedule?" asks about a feature."""

RELATED = MappingProxyType(
    {
        "contract": ("agreement",),
        "agreement": ("contract",),
        "manual": ("guide",),
        "guide": ("manual",),
        "notes": ("memo",),
    }
)
"""Kinds that may be meant if there is none of the named kind."""

SUFFIXES = MappingProxyType({"pdf": (".pdf",), "presentation": (".pptx", ".ppt")})
"""Endings of the files of a kind."""

_ENGLISH_PLURAL = re.compile(r"(?:[^su]s|ies|uments|minutes|slides|notes|memoranda)$")
_GERMAN_PLURAL = re.compile(
    r"(?:dokumenten?|dateien|unterlagen|schriftstücke|bücher|büchern|anleitungen|leitfäden|berichten?|richtlinien"
    r"|präsentationen|foliensätze|verträgen?|vereinbarungen|artikeln?|spezifikationen|pflichtenhefte|studien"
    r"|aktennotizen|protokollen?|broschüren|blätter|blättern)$"
)

NOUN = "|".join(rf"(?P<{kind}>{words})" for kind, words in _KINDS.items())
_WHOLE = re.compile(rf"(?P<compound>[\wäöüß-]*?)(?:{NOUN})", re.IGNORECASE)

ANY_NOUN = rf"(?:[\w-]*(?:{'|'.join(_KINDS.values())}))"
"""A noun for a document in a pattern, also as the end of a German compound ("Jahresbericht")."""

_DEPARTMENTS = (
    "finance finances financial accounting buchhaltung finanzen finanzabteilung rechnungswesen",
    "hr people personnel personal personalabteilung human-resources",
    "legal rechtsabteilung recht",
    "sales vertrieb verkauf vertriebsabteilung",
    "marketing marketingabteilung",
    "it edv informatik it-abteilung",
    "support kundendienst kundenbetreuung supportabteilung",
    "engineering development entwicklung technik entwicklungsabteilung",
    "purchasing procurement einkauf einkaufsabteilung",
    "operations betrieb",
    "security sicherheit",
    "quality qualität qs",
    "research forschung",
    "management geschäftsführung leitung",
)


def kind_of_noun(word: str) -> str:
    """The kind of document that a noun means: "report" for "Jahresbericht"; "" if it means none."""
    found = _WHOLE.fullmatch(word.strip())
    return next((kind for kind in _KINDS if found and found[kind]), "")


def is_plural(noun: str) -> bool:
    """Whether a noun for documents means more than one of them; "Handbücher", "reports"; "Artikel" may."""
    lower = noun.lower()
    return bool(_GERMAN_PLURAL.search(lower) or _ENGLISH_PLURAL.search(lower))


def qualifier_of(noun: str) -> str:
    """What a German compound says before its noun: "Jahres" of "Jahresbericht"; "" without."""
    found = _WHOLE.fullmatch(noun.strip())
    return found["compound"].strip("-") if found else ""


def same_department(asked: str, department: str) -> bool:
    """Whether a word of a question names a department, by its own name or by one that is usual."""
    one, other = _plain(asked), _plain(department)
    return one == other or any(one in group.split() and other in group.split() for group in _DEPARTMENTS)


def _plain(name: str) -> str:
    words = re.sub(r"\b(?:departments?|dept|team|abteilung|bereich|the|der|die)\b", " ", name.casefold()).split()
    return "-".join(words)


_GERMAN = re.compile(
    r"\b(?:der|die|das|dem|den|des|ein|eine[nrsm]?|ist|sind|wie|wer|wann|wo|welche[nrsm]?|worum|wovon|fasse?|zusammen"
    r"|vergleiche?|zeige?|liste"
    r"|nenne?|gibt|haben|hat|von|vom|und|oder|mir|bitte|im|zum|zur|über|beide[nr]?|viele)\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    r"\b(?:the|a|an|is|are|was|how|who|when|where|which|what|of|and|or|me|please|both|about|do|does|we|have"
    r"|summari[sz]e|compare|list|show)\b",
    re.IGNORECASE,
)


def is_german(text: str) -> bool:
    """Whether a question is in German rather than in English, by its little words."""
    return len(_GERMAN.findall(text)) > len(_ENGLISH.findall(text))
