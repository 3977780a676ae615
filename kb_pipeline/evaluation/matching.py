"""What counts as right in a ranking: the article, the words of the answer, the screenshot."""

import re
import unicodedata
from collections.abc import Callable, Sequence

from kb_pipeline.evaluation.questions import EvaluationQuestion
from kb_pipeline.records import Chunk
from kb_pipeline.steps.chunk import plain_text
from kb_pipeline.steps.html.image_stems import safe_stem

_WORD = re.compile(r"[^\W_]+")


def article_ranking(chunks: Sequence[Chunk]) -> list[str]:
    """The articles of a ranking, each once, at its best chunk."""
    return list(dict.fromkeys(chunk.article_id for chunk in chunks))


def first_rank(ranking: Sequence[str], right: frozenset[str]) -> int | None:
    """Where the first right one stands, from 1."""
    return next((rank for rank, name in enumerate(ranking, 1) if name in right), None)


def holds_span(question: EvaluationQuestion) -> Callable[[Chunk], bool]:
    """Whether a chunk is of a right article and holds the answer's words, one after the other.

    Only letters and digits count, in any case: markup, punctuation and typographic forms do not.
    """
    span = _words(question.answer_span or "")
    return lambda chunk: chunk.article_id in question.right_articles and span in _words(plain_text(chunk.content))


def shows_image(question: EvaluationQuestion) -> Callable[[Chunk], bool]:
    """Whether a chunk is of a right article and shows the screenshot, by the name it is served under."""
    served = f"/images/{safe_stem(question.image or '')}.png".casefold()
    return lambda chunk: (
        chunk.article_id in question.right_articles and any(url.casefold().endswith(served) for url in chunk.image_urls)
    )


def first_chunk(chunks: Sequence[Chunk], is_right: Callable[[Chunk], bool]) -> int | None:
    """Where the first chunk stands that is right, from 1."""
    return next((rank for rank, chunk in enumerate(chunks, 1) if is_right(chunk)), None)


def _words(text: str) -> str:
    """The words with a space around each, so that a word is never found inside another."""
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFKC', text).lower()))} "
