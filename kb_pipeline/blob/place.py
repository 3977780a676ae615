"""Staging and serving at a URL: which storage account it is in, and how we sign in there.

``abfs://container@account.dfs.core.windows.net/prefix`` is Azure Blob Storage (also ``abfss`` and ``az``, or
``container@account``, or only ``container`` with a connection string). Any other URL or path is left to ``UPath``.
"""

import base64
import re
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import fsspec  # type: ignore[import-untyped]
from pydantic import SecretStr
from upath import UPath

from kb_pipeline.blob.account import Account, Role, SignIn
from kb_pipeline.blob.files import BlobFiles
from kb_pipeline.blob.folder import is_blob_folder
from kb_pipeline.errors import MissingExtraError, SettingsError
from kb_pipeline.settings import Settings

_CONTAINER = re.compile(r"[a-z0-9](-?[a-z0-9]){2,62}")
_HOST = re.compile(r"(?P<account>[a-z0-9]{3,24})(\.(dfs|blob)\.(?P<domain>[a-z0-9.-]+))?")
_DOMAIN = "core.windows.net"

for _protocol in BlobFiles.protocol:  # here, because a path that came from another process brings only this module
    fsspec.register_implementation(_protocol, BlobFiles, clobber=True)


def remote_path(url: str, role: Role, settings: Settings) -> UPath:
    """The path of a folder of the settings, with what is needed to sign in there.

    Raises:
        SettingsError: the URL or its credentials are malformed, or there is more than one kind of these.
        MissingExtraError: it is on Azure, and the packages for it are not installed.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in BlobFiles.protocol:
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
    """Make sure that what is replaced and removed in ``serving`` lies not among the sources, nor they among it.

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
    shown = url.partition("?")[0]  # somebody may have put a signature there
    return f"KB_{role.upper()} is {shown!r}; write it as abfs://CONTAINER@ACCOUNT.dfs.{_DOMAIN}/FOLDER"


def _account(url: str, host: str, role: Role, settings: Settings) -> Account:
    sign_in, secret = _credentials(role, settings)
    matched = _HOST.fullmatch(host)
    if host and not matched:
        raise SettingsError(_malformed(role, url))
    if sign_in == "connection_string" and secret:
        endpoint = _endpoint_of(secret, role, named=matched["account"] if matched else "")
        if not {"accountkey", "sharedaccesssignature"}.intersection(_fields(secret.get_secret_value())):
            sign_in, secret = "identity", None  # it only tells where the account is
    elif matched:
        endpoint = f"https://{matched['account']}.blob.{matched['domain'] or _DOMAIN}"
    else:
        raise SettingsError(f"KB_{role.upper()} names no storage account; {_malformed(role, url).partition('; ')[2]}")
    return Account(role, endpoint, sign_in, secret, settings.service_timeout_seconds)


def _credentials(role: Role, settings: Settings) -> tuple[SignIn, SecretStr | None]:
    ways: tuple[SignIn, ...] = ("connection_string", "account_key", "sas_token")
    given = {way: secret for way in ways if (secret := getattr(settings, f"{role}_{way}"))}
    if len(given) > 1:
        names = " and ".join(f"KB_{role}_{way}".upper() for way in given)
        raise SettingsError(f"{names} are set; one is enough, so unset the others")
    for way, secret in given.items():
        if not _is_well_formed(way, secret.get_secret_value()):
            raise _not_copied(role, way)
        return way, secret
    return "identity", None


def _not_copied(role: Role, way: SignIn) -> SettingsError:
    variable = f"KB_{role}_{way}".upper()
    return SettingsError(f"{variable} is malformed; copy it again from the storage account")


def _is_well_formed(way: SignIn, secret: str) -> bool:
    match way:
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
    """The address in a connection string, without what may follow it.

    Raises:
        SettingsError: it is no connection string, or one of another account than the URL names.
    """
    from azure.storage.blob import BlobServiceClient

    try:
        client = BlobServiceClient.from_connection_string(secret.get_secret_value())
    except (ValueError, KeyError):
        raise _not_copied(role, "connection_string") from None
    if named and client.account_name and named != client.account_name:
        variable = f"KB_{role.upper()}_CONNECTION_STRING"
        raise SettingsError(f"{variable} is of the account {client.account_name}, but KB_{role.upper()} names {named}")
    return urlsplit(client.url)._replace(query="").geturl().rstrip("/")
