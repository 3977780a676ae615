"""What a chunk carries, what it is called, and that no word is lost."""

import re
from string import ascii_letters, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Provenance
from kb_pipeline_tests.steps.chunk.articles import chunk, image, manifest, sentence, words

LINES = (
    *("# H@", "## H@ *b@*", "### H@", "##### deep@", "===", "---", ""),
    *("a@ b@ c@. d@ e@!", "a@ [l@](t@.html) b@\\", "<div>", "</div>", "[ref@]: http://x@"),
    *("- i@ j@", "  - k@ l@", "1. o@ p@", "   q@", "    s@ t@", "\tu@", "-"),
    *("> v@ w@", "> > x@", "> - y@", "> **[Image: s](images/s.png)**", "  > **[Image: t](images/t.png)**", "  > u@"),
    *("```", "~~~py", "c@ = @", "| a@ | b@ |", "|---|---|", "| c@ d@ | e@ f@ |"),
)


@st.composite
def articles(draw: st.DrawFn) -> str:
    """Markdown of every kind of block in any order, every ``@`` a number of its own."""
    pieces = "\n".join(draw(st.lists(st.sampled_from(LINES), max_size=40))).split("@")
    return "".join(f"{piece}{i}" for i, piece in enumerate(pieces))


def is_within(wanted: list[str], found: list[str]) -> bool:
    rest = iter(found)
    return all(word in rest for word in wanted)


@given(articles(), st.integers(4, 40), st.integers(0, 12))
def test_every_word_is_in_a_chunk_in_order(markdown: str, max_tokens: int, min_tokens: int) -> None:
    chunks = chunk(markdown, max_tokens, min_tokens)
    assert is_within(words(markdown), words("\n".join(c.content for c in chunks)))


@given(st.text("#-*+>|`~= \n\t\r1.[]()!\\ab\0\f\u2028é", max_size=120))
def test_any_text_can_be_chunked(markdown: str) -> None:
    assert is_within(words(markdown), words("\n".join(c.content for c in chunk(markdown, 4, 2))))


@given(articles(), st.text(min_size=1, max_size=300))
def test_ids_are_unique_repeatable_and_fit_every_index(markdown: str, article_id: str) -> None:
    ids = [c.id for c in chunk(markdown, 12, 3, article_id=article_id)]
    assert ids == [c.id for c in chunk(markdown, 12, 3, article_id=article_id)]
    assert len(ids) == len(set(ids))
    assert all(set(key) <= set(f"{ascii_letters}{digits}_-=") and len(key) <= 128 and key[0] != "_" for key in ids)


def test_articles_whose_ids_look_alike_share_no_chunk_id() -> None:
    assert {c.id for c in chunk("text", article_id="a b")}.isdisjoint(c.id for c in chunk("text", article_id="a-b"))


@given(st.integers(0, 5), st.integers(1, 60))
def test_editing_one_section_renames_no_other(edited: int, length: int) -> None:
    titles = ["Intro", "Options", "Options", "Size", "Options", "Size"]
    texts = [sentence("t", 10) for _ in titles]
    before = chunk(_article(titles, texts), max_tokens=25)
    texts[edited] = sentence("new", length)
    after = chunk(_article(titles, texts), max_tokens=25)
    assert [c.id for c in before] == [c.id for c in after if c.content != "" and c.id in {b.id for b in before}]
    assert len({c.id for c in after} - {c.id for c in before}) <= length // 10


def _article(titles: list[str], texts: list[str]) -> str:
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in zip(titles, texts, strict=True))


def test_inserting_a_section_renames_no_other() -> None:
    sections = [f"# S{i}\n\ntext" for i in range(4)]
    before = {c.id for c in chunk("\n\n".join(sections))}
    assert before < {c.id for c in chunk("\n\n".join([*sections[:2], "# New\n\ntext", *sections[2:]]))}


CHANGES = {
    "title": "Other",
    "source_url": "https://example.org/a",
    "key_topics": ("network",),
    "access_control_list": ("staff",),
}


@pytest.mark.parametrize("field", CHANGES)
def test_the_hash_covers_what_readers_see(field: str) -> None:
    (before,), (after,) = chunk("# H\n\ntext"), chunk("# H\n\ntext", **{field: CHANGES[field]})
    assert before.content_hash != after.content_hash
    assert before.id == after.id


def test_the_hash_covers_content_and_headings() -> None:
    texts = ("# H\n\ntext", "# H\n\ntexts", "# G\n\ntext", "## H\n\ntext")
    assert len({chunk(text)[0].content_hash for text in texts}) == len(texts)


def test_the_hash_covers_the_place_in_the_article() -> None:
    one, two, three = "# A\n\na", "# B\n\nb", "# C\n\nc"
    before = {c.id: c.content_hash for c in chunk("\n\n".join([one, two, three]))}
    after = {c.id: c.content_hash for c in chunk("\n\n".join([two, one, three]))}
    assert [before[key] == after[key] for key in before] == [False, False, True]


def test_an_edit_changes_no_hash_of_another_section() -> None:
    before, after = chunk("# A\n\na\n\n# B\n\nb"), chunk("# A\n\nnew\n\n# B\n\nb")
    assert [old.content_hash == new.content_hash for old, new in zip(before, after, strict=True)] == [False, True]


def test_the_hash_does_not_cover_the_run() -> None:
    provenance = manifest().provenance
    other = Provenance.model_validate(provenance.model_dump() | {"run_id": "run-2", "created_at": "later"})
    (before,), (after,) = chunk("text"), chunk("text", provenance=other)
    assert (before.run_id, after.run_id) == ("run-1", "run-2")
    assert before.content_hash == after.content_hash


def test_a_chunk_carries_the_images_of_its_text() -> None:
    one, two = chunk(
        f"# One\n\n1. Click:\n\n   {image('first')}\n\nPress [Image: icon](images/icon%20b.png), again "
        f"[Image: first](images/first.png).\n\n# Two\n\n```\n[Image: x](images/x.png)\n```\n\n[images](images.html)"
    )
    assert one.image_urls == ("install-guide/images/first.png", "install-guide/images/icon b.png")
    assert two.image_urls == ()


def test_chunks_are_numbered_in_the_order_of_the_article() -> None:
    chunks = chunk("# A\n\n" + sentence("a", 50) + "\n\n# B\n\nb", max_tokens=20)
    assert [c.chunk_index for c in chunks] == list(range(len(chunks)))
    assert re.match("a4", chunks[-2].content.split()[-1])
