"""What goes wrong with an account is told with its status and the setting to look at, in bounded time."""

import logging
import socket
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas
from upath import UPath

from kb_pipeline.errors import ServiceRefusedError, StorageError, TransientError
from kb_pipeline.settings import Settings
from kb_pipeline.store.files import names_in, read_bytes, remove_file, remove_folder, write_bytes
from kb_pipeline.store.place import remote_path
from kb_pipeline.store.staging import Staging
from kb_pipeline_tests.azurite import KEY, NAME, Azurite
from kb_pipeline_tests.ports import free_port
from kb_pipeline_tests.store.azure.conftest import answering

WRONG = "d3JvbmcgYW5kIHNlY3JldA=="
SECRETS = ("sig=", WRONG, KEY)
CALLS = {
    "read": read_bytes,
    "write": lambda path: write_bytes(path, b"x"),
    "look": lambda path: path.is_file(),
    "look for a folder": lambda path: path.is_dir(),
    "list": names_in,
    "scan": lambda path: Staging(path).scan(),
    "list articles": lambda path: Staging(path).list_articles(),
    "remove": remove_file,
    "remove all": remove_folder,
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def opened(settings: Settings, **changed: str) -> UPath:
    there = Settings(**settings.model_dump(exclude={"staging"}) | {"staging": "abfs://stage/articles", **changed})
    return remote_path(there.staging, "staging", there)


def told(exc: BaseException) -> str:
    """All that a log would show."""
    return "".join(traceback.format_exception(exc))


@pytest.fixture
def container(azurite: Azurite) -> Iterator[str]:
    name = f"stage-{time.monotonic_ns()}"
    yield azurite.container(name).container_name


@pytest.mark.slow("waits until a time is over")
@every_call
def test_a_wrong_key_is_a_refusal(call, azurite: Azurite, settings: Settings, container: str) -> None:
    string = azurite.connection_string.replace(KEY, WRONG)
    path = opened(settings, staging=f"abfs://{container}/articles", staging_connection_string=string)
    with pytest.raises(ServiceRefusedError, match=r"\(403\).*check KB_STAGING_CONNECTION_STRING") as refused:
        call(path)
    assert azurite.endpoint in str(refused.value)
    assert not any(secret in told(refused.value) for secret in SECRETS)


@every_call
def test_a_container_that_is_not_there_is_named(call, azurite: Azurite, settings: Settings) -> None:
    path = opened(settings, staging="abfs://nowhere/articles", staging_connection_string=azurite.connection_string)
    with pytest.raises(ServiceRefusedError, match="has no container 'nowhere'; create it, or change KB_STAGING"):
        call(path)


def signature(**ends: float) -> str:
    may = AccountSasPermissions(read=True, list=True)
    kinds = ResourceTypes(service=True, container=True, object=True)
    until = datetime.now(UTC) + timedelta(**ends)
    return generate_account_sas(NAME, KEY, kinds, may, until)


def test_a_shared_access_signature_lets_us_in_until_it_expires(
    azurite: Azurite, settings: Settings, container: str, caplog: pytest.LogCaptureFixture
) -> None:
    def path(sas: str) -> UPath:
        string = f"BlobEndpoint={azurite.endpoint};SharedAccessSignature={sas}"
        return opened(settings, staging=f"abfs://{container}/articles", staging_connection_string=string)

    azurite.service().get_container_client(container).upload_blob("articles/a.md", b"x")
    assert read_bytes(path(signature(hours=1)) / "a.md") == b"x"
    for call in (lambda path: read_bytes(path / "a.md"), lambda path: write_bytes(path / "b.md", b"x")):
        with pytest.raises(ServiceRefusedError, match=r"\(403\)") as refused:
            call(path(signature(hours=-1)))
        assert not any(secret in told(refused.value) for secret in SECRETS)


def test_an_expired_token_is_told_to_be_expired(settings: Settings) -> None:
    with answering(403, x_ms_error_code="AuthenticationFailed") as account:
        there = Settings(
            **settings.model_dump(exclude={"staging"})
            | {"staging": "abfs://stage@contoso/a", "staging_sas_token": "se=2020-01-01T00:00:00Z&sig=c2VjcmV0"}
        )
        path = remote_path(there.staging, "staging", there)
        object.__setattr__(path.fs.account, "endpoint", account.url)
        with pytest.raises(ServiceRefusedError, match=r"expired at 2020-01-01.*check KB_STAGING_SAS_TOKEN") as refused:
            read_bytes(path / "a.md")
    assert "c2VjcmV0" not in told(refused.value)


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_busy_account_is_asked_again_and_then_said_to_be_busy(settings: Settings, status: int) -> None:
    with answering(status, x_ms_error_code="ServerBusy", Retry_After="0.01") as account:
        there = account.settings(settings)
        with pytest.raises(TransientError, match=rf"is busy \({status}\).*ServerBusy") as busy:
            read_bytes(remote_path(there.staging, "staging", there) / "a.md")
    assert busy.value.retry_after == 0.01
    assert len(account.seen) == (1 if status == 429 else 3)


def test_a_moment_of_trouble_is_not_noticed(settings: Settings) -> None:
    with answering(503, 500, 404, x_ms_error_code="BlobNotFound", Retry_After="0.01") as account:
        there = account.settings(settings)
        assert not (remote_path(there.staging, "staging", there) / "a.md").is_file()
    assert len(account.seen) == 3


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize(
    ("url", "credentials"),
    [
        ("abfs://stage@no0such0account/articles", {"staging_account_key": KEY}),
        ("abfs://stage@no0such0account/articles", {"staging_sas_token": "se=2099-01-01&sig=c2VjcmV0"}),
        ("abfs://stage/articles", {"staging_connection_string": "closed port"}),
    ],
)
def test_an_account_that_cannot_be_reached_is_given_up_soon(
    settings: Settings, url: str, credentials: dict[str, str]
) -> None:
    closed = f"AccountName={NAME};AccountKey={KEY};BlobEndpoint=http://127.0.0.1:{free_port()}/{NAME};"
    given = {key: closed if value == "closed port" else value for key, value in credentials.items()}
    started = time.monotonic()
    with pytest.raises(TransientError, match=r"cannot be reached at http.*\(.+\); check KB_STAGING") as unreachable:
        Staging(opened(settings, staging=url, **given)).scan()
    assert time.monotonic() - started < 50
    assert "c2VjcmV0" not in told(unreachable.value)


@pytest.mark.slow("waits until a time is over")
@pytest.mark.usefixtures("no_pauses")
def test_an_account_that_says_nothing_is_waited_for_as_long_as_the_settings_say(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        string = f"AccountName={NAME};AccountKey={KEY};BlobEndpoint=http://127.0.0.1:{silent.getsockname()[1]}/{NAME};"
        path = opened(settings, staging_connection_string=string, service_timeout_seconds="0.2")
        with pytest.raises(TransientError, match=r"did not answer within 0\.2 s"):
            read_bytes(path / "a.md")


def test_a_secret_is_in_no_log(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with answering(403) as account:
        there = account.settings(
            settings,
            staging_connection_string=f"BlobEndpoint={account.url};SharedAccessSignature=se=2099-01-01&sig=c2VjcmV0",
        )
        with pytest.raises(ServiceRefusedError):
            read_bytes(remote_path(there.staging, "staging", there) / "a.md")
    assert account.seen and all("sig=c2VjcmV0" in request for request in account.seen)
    assert caplog.records
    assert "c2VjcmV0" not in caplog.text


def test_an_empty_store_is_not_taken_for_an_empty_folder(azurite: Azurite, settings: Settings, container: str) -> None:
    path = opened(settings, staging=f"abfs://{container}/x", staging_connection_string=azurite.connection_string)
    with pytest.raises(StorageError, match=r"cannot list the staging folder .*there is nothing there"):
        Staging(path).scan()
