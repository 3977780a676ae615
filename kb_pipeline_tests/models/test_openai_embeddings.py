"""Embeddings of an endpoint that speaks OpenAI's protocol: what is asked, and what of its answers is believed."""

import base64
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb_pipeline.errors import ModelError, SettingsError
from kb_pipeline.models import Embedder, open_embedder
from kb_pipeline.records import Usage
from kb_pipeline.services.usage import metering
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import aimock_server
from kb_pipeline_tests.openai_server import OpenAIServer

BASE64 = base64.b64encode(bytes(range(256)) * 200).decode()


@pytest.fixture
def embedder(openai: OpenAIServer) -> Embedder:
    return open_embedder(Settings(embedder="openai", **openai.settings))


@pytest.mark.parametrize(
    ("name", "model_id", "dimensions", "window"),
    [
        ("openai", "text-embedding-3-small", 1536, 8191),
        ("openai/text-embedding-3-small", "text-embedding-3-small", 1536, 8191),
        ("openai/text-embedding-3-small/1536", "text-embedding-3-small", 1536, 8191),
        ("openai/text-embedding-3-small/512", "text-embedding-3-small-512", 512, 8191),
        ("openai/text-embedding-3-large", "text-embedding-3-large", 3072, 8191),
        ("openai/text-embedding-ada-002", "text-embedding-ada-002", 1536, 8191),
        ("openai/BAAI/bge-m3/1024", "BAAI/bge-m3-1024", 1024, 512),
    ],
)
def test_the_setting_says_model_and_dimensions(name: str, model_id: str, dimensions: int, window: int) -> None:
    embedder = open_embedder(Settings(embedder=name, openai_base_url="http://127.0.0.1:9/v1"))
    assert (embedder.model_id, embedder.dimensions, embedder.max_tokens) == (model_id, dimensions, window)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("openai/bge-m3", "set them: openai/bge-m3/DIMENSIONS"),
        ("openai/bge-m3/0", "set them"),
        ("openai/text-embedding-3-small/2000", "1 to 1536"),
        ("openai/text-embedding-3-small/0", "1 to 1536"),
        ("openai/text-embedding-ada-002/512", "it has 1536"),
    ],
)
def test_impossible_dimensions_are_refused_before_anything_is_sent(name: str, said: str) -> None:
    with pytest.raises(SettingsError, match=f"KB_EMBEDDER.*{said}"):
        open_embedder(Settings(embedder=name, openai_api_key="k"))


def test_dimensions_are_asked_for_only_where_they_are_not_the_model_own(openai: OpenAIServer) -> None:
    for name in ("openai", "openai/text-embedding-3-large/256", "openai/text-embedding-ada-002"):
        open_embedder(Settings(embedder=name, **openai.settings)).embed(["Blur"])
    assert [request.get("dimensions") for request in openai.requests] == [None, 256, None]


def test_a_deployment_of_another_name_is_asked(openai: OpenAIServer) -> None:
    openai.deployments["ours"] = "text-embedding-3-small"
    settings = Settings(embedder="openai", openai_deployments={"text-embedding-3-small": "ours"}, **openai.settings)
    assert open_embedder(settings).embed(["Blur"]).shape == (1, 1536)
    assert openai.requests[0]["model"] == "ours"


# --- requests ----------------------------------------------------------------------------------------


def test_an_article_is_one_request(openai: OpenAIServer, embedder: Embedder) -> None:
    embedder.embed([f"Section {number} of the article" for number in range(300)])
    assert len(openai.requests) == 1


@pytest.mark.slow("waits for a silent or slow service")
def test_requests_stay_within_the_limits_of_the_service(openai: OpenAIServer) -> None:
    embedder = open_embedder(Settings(embedder="openai/text-embedding-3-small/8", **openai.settings))
    assert embedder.embed([f"{number}" for number in range(2049)]).shape == (2049, 8)
    assert [len(request["input"]) for request in openai.requests] == [2048, 1]
    assert embedder.embed(["word " * 8000] * 40).shape == (40, 8)
    assert [len(request["input"]) for request in openai.requests[2:]] == [37, 3]


@pytest.mark.parametrize(
    "text", ["word " * 10_000, "漢字仮名交じり文" * 3000, "🎉👩‍👩‍👧" * 3000, BASE64, "A" * 100_000]
)
def test_a_text_beyond_the_window_is_cut_rather_than_refused(
    openai: OpenAIServer, embedder: Embedder, text: str
) -> None:
    assert embedder.count_tokens(text) > embedder.max_tokens
    assert np.isfinite(embedder.embed([text])).all()
    sent = openai.requests[0]["input"][0]
    assert text.startswith(sent)
    assert embedder.max_tokens - 4 <= embedder.count_tokens(sent) <= embedder.max_tokens


def test_texts_without_anything_to_see_are_not_sent_empty(openai: OpenAIServer, embedder: Embedder) -> None:
    assert embedder.embed(["", " \n\t", "Blur"]).shape == (3, 1536)
    assert all(text.strip() for text in openai.requests[0]["input"])


# --- answers -----------------------------------------------------------------------------------------


def test_vectors_are_put_in_the_order_of_the_texts(openai: OpenAIServer, embedder: Embedder) -> None:
    texts = ["Blur", "Crop a layer", "Undo the last crop of a layer"]
    expected = embedder.embed(texts)
    openai.changed = lambda body: {**body, "data": body["data"][::-1]}
    assert np.array_equal(embedder.embed(texts), expected)


def test_vectors_as_numbers_are_those_in_base64(openai: OpenAIServer, embedder: Embedder) -> None:
    def as_numbers(body: dict[str, Any]) -> dict[str, Any]:
        vectors = [np.frombuffer(base64.b64decode(each["embedding"]), "<f4").tolist() for each in body["data"]]
        return {**body, "data": [{**each, "embedding": row} for each, row in zip(body["data"], vectors, strict=True)]}

    expected = embedder.embed(["Blur", "Crop"])
    openai.changed = as_numbers
    assert np.array_equal(embedder.embed(["Blur", "Crop"]), expected)


def each(**changed: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda body: {**body, "data": [{**vector, **changed} for vector in body["data"]]}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda body: {**body, "data": body["data"][1:]}, "2 texts with 1 vectors"),
        (lambda body: {**body, "data": body["data"] * 2}, "2 texts with 4 vectors"),
        (each(index=0), "not one for each"),
        (each(embedding=[0.5] * 768), "has 768 dimensions, not 1536; set them: KB_EMBEDDER=openai/"),
        (each(embedding="!?"), "not base64"),
        (each(embedding=[0.0] * 1536), "zero"),
        (each(embedding=base64.b64encode(np.full(1536, np.nan, "<f4").tobytes()).decode()), "not finite"),
        (each(embedding=None), "did not answer with embeddings.*check KB_OPENAI_AZURE_ENDPOINT"),
        (lambda _: {"data": None}, "did not answer with embeddings"),
        (lambda _: {"hello": "world"}, "did not answer with embeddings"),
        (lambda _: [], "did not answer with embeddings"),
    ],
)
def test_an_answer_that_is_not_one_vector_a_text_is_refused(
    openai: OpenAIServer, embedder: Embedder, changed: Callable[[dict[str, Any]], Any], said: str
) -> None:
    openai.changed = changed
    with pytest.raises(ModelError, match=said):
        embedder.embed(["Blur", "Crop"])


def test_tokens_are_reported_as_the_service_counts_them(embedder: Embedder) -> None:
    with metering() as used:
        embedder.embed(["tiktoken is great!", "Blur"])
    assert used == [Usage(model="text-embedding-3-small", calls=1, input_tokens=7)]


@pytest.mark.parametrize("counted", [{}, {"usage": None}])
def test_a_service_that_does_not_count_is_believed_nothing(
    openai: OpenAIServer, embedder: Embedder, counted: dict[str, Any]
) -> None:
    openai.changed = lambda body: {"data": body["data"], **counted}
    with metering() as used:
        embedder.embed(["Blur"])
    assert used == [Usage(model="text-embedding-3-small", calls=1)]


def test_it_travels_to_other_processes_also_after_use(embedder: Embedder) -> None:
    expected = embedder.embed(["Blur"])
    assert np.array_equal(pickle.loads(pickle.dumps(embedder)).embed(["Blur"]), expected)


@pytest.mark.slow("waits for a silent or slow service")
@pytest.mark.parametrize(("name", "dimensions"), [("openai", 1536), ("openai/text-embedding-3-large/64", 64)])
def test_a_server_that_is_not_ours_is_understood(tmp_path: Path, name: str, dimensions: int) -> None:
    with aimock_server(tmp_path) as server:
        embedder = open_embedder(Settings(embedder=name, openai_base_url=server.base_url))
        vectors = embedder.embed(["Blur", "Crop", "Blur"])
    assert vectors.shape == (3, dimensions)
    assert np.array_equal(vectors[0], vectors[2])
    assert not np.array_equal(vectors[0], vectors[1])
