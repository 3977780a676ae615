"""Which of a tokenizer's pieces stand for words, whatever kind of tokenizer it is."""

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from kb_pipeline.models.onnx_embedder import pieces_of

TEXT = "Use --option_2 (F12): é, 漢 🎉 …!"


@pytest.fixture
def characters() -> Tokenizer:
    """Every character is a piece, between two that are added."""
    vocabulary = {piece: place for place, piece in enumerate(("<s>", "</s>", *dict.fromkeys(TEXT), "é"))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<s>"))
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])
    return tokenizer


@pytest.fixture
def byte_level() -> Tokenizer:
    """Pieces are bytes under the names that GPT-2 gave them, in which a space is a letter."""
    alphabet = {piece: place for place, piece in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(alphabet, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def said(tokenizer: Tokenizer, text: str, prompt: str = "", most: int = 100) -> str:
    """The text of the pieces that are words, a byte's piece as often as there are bytes."""
    offsets = tokenizer.encode(prompt + text).offsets
    spans = (offsets[place] for place in pieces_of(tokenizer, text, most, prompt=prompt).words)
    return "".join((prompt + text)[start:end] for start, end in spans)


def test_a_word_has_a_letter_or_a_digit(characters: Tokenizer) -> None:
    assert said(characters, TEXT) == "Useoption2F12é漢"


def test_a_space_or_sign_is_none_under_whatever_name(byte_level: Tokenizer) -> None:
    assert said(byte_level, "a , b é!") == "abéé"


def test_what_the_model_adds_is_none(characters: Tokenizer) -> None:
    pieces = pieces_of(characters, "Use", 100)
    assert (len(pieces.ids), pieces.words.tolist()) == (5, [1, 2, 3])


def test_the_prompt_is_read_but_is_no_word(characters: Tokenizer) -> None:
    assert said(characters, "F12", prompt="Use: ") == "F12"
    assert len(pieces_of(characters, "F12", 100, prompt="Use: ").ids) == 10


def test_what_is_too_long_is_cut_and_still_ends_as_every_text(characters: Tokenizer) -> None:
    pieces = pieces_of(characters, "option", 4)
    assert pieces.ids.tolist() == characters.encode("op").ids
    assert pieces.words.tolist() == [1, 2]


def test_distinct_words_are_the_first_of_each(characters: Tokenizer) -> None:
    assert pieces_of(characters, "p-o-p-2-2", 100).distinct().tolist() == [1, 3, 7]


@pytest.mark.parametrize("text", ["", " ", "…!", "_"])
def test_there_may_be_none(characters: Tokenizer, text: str) -> None:
    assert pieces_of(characters, text, 100).words.shape == (0,)
    assert pieces_of(characters, text, 100).distinct().shape == (0,)
