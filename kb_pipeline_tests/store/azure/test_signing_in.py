"""Every way to sign in, at the address an account has on the internet: only settings tell them apart."""

import traceback
from datetime import UTC, datetime, timedelta

import pytest
from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas
from upath import UPath

from kb_pipeline.errors import ServiceRefusedError
from kb_pipeline.settings import Settings
from kb_pipeline.store import azure_account
from kb_pipeline.store.files import names_in, read_bytes, remove_folder, write_bytes
from kb_pipeline.store.place import remote_path
from kb_pipeline.store.serving import leased
from kb_pipeline_tests.azurite import HOST, KEY, NAME, Azurite
from kb_pipeline_tests.managed_identity import signed_in

CONTAINER = "kb-serving"


def sas(**lifetime: float) -> str:
    may = AccountSasPermissions(read=True, list=True, write=True, delete=True, create=True)
    kinds = ResourceTypes(service=True, container=True, object=True)
    return generate_account_sas(NAME, KEY, kinds, may, datetime.now(UTC) + timedelta(**lifetime))


def opened(**credentials: str) -> UPath:
    settings = Settings(serving=f"abfs://{CONTAINER}@{NAME}.dfs.core.windows.net/kb", **credentials)
    return remote_path(settings.serving or "", "serving", settings)


@pytest.fixture(autouse=True)
def _container(public_azurite: Azurite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        azure_account, "_client", azure_account._client.__wrapped__
    )  # each test has an identity of its own
    if CONTAINER not in {container.name for container in public_azurite.service().list_containers()}:
        public_azurite.container(CONTAINER)


def use(path: UPath) -> None:
    """All that is done there."""
    write_bytes(path / "page" / "article.md", b"text")
    assert read_bytes(path / "page" / "article.md") == b"text"
    assert names_in(path) == {"page"}
    assert [blob.name for blob in path.fs.walk_blobs(path.path)] == ["page/article.md"]
    with leased(path.fs, [f"{path.path}/page/mark"]):
        assert names_in(path / "page") == {"article.md", "mark"}
    remove_folder(path / "page")
    assert names_in(path) == set()


@pytest.mark.slow("asks Azurite")
@pytest.mark.parametrize(
    "credentials",
    [
        {"serving_account_key": KEY},
        {"serving_sas_token": sas(hours=1)},
        {"serving_connection_string": f"AccountName={NAME};AccountKey={KEY};EndpointSuffix=core.windows.net"},
        {"serving_connection_string": f"BlobEndpoint=https://{HOST};SharedAccessSignature={sas(hours=1)}"},
    ],
    ids=["key", "sas", "connection string", "connection string with sas"],
)
def test_an_account_lets_us_in_by(credentials: dict[str, str]) -> None:
    use(opened(**credentials))


@pytest.mark.parametrize("string", ["", f"BlobEndpoint=https://{HOST}"], ids=["address", "endpoint"])
@pytest.mark.parametrize("virtual_machine", [False, True], ids=["app", "virtual machine"])
def test_an_account_lets_us_in_by_our_identity(
    monkeypatch: pytest.MonkeyPatch, string: str, virtual_machine: bool
) -> None:
    with signed_in(monkeypatch, virtual_machine=virtual_machine) as identity:
        use(opened(**({"serving_connection_string": string} if string else {})))
        assert identity.audiences == ["https://storage.azure.com"], "one token for all that was done"


def test_an_expired_signature_is_told_to_be_one() -> None:
    path = opened(serving_sas_token=sas(hours=-1))
    with pytest.raises(ServiceRefusedError, match=r"\(403\).*expired at .*KB_SERVING_SAS_TOKEN") as refused:
        read_bytes(path / "page")
    assert "sig=" not in "".join(traceback.format_exception(refused.value))


def test_no_identity_names_the_role_it_would_need(monkeypatch: pytest.MonkeyPatch) -> None:
    with signed_in(monkeypatch) as identity:
        identity.status = 400
        with pytest.raises(
            ServiceRefusedError, match=r"no token.*KB_SERVING_ACCOUNT_KEY.*role Storage Blob Data Contributor"
        ):
            read_bytes(opened() / "page")


def test_an_expired_token_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with signed_in(monkeypatch) as identity:
        identity.lifetime = 200
        use(opened())
        assert len(identity.audiences) > 1
