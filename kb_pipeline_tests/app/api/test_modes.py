"""Sections that are left for later: not one word of them in mode poc, and all of it where a request wants them."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.context import CUT
from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, serving, signed_in
from kb_pipeline_tests.app.services_with_backlog import publish_services

QUESTIONS = (
    *("How are orders replicated to the zebra region?", "zebra", "What is the quagga key?", "Who is the zebra desk?"),
    *(
        "What are the production backlog items?",
        "How do I restore orders?",
        "Summarise Cosmos DB",
        "List all documents",
    ),
    *("Compare Cosmos DB and Key Vault", "How many pages has Cosmos DB?", "What is the zebrra region?", "okapi"),
)
SECRET = ("zebra", "quagga", "okapi")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return publish_services(tmp_path_factory.mktemp("services"))


@pytest.fixture
def services(published: Settings, tmp_path: Path) -> Settings:
    shutil.copytree(published.home, tmp_path / "services-home")
    return published.model_copy(update={"home": str(tmp_path / "services-home")})


@pytest.fixture(scope="module", params=["auto", "off"])
def planning(request: pytest.FixtureRequest, published: Settings) -> Iterator[httpx.Client]:
    """A client of somebody who may read both, for questions that leave nothing behind."""
    settings = AppSettings(planning=request.param, easy_auth=True)
    with serving(settings, published) as url, httpx.Client(base_url=url, timeout=30) as client:
        client.headers.update(signed_in("ann", "group-security"))
        yield client


def chat(client: httpx.Client, question: str, **options: object) -> dict[str, Any]:
    answer: dict[str, Any] = client.post("/chat", json={"question": question, **options}).raise_for_status().json()
    return answer


def said(answer: object, question: str) -> str:
    """Everything in an answer, in lower case, but for the words of the question itself."""
    return str(answer).lower().replace(question.lower(), "")


@pytest.mark.slow("asks every route")
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_word_of_them_is_in_an_answer(planning: httpx.Client, question: str) -> None:
    answer = chat(planning, question)
    asked = {word for word in SECRET if word in question.lower()}
    found = [each for each in answer["citations"] if any(word in str(each).lower() for word in SECRET)]
    assert found == []
    told = said({**answer, "searches": ()}, question)
    assert not [word for word in SECRET if word in told and word not in asked], told


@pytest.mark.parametrize("mode", ["production", "all"])
def test_a_request_that_wants_them_is_answered_from_them(serve: Serve, services: Settings, mode: str) -> None:
    answer = chat(serve(services), "How are orders replicated to the zebra region?", mode=mode)
    assert "zebra region" in answer["answer"] and not answer["refused"]
    assert answer["mode"] == mode


def test_the_setting_is_the_mode_of_requests_that_name_none(serve: Serve, services: Settings) -> None:
    client = serve(services.model_copy(update={"mode": "production"}))
    assert "zebra" in chat(client, "How are orders replicated to the zebra region?")["answer"]
    poc = chat(client, "How are orders replicated to the zebra region?", mode="poc")
    assert "zebra" not in poc["answer"]


@pytest.mark.slow("asks every route")
def test_the_responses_protocol_takes_the_mode(serve: Serve, services: Settings) -> None:
    client = serve(services)
    question = "How are orders replicated to the zebra region?"

    def answered(**extra: object) -> str:
        made = openai_of(client).responses.create(model="knowledge-base", input=question, extra_body=extra)
        return made.output_text

    assert "quagga" not in answered() and "quagga" in answered(mode="all")
    made = client.post("/v1/responses", json={"model": "knowledge-base", "input": question, "mode": "magic"}).json()
    assert made["status"] == "failed" and "mode must be one of: poc, production, all" in made["error"]["message"]


@pytest.mark.parametrize("how", ["hybrid", "keyword", "vector"])
def test_a_search_takes_both_kinds_of_modes(serve: Serve, services: Settings, how: str) -> None:
    client = serve(services)

    def passages(*modes: str) -> str:
        found = client.get("/api/search", params={"q": "zebra region", "mode": list(modes)}).raise_for_status().json()
        assert found["mode"] == how
        return str(found["results"]).lower()

    assert "zebra" not in passages(how) and "zebra" not in passages(how, "poc")
    assert "zebra" in passages(how, "production") and "zebra" in passages("all", how)


def test_tools_take_the_mode(serve: Serve, services: Settings) -> None:
    client = serve(services)

    def called(**arguments: object) -> str:
        return str(client.post("/api/tools/rag_semantic_search", json={"query": "zebra", **arguments}).json()).lower()

    assert "zebra" not in called() and "zebra region" in called(mode="all")
    for tool, arguments in (("rag_list_documents", {}), ("rag_get_document", {"doc_id": "cosmos-db"})):
        value = client.post(f"/api/tools/{tool}", json=arguments).json()
        assert value["success"] and not any(word in str(value).lower() for word in (*SECRET, "backlog"))
    wrong = client.post("/api/tools/rag_semantic_search", json={"query": "zebra", "mode": "magic"}).json()
    assert not wrong["success"] and "mode" in wrong["error"]


def test_tools_over_mcp_take_the_mode(serve: Serve, services: Settings) -> None:
    client = serve(services)

    def called(name: str, **arguments: object) -> str:
        called = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        reply = client.post("/mcp", headers={"accept": "application/json, text/event-stream"}, json=called)
        assert '"isError":false' in reply.raise_for_status().text
        return reply.text.lower()

    assert "zebra region" in called("rag_semantic_search", query="zebra", mode="all")
    for name, arguments in (
        ("rag_semantic_search", {"query": "quagga key", "top_k": 50}),
        ("rag_list_documents", {}),
        ("rag_get_document", {"doc_id": "cosmos-db"}),
    ):
        assert not any(word in called(name, **arguments) for word in SECRET), name


def test_an_exported_conversation_and_the_neighbours_of_a_proposal_say_nothing_of_them(
    serve: Serve, services: Settings
) -> None:
    client = serve(services)
    asked = {"model": "knowledge-base", "input": "Which keys are rotated?", "conversation": "conv_of_keys"}
    client.post("/v1/responses", json=asked).raise_for_status()
    exported = client.get("/api/conversations/conv_of_keys/markdown").raise_for_status().text
    draft = {
        "service": "cosmos-db",
        "description": "Regions",
        "content": "A region has a desk and a key.",
        "draft": True,
    }
    proposed = client.post("/api/contributions", json=draft).raise_for_status().json()
    assert proposed["nearest"]
    for told in (exported, str(proposed["nearest"])):  # the change shows the lines beside it, whatever they are
        assert not any(word in told.lower() for word in (*SECRET, "backlog"))


def test_lists_and_suggestions_say_nothing_of_them(serve: Serve, services: Settings) -> None:
    client = serve(services)
    for path in ("/api/suggestions", "/api/documents", "/api/documents/cosmos-db", "/api/articles"):
        told = str(client.get(path).raise_for_status().json()).lower()
        assert not any(word in told for word in (*SECRET, "backlog")), path


def test_the_backlog_is_for_those_who_may_read_the_article(serve: Serve, services: Settings) -> None:
    client = serve(services, easy_auth=True)
    client.headers.update(signed_in("ann", "group-security"))
    found = client.get("/api/articles/cosmos-db/backlog").json()
    assert found["title"] == "Cosmos DB"
    assert found["items"] == ["Ask the zebra desk for the quagga key.", "Add a zebra region", "Rotate the quagga key"]
    assert client.get("/api/articles/key-vault/backlog").json()["items"] == ["Buy an okapi"]
    client.headers.update(signed_in("bob"))
    assert client.get("/api/articles/key-vault/backlog").status_code == 404
    assert client.get("/api/articles/nothing/backlog").status_code == 404


def test_the_switch_is_for_those_who_may_see_any(serve: Serve, services: Settings, own: Settings) -> None:
    assert serve(services).get("/api/mode").json() == {"mode": "poc", "has_backlog": True}
    assert serve(own).get("/api/mode").json() == {"mode": "poc", "has_backlog": False}


class TestContext:
    def composed(self, client: httpx.Client, *articles: str, **params: object) -> dict[str, Any]:
        asked = {"articles": list(articles), **params}
        found: dict[str, Any] = client.get("/api/context", params=asked).raise_for_status().json()  # type: ignore[arg-type]
        return found

    def test_it_has_the_sections_in_the_order_asked_for(self, serve: Serve, services: Settings) -> None:
        client = serve(services, easy_auth=True)
        client.headers.update(signed_in("ann", "group-security"))
        for ids in (("key-vault", "cosmos-db"), ("key-vault, cosmos-db",)):
            found = self.composed(client, *ids)
            assert found["text"].index("# Key Vault") < found["text"].index("# Cosmos DB")
            assert [each["article_id"] for each in found["articles"]] == ["key-vault", "cosmos-db"]
            assert not found["is_cut"] and found["mode"] == "poc"

    def test_it_leaves_out_what_is_for_later_unless_it_is_wanted(self, serve: Serve, services: Settings) -> None:
        client = serve(services)
        assert not any(word in self.composed(client, "cosmos-db")["text"].lower() for word in (*SECRET, "backlog"))
        everything = self.composed(client, "cosmos-db", mode="production")["text"]
        assert "- Add a zebra region" in everything and "quagga key" in everything

    def test_whole_sections_come_first_and_a_mark_ends_what_is_cut(self, serve: Serve, services: Settings) -> None:
        found = self.composed(serve(services), "cosmos-db", mode="all", tokens=100)
        assert found["is_cut"] and found["text"].endswith(CUT) and found["tokens"] <= 100
        (article,) = found["articles"]
        assert 0 < article["sections"] < article["of_sections"]

    def test_an_article_that_may_not_be_read_is_not_there(self, serve: Serve, services: Settings) -> None:
        client = serve(services)
        for ids in (["key-vault"], ["cosmos-db", "key-vault"], ["cosmos-db,key-vault"], ["nothing"]):
            assert client.get("/api/context", params={"articles": ids}).status_code == 404

    @pytest.mark.parametrize("params", [{}, {"articles": "a", "tokens": 1}, {"articles": "a", "mode": "magic"}])
    def test_what_makes_no_sense_is_refused(self, serve: Serve, services: Settings, params: dict[str, str]) -> None:
        assert serve(services).get("/api/context", params=params).status_code == 422
