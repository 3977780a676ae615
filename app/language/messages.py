"""What a reader of an answer is told, in the reader's language: the one catalogue of such texts.

The texts are files in ``catalogue/``, one for each language, with the same keys and placeholders.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

ENGLISH = "en"
_FOLDER = files(__package__) / "catalogue"

Text = str | Mapping[str, str]
"""A message: its text, or a text for ``one`` and for ``many`` of what it counts."""


@cache
def languages() -> tuple[str, ...]:
    """The languages that readers are answered in, as ISO 639-1, English first."""
    names = sorted(each.name.removesuffix(".toml") for each in _FOLDER.iterdir() if each.name.endswith(".toml"))
    return (ENGLISH, *(name for name in names if name != ENGLISH))


class Messages:
    """The messages in one language: ``say = Messages.of("de"); say("documents", number=3)`` is ``3 Dokumente``."""

    def __init__(self, language: str, texts: Mapping[str, Text], names: Mapping[str, str]) -> None:
        """``names`` are those of languages, by their codes."""
        self.language = language
        self.texts = MappingProxyType(dict(texts))
        self._names = names

    @staticmethod
    def of(language: str | None) -> "Messages":
        """The messages in a language, named as ``de`` or ``de-AT``; in English if there are none."""
        code = (language or ENGLISH).lower().partition("-")[0]
        return _read(code if code in languages() else ENGLISH)

    def __call__(self, key: str, /, **values: str | int) -> str:
        """A message with its placeholders replaced.

        Whole numbers are counts: they are grouped as the language does, and ``number`` decides between one and many.
        What is no count, such as a page's number, is given as text.
        """
        text = self.texts[key]
        if not isinstance(text, str):
            text = text["one" if values["number"] == 1 else "many"]
        return text.format(**{name: self._shown(value) for name, value in values.items()})

    def name_of(self, language: str) -> str:
        """The name of a language, given by its code, as it stands in a sentence; the code if it has no name here."""
        return self._names.get(language.lower().partition("-")[0], language)

    def _shown(self, value: str | int) -> str:
        return value if isinstance(value, str) else f"{value:,}".replace(",", str(self.texts["thousands"]))


def in_every_language(key: str) -> tuple[str, ...]:
    """A message without placeholders in all languages, for code that must recognise it in an answer."""
    return tuple(Messages.of(language)(key) for language in languages())


@cache
def _read(language: str) -> Messages:
    catalogue = tomllib.loads((_FOLDER / f"{language}.toml").read_text("utf-8"))
    return Messages(language, catalogue["messages"], catalogue["languages"])
