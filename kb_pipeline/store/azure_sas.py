"""Links by which anybody reads one blob for an hour: shared access signatures (SAS), for programs that get no token.

A link outlives the permission of whoever got it, so it is made anew for each answer, and is never stored or logged.
"""

from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from upath import UPath

from kb_pipeline.errors import SettingsError
from kb_pipeline.services.urls import is_private
from kb_pipeline.store.azure_account import Account
from kb_pipeline.store.serving import is_blob_folder

if TYPE_CHECKING:
    from azure.storage.blob import BlobClient, UserDelegationKey

LIFETIME = timedelta(minutes=65)
"""How long a link works: an hour, and what clocks may differ by."""

_KEY_LIFETIME = timedelta(days=1)
"""The service allows seven days; a day is enough for links of an hour."""
_CLOCKS_DIFFER = timedelta(minutes=15)
"""As Azure's documentation advises for the beginning of a signature."""


class BlobLinks:
    """Makes links to blobs below one folder.

    They are signed with the account's key or, where an identity signs in, with a key that the account gives it for a
    day (user delegation), which is asked for once.
    """

    def __init__(self, folder: UPath, lifetime: timedelta = LIFETIME) -> None:
        """Nothing is asked of the account yet.

        Raises:
            SettingsError: the folder is not on Azure, its account is reached without TLS, or how we sign in there
                cannot sign links.
        """
        if not is_blob_folder(folder):
            raise SettingsError(
                f"links to single files need KB_SERVING on Azure Blob Storage, and it is {folder}; set "
                "KB_IMAGE_URLS=proxy, or KB_SERVING=abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER"
            )
        self._folder = folder
        self._account: Account = folder.fs.account
        self._lifetime = lifetime
        self._key: UserDelegationKey | None = None
        self._key_ends = datetime.min.replace(tzinfo=UTC)
        self._asking = Lock()
        self._account_name = _checked_name(self._account)

    @property
    def signs_with(self) -> str:
        """What links are signed with, for people."""
        return "the account's key" if _account_key(self._account) else "a key of this identity (user delegation)"

    def link(self, path: str) -> str:
        """The address at which anybody reads the blob at this path below the folder, and can do nothing else.

        Raises:
            KnowledgeBaseError: the account gives our identity no key, is busy, or cannot be reached.
        """
        blob = self._blob(path)
        return f"{blob.url}?{self._signature(blob)}"

    def check(self) -> None:
        """Ask for a blob that does not exist by a link to it: whether the account accepts what we sign.

        Raises:
            KnowledgeBaseError: it does not, or cannot be reached.
        """
        from azure.core.credentials import AzureSasCredential
        from azure.storage.blob import BlobClient

        blob = self._blob(f".check-{uuid4().hex}")
        by_link = BlobClient(
            self._account.endpoint,
            blob.container_name,
            blob.blob_name,
            credential=AzureSasCredential(self._signature(blob)),
        )
        with self._account.translated_errors(f"{blob.container_name}/{blob.blob_name}"), by_link:
            by_link.exists()

    def _blob(self, path: str) -> "BlobClient":
        return self._folder.fs.blob(f"{self._folder.path}/{path}")  # type: ignore[no-any-return]

    def _signature(self, blob: "BlobClient") -> str:
        from azure.storage.blob import BlobSasPermissions, generate_blob_sas

        ends = datetime.now(UTC) + self._lifetime
        account_key = _account_key(self._account)
        signed_with = {"account_key": account_key} if account_key else {"user_delegation_key": self._delegated(ends)}
        return generate_blob_sas(
            self._account_name,
            blob.container_name,
            blob.blob_name,
            permission=BlobSasPermissions(read=True),
            expiry=ends,
            protocol="https" if blob.url.startswith("https:") else None,
            **signed_with,
        )

    def _delegated(self, ends: datetime) -> "UserDelegationKey":
        """The key of our identity that is valid until a link ends."""
        with self._asking:
            if self._key is None or self._key_ends < ends:
                now = datetime.now(UTC)
                with self._account.translated_errors("the key of this identity"):
                    self._key = self._account.client.get_user_delegation_key(now - _CLOCKS_DIFFER, now + _KEY_LIFETIME)
                self._key_ends = now + _KEY_LIFETIME
            return self._key


def _account_key(account: Account) -> str | None:
    """The account's key, if we sign in with it."""
    return getattr(account.client.credential, "account_key", None)


def _checked_name(account: Account) -> str:
    """The name of an account whose blobs can have links."""
    if not is_private(account.endpoint):
        raise SettingsError(
            f"links to single files need https, and KB_SERVING is at {account.endpoint}; write "
            "DefaultEndpointsProtocol=https in KB_SERVING_CONNECTION_STRING"
        )
    if account.sign_in != "identity" and _account_key(account) is None:
        raise SettingsError(
            f"{account.service.key_setting} holds a shared access signature, which cannot sign links; set "
            "KB_SERVING_ACCOUNT_KEY instead, or neither, so that the identity of this process signs them; or set "
            "KB_IMAGE_URLS=proxy"
        )
    if not account.client.account_name:
        raise SettingsError(
            f"links to single files are signed with the account's name, which {account.endpoint} does not tell; write "
            "KB_SERVING=abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER"
        )
    return str(account.client.account_name)
