"""Sections that are left for later are told by their headings, and share no chunk with others."""

import pytest

from kb_pipeline.records import Chunk
from kb_pipeline.steps.chunk import (
    backlog_items,
    chunk_article,
    deferring_titles,
    titles_of,
    without_deferred,
)
from kb_pipeline_tests.steps.chunk.articles import chunk, count_words, manifest

TITLES = titles_of(["Production Backlog Items"])

SERVICE = """# Cosmos DB

Use one container per aggregate.

## Patterns

Point reads cost one unit.

## Production Backlog Items

- Add a second region
- Rotate keys
  - with Key Vault

### Alerts

- Alert at 80 % of the units

## Pitfalls

Never query across partitions.
"""


def cut(markdown: str, *, min_tokens: int = 0) -> list[Chunk]:
    return chunk_article(
        markdown, manifest(), count_tokens=count_words, max_tokens=1000, min_tokens=min_tokens, deferring=TITLES
    )


def later(chunks: list[Chunk]) -> list[str]:
    return [each.section_header for each in chunks if each.deferred]


def text_of(chunks: list[Chunk], *, deferred: bool) -> str:
    return "\n".join(each.content for each in chunks if each.deferred is deferred)


def test_a_section_is_deferred_with_everything_below_it() -> None:
    assert later(cut(SERVICE)) == ["Production Backlog Items", "Alerts"]


@pytest.mark.parametrize(
    "heading",
    [
        "## Production Backlog Items",
        "## production   backlog items",
        "## PRODUCTION BACKLOG ITEMS",
        "## ProductionBacklogItems",
        "## Production **Backlog** Items ##",
        "Production Backlog Items\n---",
    ],
)
def test_titles_are_compared_without_case_spaces_and_markup(heading: str) -> None:
    text = SERVICE.replace("## Production Backlog Items", heading)
    assert "Rotate keys" not in text_of(cut(text), deferred=False)
    assert "Rotate keys" not in without_deferred(text, TITLES)


@pytest.mark.parametrize(
    "heading", ["## Production Backlog", "## On Production Backlog Items", "Production Backlog Items"]
)
def test_other_headings_and_mere_mentions_defer_nothing(heading: str) -> None:
    text = SERVICE.replace("## Production Backlog Items", heading)
    assert later(cut(text)) == []
    assert without_deferred(text, TITLES) == text
    assert deferring_titles(text, TITLES) == frozenset()


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5, 6])
def test_a_heading_of_any_level_defers_its_section_and_no_other(level: int) -> None:
    above = "\n\n".join(f"{'#' * each} Heading {each}\n\nText {each} stays." for each in range(1, level))
    mark = "#" * level
    text = f"{above}\n\n{mark} Production Backlog Items\n\n- secret work\n\n{mark} Next\n\nThe next part stays.\n"
    chunks = cut(text)
    assert "secret work" in text_of(chunks, deferred=True)
    kept = text_of(chunks, deferred=False)
    assert "secret work" not in kept and "The next part stays." in kept
    assert all(f"Text {each} stays." in kept for each in range(1, level))
    assert "secret work" not in without_deferred(text, TITLES)


def test_a_short_section_joins_none_of_the_other_kind() -> None:
    text = "# A\n\nLong enough to stand alone here.\n\n## Production Backlog Items\n\n- x\n\n## See also\n\n- y\n"
    chunks = cut(text, min_tokens=50)
    assert text_of(chunks, deferred=True).split() == ["##", "Production", "Backlog", "Items", "-", "x"]
    assert "See also" in text_of(chunks, deferred=False)


def test_chunks_of_other_articles_are_byte_for_byte_as_without_any_title() -> None:
    text = SERVICE.replace("Production Backlog Items", "Roadmap")
    with_titles, without = cut(text, min_tokens=6), chunk(text, min_tokens=6)
    assert [each.model_dump_json() for each in with_titles] == [each.model_dump_json() for each in without]
    assert all("deferred" not in each.model_dump_json() for each in with_titles)


def test_sections_that_are_not_deferred_keep_their_ids_and_hashes() -> None:
    before = {each.id: each.content_hash for each in chunk(SERVICE)}
    assert all(before[each.id] == each.content_hash for each in cut(SERVICE) if not each.deferred)


def test_pages_that_begin_in_what_is_left_out_stay_marked() -> None:
    text = "# A\n\nFirst.\n\n## Production Backlog Items\n\n- x\n\n[[PAGE:2]]\n\n- y\n\n## B\n\nSecond.\n"
    assert without_deferred(text, TITLES).split() == ["#", "A", "First.", "[[PAGE:2]]", "##", "B", "Second."]


def test_the_items_are_the_bullets_without_markup() -> None:
    contents = [each.content for each in cut(SERVICE) if each.deferred]
    assert backlog_items(contents) == (
        "Add a second region",
        "Rotate keys; with Key Vault",
        "Alert at 80 % of the units",
    )


@pytest.mark.parametrize(
    ("bullet", "item"),
    [
        ("- [ ] Do *this*", "Do this"),
        ("* [x] Done", "Done"),
        ("1. First", "First"),
        ("- See [the guide](https://example.com/x)", "See the guide"),
        ("- Two\n  lines", "Two lines"),
        ("- `kb ingest`", "kb ingest"),
    ],
)
def test_a_bullet_as_text(bullet: str, item: str) -> None:
    assert backlog_items([f"## Production Backlog Items\n\nSome words.\n\n{bullet}\n"]) == (item,)


def test_without_titles_nothing_is_deferred() -> None:
    assert deferring_titles(SERVICE, titles_of(["", "  "])) == frozenset()
    assert without_deferred(SERVICE, titles_of([])) == SERVICE
