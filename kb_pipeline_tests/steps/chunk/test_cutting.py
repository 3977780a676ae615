"""A chunk is embedded as one passage, or as several if the embedder cannot read it at once."""

from kb_pipeline.records import Chunk
from kb_pipeline.steps.chunk import embedding_text, passages_of
from kb_pipeline_tests.steps.chunk.articles import chunk, count_words, image, sentence, words

LONG = f"""# Install guide

## Set up

{sentence("first", 30)}.

{image("dialog", sentence("seen", 30))}
{sentence("last", 30)}.
"""


def passages(of: Chunk, max_tokens: int) -> list[str]:
    return passages_of(of, count_tokens=count_words, max_tokens=max_tokens)


def test_what_fits_is_one_passage() -> None:
    (whole,) = chunk(LONG)
    assert passages(whole, 200) == [embedding_text(whole)]


def test_what_does_not_fit_is_cut_between_blocks_each_below_title_and_headings() -> None:
    (whole,) = chunk(LONG)
    parts = passages(whole, 50)
    assert [part.split("\n")[0] for part in parts] == ["Install guide > Set up"] * 3
    assert all(count_words(part) <= 50 for part in parts)
    body = " ".join(part.partition("\n")[2] for part in parts)
    assert words(body) == words(embedding_text(whole).partition("\n")[2])


def test_a_single_word_that_is_too_long_is_not_lost() -> None:
    (whole,) = chunk("# A\n\n" + "x" * 500)
    (part,) = passages_of(whole, count_tokens=len, max_tokens=1000)
    assert "x" * 500 in part
    assert "".join(each.partition("\n")[2] for each in passages_of(whole, count_tokens=len, max_tokens=40)) == "x" * 500


def test_a_chunk_of_nothing_but_a_heading_has_a_passage() -> None:
    (bare,) = chunk("# A heading that says all there is")
    assert passages(bare, 3) == [embedding_text(bare)]
