"""All Azure parts at once: articles in a container become an answer that shows the model the right screenshot.

Azurite keeps staging and serving, the analyzers' stand-ins and the embeddings are asked by real clients, the search
service stands behind the proxy that holds every request and answer against Microsoft's contract, aimock answers.
"""

import base64
import io
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from azure.storage.blob import ContainerClient
from PIL import Image, ImageChops

from app.settings import AppSettings
from kb_pipeline.records import Manifest
from kb_pipeline.settings import load_settings
from kb_pipeline_tests.app.api.conftest import serving
from kb_pipeline_tests.app.model_servers import Aimock, OwnModel
from kb_pipeline_tests.azurite import Containers
from kb_pipeline_tests.cli.conftest import Run
from kb_pipeline_tests.search_service.running import RunningService

pytestmark = [pytest.mark.slow("whole runs against the services' doubles"), pytest.mark.browser]

SAMPLES = Path(__file__).parents[2] / "samples" / "staging"
ARTICLES = ("webhooks", "rest-api")
QUESTION = "How do I add a webhook?"


def stage(container: ContainerClient, *article_ids: str) -> None:
    for article_id in article_ids:
        for path in sorted((SAMPLES / article_id).iterdir()):
            container.upload_blob(f"articles/{article_id}/{path.name}", path.read_bytes(), overwrite=True)


def blobs(container: ContainerClient) -> set[str]:
    return {blob.name for blob in container.list_blobs()}


def served(containers: Containers, path: str) -> bytes:
    return containers.serving.download_blob(f"kb/{path}").readall()


def shown_to(model: OwnModel) -> list[Image.Image]:
    """The images in all requests to the model."""
    messages = [message for request in model.requests for message in request["messages"]]
    contents = [message["content"] for message in messages if isinstance(message.get("content"), list)]
    parts = [part for content in contents for part in content]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(url.partition(";base64,")[2]))) for url in urls]


def ask(model: Aimock, heard: OwnModel) -> tuple[dict[str, Any], dict[str, bytes]]:
    """An answer of the agent to the question, and the images of its citations."""
    model.reset()
    search = {"name": "search_knowledge_base", "arguments": json.dumps({"query": QUESTION})}
    model.says(
        {"match": {"hasToolResult": False, "turnIndex": 0}, "response": {"toolCalls": [search]}},
        {"match": {}, "response": {"content": "Go to Webhooks and click New webhook [Ref #1]."}},
    )
    app = AppSettings(chat_model="gpt-4.1", chat_base_url=heard.base_url)
    with serving(app, load_settings()) as url:
        answer = httpx.post(f"{url}/chat", json={"question": QUESTION}, timeout=60).raise_for_status().json()
        images = {image["url"] for citation in answer["citations"] for image in citation["images"]}
        return answer, {image: httpx.get(f"{url}{image}").raise_for_status().content for image in images}


@pytest.mark.slow("whole runs against the services' doubles")
def test_from_a_container_of_articles_to_an_answer_that_saw_the_screenshot(
    on_azure: None, containers: Containers, run: Run, model: Aimock, heard: OwnModel
) -> None:
    stage(containers.staging, *ARTICLES)
    ingested = run("ingest")
    assert ingested.code == 0, ingested.words
    assert "2 articles published" in ingested.words

    manifest = Manifest.model_validate_json(served(containers, "webhooks/manifest.json"))
    assert manifest.unplaced_images == 0
    assert {f"kb/webhooks/{image.path}" for image in manifest.images} <= blobs(containers.serving)

    answer, images = ask(model, heard)
    assert [citation["number"] for citation in answer["citations"] if citation["used"]] == [1]
    assert any(url.startswith("/api/images/webhooks/") for url in images)
    for url, image in images.items():
        assert image == served(containers, url.removeprefix("/api/images/"))
        assert any(same(seen, Image.open(io.BytesIO(image))) for seen in shown_to(heard))


def same(seen: Image.Image, served: Image.Image) -> bool:
    """Whether one is the other, possibly scaled down for the model."""
    scaled = served.convert("RGB").resize(seen.size)
    difference = ImageChops.difference(scaled, seen.convert("RGB")).convert("L").histogram()
    return sum(level * count for level, count in enumerate(difference)) < 2 * seen.width * seen.height


@pytest.mark.slow("whole runs against the services' doubles")
@pytest.mark.parametrize("on_azure", ["local"], indirect=True)
def test_a_change_costs_only_what_changed_and_a_deletion_leaves_nothing(
    on_azure: None, containers: Containers, fake: RunningService, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(containers.staging, *ARTICLES)
    run("ingest")
    unchanged = run("ingest")
    assert "0 images described, 0 passages embedded" in unchanged.words

    page = (SAMPLES / "webhooks/index.html").read_bytes()
    changed = page.replace(b"</h1>", b"</h1><p>All times are those of the office in Oslo.</p>", 1)
    containers.staging.upload_blob("articles/webhooks/index.html", changed, overwrite=True)
    containers.staging.delete_blobs(*[name for name in blobs(containers.staging) if "/rest-api/" in name])
    said = run("ingest", "--changed")
    assert "1 article published" in said.words
    assert "0 images described" in said.words
    assert "0 passages embedded" not in said.words

    monkeypatch.setenv("KB_DELETE_MAX_SHARE", "1")
    assert run("remove", "--missing", "--yes").code == 0
    assert not [name for name in blobs(containers.serving) if "/rest-api/" in name]
    left = {entry["article_id"] for documents in fake.service.documents.values() for entry in documents.shown.values()}
    assert left == {"webhooks"}
