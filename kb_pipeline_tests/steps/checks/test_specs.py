"""Every result has a specification, and people can read it."""

import numpy as np

from kb_pipeline.records import DocumentSummary, OutlineEntry, PageInfo
from kb_pipeline.steps.agreement.findings import statements_agree
from kb_pipeline.steps.checks import (
    CHECKS,
    Control,
    check_chunks,
    check_conversion,
    images_are_accounted_for,
    index_holds_the_chunks,
    read_seen,
    rows_are_complete,
    summary_is_quoted,
    vectors_are_usable,
)
from kb_pipeline_tests.steps.checks.articles import sound
from kb_pipeline_tests.steps.chunk.articles import count_words


def test_each_layer_gives_the_results_that_are_specified_for_it() -> None:
    article = sound()
    images = images_are_accounted_for(article.converted, article.described, article.markdown, article.manifest)
    results = {
        "converted_markdown": check_conversion(
            article.converted.model_copy(update={"pages": (PageInfo(number=1),)}),
            Control({1: "Saving"}, {}, (OutlineEntry(title="Saving"),)),
            read_seen("<p>Saving</p>", {}),
        ),
        "document_summary": (summary_is_quoted("", DocumentSummary()),),
        "serving_article": (images,),
        "chunks": (
            *check_chunks(article.markdown, article.chunks, count_tokens=count_words, max_tokens=99),
            rows_are_complete(article.chunks, article.manifest),
        ),
        "chunk_embeddings": (vectors_are_usable(np.ones((1, 1), np.float32), 1, 1),),
        "search_index": (index_holds_the_chunks({}, {}), statements_agree([])),
    }
    found = [(layer, result.name) for layer, of_layer in results.items() for result in of_layer]
    assert found == [(spec.layer, name) for name, spec in CHECKS.items()]


def test_descriptions_are_sentences() -> None:
    assert all(spec.description.endswith(".") and ". " not in spec.description for spec in CHECKS.values())
