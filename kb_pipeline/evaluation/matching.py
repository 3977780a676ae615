"""Finds what is right in a ranking: the article, the words of the answer, the screenshot, the page."""

import re
import unicodedata
from collections.abc import Callable, Sequence

from kb_pipeline.evaluation.questions import EvaluationQuestion
from kb_pipeline.records import Chunk
from kb_pipeline.steps.chunk import plain_text
from kb_pipeline.steps.html.images import safe_stem

_WORD = re.compile(r"[^\W_]+")


def article_ranking(chunks: Sequence[Chunk]) -> list[str]:
    """The articles of a ranking of chunks, each at the rank of its best chunk."""
    return list(dict.fromkeys(chunk.article_id for chunk in chunks))


def first_rank(ranking: Sequence[str], right: frozenset[str]) -> int | None:
    """The rank of the first right article, from 1."""
    return next((rank for rank, name in enumerate(ranking, 1) if name in right), None)


def holds_span(question: EvaluationQuestion) -> Callable[[Chunk], bool]:
    """A test of whether a chunk is from a right article and contains the words of the answer in their order.

    Only letters and digits are compared, ignoring case, markup, punctuation and typographic variants.
    """
    span = words(question.answer_span or "")
    return lambda chunk: chunk.article_id in question.right_articles and span in words(plain_text(chunk.content))


def shows_image(question: EvaluationQuestion) -> Callable[[Chunk], bool]:
    """A test of whether a chunk is from a right article and shows the screenshot, by the name of the served file."""
    served = f"/images/{safe_stem(question.image or '')}.png".casefold()
    return lambda chunk: (
        chunk.article_id in question.right_articles and any(url.casefold().endswith(served) for url in chunk.image_urls)
    )


def stands_on_page(question: EvaluationQuestion) -> Callable[[Chunk], bool]:
    """A test of whether a chunk is from the document that the question names, and has content of the right page."""
    return lambda chunk: chunk.article_id == question.article_id and question.page in chunk.pages


def first_chunk(chunks: Sequence[Chunk], is_right: Callable[[Chunk], bool]) -> int | None:
    """The rank of the first right chunk, from 1."""
    return next((rank for rank, chunk in enumerate(chunks, 1) if is_right(chunk)), None)


def words(text: str) -> str:
    """The words with a space around each, so that no word matches a part of another."""
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFKC', text).lower()))} "
