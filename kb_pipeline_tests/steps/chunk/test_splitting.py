"""Sections too long for the embedder."""

from textwrap import indent

import pytest

from kb_pipeline.steps.chunk import chunk_article, embedding_text
from kb_pipeline_tests.steps.chunk.articles import chunk, count_words, image, manifest, sentence, words

LIMIT = 30


def contents(markdown: str, limit: int = LIMIT) -> list[str]:
    chunks = chunk(f"# H\n\n{markdown}", max_tokens=limit, title="H")
    assert all(count_words(embedding_text(c)) <= limit for c in chunks)
    return [c.content for c in chunks]


def test_are_cut_between_paragraphs_into_parts_of_similar_size() -> None:
    paragraphs = [sentence(letter, 9) + "." for letter in "abcd"]
    assert contents("\n\n".join(paragraphs)) == [
        f"# H\n\n{paragraphs[0]}\n\n{paragraphs[1]}",
        "\n\n".join(paragraphs[2:]),
    ]


@pytest.mark.parametrize(
    "block",
    [
        "| a | b |\n| --- | --- |\n" + "| c | d |\n" * 4,
        "```sh\nfirst one\n\nsecond two\n```\n",
        image("dialog", sentence("d", 10)),
        "- " + sentence("i", 6) + "\n  - " + sentence("n", 6) + "\n",
    ],
)
def test_a_block_that_fits_is_never_cut(block: str) -> None:
    parts = contents(f"{sentence('a', 20)}\n\n{block}\n{sentence('b', 20)}")
    assert sum(block.strip() in part for part in parts) == 1


def test_an_image_stays_with_the_text_before_it() -> None:
    parts = contents(f"{sentence('a', 15)}\n\n{sentence('b', 15)}\n\n{image('shot')}")
    assert "b14" in parts[-1]
    assert "images/shot.png" in parts[-1]


@pytest.mark.parametrize("lead", ["Allow growing", f"{sentence('l', 5)}. Do this:"])
def test_a_term_or_lead_in_stays_with_the_text_after_it(lead: str) -> None:
    parts = contents(f"{sentence('a', 17)}.\n\n{lead}\n\n{sentence('b', 20)}.")
    assert parts[-1].startswith(f"{lead}\n\nb0")


def test_a_deeper_heading_stays_with_the_text_after_it() -> None:
    deep = "## B\n\n### C\n\n" + sentence("a", 20) + "\n\n#### D\n\n" + sentence("b", 20)
    assert contents(deep)[-1].startswith("#### D\n\nb0")


class TestBlocksThatAreTooLongThemselves:
    def test_a_table_is_cut_between_rows_under_its_header(self) -> None:
        header = "| Key | Action |\n| --- | --- |\n"
        parts = contents(header + "".join(f"| k{i} | {sentence(f'r{i}x', 4)} |\n" for i in range(12)))
        assert len(parts) > 1
        assert all(header in part for part in parts)
        assert all(line.endswith("|") for part in parts for line in part.splitlines()[2:] if line.startswith("|"))

    def test_code_is_cut_between_lines_inside_its_fence(self) -> None:
        parts = contents("~~~sh\n" + "".join(f"run {sentence(f'l{i}x', 5)}\n" for i in range(12)) + "~~~")
        assert len(parts) > 1
        assert all(part.removeprefix("# H\n\n").startswith("~~~sh\nrun") and part.endswith("\n~~~") for part in parts)

    def test_a_list_is_cut_between_items(self) -> None:
        parts = contents("\n".join(f"{i}. {sentence(f'i{i}x', 9)}" for i in range(1, 9)))
        assert all(part.removeprefix("# H\n\n")[:1].isdigit() for part in parts)

    def test_an_item_is_cut_between_its_blocks(self) -> None:
        blocks = f"{sentence('a', 20)}\n\n{image('shot')}\n{sentence('b', 20)}\n"
        first, last = contents("- " + indent(blocks, "  ").lstrip())
        assert first.startswith("# H\n\n- a0")
        assert "\n\n  > **[Image: shot](images/shot.png)**\n  > A dialog." in first
        assert last.startswith("b0")

    def test_an_image_block_repeats_its_image(self) -> None:
        parts = contents(image("shot", ". ".join(sentence(f"s{i}x", 9) for i in range(9))))
        assert len(parts) > 1
        assert all("> **[Image: shot](images/shot.png)**\n> " in part for part in parts)

    @pytest.mark.parametrize("quote", ["", "> "])
    def test_text_is_cut_between_sentences(self, quote: str) -> None:
        parts = contents(quote + " ".join(f"{sentence(f's{i}x', 9)}." for i in range(9)))
        assert all(part.endswith(".") for part in parts)

    def test_a_sentence_is_cut_between_words(self) -> None:
        assert words(" ".join(contents(sentence("w", 70)))) == ["H", *words(sentence("w", 70))]

    def test_a_word_is_cut_at_its_signs(self) -> None:
        parts = chunk_by_characters("/very/long/path/to/a/file" * 9, max_tokens=100)
        assert "".join(parts) == "/very/long/path/to/a/file" * 9
        assert all(part.endswith("/") for part in parts[:-1])

    def test_a_word_is_cut_where_the_limit_is(self) -> None:
        chunks = chunk_by_characters("x" * 250, max_tokens=100)
        assert "".join(chunks) == "x" * 250
        assert max(map(len, chunks)) <= 100


def chunk_by_characters(markdown: str, max_tokens: int) -> list[str]:
    chunks = chunk_article(markdown, manifest(title="t"), count_tokens=len, max_tokens=max_tokens, min_tokens=0)
    return [c.content for c in chunks]


def test_each_text_is_counted_only_a_few_times() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return count_words(text)

    markdown = "# H\n\n" + "- item with words\n" * 3000
    chunk_article(markdown, manifest(), count_tokens=count, max_tokens=50, min_tokens=5)
    assert sum(counted) < 5 * len(markdown)
