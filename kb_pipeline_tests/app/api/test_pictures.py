"""Questions with a picture over ``/v1/responses``: searched by what is read on it, kept once, for the asker alone."""

import base64
import shutil
import sqlite3
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, serving, signed_in
from kb_pipeline_tests.app.model_servers import OwnModel, streamed
from kb_pipeline_tests.pictures import screenshot

pytestmark = pytest.mark.slow("reads text on pictures")

DIALOG = screenshot("Warning", "The paper tray is empty.", size=(340, 110))
MEANING = "What does this mean?"


@pytest.fixture(scope="module")
def home(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("pictures") / "home"
    shutil.copytree(knowledge_base.home, home)
    return knowledge_base.model_copy(update={"home": str(home)})


@pytest.fixture(scope="module")
def service(home: Settings) -> Iterator[httpx.Client]:
    """The same for all, since each loads models of its own to read with; every test has a conversation of its own."""
    with serving(AppSettings(), home) as url, httpx.Client(base_url=url, timeout=30) as client:
        yield client


def part(data: bytes = DIALOG, **changed: Any) -> dict[str, Any]:
    return {"type": "input_image", "image_url": f"data:image/png;base64,{base64.b64encode(data).decode()}", **changed}


def asking(*parts: dict[str, Any], text: str = MEANING) -> list[dict[str, Any]]:
    words = [{"type": "input_text", "text": text}] if text else []
    return [{"type": "message", "role": "user", "content": [*parts, *words]}]


def test_what_is_read_on_the_picture_is_searched_for(service: httpx.Client) -> None:
    reply = openai_of(service).responses.create(input=asking(part()))  # type: ignore[arg-type]
    (search,) = [item for item in reply.output if item.type == "file_search_call"]
    assert search.queries[0].startswith(f"{MEANING}\nWarning") and "paper tray is empty" in search.queries[0]
    answer = service.get(f"/api/responses/{reply.id}/answer").raise_for_status().json()
    assert answer["citations"][0]["article_id"] == "printing"


def test_a_picture_without_a_word_is_a_question(service: httpx.Client) -> None:
    said = {"input": asking(part(), text=""), "conversation": "conv_1"}
    service.post("/v1/responses", json=said).raise_for_status()
    (turn,) = service.get("/api/conversations/conv_1").json()["turns"]
    assert turn["question"] == "What is this?"
    assert (turn["picture"]["width"], turn["picture"]["height"]) == (340, 110)
    assert "paper tray is empty" in turn["picture"]["text"]


def test_the_picture_is_kept_once_and_goes_with_its_conversation(service: httpx.Client, home: Settings) -> None:
    picture = screenshot("Warning", "The toner is low.")
    said = {"input": asking(part(picture)), "conversation": "conv_2"}
    response_id = service.post("/v1/responses", json=said).raise_for_status().json()["id"]
    kept = service.get(f"/api/responses/{response_id}/picture")
    assert (kept.content, kept.headers["content-type"]) == (picture, "image/png")
    assert kept.headers["cache-control"] == "private, no-cache"
    (item,) = service.get(f"/v1/responses/{response_id}/input_items").json()["data"]
    assert item["content"][0]["image_url"] == f"/api/responses/{response_id}/picture"
    encoded = base64.b64encode(picture).decode()
    with sqlite3.connect(home.home_path / "conversations.db") as file:
        bodies = [body for (body,) in file.execute("SELECT body FROM entries")]
    assert sum(encoded in body for body in bodies) == 1
    assert "With a picture" in service.get("/api/conversations/conv_2/markdown").text
    service.delete("/api/conversations/conv_2").raise_for_status()
    assert service.get(f"/api/responses/{response_id}/picture").status_code == 404


def test_a_follow_up_remembers_what_was_on_the_picture(service: httpx.Client) -> None:
    service.post("/v1/responses", json={"input": asking(part()), "conversation": "conv_3"}).raise_for_status()
    reply = service.post("/v1/responses", json={"input": "And why?", "conversation": "conv_3"}).json()
    (search,) = [item for item in reply["output"] if item["type"] == "file_search_call"]
    assert "paper tray is empty" in search["queries"][0]


def test_a_picture_that_is_not_to_be_stored_is_not(service: httpx.Client) -> None:
    said = {"input": asking(part()), "store": False}
    response_id = service.post("/v1/responses", json=said).raise_for_status().json()["id"]
    assert service.get(f"/api/responses/{response_id}/picture").status_code == 404


def test_nobody_else_sees_it_or_reads_its_text_by_its_address(serve: Serve) -> None:
    service = serve(easy_auth=True)
    ann, bob = signed_in("ann"), signed_in("bob")
    response_id = service.post("/v1/responses", json={"input": asking(part())}, headers=ann).json()["id"]
    path = f"/api/responses/{response_id}/picture"
    assert service.get(path, headers=ann).status_code == 200
    assert service.get(path, headers=bob).status_code == 404
    thread = [*asking({"type": "input_image", "image_url": path}), {"role": "user", "content": "And why?"}]
    for headers, knows in ((ann, True), (bob, False)):
        reply = service.post("/v1/responses", json={"input": thread}, headers=headers).json()
        assert ("paper tray" in str([item for item in reply["output"] if "queries" in item])) is knows


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([part(image_url="https://evil.example/x.png")], "addresses are not fetched"),
        ([part(image_url=None, file_id="file_1")], "image_url"),
        ([part(b"no picture")], "cannot be read"),
        ([part(), part()], "one picture"),
        ([{"type": "input_file", "file_data": "x"}], "input_file"),
    ],
)
def test_what_cannot_be_used_is_refused(service: httpx.Client, parts: list[dict[str, Any]], reason: str) -> None:
    reply = service.post("/v1/responses", json={"input": asking(*parts)}).json()
    assert (reply["status"], reply["error"]["code"]) == ("failed", "invalid_prompt")
    assert reason in reply["error"]["message"]


def test_pictures_have_a_size_and_can_be_off(serve: Serve) -> None:
    large = serve(picture_bytes=1000).post("/v1/responses", json={"input": asking(part())}).json()
    assert "the limit is 1,000" in large["error"]["message"]
    off = serve(picture_bytes=0)
    assert "KB_PICTURE_BYTES=0" in off.post("/v1/responses", json={"input": asking(part())}).json()["error"]["message"]
    assert off.post("/v1/responses", json={"input": "x" * 300_000}).status_code == 413


def test_only_questions_may_be_as_long_as_a_picture(service: httpx.Client) -> None:
    long = {"question": "x" * 400_000}
    assert service.post("/chat", json=long).status_code == 413
    assert service.post("/v1/responses", json={"input": asking(part(), text="x" * 9000)}).json()["status"] == "failed"


def test_what_is_no_picture_may_not_take_its_place(service: httpx.Client) -> None:
    values = b'{"input": "x", "metadata": [' + b"[]," * 200_000 + b"1]}"
    reply = service.post("/v1/responses", content=values, headers={"content-type": "application/json"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "request_too_long")
    large = asking(part(bytes(1_000_000)), part(bytes(1_000_000)))
    assert "one picture" in service.post("/v1/responses", json={"input": large}).json()["error"]["message"]


@pytest.mark.parametrize("vision", [True, False])
def test_a_model_gets_the_picture_if_it_sees_images_and_its_text_in_any_case(serve: Serve, vision: bool) -> None:
    with OwnModel(lambda *_: streamed("Fill the paper tray. [Ref #1]")) as model:
        service = serve(
            chat_model="m", chat_base_url=model.url, chat_api_key="k", answering="retrieve-first", vision=vision
        )
        service.post("/v1/responses", json={"input": asking(part())}).raise_for_status()
        sent = str(model.requests[-1])
    assert "The paper tray is empty" in sent and MEANING in sent
    assert (base64.b64encode(DIALOG).decode() in sent) is vision
