"""Chunks that lose something, or that an embedder would not see whole, are noticed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Chunk
from kb_pipeline.steps.checks import check_chunks, chunk_sizes_are_in_bounds, chunks_cover_the_article
from kb_pipeline_tests.steps.checks.articles import WINDOW, sound
from kb_pipeline_tests.steps.chunk.articles import chunk, count_words, sentence
from kb_pipeline_tests.steps.chunk.test_article import articles


def message(chunks: list[Chunk], markdown: str | None = None) -> str:
    return chunks_cover_the_article(sound().markdown if markdown is None else markdown, chunks).message


def with_content(index: int, pattern: str, new: str = "") -> list[Chunk]:
    chunks = list(sound().chunks)
    content = re.sub(pattern, new, chunks[index].content, count=1)
    assert content != chunks[index].content
    chunks[index] = chunks[index].model_copy(update={"content": content})
    return chunks


def renumbered(chunks: list[Chunk]) -> list[Chunk]:
    return [chunk.model_copy(update={"chunk_index": i}) for i, chunk in enumerate(chunks)]


def test_a_sound_article_passes() -> None:
    article = sound()
    assert len(article.chunks) > 3
    results = check_chunks(article.markdown, article.chunks, count_tokens=count_words, max_tokens=WINDOW)
    assert [result.message for result in results] == ["", ""]


@given(articles(), st.integers(4, 40), st.integers(0, 12))
def test_whatever_the_chunker_makes_covers_the_article(markdown: str, max_tokens: int, min_tokens: int) -> None:
    markdown = markdown.replace("images/", "pictures/")  # images have tests of their own
    assert message(chunk(markdown, max_tokens, min_tokens), markdown) == ""


@given(articles(), st.integers(4, 40), st.data())
def test_a_lost_word_is_noticed(markdown: str, max_tokens: int, data: st.DataObject) -> None:
    chunks = chunk(markdown, max_tokens)
    # a number of its own follows each of the article's words, so that none of them is there twice
    once = [word for word in re.findall(r"\w*\d\b", markdown) if len(re.findall(rf"\b{word}\b", markdown)) == 1]
    if once:
        word = data.draw(st.sampled_from(once))
        content = [re.sub(rf"\b{word}\b", "", part.content) for part in chunks]
        lossy = [part.model_copy(update={"content": text}) for part, text in zip(chunks, content, strict=True)]
        assert message(lossy, markdown) != ""


def test_a_lost_paragraph_is_quoted() -> None:
    index = next(i for i, chunk in enumerate(sound().chunks) if "Run this" in chunk.content)
    assert "1 passage lost or out of order: 'Run this with care:'" in message(with_content(index, "Run this .*"))


def test_a_lost_sign_is_noticed() -> None:
    markdown = "| a | b |\n|---|---|\n| x | ✔ |\n"
    assert message(chunk(markdown), markdown) == ""
    assert "✔" in message(chunk(markdown.replace("✔", "")), markdown)


def test_a_lost_chunk_is_noticed() -> None:
    assert "lost or out of order" in message(renumbered(sound().chunks[:-1]))


def test_swapped_chunks_are_noticed() -> None:
    first, second, *others = sound().chunks
    assert "not in this order or number" in message(renumbered([second, first, *others]))


def test_a_word_cut_in_two_is_not_lost() -> None:
    markdown = f"start {'x' * 90} end"
    parts = chunk(markdown, 4)
    cut = [parts[0].model_copy(update={"content": f"start {'x' * 50}"}), parts[0].model_copy(
        update={"id": "b", "chunk_index": 1, "content": f"{'x' * 40} end"})]  # fmt: skip
    assert message(cut, markdown) == ""
    short = [cut[0], cut[1].model_copy(update={"content": f"{'x' * 39} end"})]
    assert "lost" in message(short, markdown)


def test_ids_and_numbers_must_be_in_order() -> None:
    first, second, *others = sound().chunks
    twice = [first, second.model_copy(update={"id": first.id}), *others]
    assert f"1 chunk id used more than once: '{first.id}'" in message(twice)
    assert "with a wrong number" in message([first.model_copy(update={"chunk_index": 1}), second, *others])


@pytest.mark.parametrize("urls", [(), ("an-article/images/new.png",), ("images/menu.png",)])
def test_image_urls_are_those_of_the_images_that_a_chunk_shows(urls: tuple[str, ...]) -> None:
    index = next(i for i, chunk in enumerate(sound().chunks) if chunk.image_urls)
    chunks = list(sound().chunks)
    chunks[index] = chunks[index].model_copy(update={"image_urls": urls})
    assert f"1 chunk whose image_urls are not the images that it shows: '{chunks[index].id}'" in message(chunks)


def test_a_lost_image_is_named() -> None:
    markdown = "One.\n\n[a](images/a.png)\n"
    assert message(chunk(markdown), markdown) == ""
    lost = chunk(markdown.replace("(images/a.png)", ""))
    assert "1 image of the article without a chunk: 'images/a.png'" in message(lost, markdown)


def sizes(chunks: list[Chunk], max_tokens: int) -> str:
    return chunk_sizes_are_in_bounds(chunks, count_tokens=count_words, max_tokens=max_tokens).message


def test_an_empty_chunk_is_named() -> None:
    blank = chunk("# A\n\ntext")[0].model_copy(update={"content": " \n"})
    assert "1 chunk empty: '0: A'" in sizes([blank], 9)


def test_a_chunk_beyond_the_limit_is_named_with_its_size() -> None:
    long = chunk(f"# A\n\n## B\n\n{sentence('w', 40)}")
    assert "1 chunk longer than 30 tokens: 'A > B (48 tokens)'" in sizes(long, 30)
    assert sizes(long, 48) == ""


@given(st.integers(1, 30), st.integers(8, 40), st.integers(1, 80))
def test_the_chunker_keeps_within_the_limit(title: int, max_tokens: int, length: int) -> None:
    markdown = (
        f"# {sentence('t', title)}\n\n{sentence('w', length)}\n\n- {sentence('i', length)}\n  - {sentence('j', 9)}"
    )
    assert sizes(chunk(markdown, max_tokens), max_tokens) == ""


def test_long_headings_excuse_only_the_other_half_of_the_limit() -> None:
    markdown = f"# {sentence('t', 9)}\n\n{sentence('w', 8)}"
    assert sizes(chunk(markdown, 16), 16) == ""
    assert "longer than" in sizes(chunk(markdown), 16)


def test_one_unbroken_run_may_be_longer_than_the_limit() -> None:
    def count(text: str) -> int:
        return len(text)

    key = chunk("# Key\n\n" + "k" * 400)
    assert chunk_sizes_are_in_bounds(key, count_tokens=count, max_tokens=100).passed
    words = chunk("# Key\n\n" + "k " * 200)
    assert not chunk_sizes_are_in_bounds(words, count_tokens=count, max_tokens=100).passed
