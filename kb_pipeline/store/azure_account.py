"""An Azure storage account: its client, how it signs in, and our errors for its refusals.

Files are in :mod:`kb_pipeline.store.azure_blob`, leases in :mod:`kb_pipeline.store.serving`. Accounts are made from
the settings in :mod:`kb_pipeline.store.place`.
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

import fsspec  # type: ignore[import-untyped]
from pydantic import SecretStr

from kb_pipeline.errors import ServiceRefusedError, TransientError
from kb_pipeline.services.service import Service, azure_credential, retry_after

if TYPE_CHECKING:
    from azure.core.exceptions import HttpResponseError
    from azure.storage.blob import BlobServiceClient

Role = Literal["staging", "serving"]
SignIn = Literal["connection_string", "account_key", "sas_token", "identity"]

for _protocol in ("abfs", "abfss", "az"):  # here, because unpickling a path imports only the module of its account
    fsspec.register_implementation(_protocol, "kb_pipeline.store.azure_blob.BlobFiles", clobber=True)

_CONNECT_SECONDS = 10
"""Seconds to connect; an account that takes longer is down."""
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
    """A conditional write failed, because another process wrote the blob or holds a lease on it."""


@dataclass(frozen=True)
class Account:
    """A storage account as the settings describe it. Its secret never appears in a repr, a message or a log.

    ``endpoint`` is the URL without a secret and without a slash at its end.
    """

    role: Role
    endpoint: str
    sign_in: SignIn
    secret: SecretStr | None
    seconds: float

    @property
    def service(self) -> Service:
        """The service to name in messages."""
        prefix = f"KB_{self.role}_".upper()
        settings = (f"{prefix}CONNECTION_STRING", f"{prefix}ACCOUNT_KEY", f"{prefix}SAS_TOKEN")
        used = f"{prefix}{self.sign_in}".upper()
        return Service(
            name="Blob Storage",
            endpoint=self.endpoint,
            endpoint_setting=f"KB_{self.role}".upper(),
            key_setting=used if used in settings else ", ".join(settings),
            role="Storage Blob Data Contributor" if self.role == "serving" else "Storage Blob Data Reader",
        )

    @property
    def client(self) -> "BlobServiceClient":
        """The client of this process, shared by its threads. A forked process gets a client of its own."""
        return _client(self, os.getpid())

    @contextmanager
    def translated_errors(self, path: str) -> Iterator[None]:
        """Turn the client's errors about ``path`` into ours.

        Raises:
            FileNotFoundError: there is no such blob.
            LostRaceError: the condition of a conditional write no longer holds.
            KnowledgeBaseError: the account refused, is busy, or cannot be reached.
        """
        from azure.core import exceptions as azure

        try:
            yield
        # the client's own message is dropped: it may quote the address, and so a shared access signature
        except azure.HttpResponseError as exc:
            raise self._refusal(exc, path) from None
        except (azure.ServiceRequestTimeoutError, azure.ServiceResponseTimeoutError):
            raise self.service.silent(self.seconds) from None
        except azure.AzureError as exc:
            raise self.service.unreachable(_reason(exc)) from None

    def _refusal(self, exc: "HttpResponseError", path: str) -> Exception:
        headers: Mapping[str, str] = getattr(exc.response, "headers", {})
        status, code = exc.status_code or 0, headers.get("x-ms-error-code", "")
        if not status:  # no request was sent, because there is nothing to sign it with
            if self.sign_in == "identity":
                return self.service.no_token(exc.message)
            return self.service.refused(401, f"the {self.sign_in} is malformed")
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

    def _expiry(self) -> str:
        """When the shared access signature expired, if it did. Its ``se`` field is not secret."""
        if self.sign_in != "sas_token" or self.secret is None:
            return ""
        (text,) = parse_qs(self.secret.get_secret_value().lstrip("?")).get("se", [""])[:1]
        try:
            end = datetime.fromisoformat(text)
        except ValueError:
            return ""
        end = end if end.tzinfo else end.replace(tzinfo=UTC)
        return f", the SAS token expired at {text}" if end < datetime.now(UTC) else ""


def _reason(exc: BaseException) -> str:
    """The operating system's message for a failed connection, from anywhere in the chain of causes.

    Other messages may quote the address, so without it only the type of the exception is given.
    """
    visited: set[int] = set()
    pending: list[object] = [exc]
    while pending:
        cause = pending.pop()
        if not isinstance(cause, BaseException) or id(cause) in visited:
            continue
        visited.add(id(cause))
        if isinstance(cause, OSError) and cause.errno and cause.strerror:
            return cause.strerror
        pending += [cause.__context__, cause.__cause__, getattr(cause, "inner_exception", None)]
        pending += [getattr(cause, "reason", None), *cause.args]
    return type(getattr(exc, "inner_exception", None) or exc).__name__


def _without_signature(record: logging.LogRecord) -> bool:
    record.msg, record.args = _SIGNATURE.sub("sig=...", record.getMessage()), ()
    return True


@lru_cache(maxsize=8)
def _client(account: Account, _process: int) -> "BlobServiceClient":
    from azure.core.credentials import AzureSasCredential
    from azure.storage.blob import BlobServiceClient

    from kb_pipeline.store.azure_retry import BoundedRetry

    # a shared access signature is part of the address, which this logger writes at level DEBUG
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
