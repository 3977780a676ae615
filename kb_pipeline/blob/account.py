"""An Azure storage account: who signs in to it, how long it is waited for, what its refusals mean.

Not here: files (:mod:`kb_pipeline.blob.files`), leases (:mod:`kb_pipeline.blob.lease`), where accounts come from
(:mod:`kb_pipeline.blob.place`).
"""

import errno
import logging
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs

from pydantic import SecretStr

from kb_pipeline.errors import KnowledgeBaseError, ServiceRefusedError, TransientError
from kb_pipeline.services import Service, azure_credential, retry_after

if TYPE_CHECKING:
    from azure.core.exceptions import AzureError, HttpResponseError
    from azure.storage.blob import BlobServiceClient

Role = Literal["staging", "serving"]
SignIn = Literal["connection_string", "account_key", "sas_token", "identity"]

_CONNECT_SECONDS = 10
_SIGNATURE = re.compile(r"\bsig=[^&\s\"']+")
_BEING_REMOVED = frozenset({"ContainerBeingDeleted", "ContainerBeingDisabled"})
_LOST = frozenset({"ConditionNotMet", "BlobAlreadyExists", "TargetConditionNotMet"})
_LEASED = frozenset(
    {
        *("LeaseAlreadyPresent", "LeaseIdMissing", "LeaseIdMismatchWithBlobOperation", "LeaseLost"),
        *("LeaseIdMismatchWithLeaseOperation", "LeaseNotPresentWithBlobOperation", "LeaseNotPresentWithLeaseOperation"),
    }
)


class LostRaceError(TransientError):
    """Somebody else wrote or holds a blob that was to be written on the condition that nobody does."""


@dataclass(frozen=True)
class Account:
    """A storage account as the settings describe it; its secret is in no repr, message or log.

    ``endpoint`` has neither a secret nor a slash at its end.
    """

    role: Role
    endpoint: str
    sign_in: SignIn
    secret: SecretStr | None
    seconds: float

    @property
    def service(self) -> Service:
        """The account as messages name it."""
        prefix = f"KB_{self.role}_".upper()
        names = (f"{prefix}CONNECTION_STRING", f"{prefix}ACCOUNT_KEY", f"{prefix}SAS_TOKEN")
        used = f"{prefix}{self.sign_in}".upper()
        return Service(
            name="Blob Storage",
            endpoint=self.endpoint,
            endpoint_setting=f"KB_{self.role}".upper(),
            key_setting=used if used in names else ", ".join(names),
            role="Storage Blob Data Contributor" if self.role == "serving" else "Storage Blob Data Reader",
        )

    @property
    def client(self) -> "BlobServiceClient":
        """A client, one for all threads of a process; never one that came here by a fork."""
        return _client(self, os.getpid())

    @contextmanager
    def explained(self, path: str) -> Iterator[None]:
        """Turn what the client raises about ``path`` into our errors.

        Raises:
            FileNotFoundError: there is no such blob.
            LostRaceError: a condition under which it was to be written does not hold any more.
            KnowledgeBaseError: the account refused, is busy, or cannot be reached.
        """
        from azure.core import exceptions as azure

        try:
            yield
        # the client's own words are left out: they may quote the address, and so a shared access signature
        except azure.HttpResponseError as exc:
            raise self._refusal(exc, path) from None
        except azure.AzureError as exc:
            raise self._silence(exc) from None

    def _refusal(self, exc: "HttpResponseError", path: str) -> Exception:
        headers: Mapping[str, str] = getattr(exc.response, "headers", {})
        status, code = exc.status_code or 0, headers.get("x-ms-error-code", "")
        if not status:
            return self._no_sign_in(exc)
        if code in _LOST or code in _LEASED or status == 412:
            return LostRaceError(f"somebody else is writing to {path} ({code or status}); it is tried again")
        if code == "ContainerNotFound":
            return ServiceRefusedError(
                f"{self.service.name} at {self.endpoint} has no container {path.partition('/')[0]!r}; create it, "
                f"or change {self.service.endpoint_setting}"
            )
        if status == 404:
            return FileNotFoundError(errno.ENOENT, "there is no such blob", path)
        if status in (401, 403):
            return self.service.refused(status, f"{code or exc.reason}{self._expiry()}")
        retriable = 503 if code in _BEING_REMOVED else status
        return self.service.refused(retriable, f"{path}: {code or exc.reason}", retry_after(headers))

    def _no_sign_in(self, exc: "AzureError") -> KnowledgeBaseError:
        """No request was sent, because there is nothing to sign it with."""
        if self.sign_in == "identity":
            return self.service.no_token(exc.message)
        return self.service.refused(401, f"the {self.sign_in} is malformed")

    def _silence(self, exc: "AzureError") -> KnowledgeBaseError:
        from azure.core import exceptions as azure

        if isinstance(exc, azure.ServiceRequestTimeoutError | azure.ServiceResponseTimeoutError):
            return self.service.silent(self.seconds)
        return self.service.unreachable(_reason(exc))

    def _expiry(self) -> str:
        """When the shared access signature expired, if it did: its ``se`` field is no secret."""
        if self.sign_in != "sas_token" or self.secret is None:
            return ""
        (ends,) = parse_qs(self.secret.get_secret_value().lstrip("?")).get("se", [""])[:1]
        try:
            end = datetime.fromisoformat(ends)
        except ValueError:
            return ""
        end = end if end.tzinfo else end.replace(tzinfo=UTC)
        return f", the SAS token expired at {ends}" if end < datetime.now(UTC) else ""


def _reason(exc: BaseException) -> str:
    """Why a connection failed, in the operating system's words only."""
    seen: set[int] = set()
    pending: list[object] = [exc]
    while pending:
        known = pending.pop()
        if not isinstance(known, BaseException) or id(known) in seen:
            continue
        seen.add(id(known))
        if isinstance(known, OSError) and known.errno and known.strerror:
            return known.strerror
        pending += [known.__context__, known.__cause__, getattr(known, "inner_exception", None)]
        pending += [getattr(known, "reason", None), *known.args]
    return type(getattr(exc, "inner_exception", None) or exc).__name__


def _without_signature(record: logging.LogRecord) -> bool:
    record.msg, record.args = _SIGNATURE.sub("sig=...", record.getMessage()), ()
    return True


@lru_cache(maxsize=8)
def _client(account: Account, _process: int) -> "BlobServiceClient":
    from azure.core.credentials import AzureSasCredential
    from azure.storage.blob import BlobServiceClient

    from kb_pipeline.blob.retry import BoundedRetry

    # a shared access signature is part of the address, which this logger tells whoever listens closely enough
    logging.getLogger("urllib3.connectionpool").addFilter(_without_signature)
    secret = account.secret.get_secret_value() if account.secret else ""
    options: dict[str, Any] = {
        "retry_policy": BoundedRetry(),
        "connection_timeout": _CONNECT_SECONDS,
        "read_timeout": account.seconds,
    }
    match account.sign_in:
        case "connection_string":
            return BlobServiceClient.from_connection_string(secret, **options)
        case "account_key":
            return BlobServiceClient(account.endpoint, credential=secret, **options)
        case "sas_token":
            return BlobServiceClient(account.endpoint, credential=AzureSasCredential(secret.lstrip("?")), **options)
    return BlobServiceClient(account.endpoint, credential=azure_credential(), **options)
