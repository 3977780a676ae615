"""Opens the staging and serving folders from their URLs, with the credentials in the settings.

``abfs://container@account.dfs.core.windows.net/prefix`` is Azure Blob Storage (also ``abfss`` and ``az``, or
``container@account``, or only ``container`` with a connection string). Anything else is a folder of this machine.
"""

import base64
import re
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from pydantic import SecretStr
from upath import UPath

from kb_pipeline.errors import MissingExtraError, SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline.store.azure_account import Account, Role, SignIn
from kb_pipeline.store.azure_blob import BlobFiles
from kb_pipeline.store.serving import is_blob_folder

_CONTAINER = re.compile(r"[a-z0-9](-?[a-z0-9]){2,62}")
_HOST = re.compile(r"(?P<account>[a-z0-9]{3,24})(\.(dfs|blob)\.(?P<domain>[a-z0-9.-]+))?")
_DOMAIN = "core.windows.net"


def remote_path(url: str, role: Role, settings: Settings) -> UPath:
    """The path of the staging or serving folder, with its credentials.

    Raises:
        SettingsError: the URL or its credentials are malformed, more than one kind of credentials is set, or the URL
            is of another kind of store.
        MissingExtraError: it is on Azure, and the packages for Azure are not installed.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in BlobFiles.protocol:
        if rest and scheme != "file":
            raise SettingsError(f"{_malformed(role, url)}, or as a folder of this machine")
        return UPath(url)
    if find_spec("azure") is None or find_spec("azure.storage") is None or find_spec("azure.storage.blob") is None:
        raise MissingExtraError(f"KB_{role.upper()} on Azure Blob Storage", "azure")
    place, _, prefix = rest.partition("/")
    container, _, host = place.partition("@")
    names = [name for name in prefix.split("/") if name]
    if not _CONTAINER.fullmatch(container) or {".", ".."}.intersection(names) or {"?", "#"}.intersection(prefix):
        raise SettingsError(_malformed(role, url))
    return UPath("/".join([f"{scheme}://{container}", *names]), account=_account(url, host, role, settings))


def check_apart(staging: UPath, serving: UPath) -> None:
    """Check that the staging and serving folders are not inside one another, because serving files are removed.

    Local folders are checked with the settings; this checks folders on Azure.

    Raises:
        SettingsError: one is inside the other.
    """
    places = [Path(*place.parts) for place in (staging, serving) if is_blob_folder(place)]
    if len(places) == 2 and staging.fs.account.endpoint == serving.fs.account.endpoint:
        first, second = places
        if first.is_relative_to(second) or second.is_relative_to(first):
            raise SettingsError(
                f"KB_SERVING is {serving} and KB_STAGING is {staging}, one inside the other: sources and what is made "
                "of them would be taken for each other; choose folders or containers that are apart"
            )


def _malformed(role: Role, url: str) -> str:
    return f"KB_{role.upper()} is {url!r}; write it as abfs://CONTAINER@ACCOUNT.dfs.{_DOMAIN}/FOLDER"


def _account(url: str, host: str, role: Role, settings: Settings) -> Account:
    sign_in, secret = _credentials(role, settings)
    matched = _HOST.fullmatch(host)
    if host and not matched:
        raise SettingsError(_malformed(role, url))
    if sign_in == "connection_string" and secret:
        endpoint = _endpoint_of(secret, role, named=matched["account"] if matched else "")
        if not {"accountkey", "sharedaccesssignature"}.intersection(_fields(secret.get_secret_value())):
            sign_in, secret = "identity", None  # the connection string only has the address of the account
    elif matched:
        endpoint = f"https://{matched['account']}.blob.{matched['domain'] or _DOMAIN}"
    else:
        raise SettingsError(f"KB_{role.upper()} names no storage account; {_malformed(role, url).partition('; ')[2]}")
    return Account(role, endpoint, sign_in, secret, settings.service_timeout_seconds)


def _credentials(role: Role, settings: Settings) -> tuple[SignIn, SecretStr | None]:
    kinds: tuple[SignIn, ...] = ("connection_string", "account_key", "sas_token")
    secrets = {kind: secret for kind in kinds if (secret := getattr(settings, f"{role}_{kind}"))}
    if len(secrets) > 1:
        names = " and ".join(f"KB_{role}_{kind}".upper() for kind in secrets)
        raise SettingsError(f"{names} are set; one is enough, so unset the others")
    for kind, secret in secrets.items():
        if not _is_well_formed(kind, secret.get_secret_value()):
            raise _malformed_secret(role, kind)
        return kind, secret
    return "identity", None


def _malformed_secret(role: Role, kind: SignIn) -> SettingsError:
    variable = f"KB_{role}_{kind}".upper()
    return SettingsError(f"{variable} is malformed; copy it again from the storage account")


def _is_well_formed(kind: SignIn, secret: str) -> bool:
    match kind:
        case "sas_token":
            return bool(parse_qs(secret.lstrip("?")).get("sig"))
        case "account_key":
            return _is_base64(secret)
    return _is_base64(_fields(secret).get("accountkey", ""))


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except ValueError:
        return False
    return True


def _fields(connection_string: str) -> dict[str, str]:
    pairs = (field.partition("=") for field in connection_string.strip().split(";") if field)
    return {name.strip().lower(): value for name, _, value in pairs}


def _endpoint_of(secret: SecretStr, role: Role, *, named: str) -> str:
    """The account's URL in a connection string, without a query; ``named`` is the account in the folder's URL.

    Raises:
        SettingsError: it is not a connection string, or is one of another account.
    """
    from azure.storage.blob import BlobServiceClient

    try:
        client = BlobServiceClient.from_connection_string(secret.get_secret_value())
    except (ValueError, KeyError):
        raise _malformed_secret(role, "connection_string") from None
    if named and client.account_name and named != client.account_name:
        variable = f"KB_{role.upper()}_CONNECTION_STRING"
        raise SettingsError(f"{variable} is of the account {client.account_name}, but KB_{role.upper()} names {named}")
    return urlsplit(client.url)._replace(query="").geturl().rstrip("/")
