"""The one list of formats, which everything asks that needs to know a document by its name."""

from collections import Counter

import pytest

from kb_pipeline.plugins import find_opener
from kb_pipeline.sources import Source
from kb_pipeline.steps.formats import FORMATS, Format, endings, may_be_picture, media_type_of, part_of


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_an_entry_names_the_class_that_reads_it_and_a_type_of_each_ending(each: Format) -> None:
    assert isinstance(find_opener("KB_SOURCES", each.source, {}, Source)(), Source)  # type: ignore[type-abstract]
    assert all(ending == ending.lower() and ending.startswith(".") for ending in each.media_types)
    assert all(media_type.count("/") == 1 for media_type in each.media_types.values())


def test_an_ending_and_a_name_belong_to_one_format() -> None:
    assert [each for each, count in Counter(endings()).items() if count > 1] == []
    assert len({each.name for each in FORMATS}) == len(FORMATS)


def test_a_file_is_known_by_its_ending_alone() -> None:
    assert [media_type_of(name) for name in ("A.PDF", "b.md", "c.unknown", "pdf")] == [
        *("application/pdf", "text/markdown"),
        *("application/octet-stream", "application/octet-stream"),
    ]
    assert [part_of(name) for name in ("Talk.pptx", "a.pdf", "index.html")] == ["slide", "page", "page"]


@pytest.mark.parametrize(
    ("name", "may_be"),
    [("a.png", True), ("a.image", True), ("a", True), ("a.PDF", False), ("index.html", False), ("a.markdown", False)],
)
def test_a_picture_of_an_article_is_neither_a_document_nor_a_part_of_a_page(name: str, may_be: bool) -> None:
    assert may_be_picture(name) == may_be
