"""Recognise texts on a screen that name no part of it: numbers, dates, addresses, people, running text."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from kb_pipeline.steps.describe.lines import OcrLine

MENU_TITLES = frozenset(
    {"File", "Edit", "View", "Select", "Image", "Layer", "Colors", "Tools", "Filters", "Window", "Windows", "Help"}
    | {"Format", "Insert", "Find", "Debugger", "Bookmarks"}
)
"""First words of the menus of a program, in its menu bar."""

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = r"(?:today|yesterday|tomorrow|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[ap]\.?m\.?)?"
_SPAN = r"(?:sec(?:ond)?|min(?:ute)?|h(?:ou)?r?|d(?:ay)?|w(?:ee)?k|month|y(?:ea)?r)s?"

_DATA = re.compile(
    r"[\W\d_]*(?:px|pt|mm|cm|in|dpi|ppi|kb|mb|gb|ms|s|%|x)?[\W\d_]*"  # numbers with a unit
    r"|\S+\.\w{2,5}|(?:\w:)?[\\/]\S*|\w+://\S*|\S+@\S+"  # files, paths, addresses
    r"|\d*\w{0,5}[#-]?\d{3,}\w*"  # ticket numbers
    rf"|(?:{_DAY},?\s)?(?:at\s)?{_CLOCK}(?:\s.*)?|{_DAY}(?:,?\s(?:at\s)?{_CLOCK})"
    rf"|\d{{1,2}}\.?\s{_MONTH}(?:,?\s\d{{4}})?(?:\s{_CLOCK})?|{_MONTH}\s\d{{1,2}}(?:,?\s\d{{4}})?(?:\s{_CLOCK})?"
    rf"|(?:now|just now|yesterday|today)|(?:in\s)?\d+\s{_SPAN}(?:\s\d+\s{_SPAN})*(?:\sago)?"  # ages
    rf"|.*\d+\s{_SPAN}(?:\sago.*)?"  # "Updated 12 minutes ago"
    r"|\d[\d.,–-]*\s(?:[a-z]|/).*|[^\d]*\d+\s[^\d]*\d+\s[^\d]*"  # "1-25 of 148", "Used 86 times in 30 days"
    r"|\(?(?:null|none)\)?",
    re.IGNORECASE,
)
_SHORTCUT = re.compile(r"(?:(?:ctrl|alt|shift|cmd|strg)\+)+.*|f\d{1,2}", re.IGNORECASE)
_ENDS_LIKE_A_SENTENCE = re.compile(r"[^.][.!?,;]$")
_LABEL_WORDS = 6
"""Words of a label; more are running text."""
_DATED = re.compile(rf",\s(?:{_DAY}\s(?:at\s)?\d|\d+\s{_SPAN}\sago)", re.IGNORECASE)
_INITIALS = re.compile(r"[A-ZÀ-Þ]{2}")
_SHORT_WORDS = frozenset({"OK", "ID", "IP", "NO", "ON", "UI", "TO", "BY", "GO", "AT", "PX", "OS"})
_NAME_PART = r"[A-ZÀ-Þ][\w'’-]+"
_PERSON = re.compile(rf"{_NAME_PART}(?:\s{_NAME_PART}){{1,2}}")
_SHORT_PERSON = re.compile(rf"{_NAME_PART}\s[A-ZÀ-Þ]\.?")
_SIGNED = re.compile(rf"(?:\bby\s|@|\bTo:\s)({_NAME_PART}\s{_NAME_PART})|^({_NAME_PART}\s{_NAME_PART}),\s")


def is_data(text: str) -> bool:
    """Return whether the text is a number, date, address, file or state of one record, whatever the screen."""
    return bool(_DATA.fullmatch(text) or is_shortcut(text) or _DATED.search(text) or _is_initials(text))


def is_shortcut(text: str) -> bool:
    """Return whether the text is a key or a combination of keys."""
    return _SHORTCUT.fullmatch(text) is not None


def is_sentence(text: str) -> bool:
    """Return whether the text is running text, or a part of it."""
    words = len(text.split())
    return words > _LABEL_WORDS or (words > 2 and _ENDS_LIKE_A_SENTENCE.search(text) is not None)


def people(items: Sequence[OcrLine]) -> frozenset[str]:
    """Return the texts that are names of people.

    A name is one if the screen says so: its initials stand in a picture beside it, an address below is made of it, or
    something was done by it. Its short form ("Hannah L.") is one too.
    """
    texts = {item.text for item in items}
    candidates = {item.text: item for item in items if _PERSON.fullmatch(item.text)}
    signed = {name for text in texts for match in _SIGNED.finditer(text) for name in match.groups() if name}
    known = {name for name, item in candidates.items() if name in signed or _has_avatar(item, items)}
    known |= {name for name in candidates if any(_is_address_of(name, text) for text in texts)}
    known |= set(_shortened(texts))
    return frozenset(known)


def _is_initials(text: str) -> bool:
    return bool(_INITIALS.fullmatch(text)) and text not in _SHORT_WORDS


def _has_avatar(item: OcrLine, items: Iterable[OcrLine]) -> bool:
    initials = "".join(word[0] for word in item.text.split())
    return any(
        other.text == initials and abs(other.middle - item.middle) <= 1.5 * item.height and other.right <= item.left
        for other in items
    )


def _is_address_of(name: str, text: str) -> bool:
    """Return whether the text is an e-mail address whose first part contains a part of the name."""
    mailbox, _, domain = text.partition("@")
    parts = [_folded(part) for part in name.split()]
    return "." in domain and " " not in text and any(part in re.split(r"[._-]", _folded(mailbox)) for part in parts)


def _shortened(texts: Iterable[str]) -> Iterator[str]:
    return (text for text in texts if _SHORT_PERSON.fullmatch(text) and text.endswith("."))


def _folded(text: str) -> str:
    """Return the text in lower case without accents, as addresses are written."""
    return "".join(char for char in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(char))
