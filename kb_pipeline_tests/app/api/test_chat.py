"""``POST /chat``: cited answers; every bad question and every failure below has a clear status."""

import httpx
import pytest

from app.language.messages import Messages
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve
from kb_pipeline_tests.app.model_servers import Aimock, OwnModel, chunk, refused, streamed

CROP = {"question": "How do I crop a layer?"}


def test_an_answer_cites_its_passages_with_images_and_origin(service: httpx.Client) -> None:
    answer = service.post("/chat", json=CROP).raise_for_status().json()
    assert "Crop to Content" in answer["answer"]
    first = next(citation for citation in answer["citations"] if citation["section"] == "Crop a layer")
    assert (first["article_id"], first["used"]) == ("layers", True)
    assert f"[Ref #{first['number']}]" in answer["answer"]
    assert first["images"][0]["url"] == "/api/images/layers/images/crop.png"
    assert first["origin"]["run_url"] == "http://127.0.0.1:3000/runs/11111111-2222-3333-4444-555555555555"
    assert first["origin"]["converter"] and first["origin"]["content_hash"]
    assert any("Crop to Content" in quote and quote in first["passage"] for quote in first["quotes"])


def test_the_same_question_has_the_same_answer(service: httpx.Client) -> None:
    assert len({service.post("/chat", json=CROP).text for _ in range(3)}) == 1


def test_nothing_found_is_said_honestly(service: httpx.Client) -> None:
    answer = service.post("/chat", json={"question": "zxqv wvut"}).json()
    assert answer["answer"].startswith(Messages.of("en")("nothing_answers"))
    assert answer["refused"] is True


def test_top_k_bounds_the_passages(service: httpx.Client) -> None:
    assert len(service.post("/chat", json={**CROP, "top_k": 1}).json()["citations"]) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": ""},
        {"question": "  \n"},
        {"question": 7},
        {"question": "x", "top_k": 0},
        {"question": "x", "top_k": 51},
        {"question": "x", "top_k": "many"},
        {"question": "x", "top_k": True},
        {"question": "\0"},
        {"question": "x", "surprise": 1},
        {"question": "x" * 8001},
    ],
)
def test_a_question_that_cannot_be_asked_is_422(service: httpx.Client, body: dict[str, object]) -> None:
    reply = service.post("/chat", json=body)
    assert reply.status_code == 422
    assert reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{bad", "application/json", 400),
        (b'{"question": "x"}', "text/plain", 415),
        (b"question=x", "application/x-www-form-urlencoded", 415),
        (b'{"question": "' + b"x" * 1_000_000 + b'"}', "application/json", 413),
        (b"\xff\xfe", "application/json", 400),
    ],
)
def test_what_is_no_question_at_all_is_refused(service: httpx.Client, content: bytes, kind: str, status: int) -> None:
    reply = service.post("/chat", content=content, headers={"content-type": kind})
    assert reply.status_code == status
    assert reply.json()["error"]["message"]


def test_a_missing_index_says_how_to_build_it(serve: Serve, own: Settings, tmp_path: str) -> None:
    empty = serve(own.model_copy(update={"home": f"{tmp_path}/empty"}))
    reply = empty.post("/chat", json=CROP)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "index_unavailable")
    assert "kb ingest" in reply.json()["error"]["message"]
    assert empty.get("/health").json()["status"] == "degraded"


def test_script_in_a_question_comes_back_as_text_only(service: httpx.Client) -> None:
    reply = service.post("/chat", json={"question": "<script>alert(1)</script> crop a layer"})
    assert reply.headers["content-type"].startswith("application/json")
    assert "<script>" not in reply.json()["answer"]


@pytest.mark.parametrize("mode", ["agent", "retrieve-first"])
def test_a_model_words_the_answer_from_the_passages(serve: Serve, aimock: Aimock, mode: str) -> None:
    search = {"name": "search_knowledge_base", "arguments": '{"query": "crop a layer"}'}
    aimock.says(
        *([{"match": {"hasToolResult": False}, "response": {"toolCalls": [search]}}] if mode == "agent" else []),
        {"match": {}, "response": {"content": "Choose *Crop to Content* [2] [Ref #9] ![x](attachment:crop.png)."}},
    )
    service = serve(chat_model="m", chat_base_url=aimock.base_url, answering=mode)
    answer = service.post("/chat", json=CROP).raise_for_status().json()
    shown = "![x](/api/images/layers/images/crop.png)"
    (used,) = (citation for citation in answer["citations"] if citation["used"])
    assert answer["answer"] == f"Choose *Crop to Content* [Ref #1] {shown}."
    assert used["number"] == 1
    assert (answer["answered_by"], answer["model"]) == (mode, "m")
    assert answer["refused"] is False


def is_quoted_instead(reply: httpx.Response) -> bool:
    """Whether quotations answered, which say why."""
    answer = reply.raise_for_status().json()
    said_why = Messages.of("en")("quoted_as_model_is_away") in answer["answer"]
    return said_why and (answer["answered_by"], answer["model"], answer["refused"]) == ("extractive", None, False)


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "KB_CHAT_API_KEY"), (403, "KB_CHAT"), (404, "KB_CHAT_MODEL"), (429, ""), (500, "")]
)
def test_where_a_model_service_refuses_quotations_answer_and_the_log_says_why(
    serve: Serve, caplog: pytest.LogCaptureFixture, status: int, advice: str
) -> None:
    with OwnModel(lambda *_: refused(status, "no", **{"Retry-After": "7"})) as model:
        reply = serve(chat_model="m", chat_base_url=model.base_url, chat_api_key="sk-secret").post("/chat", json=CROP)
    assert is_quoted_instead(reply)
    assert "quotations answer in place of the model: " in caplog.text
    assert advice in caplog.text
    assert "sk-secret" not in reply.text + caplog.text


@pytest.mark.slow("builds a whole knowledge base")
def test_where_a_model_is_silent_quotations_answer(serve: Serve) -> None:
    import asyncio

    from starlette.responses import StreamingResponse

    async def silence():
        yield chunk("Choo")
        await asyncio.sleep(30)

    with OwnModel(lambda *_: StreamingResponse(silence(), media_type="text/event-stream")) as model:
        service = serve(chat_model="m", chat_base_url=model.base_url, chat_timeout_seconds=0.5)
        assert is_quoted_instead(service.post("/chat", json=CROP))


def test_an_answer_cut_off_in_the_middle_is_an_error(serve: Serve) -> None:
    said = chunk("Choose Crop to Content. It makes the layer as small as what it shows.\n" * 20)
    with OwnModel(lambda *_: streamed(said)) as model:
        reply = serve(chat_model="m", chat_base_url=model.base_url, answering="retrieve-first").post("/chat", json=CROP)
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "upstream_cut_short")
