"""The names of months, days of the week and languages, by Babel from CLDR."""

from collections.abc import Sequence
from functools import lru_cache

from babel import Locale

from kb_pipeline.languages import NAMES

LANGUAGES = ("en", "de", "fr", "es")
_LONGEST_ENDING = 2
"""Letters that an ending adds: "deutsch", "deutsche", "deutschen"."""


@lru_cache(maxsize=2)
def months(languages: Sequence[str] = LANGUAGES) -> dict[str, int]:
    """The number of each month by its names and abbreviations in these languages, in small letters."""
    names: dict[str, int] = {}
    for language in languages:
        widths = Locale(language).months["format"]
        for width in ("wide", "abbreviated"):
            for number, name in widths[width].items():
                names.setdefault(str(name).strip(".").casefold(), int(number))
    return names


@lru_cache(maxsize=1)
def weekdays() -> dict[str, int]:
    """The number of each day of the week by its name, in small letters and without the s of a plural."""
    return {
        str(name).casefold().removesuffix("s"): int(number)
        for language in LANGUAGES
        for number, name in Locale(language).days["format"]["wide"].items()
    }


@lru_cache(maxsize=1_024)
def language_named(word: str, among: tuple[str, ...] = tuple(NAMES)) -> str | None:
    """The code of the language that a word of English or German names, with any ending: "German", "deutschen"."""
    said = word.casefold()
    for code in among:
        for name in (str(Locale(spoken).languages[code]).casefold() for spoken in ("en", "de")):
            if said.startswith(name) and len(said) - len(name) <= _LONGEST_ENDING:
                return code
    return None
