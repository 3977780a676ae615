"""The quality gates: is what a layer made good enough to be published?

Pure functions that say what was lost, where, and how to mend it. Not here: what happens then.
"""

from kb_pipeline.steps.checks.by_layer import (
    check_chunks,
    check_conversion,
    check_index,
    check_serving,
    check_vectors,
)
from kb_pipeline.steps.checks.chunk_coverage import chunks_cover_the_article
from kb_pipeline.steps.checks.chunk_sizes import chunk_sizes_are_in_bounds
from kb_pipeline.steps.checks.image_markers import images_are_placed
from kb_pipeline.steps.checks.index import index_holds_the_chunks
from kb_pipeline.steps.checks.leaks import no_markup_leaked, no_page_code_in_text
from kb_pipeline.steps.checks.served_images import images_are_accounted_for
from kb_pipeline.steps.checks.specs import BLOCKING, CHECKS, CheckSpec
from kb_pipeline.steps.checks.structure import article_is_not_empty, structure_is_preserved
from kb_pipeline.steps.checks.vectors import vectors_are_usable

__all__ = [
    "BLOCKING",
    "CHECKS",
    "CheckSpec",
    "article_is_not_empty",
    "check_chunks",
    "check_conversion",
    "check_index",
    "check_serving",
    "check_vectors",
    "chunk_sizes_are_in_bounds",
    "chunks_cover_the_article",
    "images_are_accounted_for",
    "images_are_placed",
    "index_holds_the_chunks",
    "no_markup_leaked",
    "no_page_code_in_text",
    "structure_is_preserved",
    "vectors_are_usable",
]
