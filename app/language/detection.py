"""The language in which readers are answered, and what those are told who ask in another one than the articles'."""

from collections.abc import Iterable

from app.language.messages import ENGLISH, Messages
from kb_pipeline.languages import language_of

__all__ = ["language_note", "language_of", "reader_language"]

_SOME = 10
"""A tenth of the passages in the reader's language is enough to go without a remark."""


def reader_language(question: str, passages: Iterable[str] = ()) -> str:
    """The language of a question; in doubt that of most of the passages, else English."""
    return language_of(question) or _most(_written(passages)) or ENGLISH


def language_note(question: str, passages: Iterable[str]) -> str | None:
    """A sentence for readers who ask in another language than the passages', in the language of the question.

    ``None`` if a tenth of the passages is in that language: fewer are lists of names, not articles.
    """
    spoken = language_of(question)
    if spoken is None:
        return None
    written = _written(passages)
    if written.count(spoken) * _SOME >= len(written):
        return None
    say = Messages.of(spoken)
    return say("articles_in_other_language", language=say.name_of(_most(written) or ENGLISH))


def _written(passages: Iterable[str]) -> list[str]:
    return [language for language in map(language_of, passages) if language]


def _most(languages: list[str]) -> str | None:
    return max(dict.fromkeys(languages), key=languages.count, default=None)
