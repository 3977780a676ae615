"""Conversations in Azure Cosmos DB keep every promise; what the service refuses is told with the setting to look at.

Against ``@vercel/cosmosdb-server``, which knows neither rights nor request units: refusals come from a stand-in.
"""

import sys
from collections.abc import Iterator
from uuid import uuid4

import openai
import pytest

from app.conversations.cosmos import CosmosConversations
from app.settings import AppSettings
from kb_pipeline.errors import KnowledgeBaseError, MissingExtraError, SettingsError, StorageError, TransientError
from kb_pipeline_tests.app.conversations.azure_doubles import RefusingCosmos, refusing_cosmos
from kb_pipeline_tests.app.conversations.conversations_contract import ConversationsContract
from kb_pipeline_tests.app.conversations.responses_server import serving
from kb_pipeline_tests.app.conversations.sayings import Stores, ask, listed
from kb_pipeline_tests.app.conversations.test_responses_store import client_of, say, stream
from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.managed_identity import ManagedIdentity

pytestmark = pytest.mark.anyio


def settings(endpoint: str, **given: str | None) -> AppSettings:
    return AppSettings(**{"conversations": "cosmos", "cosmos_endpoint": endpoint, "cosmos_key": "a2V5", **given})


@pytest.fixture
def stores(cosmos_server: CosmosServer) -> Stores:
    own = settings(cosmos_server.endpoint, cosmos_container=f"c{uuid4().hex}")
    return lambda: CosmosConversations(own)


@pytest.mark.slow("many requests to the double of Cosmos DB")
class TestCosmosConversations(ConversationsContract):
    pass


# --- the container -------------------------------------------------------------------------------


async def test_a_container_that_is_partitioned_otherwise_is_refused(cosmos_server: CosmosServer) -> None:
    from azure.cosmos import PartitionKey
    from azure.cosmos.aio import CosmosClient

    async with CosmosClient(cosmos_server.endpoint, cosmos_server.key) as client:
        database = await client.create_database_if_not_exists("kb")
        await database.create_container_if_not_exists("theirs", partition_key=PartitionKey(path="/city"))
    store = CosmosConversations(settings(cosmos_server.endpoint, cosmos_container="theirs"))
    with pytest.raises(SettingsError, match=r"partitioned by \['/city'\], not by /userId.*KB_COSMOS_CONTAINER"):
        await store.conversations("ann")
    await store.close()


async def test_every_document_is_in_the_partition_of_its_user(stores: Stores, cosmos_server: CosmosServer) -> None:
    store = stores()
    assert isinstance(store, CosmosConversations)
    await ask(store, "ann", "c1", "r1")
    container = await store._account.container()
    documents = [each async for each in container.query_items("SELECT * FROM c")]
    assert {each["userId"] for each in documents} == {"ann"}
    assert sorted(each["id"] for each in documents) == ["addition:c1:1", "addition:c1:2", "conversation:c1"]
    await store.close()


@pytest.mark.slow("many requests to the double of Cosmos DB")
def test_responses_are_kept_there_as_anywhere(stores: Stores) -> None:
    with serving(stores()) as url:
        ann, bob = client_of(url, "ann"), client_of(url, "bob")
        first = stream(ann, "one")
        second = say(ann, "two", previous_response_id=first.id)
        assert second.output_text == "heard: one | heard: one | two"
        assert ann.responses.retrieve(first.id).output_text == "heard: one"
        assert len(ann.responses.input_items.list(second.id).data) == 3
        for attempt in (
            bob.responses.retrieve,
            bob.responses.delete,
            lambda it: say(bob, "?", previous_response_id=it),
        ):
            with pytest.raises(openai.NotFoundError):
                attempt(first.id)
        ann.responses.delete(first.id)
        assert say(ann, "three", previous_response_id=second.id).output_text.startswith("heard: two | ")


# --- refusals --------------------------------------------------------------------------------------


@pytest.fixture
def refusing() -> Iterator[RefusingCosmos]:
    with refusing_cosmos() as server:
        yield server


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (401, SettingsError, r"may not be kept .*check KB_COSMOS_KEY.*Built-in Data Contributor"),
        (403, SettingsError, r"database kb, container conversations \(status 403\): check KB_COSMOS_KEY"),
        (404, SettingsError, r"no such database or container; check KB_COSMOS_DATABASE and KB_COSMOS_CONTAINER"),
        (429, TransientError, r"busy \(429\); try again"),
        (413, StorageError, r"too long to be kept \(Azure Cosmos DB takes 2 MB"),
        (400, StorageError, r"conversations cannot be kept in http://127.0.0.1:\d+, database kb.*the words of"),
    ],
)
async def test_refusals_name_what_to_do(
    refusing: RefusingCosmos, status: int, kind: type[KnowledgeBaseError], advice: str
) -> None:
    store = CosmosConversations(settings(refusing.endpoint))
    refusing.status = status
    with pytest.raises(kind, match=advice) as told:
        await store.conversations("ann")
    if isinstance(told.value, TransientError):
        assert told.value.retry_after == 0.02
    refusing.status = 200
    assert await listed(store, "ann") == []
    await store.close()


async def test_an_account_that_is_not_there_is_named() -> None:
    store = CosmosConversations(settings("http://127.0.0.1:9"))
    with pytest.raises(TransientError, match=r"http://127.0.0.1:9 cannot be reached"):
        await store.conversations("ann")
    await store.close()


async def test_a_key_that_is_none_is_named(refusing: RefusingCosmos) -> None:
    store = CosmosConversations(settings(refusing.endpoint, cosmos_key="abc"))
    with pytest.raises(SettingsError, match="KB_COSMOS_KEY or KB_COSMOS_ENDPOINT is malformed"):
        await store.conversations("ann")
    await store.close()


@pytest.mark.parametrize("package", ["azure.cosmos", "aiohttp"])
async def test_missing_packages_are_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"KB_CONVERSATIONS=cosmos.*pip install 'kb-pipeline\[cosmos\]'"):
        CosmosConversations(settings("http://127.0.0.1:9"))


# --- identity --------------------------------------------------------------------------------------


async def test_without_a_key_the_identity_of_the_service_is_used(
    cosmos_server: CosmosServer, managed_identity: ManagedIdentity
) -> None:
    store = CosmosConversations(settings(cosmos_server.endpoint, cosmos_key=None))
    await ask(store, "ann", "c1", "r1")
    assert await listed(store, "ann") == ["c1"]
    assert managed_identity.audiences == ["https://127.0.0.1"]
    await store.close()


async def test_a_service_without_key_and_identity_is_told_so(
    cosmos_server: CosmosServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    store = CosmosConversations(settings(cosmos_server.endpoint, cosmos_key=None))
    with pytest.raises(SettingsError, match=r"could not sign in.*check KB_COSMOS_KEY.*Built-in Data Contributor"):
        await store.conversations("ann")
    await store.close()
