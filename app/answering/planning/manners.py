"""Greetings, thanks and goodbyes, which are answered in a line and are no questions."""

import re
from typing import Literal

from app.language.messages import Messages, in_every_language

Courtesy = Literal["greeting", "thanked", "goodbye"]

_SAID: dict[str, dict[Courtesy, str]] = {
    "en": {
        "greeting": r"hi|hello|hey|good (?:morning|afternoon|evening|day)",
        "thanked": r"thanks|thank you|thx|cheers|ok(?:ay)?|great|perfect|got it|that (?:helped|worked|was helpful)",
        "goodbye": r"bye(?: bye)?|goodbye|see you",
    },
    "de": {
        "greeting": r"hallo|moin|servus|grüß gott|guten (?:morgen|tag|abend)",
        "thanked": r"danke(?:schön)?|(?:vielen|besten) dank|alles klar|super|das (?:hat geholfen|war hilfreich)",
        "goodbye": r"tschüss?|auf wiedersehen",
    },
    "fr": {"greeting": r"bonjour|bonsoir|salut", "thanked": r"merci|parfait|d'accord", "goodbye": r"au revoir"},
    "es": {"greeting": r"hola|buenos días|buenas tardes", "thanked": r"gracias|perfecto|vale", "goodbye": r"adiós"},
}
_MORE = (
    r"there|all|team|everybody|again|so much|very much|a lot|for (?:your|the) help|zusammen|nochmal|sehr|schön"
    r"|für (?:ihre|die) hilfe|beaucoup|à tous|muchas|mucho|a todos"
)
_COURTESIES: tuple[tuple[str, Courtesy, re.Pattern[str]], ...] = tuple(
    (language, courtesy, re.compile(rf"(?=.*\b(?:{wording})\b)(?:(?:{wording}|{_MORE})[\s,.!:;)-]+)+", re.IGNORECASE))
    for language, said in _SAID.items()
    for courtesy, wording in said.items()
)
_LONGEST = 60
"""Characters of a greeting with a name; a longer message wants something."""


def courtesy_in(text: str) -> str | None:
    """The line that answers a greeting, thanks or a goodbye, in its language; ``None`` if something else is said."""
    said = f"{' '.join(text.split())} "
    if len(said) > _LONGEST:
        return None
    return next(
        (Messages.of(language)(courtesy) for language, courtesy, known in _COURTESIES if known.fullmatch(said)), None
    )


def is_courtesy(answer: str) -> bool:
    """Whether an answer is no more than a line of courtesy, which needs no source and refuses nothing."""
    return any(answer in in_every_language(key) for key in ("greeting", "thanked", "goodbye"))


def is_no_gap(answer: str) -> bool:
    """Whether an answer that cites nothing says nothing about the knowledge base: a courtesy, or "none of these"."""
    return is_courtesy(answer) or answer in in_every_language("none_of_these")
