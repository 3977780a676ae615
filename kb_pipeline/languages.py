"""In which language a text is, and how words of a language are compared: its stop words and stems."""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from threading import local
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier
    from Stemmer import Stemmer

ENGLISH = "en"
NAMES = MappingProxyType(
    {
        "de": "german",
        "en": "english",
        "es": "spanish",
        "fr": "french",
        "it": "italian",
        "nl": "dutch",
        "pt": "portuguese",
    }
)
"""Languages that are told apart, by their ISO 639-1 codes, as the stemmers call them."""
_SURE = 0.6
"""Probability from which a language counts as told. On 169 short questions in seven languages, misspelt ones among
them, no other language was named from here on; 127 were told, and the others left to what the articles are in."""
_READ = 2_000
"""Characters: a page is enough to tell a language, and more takes longer."""
_LETTERS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_IDENTIFIER = re.compile(r"\S*[/\\_@=<>\d]\S*")
"""Addresses, paths, settings and numbers are in no language."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_own = local()


def language_of(text: str, among: Iterable[str] = NAMES) -> str | None:
    """The language of a text as ISO 639-1, of those that it may be in; ``None`` in doubt."""
    words = " ".join(_LETTERS.findall(_IDENTIFIER.sub(" ", text[:_READ])))
    if not words:
        return None
    language, probability = _identifier(tuple(sorted(among))).classify(words)
    return str(language) if probability >= _SURE else None


@cache
def _identifier(among: tuple[str, ...]) -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(among))
    return identifier


@cache
def stop_words(language: str) -> frozenset[str]:
    """The words of a language that say nothing about the matter; none of a language that is not known."""
    names = {"en": "STOPWORDS_EN_PLUS"}
    name = names.get(language, f"STOPWORDS_{NAMES.get(language, '').upper()}")
    return frozenset(_lists().get(name, ()))


def telling_words(text: str) -> list[range]:
    """Where the words of a text stand that say something about the matter; all words, if none of them does.

    A text whose language is not told counts as English.
    """
    stopped = stop_words(language_of(text) or ENGLISH)
    matches = list(_WORD.finditer(text))
    telling = [each for each in matches if each.group().lower().replace("’", "'") not in stopped]
    return [range(*each.span()) for each in telling or matches]


@cache
def _lists() -> dict[str, Any]:
    """Return Snowball's lists of stop words, which bm25s has complete, without the package, which loads much else."""
    package = find_spec("bm25s")
    assert package is not None
    assert package.origin is not None
    return run_path(str(Path(package.origin).with_name("stopwords.py")))


@lru_cache(maxsize=65_536)
def stem(word: str, language: str) -> str:
    """A lower-case word without its endings, so that its forms are equal; as it is in a language that is not known."""
    return str(_stemmer(language).stemWord(word)) if language in NAMES else word


def _stemmer(language: str) -> "Stemmer":
    """Return the stemmer of this thread: no two may use the same one at once."""
    stemmers = _own.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        from Stemmer import Stemmer

        stemmers[language] = Stemmer(NAMES[language])
    return stemmers[language]


def stems(text: str, language: str) -> list[str]:
    """The stems of the words of a text in a language, without its stop words."""
    return stems_of([word.replace("’", "'") for word in _WORD.findall(text.lower())], language)


def stems_of(words: Sequence[str], language: str) -> list[str]:
    """The stems of lower-case words in a language, without its stop words."""
    stopped = stop_words(language)
    return [stem(word, language) for word in words if word not in stopped]
