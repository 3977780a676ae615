"""What the service says of itself."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from app.api import health
from app.api.health import Glance
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("path", ["/health", "/api/articles", "/nothing", "/openapi.json", "/v1/models"])
def test_whatever_is_sent_runs_nothing_in_a_browser(service: httpx.Client, path: str) -> None:
    headers = service.get(path).headers
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")


def test_health_tells_index_model_and_last_publication(service: httpx.Client) -> None:
    health = service.get("/health").json()
    assert (health["status"], health["answered_by"], health["model"]) == ("ok", "extractive", None)
    assert health["index"]["chunks"] > 0
    assert health["last_published_at"] == "2026-01-01T00:00:00+00:00"


def test_entities_name_the_agent(service: httpx.Client) -> None:
    (agent,) = service.get("/v1/entities").json()["entities"]
    assert (agent["id"], agent["type"]) == ("knowledge-base", "agent")


def test_a_damaged_index_is_told_with_the_remedy_and_without_paths(serve: Serve, own: Settings) -> None:
    service = serve()
    for path in Path(own.home).glob("index/*/_indices/*/*.lance"):
        path.unlink()
    health = service.get("/health")
    assert (health.status_code, health.json()["status"]) == (200, "degraded")
    assert "kb reconcile" in health.json()["index"]["problem"]
    assert own.home not in health.text


def test_health_answers_although_the_articles_cannot_be_listed(serve: Serve, own: Settings) -> None:
    service = serve()
    lists = Path(own.home) / "access"
    lists.rename(lists.with_name("aside"))
    lists.write_text("a file in the place of the lists")
    health = service.get("/health")
    assert (health.status_code, health.json()["status"]) == (200, "degraded")
    assert "move it away" in health.json()["index"]["problem"]
    assert own.home not in health.text


def test_readers_of_a_damaged_index_are_told_so_without_paths(serve: Serve, own: Settings) -> None:
    service = serve()
    for path in Path(own.home).glob("index/*/data/*.lance"):
        path.write_bytes(b"noise")
    reply = service.post("/chat", json={"question": "How do I crop a layer?"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "index_unavailable")
    assert "kb reconcile" in reply.text
    assert own.home not in reply.text


def test_looking_often_asks_the_index_seldom(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    probes: list[str] = []
    monkeypatch.setattr(LanceDBIndex, "probe", lambda index: probes.append(index.embedding_model))
    service = serve()
    assert {service.get("/health").json()["status"] for _ in range(20)} == {"ok"}
    assert len(probes) == 1


def test_a_damaged_article_is_told_without_paths(serve: Serve, own: Settings) -> None:
    service = serve()
    (Path(own.home) / "serving" / "layers" / "article.md").write_bytes(b"\xff\xfe")
    reply = service.get("/api/articles/layers")
    assert reply.status_code == 503
    assert "kb reconcile" in reply.text
    assert own.home not in reply.text


def rest_of(path: Path) -> list[Path]:
    return [*path.parent.glob(f"{path.name}-*")]


DAMAGES: dict[str, Callable[[Path], object]] = {
    "garbage": lambda path: path.write_bytes(b"garbage" * 3000),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "an entry": lambda path: path.write_bytes(path.read_bytes().replace(b'{"response_id', b'{"respons\0\0\0\0')),
    "no UTF-8": lambda path: path.write_bytes(
        path.read_bytes().replace(b'{"response_id', b'{"respons\xff\xff\xff\xff')
    ),
}


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_conversations_are_told_of_everywhere_with_a_sentence(serve: Serve, own: Settings, damage: str) -> None:
    asked = serve().post("/v1/responses", json={"input": "How do I crop a layer?"}).json()
    path = Path(own.home) / "conversations.db"
    with closing(sqlite3.connect(path)) as file:
        (conversation,) = file.execute("SELECT id FROM conversations").fetchone()
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    DAMAGES[damage](path)
    for beside in rest_of(path):
        beside.unlink()
    service = serve()
    health = service.get("/health")
    assert (health.status_code, health.json()["status"]) == (200, "degraded")
    assert "is damaged" in str(health.json()["conversations"]["problem"]) or damage == "a folder"
    assert own.home not in health.text
    replies = [
        service.get(f"/api/conversations/{conversation}"),
        service.get(f"/api/responses/{asked['id']}/answer"),
        service.get(f"/v1/responses/{asked['id']}"),
        service.post("/v1/responses", json={"input": "And how?", "previous_response_id": asked["id"]}),
    ]
    failed = [reply for reply in replies if reply.is_error]  # where nothing damaged is needed, nothing fails
    assert failed
    for reply in failed:
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "store_unavailable"), reply.text
        assert "; " in reply.json()["error"]["message"]
        assert own.home not in reply.text


class Part:
    """Something to look at, which hangs when told to."""

    def __init__(self) -> None:
        self.looks = 0
        self.works = asyncio.Event()
        self.works.set()

    async def look(self) -> int:
        self.looks += 1
        seen = self.looks
        await self.works.wait()
        return seen


def run(scene: Callable[[Part, Glance[int]], Awaitable[None]]) -> None:
    async def play() -> None:
        part = Part()
        await scene(part, Glance(part.look))
        part.works.set()
        await asyncio.sleep(0)

    asyncio.run(play())


def test_each_look_sees_how_it_is_now() -> None:
    async def scene(_: Part, looking: Glance[int]) -> None:
        assert [await looking.seen() for _ in range(3)] == [1, 2, 3]

    run(scene)


def test_what_was_seen_before_serves_while_a_look_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_LONGEST_WAIT_SECONDS", 0.01)

    async def scene(part: Part, looking: Glance[int]) -> None:
        await looking.seen()
        part.works.clear()
        assert [await looking.seen() for _ in range(3)] == [1, 1, 1]
        assert part.looks == 2
        monkeypatch.setattr(health, "_HANGS_AFTER_SECONDS", 0.0)
        assert await looking.seen() is None

    run(scene)


def test_whoever_asks_meanwhile_waits_for_the_same_look() -> None:
    async def scene(part: Part, looking: Glance[int]) -> None:
        part.works.clear()
        asking = [asyncio.ensure_future(looking.seen()) for _ in range(5)]
        await asyncio.sleep(0)
        part.works.set()
        assert await asyncio.gather(*asking) == [1] * 5

    run(scene)
