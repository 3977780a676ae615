"""OpenAI's protocol on loopback: embeddings that know similar texts, and a model that reads screenshots.

Strict where the service is: what it would refuse is refused here. Vectors are hashed words, images are read by OCR.
"""

import base64
import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from jsonschema import Draft202012Validator
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.models.openai_embeddings import count_tokens
from kb_pipeline_tests.app.model_servers import OwnModel, refused
from kb_pipeline_tests.managed_identity import ManagedIdentity
from kb_pipeline_tests.vision_reader import seen_on

KEY = "0123456789abcdef0123456789abcdef"
AUDIENCE = "https://cognitiveservices.azure.com"

_WIDTHS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_WINDOW = 8191

Body = dict[str, Any]


class OpenAIServer:
    """Knows OpenAI's embedding models, ``deployments`` of them by other names, and any other name as a model that sees.

    ``first`` are responses that are given before any other; ``changed`` is what becomes of the bodies of good ones.
    """

    def __init__(self, identity: ManagedIdentity | None = None) -> None:
        self.identity = identity
        self.deployments: dict[str, str] = {}
        self.first: deque[Response] = deque()
        self.changed: Callable[[Body], Any] = lambda body: body
        self.model = OwnModel(self._answer)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that lead here: ``Settings(**server.settings)``."""
        key = None if self.identity else SecretStr(KEY)
        return {"openai_azure_endpoint": self.model.url, "openai_api_key": key}

    @property
    def environment(self) -> dict[str, str]:
        """The same as variables."""
        key = {} if self.identity else {"KB_OPENAI_API_KEY": KEY}
        return {"KB_OPENAI_AZURE_ENDPOINT": self.model.url, **key}

    @property
    def requests(self) -> list[Body]:
        """The bodies of all requests, oldest first."""
        return self.model.requests

    def _answer(self, body: Body, request: Request) -> Response:
        if self.first:
            return self.first.popleft()
        if not self._lets_in(request):
            return refused(401, "Access denied due to invalid subscription key or wrong API endpoint.", "401")
        deployment = request.url.path.partition("/deployments/")[2].partition("/")[0] or str(body.get("model"))
        model = self.deployments.get(deployment, deployment)
        if request.url.path.endswith("/embeddings"):
            return self._embeddings(model, body)
        if request.url.path.endswith("/chat/completions"):
            return self._completion(body)
        return refused(404, "Resource not found", "404")

    def _lets_in(self, request: Request) -> bool:
        authorization = request.headers.get("authorization")
        if self.identity:
            return self.identity.accepts(authorization, AUDIENCE)
        return KEY in (request.headers.get("api-key"), (authorization or "").removeprefix("Bearer "))

    def _embeddings(self, model: str, body: Body) -> Response:
        if model not in _WIDTHS:
            return refused(404, "The API deployment for this resource does not exist.", "DeploymentNotFound")
        texts, width = body["input"], body.get("dimensions", _WIDTHS[model])
        counts = [count_tokens(text) for text in texts]
        if problem := _wrong(texts, counts, model, body):
            return refused(400, problem)
        vectors = _hashing(width).embed(texts)
        in_base64 = body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": index, "embedding": _as_base64(row) if in_base64 else row.tolist()}
            for index, row in enumerate(vectors)
        ]
        used = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
        return self._good({"object": "list", "data": data, "model": model, "usage": used})

    def _completion(self, body: Body) -> Response:
        schema = body["response_format"]["json_schema"]["schema"]
        Draft202012Validator.check_schema(schema)
        if schema["additionalProperties"] or schema["required"] != list(schema["properties"]):
            return refused(400, "Invalid schema for response_format 'image'", "invalid_request_error")
        shown = next(part for part in body["messages"][-1]["content"] if part["type"] == "image_url")
        asked = next(iter(schema["properties"].values()))["description"]
        seen = seen_on(base64.b64decode(shown["image_url"]["url"].partition(";base64,")[2]), asked)
        fields = dict(
            zip(schema["properties"], (seen.description, seen.ui_elements, seen.navigation_path), strict=True)
        )
        message = {"role": "assistant", "content": json.dumps(fields), "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        used = {"prompt_tokens": 1100, "completion_tokens": 90, "total_tokens": 1190}
        return self._good({"id": "1", "object": "chat.completion", "created": 1, "choices": [choice], "usage": used})

    def _good(self, body: Body) -> Response:
        changed = self.changed(body)
        return changed if isinstance(changed, Response) else JSONResponse(changed)


def _wrong(texts: Any, counts: list[int], model: str, body: Body) -> str:
    """Why the service would not accept the request."""
    if not (isinstance(texts, list) and texts and all(texts)):
        return "'$.input' is invalid. Please check the API reference."
    if len(texts) > 2048:
        return "Array should have at most 2048 items"
    if max(counts) > _WINDOW:
        return f"This model's maximum context length is 8192 tokens, however you requested {max(counts)} tokens"
    if sum(counts) > 300_000:
        return "Requested more than 300000 max tokens per request"
    if "dimensions" in body and model == "text-embedding-ada-002":
        return "This model does not support specifying dimensions."
    return ""


def _as_base64(row: Any) -> str:
    return base64.b64encode(np.asarray(row, "<f4").tobytes()).decode()


@lru_cache
def _hashing(width: int) -> HashingEmbedder:
    embedder = HashingEmbedder()
    embedder.dimensions, embedder.max_tokens = width, _WINDOW
    return embedder


@contextmanager
def openai_server(identity: ManagedIdentity | None = None) -> Iterator[OpenAIServer]:
    """A running server that wants :data:`KEY`, or else a token of the identity."""
    server = OpenAIServer(identity)
    with server.model:
        yield server
