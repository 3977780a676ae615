"""Links in what tools return to programs: for pictures that the asker may see, and for nobody and nothing else.

Published articles are on Azurite; a program that has nothing but a link gets the picture.
"""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client.client import Client

from app.application.checking import check_answering
from app.callers.principal import Principal
from app.settings import AppSettings
from app.tools.image_links import open_image_links
from kb_pipeline.errors import SettingsError
from kb_pipeline.flow.access import Access, AccessLists
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests.app.api.conftest import openai_of, serve, signed_in
from kb_pipeline_tests.app.grounding.hits import hit
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.app.tools.test_mcp import _over_http
from kb_pipeline_tests.azurite import KEY, Azurite, Containers
from kb_pipeline_tests.collectors import collecting, wait_until
from kb_pipeline_tests.store.azure.test_signing_in import sas

__all__ = ["serve"]

Serve = Callable[..., httpx.Client]
CROP, TABLE = "layers/images/crop.png", "secret/images/table.png"
CROPPING = {"query": "crop a layer", "top_k": 50}
SALARIES = {"query": "table of salaries", "top_k": 50}


@pytest.fixture
def on_azure(own: Settings, containers: Containers) -> Settings:
    """The knowledge base, with its published articles in a container."""
    folder = Path(str(Layout.of(own).serving_root))
    for file in folder.rglob("*"):
        if file.is_file():
            containers.serving.upload_blob(f"kb/{file.relative_to(folder).as_posix()}", file.read_bytes())
    return own.model_copy(
        update={
            "serving": f"abfs://{containers.serving.container_name}/kb",
            "serving_connection_string": containers.settings(own).serving_connection_string,
        }
    )


def addresses(blocks: list[dict[str, Any]]) -> set[str]:
    """The addresses of pictures in blocks."""
    shown = (
        address for block in blocks for address in re.findall(r"\]\(([^()]+\.png[^()]*)\)", block.get("content", ""))
    )
    return {*shown, *(block["image_url"] for block in blocks if "image_url" in block)}


def blocks_of(client: httpx.Client, arguments: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
    reply = client.post("/api/tools/rag_semantic_search", json=arguments, headers=headers).json()
    assert reply["success"], reply
    blocks: list[dict[str, Any]] = reply["results"]
    return blocks


@pytest.mark.slow("asks Azurite")
def test_a_program_opens_the_pictures_that_it_found(serve: Serve, on_azure: Settings, containers: Containers) -> None:
    found = blocks_of(serve(on_azure, image_urls="sas"), CROPPING)
    assert {block["block_type"] for block in found if block["doc_id"] == "layers"} == {"text", "image"}
    (link,) = {address for address in addresses(found) if CROP in address}
    picture = containers.serving.download_blob(f"kb/{CROP}").readall()
    assert httpx.get(link).content == picture
    assert httpx.get(link.replace(CROP, TABLE)).status_code == 403


def test_by_mcp_as_well(serve: Serve, on_azure: Settings) -> None:
    async def ask(client: Client) -> Any:
        return (await client.call_tool("rag_semantic_search", CROPPING)).structured_content["results"]

    client = serve(on_azure, image_urls="sas")
    found = asyncio.run(_over_http(str(client.base_url).rstrip("/"), ask))
    assert [httpx.get(link).status_code for link in addresses(found) if CROP in link] == [200]


def test_unless_it_is_set_addresses_are_those_of_the_service(serve: Serve, on_azure: Settings) -> None:
    assert f"/api/images/{CROP}" in addresses(blocks_of(serve(on_azure), CROPPING))


@pytest.mark.slow("asks Azurite")
def test_whoever_may_not_see_a_picture_gets_no_link(serve: Serve, on_azure: Settings) -> None:
    client = serve(on_azure, image_urls="sas", easy_auth=True)

    def of_the_table(user: str, *groups: str) -> list[str]:
        found = addresses(blocks_of(client, SALARIES, **signed_in(user, *groups)))
        return [address for address in found if TABLE in address]

    (link,) = of_the_table("ann", "group-hr")
    assert httpx.get(link).status_code == 200
    assert of_the_table("bob") == []


def test_a_list_that_the_index_does_not_have_yet_counts(serve: Serve, on_azure: Settings) -> None:
    client = serve(on_azure, image_urls="sas")
    AccessLists(Layout.of(on_azure)).record("layers", Access(readers=("group-hr",)), pending=False)
    found = addresses(blocks_of(client, CROPPING))
    assert f"/api/images/{CROP}" in found
    assert not [address for address in found if CROP in address and "sig=" in address]


def test_a_path_in_the_words_of_an_author_gets_no_link(on_azure: Settings) -> None:
    links = open_image_links(AppSettings(image_urls="sas"), Layout.of(on_azure))
    assert links
    words = f"See ![this](/api/images/{TABLE}) and ![that](/api/images/{CROP}) and /api/images/{CROP}"
    found = hit("1", "layers")
    paths = (CROP, "layers/../secret/images/table.png", "nothing/images/a.png")
    own = found.model_copy(update={"chunk": found.chunk.model_copy(update={"image_urls": paths})})
    value = {"results": [{"content": words, "doc_id": "layers"}], "result_count": 1}
    (block,) = asyncio.run(links.put_into(value, [own], Principal("ann", ("ann", "group-hr"))))["results"]
    assert f"![this](/api/images/{TABLE})" in block["content"], "no hit has it"
    assert re.search(rf"!\[that\]\(http://[^()]*{CROP}\?[^()]*sig=[^()]*\)", block["content"])
    assert block["content"].endswith(f" and /api/images/{CROP}"), "this is no address in markdown"
    assert block["doc_id"] == "layers"


@pytest.mark.rare("waits for an account that is gone")
def test_an_account_that_is_gone_fails_the_call_with_hints(serve: Serve, on_azure: Settings, azurite: Azurite) -> None:
    gone = on_azure.serving_connection_string.get_secret_value().replace(azurite.endpoint, "http://127.0.0.1:9/a")
    away = Settings(**on_azure.model_dump(exclude_defaults=True) | {"serving_connection_string": gone})
    failed = serve(away, image_urls="sas").post("/api/tools/rag_semantic_search", json=CROPPING).json()
    assert (failed["success"], failed["type"]) == (False, "ServiceBusy")
    assert failed["hints"]


@pytest.mark.slow("asks Azurite")
def test_no_answer_conversation_trace_or_log_has_a_link(
    on_azure: Settings, knowledge_base: Settings, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    connection = on_azure.serving_connection_string.get_secret_value()
    with collecting("http", tmp_path) as collector:
        place = Place(
            knowledge_base,
            tmp_path / "place",
            KB_SERVING=str(on_azure.serving),
            KB_SERVING_CONNECTION_STRING=connection,
            KB_IMAGE_URLS="sas",
            KB_RECORD_CONTENT="true",
            **collector.environment,
        )
        with place.service_process() as url, httpx.Client(base_url=url, timeout=60) as client:
            assert [address for address in addresses(blocks_of(client, CROPPING)) if "sig=" in address]
            answer = client.post("/chat", json={"question": "How do I crop a layer?"}).text
            response = openai_of(client).responses.create(model="m", input="How do I crop a layer?")
            stored = client.get(f"/api/responses/{response.id}/answer").text
            conversations = client.get("/api/conversations").text
            wait_until(lambda: collector.spans("call tool rag_semantic_search"))
            wait_until(lambda: collector.spans("POST /chat"))
    assert f"/api/images/{CROP}" in answer
    assert f"/api/images/{CROP}" in stored
    kept = b"".join(file.read_bytes() for file in (tmp_path / "place").rglob("*") if file.is_file()).decode("latin-1")
    for text in (answer, response.model_dump_json(), stored, conversations, collector.all(), *capfd.readouterr(), kept):
        assert "sig=" not in text
        assert KEY not in text


@pytest.mark.parametrize("command", ["starting", "checking"])
@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, "set KB_IMAGE_URLS=proxy"),
        (
            {"serving": "abfs://docs@contoso.dfs.core.windows.net/kb", "serving_sas_token": sas(hours=1)},
            "KB_SERVING_SAS_TOKEN holds a shared access signature",
        ),
    ],
    ids=["serving in a folder", "sas"],
)
def test_what_cannot_sign_links_is_told_when(
    serve: Serve, own: Settings, settings: dict[str, Any], problem: str, command: str
) -> None:
    there = Settings(**own.model_dump(exclude_defaults=True) | settings)
    if command == "starting":
        with pytest.raises(SettingsError, match=problem):
            serve(there, image_urls="sas")
    else:
        (checked,) = (
            each for each in check_answering(AppSettings(image_urls="sas"), there) if each.role == "image links"
        )
        assert problem in checked.problem


def test_checking_says_what_signs_links(on_azure: Settings) -> None:
    checked = {each.role: each for each in check_answering(AppSettings(image_urls="sas"), on_azure)}["image links"]
    assert (checked.found, checked.problem) == ("accepted, signed with the account's key", "")
    assert "image links" not in {each.role for each in check_answering(AppSettings(), on_azure)}
