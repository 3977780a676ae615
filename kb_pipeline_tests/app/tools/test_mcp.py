"""The tools by the Model Context Protocol, asked by the official client, over both transports."""

import asyncio
import builtins
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from app.api.mcp_server import mcp_server
from app.api.server import create_app
from app.callers.principal import Principal
from app.settings import AppSettings
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import AuditLog
from kb_pipeline_tests.app.api.conftest import signed_in
from kb_pipeline_tests.app.serving import serving_app
from kb_pipeline_tests.building import listing

NAMES = ["rag_semantic_search", "rag_list_documents", "rag_get_document"]
MODES = ("auto", "legacy")
"""The protocol of today, and the one with a handshake that older clients speak."""


@contextmanager
def serving(knowledge_base: Settings, **settings: Any) -> Iterator[str]:
    with serving_app(create_app(AppSettings(**settings), knowledge_base)) as url:
        yield url


async def _over_http(url: str, ask: Callable[[Client], Any], mode: str = "auto", **headers: str) -> Any:
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            return await ask(client)


@pytest.mark.parametrize("mode", MODES)
def test_over_http_the_same_tools_are_called(own: Settings, mode: str) -> None:
    async def ask(client: Client) -> Any:
        listed = await client.list_tools()
        called = await client.call_tool("rag_semantic_search", {"query": "crop a layer", "top_k": 1})
        return listed, called

    with serving(own) as url:
        listed, called = asyncio.run(_over_http(url, ask, mode))
        over_http = httpx.get(f"{url}/api/tools").json()["tools"]
    assert [tool.name for tool in listed.tools] == NAMES
    assert [tool.input_schema for tool in listed.tools] == [tool["function"]["parameters"] for tool in over_http]
    assert not called.is_error
    assert called.structured_content["results"][0]["doc_id"] == "layers"
    assert json.loads(called.content[0].text) == called.structured_content


def test_every_tool_only_reads_and_says_so(own: Settings) -> None:
    arguments = {
        "rag_semantic_search": {"query": "crop a layer"},
        "rag_list_documents": {},
        "rag_get_document": {"doc_id": "layers"},
    }

    async def ask(client: Client) -> Any:
        listed = await client.list_tools()
        return listed, [await client.call_tool(name, given) for name, given in arguments.items()]

    with serving(own) as url:
        # the service makes the file of conversations in the background when it begins, which is no tool's work
        httpx.get(f"{url}/api/conversations", timeout=60).raise_for_status()
        before = listing(own.home_path), listing(Path(own.staging))
        listed, called = asyncio.run(_over_http(url, ask))
        assert (listing(own.home_path), listing(Path(own.staging))) == before
    assert [tool.name for tool in listed.tools] == NAMES == list(arguments)
    assert all(tool.annotations.read_only_hint for tool in listed.tools)
    assert not any(result.is_error for result in called)


def test_a_failure_is_a_result_with_hints(own: Settings) -> None:
    async def ask(client: Client) -> Any:
        return [
            await client.call_tool("rag_semantic_search", {"query": "crop", "top_k": 51}),
            await client.call_tool("rag_get_document", {"doc_id": "secret"}),
            await client.call_tool("rag_delete", {}),
        ]

    with serving(own) as url:
        failed = asyncio.run(_over_http(url, ask))
    assert [each.is_error for each in failed] == [True, True, True]
    assert [each.structured_content["type"] for each in failed] == [
        "InvalidArgument",
        "DocumentNotFound",
        "UnknownTool",
    ]
    assert all(each.structured_content["hints"] for each in failed)


@pytest.mark.slow("starts the program")
@pytest.mark.parametrize("mode", MODES)
def test_behind_easy_auth_each_asker_finds_what_they_may_see(own: Settings, mode: str) -> None:
    async def ask(client: Client) -> set[str]:
        called = await client.call_tool("rag_semantic_search", {"query": "salary of the director", "top_k": 50})
        return {block["doc_id"] for block in called.structured_content["results"]}

    async def both(url: str) -> list[set[str]]:
        asked = (_over_http(url, ask, mode, **signed_in(*who)) for who in [("ann", "group-hr"), ("bob",)] * 4)
        return list(await asyncio.gather(*asked))

    with serving(own, easy_auth=True) as url:
        found = asyncio.run(both(url))
    assert all("secret" in each for each in found[::2])
    assert not any("secret" in each for each in found[1::2])


CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "rag_list_documents", "arguments": {}},
}
ACCEPTED = {"accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "evil.example"}, 400),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "text/plain"}, 415),
    ],
)
def test_pages_of_other_sites_and_names_that_are_rebound_reach_nothing(
    own: Settings, headers: dict[str, str], status: int
) -> None:
    with serving(own) as url:
        reply = httpx.post(f"{url}/mcp", json=CALL, headers={**ACCEPTED, **headers})
    assert reply.status_code == status
    assert ("layers" in reply.text) == (status == 200)


def test_nobody_who_is_not_signed_in_reaches_it(own: Settings) -> None:
    with serving(own, easy_auth=True) as url:
        assert httpx.post(f"{url}/mcp", json=CALL, headers=ACCEPTED).status_code == 401


def test_it_opens_no_streams_and_keeps_no_sessions(own: Settings) -> None:
    with serving(own) as url:
        assert [httpx.request(method, f"{url}/mcp").status_code for method in ("GET", "DELETE")] == [405, 405]


@pytest.mark.slow("starts the program")
@pytest.mark.parametrize("mode", MODES)
def test_over_stdin_and_stdout_the_command_serves_them(own: Settings, tmp_path: Path, mode: str) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("KB_")},
        "KB_STAGING": own.staging,
        "KB_HOME": own.home,
        "KB_LOCAL_USER": "group-hr",
    }
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "kb_pipeline", "mcp"], env=environment, cwd=str(tmp_path)
    )

    async def ask() -> Any:
        async with Client(stdio_client(command), mode=mode, read_timeout_seconds=120) as client:
            listed = await client.list_tools()
            return listed, await client.call_tool("rag_get_document", {"doc_id": "secret"})

    listed, called = asyncio.run(ask())
    assert [tool.name for tool in listed.tools] == NAMES
    assert called.structured_content["document"]["title"] == "Salaries"


def test_without_its_package_it_says_what_to_install(own: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] in ("mcp", "mcp_types"):
            raise ImportError(name)
        return imported(name, *rest)

    with serving(own) as url:
        monkeypatch.setattr(builtins, "__import__", without)
        with pytest.raises(SettingsError, match=r"pip install 'mcp>=2.3,<3'"):
            mcp_server({}, Principal, AuditLog(own), "service")
        reply = httpx.post(f"{url}/mcp", json=CALL, headers=ACCEPTED)
    assert (reply.status_code, reply.json()["error"]["code"]) == (501, "not_installed")
