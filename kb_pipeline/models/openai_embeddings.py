"""Embeddings of an endpoint that speaks OpenAI's protocol: Azure OpenAI, OpenAI, or a server of one's own.

https://platform.openai.com/docs/api-reference/embeddings
"""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from pydantic import BaseModel, ValidationError

from kb_pipeline.errors import ModelError, SettingsError
from kb_pipeline.metering import record_usage
from kb_pipeline.models.base import Embedder, Vectors
from kb_pipeline.models.openai_client import OpenAIConnection
from kb_pipeline.models.openai_endpoint import openai_endpoint
from kb_pipeline.models.openai_tokens import count_tokens, cut
from kb_pipeline.records import Usage
from kb_pipeline.settings import Settings

DEFAULT_MODEL = "text-embedding-3-small"

_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_SHORTENABLE = frozenset({"text-embedding-3-small", "text-embedding-3-large"})
_WINDOW = 8191
_UNKNOWN_WINDOW = 512
"""What embedding models can mostly be expected to see, in tokens."""

_TOKENS_PER_REQUEST = 300_000
_INPUTS_PER_REQUEST = 2048
_BLANK = "-"
"""Sent for a text without a character to be seen, which the service would refuse."""


class OpenAIEmbedder(Embedder):
    """``openai/MODEL`` or ``openai/MODEL/DIMENSIONS``; a model that is not OpenAI's needs its dimensions.

    Tokens are counted as OpenAI's models do; of other models' windows, 512 such tokens are used.
    """

    batch_size: ClassVar[int] = _INPUTS_PER_REQUEST
    pool: ClassVar[str] = "openai"

    def __init__(self, settings: Settings) -> None:
        """Take model and endpoint from the settings; nothing is sent yet.

        Raises:
            SettingsError: the model's dimensions are not known or not possible, or no endpoint is named.
        """
        self.model, asked = _model_and_dimensions(settings.embedder)
        native = _DIMENSIONS.get(self.model)
        self.dimensions = _possible_dimensions(self.model, asked, native)
        self.max_tokens = _WINDOW if native else _UNKNOWN_WINDOW
        self.model_id = self.model if self.dimensions == native else f"{self.model}-{self.dimensions}"
        self._shortened = native is not None and self.dimensions != native
        self._connection = OpenAIConnection(openai_endpoint(settings))

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, each cut to ``max_tokens``, in as few requests as the service allows.

        Raises:
            ModelError: the answer is not one vector of ``dimensions`` for each text.
            TransientError: the service is busy, away or silent.
            ServiceError: it refuses us, does not know the model, or does not accept the texts.
        """
        sent = [cut(text, self.max_tokens) if text.strip() else _BLANK for text in texts]
        return np.vstack([self._request(batch) for batch in _requests(sent)])

    def count_tokens(self, text: str) -> int:
        """Length in the tokens of OpenAI's embedding models, exactly."""
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
        used = embeddings.usage or _Used()
        record_usage(Usage(model=self.model_id, calls=1, input_tokens=used.prompt_tokens))
        return self._in_order(embeddings.data, len(texts))

    def _parsed(self, body: bytes) -> "_Embeddings":
        try:
            return _Embeddings.model_validate_json(body)
        except ValidationError as exc:
            place, problem = self._connection.endpoint.service.place, exc.errors()[0]["msg"]
            raise ModelError(
                f"{place} answered no embeddings ({problem}); check {self._connection.endpoint.url_setting}"
            ) from None

    def _in_order(self, found: "list[_Embedding]", texts: int) -> Vectors:
        """The vectors in the order of the texts, whatever order they came in."""
        place = self._connection.endpoint.service.place
        if sorted(each.index for each in found) != list(range(texts)):
            raise ModelError(f"{place} answered {texts} texts with {len(found)} vectors that are not one for each")
        vectors = [each.vector() for each in sorted(found, key=lambda each: each.index)]
        if wrong := {len(vector) for vector in vectors} - {self.dimensions}:
            raise ModelError(
                f"{self.model} at {place} has {wrong.pop()} dimensions, not {self.dimensions}; "
                f"say how many: KB_EMBEDDER=openai/{self.model}/DIMENSIONS"
            )
        return np.array(vectors, np.float32)


class _Embedding(BaseModel):
    """A vector: numbers, or base64 of little-endian floats, which is what the SDK asks for."""

    index: int
    embedding: list[float] | str

    def vector(self) -> Vectors:
        if isinstance(self.embedding, str):
            return np.frombuffer(_decoded(self.embedding), "<f4")
        return np.array(self.embedding, np.float32)


class _Used(BaseModel):
    prompt_tokens: int = 0


class _Embeddings(BaseModel):
    data: list[_Embedding]
    usage: _Used | None = None


def _decoded(text: str) -> bytes:
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as exc:
        raise ModelError("a vector came as text that is not base64") from exc
    return raw[: len(raw) // 4 * 4]


def _model_and_dimensions(name: str) -> tuple[str, int | None]:
    """``openai/MODEL/DIMENSIONS`` in its parts; a model's name may hold slashes itself."""
    model = name.partition("/")[2] or DEFAULT_MODEL
    before, _, last = model.rpartition("/")
    return (before, int(last)) if before and last.isdecimal() else (model, None)


def _possible_dimensions(model: str, asked: int | None, native: int | None) -> int:
    if native is None:
        if not asked:
            raise SettingsError(
                f"KB_EMBEDDER names {model!r}, whose dimensions are not known; say them: openai/{model}/DIMENSIONS "
                f"(known are {', '.join(_DIMENSIONS)})"
            )
        return asked
    if asked is None or asked == native:
        return native
    if model not in _SHORTENABLE or not 0 < asked < native:
        possible = f"1 to {native}" if model in _SHORTENABLE else native
        raise SettingsError(f"KB_EMBEDDER asks {model} for {asked} dimensions; it has {possible}")
    return asked


def _requests(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in as few requests as the service's limits allow."""
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
