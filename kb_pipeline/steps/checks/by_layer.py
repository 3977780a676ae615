"""All checks of the layers that have several, as the layers run them."""

from collections.abc import Sequence

from kb_pipeline.records import CheckResult, Chunk, ConvertedArticle
from kb_pipeline.steps.checks.chunk_coverage import chunk_sizes_are_in_bounds, chunks_cover_the_article
from kb_pipeline.steps.checks.leaks import no_markup_leaked, no_page_code_in_text
from kb_pipeline.steps.checks.pages import (
    Control,
    headings_follow_the_outline,
    pages_are_covered,
    pages_are_read,
    pages_ascend,
)
from kb_pipeline.steps.checks.seen import SeenPage, seen_is_published
from kb_pipeline.steps.checks.served_images import images_are_placed, positions_are_known
from kb_pipeline.steps.checks.structure import article_is_not_empty, structure_is_preserved
from kb_pipeline.steps.checks.stuffing import words_are_not_stuffed
from kb_pipeline.steps.chunk.plain import CountTokens
from kb_pipeline.steps.pages import without_marks

_NOTHING = Control()


def check_conversion(
    article: ConvertedArticle, control: Control = _NOTHING, seen: SeenPage | None = None
) -> tuple[CheckResult, ...]:
    """Run the checks of ``converted_markdown``; those of pages and of the outline, if the article has any.

    ``seen`` is what readers see of the web page that the article is.
    """
    of_pages = [
        *([pages_ascend(article)] if article.pages else []),
        *([pages_are_covered(article, control)] if control.texts else []),
        *([pages_are_read(article)] if article.pages else []),
        *([headings_follow_the_outline(article, control.outline)] if control.outline else []),
    ]
    if article.pages:
        article = article.model_copy(update={"markdown": without_marks(article.markdown)})
    return (
        article_is_not_empty(article),
        structure_is_preserved(article),
        no_markup_leaked(article),
        no_page_code_in_text(article),
        images_are_placed(article),
        positions_are_known(article),
        words_are_not_stuffed(article),
        *([seen_is_published(article, seen)] if seen else []),
        *of_pages,
    )


def check_chunks(
    markdown: str, chunks: Sequence[Chunk], *, count_tokens: CountTokens, max_tokens: int
) -> tuple[CheckResult, ...]:
    """Run the checks of ``chunks``; ``markdown`` is ``article.md`` without pages, ``max_tokens`` the longest chunk."""
    return (
        chunk_sizes_are_in_bounds(chunks, count_tokens=count_tokens, max_tokens=max_tokens),
        chunks_cover_the_article(markdown, chunks),
    )
