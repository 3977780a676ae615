"""What the service says of itself."""

import httpx


def test_health_tells_index_model_and_last_publication(service: httpx.Client) -> None:
    health = service.get("/health").json()
    assert (health["status"], health["answered_by"], health["model"]) == ("ok", "extractive", None)
    assert health["index"]["chunks"] > 0
    assert health["last_published_at"] == "2026-01-01T00:00:00+00:00"


def test_entities_name_the_agent(service: httpx.Client) -> None:
    (agent,) = service.get("/v1/entities").json()["entities"]
    assert (agent["id"], agent["type"]) == ("knowledge-base", "agent")
