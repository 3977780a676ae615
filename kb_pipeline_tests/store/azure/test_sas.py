"""Links to one blob each: whoever has one reads that blob until it ends, and does nothing else anywhere.

The account is Azurite, by https at the address it has on the internet. It checks signatures of both kinds itself.
"""

import logging
import os
import re
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from azure.storage.blob import ContainerClient
from upath import UPath

from kb_pipeline.errors import ServiceRefusedError, SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline.store import azure_account, azure_sas
from kb_pipeline.store.azure_sas import BlobLinks
from kb_pipeline.store.place import remote_path
from kb_pipeline_tests.azurite import HOST, KEY, NAME, Azurite, Containers
from kb_pipeline_tests.managed_identity import ManagedIdentity, signed_in
from kb_pipeline_tests.store.azure.test_signing_in import sas

PICTURE, OTHER = "page/images/crop.png", "page/images/other.png"
AWKWARD = "pagé/images/50 % (new) & old+#1.png"
URL = "abfs://{container}@" + NAME + ".dfs.core.windows.net/kb"


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> Iterator[ManagedIdentity]:
    monkeypatch.setattr(azure_account, "_client", azure_account._client.__wrapped__)
    with signed_in(monkeypatch) as identity:
        yield identity


@pytest.fixture
def container(public_azurite: Azurite) -> ContainerClient:
    """A container with pictures."""
    made = public_azurite.container(f"links-{time.time_ns()}")
    for path in (PICTURE, OTHER, AWKWARD):
        made.upload_blob(f"kb/{path}", path.encode())
    return made


@pytest.fixture(params=["account key", "identity"])
def folder(request: pytest.FixtureRequest, container: ContainerClient, identity: ManagedIdentity) -> UPath:
    """The serving folder, for whoever signs in either way."""
    credentials = {"serving_account_key": KEY} if request.param == "account key" else {}
    return opened(container, **credentials)


def opened(container: ContainerClient, **credentials: str) -> UPath:
    url = URL.format(container=container.container_name)
    return remote_path(url, "serving", Settings(serving=url, **credentials))


def requested(address: str, method: str = "GET", content: bytes = b"", **headers: str) -> httpx.Response:
    """What a program gets that has nothing but an address."""
    trusted = ssl.create_default_context(cafile=os.environ.get("REQUESTS_CA_BUNDLE"))
    return httpx.request(method, address, content=content, headers=headers, verify=trusted)


def field(link: str, name: str) -> str:
    return parse_qs(urlsplit(link).query)[name][0]


@pytest.mark.slow("waits until a time is over")
@pytest.mark.parametrize("path", [PICTURE, AWKWARD])
def test_whoever_has_a_link_reads_the_blob(folder: UPath, path: str) -> None:
    reply = requested(BlobLinks(folder).link(path))
    assert (reply.status_code, reply.content) == (200, path.encode())


def test_a_link_says_read_one_blob_by_https_for_an_hour(folder: UPath) -> None:
    before = datetime.now(UTC)
    link = BlobLinks(folder).link(PICTURE)
    assert link.startswith(f"https://{HOST}/")
    assert [field(link, name) for name in ("sp", "sr", "spr")] == ["r", "b", "https"]
    lasts = datetime.fromisoformat(field(link, "se")) - before
    assert timedelta(minutes=60) < lasts <= timedelta(minutes=65)


def test_it_opens_no_other_blob(folder: UPath) -> None:
    link = BlobLinks(folder).link(PICTURE)
    assert requested(link.replace("crop.png", "other.png")).status_code == 403
    assert requested(link.replace("page/images/crop.png", "page/images/none.png")).status_code == 403


@pytest.mark.parametrize(
    ("method", "query"),
    [("PUT", ""), ("DELETE", ""), ("PUT", "&comp=metadata"), ("PUT", "&comp=lease"), ("PUT", "&comp=tags")],
)
def test_it_changes_nothing(folder: UPath, container: ContainerClient, method: str, query: str) -> None:
    link = BlobLinks(folder).link(PICTURE)
    headers = {"x-ms-blob-type": "BlockBlob", "x-ms-lease-action": "break", "x-ms-meta-a": "b"}
    body = b"<Tags><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tags>" if "tags" in query else b"else"
    assert requested(link + query, method, body, **headers).status_code == 403
    blob = container.get_blob_client(f"kb/{PICTURE}")
    assert blob.download_blob().readall() == PICTURE.encode()
    assert blob.get_blob_properties().metadata == {}


def test_it_lists_nothing(folder: UPath, container: ContainerClient) -> None:
    signature = urlsplit(BlobLinks(folder).link(PICTURE)).query
    for listing in (f"/{container.container_name}?restype=container&comp=list", "/?comp=list"):
        reply = requested(f"https://{HOST}{listing}&{signature}")
        assert reply.status_code == 403
        assert "crop" not in reply.text


@pytest.mark.slow("waits until a time is over")
def test_it_is_refused_after_its_end(folder: UPath) -> None:
    link = BlobLinks(folder, timedelta(seconds=3)).link(PICTURE)
    assert requested(link).status_code == 200
    ends = datetime.fromisoformat(field(link, "se"))
    time.sleep(max(0.0, (ends - datetime.now(UTC)).total_seconds()) + 1)
    assert requested(link).status_code == 403
    later = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert requested(link.replace(field(link, "se").replace(":", "%3A"), later)).status_code == 403


def test_it_is_refused_without_tls(container: ContainerClient, azurite: Azurite, identity: ManagedIdentity) -> None:
    plain = azurite.container(container.container_name)
    plain.upload_blob(f"kb/{PICTURE}", PICTURE.encode())
    link = BlobLinks(opened(container, serving_account_key=KEY)).link(PICTURE)
    reply = requested(link.replace(f"https://{HOST}", azurite.endpoint))
    assert (reply.status_code, reply.headers["x-ms-error-code"]) == (403, "AuthorizationProtocolMismatch")


def test_an_account_on_this_machine_needs_no_tls(containers: Containers, settings: Settings) -> None:
    there = containers.settings(settings)
    containers.serving.upload_blob(f"kb/{PICTURE}", PICTURE.encode())
    links = BlobLinks(remote_path(there.serving or "", "serving", there))
    links.check()
    assert requested(links.link(PICTURE)).content == PICTURE.encode()


def test_the_key_of_an_identity_is_asked_for_once_a_day(
    container: ContainerClient, identity: ManagedIdentity, requests: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    links = BlobLinks(opened(container))
    assert {requested(links.link(path)).status_code for path in (PICTURE, OTHER, PICTURE)} == {200}
    assert requests == ["POST"]
    link = links.link(PICTURE)
    assert datetime.fromisoformat(field(link, "ske")) >= datetime.fromisoformat(field(link, "se"))

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.now(UTC) + timedelta(hours=23)

    monkeypatch.setattr(azure_sas, "datetime", Tomorrow)
    links.link(PICTURE)
    links.link(OTHER)
    assert requests == ["POST", "POST"], "the key would end before a link does"


def test_no_identity_names_the_role_it_would_need_and_the_next_link_asks_again(
    container: ContainerClient, identity: ManagedIdentity
) -> None:
    links = BlobLinks(opened(container))
    identity.status = 400
    for _ in range(2):
        with pytest.raises(ServiceRefusedError, match=r"no token.*KB_SERVING_ACCOUNT_KEY.*role Storage Blob Data"):
            links.link(PICTURE)
    identity.status = 200
    assert requested(links.link(PICTURE)).status_code == 200


def test_checking_asks_the_account_whether_it_accepts_a_link(folder: UPath, container: ContainerClient) -> None:
    BlobLinks(folder).check()
    another_key = KEY.replace("Eby8", "8ybE")
    with pytest.raises(
        ServiceRefusedError, match=r"refused our credentials \(403\).*KB_SERVING_ACCOUNT_KEY"
    ) as refused:
        BlobLinks(opened(container, serving_account_key=another_key)).check()
    assert "sig=" not in str(refused.value)


def test_no_log_has_a_signature_or_a_key(folder: UPath, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("", "urllib3", "urllib3.connectionpool"):  # whatever others have set
        caplog.set_level(logging.DEBUG, name)
    links = BlobLinks(folder)
    links.check()
    link = links.link(PICTURE)
    assert "urllib3.connectionpool" in {record.name for record in caplog.records}
    assert urlsplit(link).query not in caplog.text
    assert field(link, "sig") not in caplog.text
    assert not re.search(r"sig=(?!REDACTED|\.\.\.)", caplog.text)
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("serving", "credentials", "problem"),
    [
        ("/tmp/serving", {}, r"need KB_SERVING on Azure.*it is /tmp/serving; set KB_IMAGE_URLS=proxy"),
        (
            URL.format(container="docs"),
            {"serving_sas_token": sas(hours=1)},
            r"KB_SERVING_SAS_TOKEN holds a shared access signature, which cannot sign.*KB_SERVING_ACCOUNT_KEY",
        ),
        (
            URL.format(container="docs"),
            {"serving_connection_string": f"BlobEndpoint=https://{HOST};SharedAccessSignature={sas(hours=1)}"},
            r"KB_SERVING_CONNECTION_STRING holds a shared access signature",
        ),
        (
            "abfs://docs/kb",
            {"serving_connection_string": f"AccountName=a;AccountKey={KEY};BlobEndpoint=http://storage.example/a;"},
            r"need https, and KB_SERVING is at http://storage.example/a",
        ),
        (
            "abfs://docs/kb",
            {"serving_connection_string": "BlobEndpoint=https://pictures.example.com"},
            r"account's name, which https://pictures.example.com does not tell; write KB_SERVING=abfs://",
        ),
    ],
    ids=["a folder", "sas", "connection string with sas", "no https", "no name"],
)
def test_what_cannot_sign_links_is_refused_at_once(serving: str, credentials: dict[str, str], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem) as refused:
        BlobLinks(remote_path(serving, "serving", Settings(serving=serving, **credentials)))
    assert "sig=" not in str(refused.value)
