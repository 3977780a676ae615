"""The quality gates: is the output of a layer good enough to be published?

Pure functions that report what was lost, where, and how to fix it. Not here: what happens when a check fails.
"""

from kb_pipeline.steps.checks.by_layer import check_chunks, check_conversion
from kb_pipeline.steps.checks.chunk_coverage import chunk_sizes_are_in_bounds, chunks_cover_the_article
from kb_pipeline.steps.checks.leaks import no_markup_leaked, no_page_code_in_text
from kb_pipeline.steps.checks.pages import (
    Control,
    headings_follow_the_outline,
    incomplete_pages,
    pages_are_covered,
    pages_are_read,
    pages_ascend,
)
from kb_pipeline.steps.checks.seen import SeenPage, read_seen, seen_is_published
from kb_pipeline.steps.checks.served_images import images_are_accounted_for, images_are_placed, positions_are_known
from kb_pipeline.steps.checks.specs import CHECKS, CheckSpec, outcome
from kb_pipeline.steps.checks.structure import article_is_not_empty, structure_is_preserved
from kb_pipeline.steps.checks.stuffing import words_are_not_stuffed
from kb_pipeline.steps.checks.summaries import rows_are_complete, summary_is_quoted
from kb_pipeline.steps.checks.vectors import index_holds_the_chunks, vectors_are_usable

__all__ = [
    "CHECKS",
    "CheckSpec",
    "Control",
    "SeenPage",
    "article_is_not_empty",
    "check_chunks",
    "check_conversion",
    "chunk_sizes_are_in_bounds",
    "chunks_cover_the_article",
    "headings_follow_the_outline",
    "images_are_accounted_for",
    "images_are_placed",
    "incomplete_pages",
    "index_holds_the_chunks",
    "no_markup_leaked",
    "no_page_code_in_text",
    "outcome",
    "pages_are_covered",
    "pages_are_read",
    "pages_ascend",
    "positions_are_known",
    "read_seen",
    "rows_are_complete",
    "seen_is_published",
    "structure_is_preserved",
    "summary_is_quoted",
    "vectors_are_usable",
    "words_are_not_stuffed",
]
