"""Masks what names or reaches a person in the words of a question that others will read.

Masked are mail addresses, telephone numbers, secrets, whatever an address carries besides host and path, the name
behind a greeting, and the name with which a message ends. Not masked are names within a sentence, postal addresses,
and numbers of customers, orders or accounts: no form tells them from other words and numbers.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from urllib.parse import urlsplit

from kb_pipeline.languages import NAMES, language_of
from kb_pipeline.pasted import GREETING, question_of
from kb_pipeline.secrets import HIDDEN, without_secrets

MAIL_ADDRESS = re.compile(r"[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_MASKED_ADDRESS, _MASKED_NAME, _MASKED_NUMBER = "[e-mail address]", "[name]", "[telephone number]"
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s<>\"']+", re.IGNORECASE)
_TOKEN = re.compile(r"(?=[^/]*\d)[\w.~=-]{20,}")
"""A segment of a path that looks like a key: long, with digits."""
_MAY_BE_NUMBER = re.compile(r"\d(?:\D{0,3}\d){6}")
_SHORTEST_NUMBER, _SHORTEST_UNGROUPED = 7, 9
"""Digits of a telephone number with and without spaces or signs between them; shorter ones are mostly other numbers."""
_SHORTEST_NAME = 3
"""Letters of a name that is masked wherever it stands; shorter ones are parts of words."""
_GREETED = re.compile(rf"(\b{GREETING}\s+)([^\W\d_][^,.!?:;\n]{{0,40}})(?=[,.!?:;\n]|$)", re.IGNORECASE)
_NAME = r"(?P<name>(?:[^\W\d_][\w'’-]*\.?[ ]+){0,2}[^\W\d_][\w'’-]*)\s*$"
_PARTING = r"(?:[^\W\d_][\w'’]*[ ]+){0,3}[^\W\d_][\w'’]*"
_SIGNATURES = tuple(
    re.compile(place + _NAME)
    for place in (
        rf"(?:[.!?…]\s+|\n\s*){_PARTING}(?:[,!]\s*|\s*\n\s*|\s+[-–—]\s*)",  # "… work? Regards, Ann"
        r"[.!?…,]\s*\n\s*[-–—]*\s*",  # a line of its own
        r"[.!?…]\s+[-–—]+\s*",  # "… work? - Ann"
    )
)
"""Where a name stands with which a message ends, in any language: behind at most four words, or by itself."""
_ADDRESSED = re.compile(r"(?:(?:[^\W\d_]\.\s*)*[^\W\d_][\w'’-]*\.?\s*){1,4}")


def question_to_keep(text: str, names: Iterable[str] = ()) -> str:
    """The question of a message, in one line, as it may be kept where others read it."""
    return without_personal(question_of(without_signature(text)), names)


def without_signature(text: str) -> str:
    """The message with the name masked with which it ends. It is known by its place and its capitals alone, so the name
    of a product at such a place is masked, too, and one in a script without capitals is not.
    """
    for place in _SIGNATURES:
        found = place.search(text)
        if found and all(word[0].isupper() for word in found["name"].split()):
            return f"{text[: found.start('name')]}{_MASKED_NAME}"
    return text


def without_personal(text: str, names: Iterable[str] = ()) -> str:
    """The text with what names or reaches a person masked; ``names`` are those of the person who wrote it."""
    text = _URL.sub(lambda found: _bare_address(found[0]), text)
    text = without_secrets(MAIL_ADDRESS.sub(_MASKED_ADDRESS, text))
    for start, end in reversed(list(_numbers(text))):
        text = f"{text[:start]}{_MASKED_NUMBER}{text[end:]}"
    text = _GREETED.sub(_without_greeted, text)
    for name in names:
        if len(name) >= _SHORTEST_NAME:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", _MASKED_NAME, text, flags=re.IGNORECASE)
    return text


def _bare_address(address: str) -> str:
    """Scheme, host and path of an address; ``***`` if it cannot be parsed."""
    trailing = address[len(address.rstrip(".,;:!?)")) :]
    address = address.removesuffix(trailing)
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
    except ValueError:
        return HIDDEN
    path = "/".join(_TOKEN.sub(HIDDEN, segment) for segment in parts.path.split("/"))
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, path=path, query="", fragment="").geturl().removeprefix("//") + trailing


def _without_greeted(found: re.Match[str]) -> str:
    """A greeting without the name behind it; what is longer than a name is left."""
    return f"{found[1]}{_MASKED_NAME}" if _ADDRESSED.fullmatch(found[2].strip()) else found[0]


def _numbers(text: str) -> Iterator[tuple[int, int]]:
    """Where telephone numbers stand: international ones, and those as the countries of the text's language write them.

    In a language's main country any valid number counts, in the others only one that is grouped as they do: with 86
    countries that speak English, nearly every number is valid somewhere.
    """
    if not _MAY_BE_NUMBER.search(text):
        return
    from phonenumbers import Leniency, PhoneNumberMatcher

    end = 0
    spoken = language_of(text)
    regions = [(None, Leniency.VALID), *(each for name in ([spoken] if spoken else NAMES) for each in _regions(name))]
    found = {
        (match.start, -match.end)
        for region, leniency in regions
        for match in PhoneNumberMatcher(text, region, leniency=leniency)
        if _is_long_enough(match.raw_string)
    }
    for start, negative_end in sorted(found):
        if start >= end:
            end = -negative_end
            yield start, end


def _is_long_enough(number: str) -> bool:
    digits = sum(map(str.isdecimal, number))
    return digits >= (_SHORTEST_UNGROUPED if number.isdecimal() else _SHORTEST_NUMBER)


@cache
def _regions(language: str) -> tuple[tuple[str, int], ...]:
    """The countries in which a language is official, and how strictly a number must be grouped there."""
    from babel.core import get_global
    from babel.languages import get_official_languages
    from phonenumbers import SUPPORTED_REGIONS, Leniency

    main = str(get_global("likely_subtags").get(language, "")).rpartition("_")[2]
    others = sorted(each for each in SUPPORTED_REGIONS if language in get_official_languages(each, de_facto=True))
    return ((main, Leniency.VALID), *((each, Leniency.STRICT_GROUPING) for each in others if each != main))
