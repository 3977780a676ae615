"""Passages that say the same are found as one."""

import pytest

from kb_pipeline.records import SearchHit
from kb_pipeline.search.base import without_repeats
from kb_pipeline_tests.contracts.search_samples import entry


def hit(article_id: str, content: str, score: float, **fields: object) -> SearchHit:
    return SearchHit(chunk=entry(article_id, content, **fields).chunk, score=score)


def test_of_copies_the_best_is_kept_in_its_place() -> None:
    hits = [hit("b", "other", 4), hit("copy-2", "Save  it.\n", 3), hit("copy", "Save it.", 2), hit("c", "more", 1)]
    assert [each.chunk.article_id for each in without_repeats(hits)] == ["b", "copy-2", "c"]


@pytest.mark.parametrize("differs", [{"title": "Redo"}, {"heading_path": ("Guide", "Redo")}])
def test_the_same_sentence_about_something_else_is_no_copy(differs: dict[str, object]) -> None:
    hits = [hit("undo", "Choose it from the menu.", 2), hit("redo", "Choose it from the menu.", 1, **differs)]
    assert without_repeats(hits) == hits
