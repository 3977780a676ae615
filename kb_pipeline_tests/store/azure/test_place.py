"""A URL of the settings becomes a path with credentials, or an error that names the setting."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr
from upath import UPath

from kb_pipeline.errors import MissingExtraError, SettingsError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.store.azure_account import Account
from kb_pipeline.store.place import remote_path
from kb_pipeline_tests.azurite import KEY

URL = "abfs://docs@contoso.dfs.core.windows.net/team/articles"
STRING = f"DefaultEndpointsProtocol=https;AccountName=contoso;AccountKey={KEY};EndpointSuffix=core.windows.net"
SAS = "sv=2025-01-05&se=2020-01-01T00:00:00Z&sp=rl&sig=c2VjcmV0"


def place(url: str, **credentials: str) -> UPath:
    return remote_path(url, "serving", Settings(serving=url, **credentials))


def account(path: UPath) -> Account:
    found: Account = path.fs.account
    return found


@pytest.mark.parametrize(
    ("url", "path", "endpoint"),
    [
        (URL, "docs/team/articles", "https://contoso.blob.core.windows.net"),
        ("abfss://docs@contoso.blob.core.windows.net", "docs/", "https://contoso.blob.core.windows.net"),
        ("az://docs@contoso/a/", "docs/a", "https://contoso.blob.core.windows.net"),
        ("abfs://docs@c1.dfs.core.chinacloudapi.cn/a//b", "docs/a/b", "https://c1x.blob.core.chinacloudapi.cn"),
    ],
)
def test_a_url_names_container_folder_and_account(url: str, path: str, endpoint: str) -> None:
    found = place(url.replace("c1.", "c1x."))
    assert (found.path, account(found).endpoint) == (path, endpoint)
    assert account(found).sign_in == "identity"


@pytest.mark.parametrize("url", ["/tmp/serving", "file:///tmp/serving"])
def test_a_folder_of_this_machine_is_a_place(url: str) -> None:
    assert place(url, serving_account_key="not looked at") == UPath(url)


@pytest.mark.parametrize("url", ["s3://bucket/serving", "ftp://host/serving", "memory://serving"])
def test_a_store_of_another_kind_is_refused_with_the_way_out(url: str) -> None:
    with pytest.raises(SettingsError, match=r"write it as abfs://.*, or as a folder of this machine"):
        place(url)


@pytest.mark.parametrize(
    ("credentials", "kind"),
    [
        ({"serving_connection_string": STRING}, "connection_string"),
        ({"serving_account_key": KEY}, "account_key"),
        ({"serving_sas_token": f"?{SAS}"}, "sas_token"),
        ({"staging_account_key": KEY}, "identity"),
    ],
)
def test_each_role_signs_in_with_its_own_credentials(credentials: dict[str, str], kind: str) -> None:
    found = account(place(URL, **credentials))
    assert (found.sign_in, found.endpoint) == (kind, "https://contoso.blob.core.windows.net")


def test_the_endpoint_of_a_connection_string_wins() -> None:
    local = "AccountName=devstoreaccount1;AccountKey=YQ==;BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;"
    for url in ("abfs://docs/articles", "abfs://docs@devstoreaccount1.dfs.core.windows.net/articles"):
        assert account(place(url, serving_connection_string=local)).endpoint.startswith("http://127.0.0.1:10000/")
    signed = place(
        "abfs://docs", serving_connection_string=f"BlobEndpoint=https://c.example/;SharedAccessSignature={SAS}"
    )
    assert account(signed).endpoint == "https://c.example"


@pytest.mark.parametrize(
    "url",
    [
        "abfs://",
        "abfs://Docs@contoso/articles",
        "abfs://do--cs@contoso/articles",
        "abfs://docs@evil.example/articles",
        "abfs://docs@contoso.example/articles",
        "abfs://docs@contoso/../other",
    ],
)
def test_a_malformed_url_names_the_setting_and_how_to_write_it(url: str) -> None:
    with pytest.raises(SettingsError, match=r"KB_SERVING is .*abfs://CONTAINER@ACCOUNT\.dfs"):
        place(url)


def test_a_url_without_an_account_needs_a_connection_string() -> None:
    with pytest.raises(SettingsError, match="KB_SERVING names no storage account"):
        place("abfs://docs/articles", serving_account_key=KEY)


def test_several_credentials_are_one_too_many() -> None:
    with pytest.raises(SettingsError, match="KB_SERVING_ACCOUNT_KEY and KB_SERVING_SAS_TOKEN are set"):
        place(URL, serving_account_key=KEY, serving_sas_token=SAS)


@pytest.mark.parametrize(
    "credentials",
    [
        {"serving_connection_string": "c2VjcmV0"},
        {"serving_connection_string": "AccountName=contoso;AccountKey=c2VjcmV0!"},
        {"serving_connection_string": "AccountKey=c2VjcmV0"},
        {"serving_account_key": "c2VjcmV0!"},
        {"serving_sas_token": "c2VjcmV0"},
    ],
)
def test_malformed_credentials_are_named_and_not_shown(credentials: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=f"{next(iter(credentials)).upper()} is malformed") as refused:
        place(URL, **credentials)
    assert "c2VjcmV0" not in f"{refused.value} {refused.value.__cause__}"


def test_a_connection_string_of_another_account_is_refused() -> None:
    with pytest.raises(SettingsError, match="is of the account contoso, but KB_SERVING names fabrikam"):
        place("abfs://docs@fabrikam/articles", serving_connection_string=STRING)


@pytest.mark.parametrize(
    ("staging", "serving", "is_apart"),
    [
        ("abfs://docs/articles", "abfs://docs/kb", True),
        ("abfs://docs/articles", "abfs://docs/articles-2", True),
        ("abfs://docs/articles", "abfs://served/articles", True),
        ("abfs://docs/articles", "abfs://docs/articles", False),
        ("abfs://docs/articles", "az://docs@contoso/articles/kb", False),
        ("abfs://docs/articles", "abfs://docs", False),
    ],
)
def test_staging_and_serving_are_apart(staging: str, serving: str, is_apart: bool, tmp_path: Path) -> None:
    strings = {f"{role}_connection_string": STRING for role in ("staging", "serving")}
    given = {"staging": staging, "serving": serving, "home": str(tmp_path), **strings}
    if is_apart:
        Workspace(load_settings(**given))
    else:
        with pytest.raises(SettingsError, match="one inside the other"):
            Workspace(load_settings(**given))


def test_a_path_travels_between_processes_and_shows_no_secret() -> None:
    path = place(URL, serving_account_key=KEY) / "page"
    again = pickle.loads(pickle.dumps(path))
    assert again == path
    assert hash(again) == hash(path)
    assert account(again).secret == SecretStr(KEY)
    for shown in (path, path.fs, account(path), path.storage_options, account(path).service):
        assert KEY not in f"{shown!r} {shown}"


def test_missing_packages_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb_pipeline.store.place.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"kb-pipeline\[azure\]"):
        place(URL)


@pytest.mark.slow("asks Azurite")
def test_the_sdk_is_not_imported_for_a_local_folder() -> None:
    code = (
        "import sys; import kb_pipeline.flow.workspace, app.library.images; "
        "print([m for m in sys.modules if m == 'azure.storage'])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "[]\n"
