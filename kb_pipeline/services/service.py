"""External services: credentials for Azure, and errors that tell a person which setting to check.

Every adapter describes its service once as a :class:`Service`, and makes its errors with it. The protocols are in the
adapters.
"""

import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import SecretStr

from kb_pipeline.errors import KnowledgeBaseError, ServiceError, ServiceRefusedError, SettingsError, TransientError
from kb_pipeline.secrets import HIDDEN, without_secrets, without_sign_in

if TYPE_CHECKING:
    from azure.identity import DefaultAzureCredential

BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, *range(520, 531)})
"""HTTP statuses after which the same request may succeed; those from 520 are of content delivery networks."""

_KEY = re.compile(r"[!-~]+")
_ELSEWHERE = frozenset({301, 302, 303, 307, 308})
_LONGEST_DETAIL = 300
"""Characters of a service's own words: the first say what is wrong."""
_OF_ENTRA = ("AADSTS", "failed to retrieve a token")
"""Parts of messages from Entra ID and the credentials, as opposed to those of the service."""
_NOT_AVAILABLE = re.compile("unavailable|not found|could not be found|not installed|is required|to be installed")
"""Parts of the message of a credential that is not available on this machine."""
_TOKEN_ERROR = "Token request error: (invalid_scope)"  # noqa: S105
"""Part of the message of a managed identity that is available, but got no token."""
_TRANSIENT = re.compile(rf"{re.escape(_TOKEN_ERROR)} (?:429|5\d\d)\b|HTTPS?Connection(?:Pool)?\(")
"""Parts of the message of a credential whose token service is busy or cannot be reached."""


@lru_cache(maxsize=1)
def azure_credential() -> "DefaultAzureCredential":
    """The identity of this process on Azure, where no key is set. It is shared so that its tokens are cached.

    Raises:
        SettingsError: the ``AZURE_*`` variables are wrong.
    """
    from azure.identity import DefaultAzureCredential

    logging.getLogger("azure.identity").setLevel(logging.ERROR)  # its long warnings repeat what the error says
    try:
        return DefaultAzureCredential()
    except (ValueError, OSError) as exc:  # the latter for a certificate
        raise SettingsError(f"cannot sign in with the AZURE_* variables: {one_line(str(exc))}") from exc


@dataclass(frozen=True)
class Service:
    """A service, as error messages name it.

    ``role`` is the Azure role that an identity needs instead of a ``key``; "" if only a key works. The key, and
    anything that looks like one, is removed from all messages.
    """

    name: str
    endpoint: str
    endpoint_setting: str
    key_setting: str
    role: str
    key: SecretStr | None = None

    def __post_init__(self) -> None:
        # the error of an HTTP client would quote a key that is not valid in a header
        if self.key and not _KEY.fullmatch(self.key.get_secret_value()):
            raise SettingsError(f"{self.key_setting} holds characters that no key has; copy it again")

    @property
    def place(self) -> str:
        """Name and address, without credentials."""
        return f"{self.name} at {without_sign_in(self.endpoint)}"

    def refused(self, status: int, detail: str = "", retry_after: float | None = None) -> KnowledgeBaseError:
        """The error for an HTTP status. ``detail`` is the message of the service."""
        words = self.words(detail)
        suffix = f": {words}" if words else ""
        if status in (401, 403):
            identity = f", or without a key give this identity the role {self.role}" if self.role else ""
            return ServiceRefusedError(
                f"{self.place} refused our credentials ({status}){suffix}; check {self.key_setting}{identity}"
            )
        if status == 404:
            return ServiceRefusedError(
                f"{self.place} does not have what was requested (404){suffix}; check {self.endpoint_setting}"
            )
        if status in BUSY:
            return TransientError(f"{self.place} is busy ({status}){suffix}; try again", retry_after)
        if status in _ELSEWHERE:
            return ServiceRefusedError(
                f"{self.place} redirects to another address ({status}){suffix}; redirects are not followed, "
                f"check {self.endpoint_setting}"
            )
        if status < 300:
            return ServiceError(f"{self.place} gave an answer that cannot be read ({status}){suffix}")
        return ServiceError(f"{self.place} rejected the request ({status}){suffix}")

    def unreachable(self, detail: object) -> TransientError:
        """The error for a service that cannot be reached."""
        return TransientError(
            f"{self.name} cannot be reached at {without_sign_in(self.endpoint)} ({self.words(detail)}); "
            f"check {self.endpoint_setting}"
        )

    def silent(self, seconds: float) -> TransientError:
        """The error for a service that did not answer in time."""
        return TransientError(
            f"{self.place} did not answer within {seconds:g} s; try again, or raise KB_SERVICE_TIMEOUT_SECONDS"
        )

    def no_token(self, detail: object) -> KnowledgeBaseError:
        """The error for a process that got no token from Azure."""
        attempts = _attempts(str(detail))
        if _TRANSIENT.search(attempts):
            return TransientError(f"no token for {self.place} now; try again: {self.words(attempts)}")
        return ServiceRefusedError(
            f"no token for {self.place}: set {self.key_setting}, or let this process have an identity (az login, a "
            f"managed identity, AZURE_CLIENT_ID and so on) with the role {self.role}: "
            f"{self.words(attempts)}"
        )

    def tokens(self, scope: str) -> Callable[[], str]:
        """A function that returns a token for ``scope``, cached until shortly before it expires.

        The function raises:
            ServiceRefusedError: this process has no identity, or is not allowed to have a token.
            TransientError: the token service is busy or cannot be reached.
        """
        from azure.identity import get_bearer_token_provider

        provide = get_bearer_token_provider(azure_credential(), scope)

        def token() -> str:
            with self.translated_errors():
                return provide()

        return token

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Turn the errors of clients built on ``azure.core`` into ours.

        Raises:
            KnowledgeBaseError: the service refused, is busy, or cannot be reached.
        """
        from azure.core import exceptions as azure

        try:
            yield
        except azure.ClientAuthenticationError as exc:
            no_token = not exc.status_code or any(words in exc.message for words in _OF_ENTRA)
            refusal = self.no_token(exc.message) if no_token else self.refused(exc.status_code or 401, exc.message)
            raise refusal from self.safe_cause(exc)
        except azure.HttpResponseError as exc:
            headers = getattr(exc.response, "headers", {})
            raise self.refused(exc.status_code or 500, exc.message, retry_after(headers)) from self.safe_cause(exc)
        except azure.AzureError as exc:
            raise self.unreachable(exc.message) from self.safe_cause(exc)

    def safe_cause(self, cause: BaseException) -> BaseException | None:
        """The exception to chain to one of our errors; ``None`` if it quotes a secret, which tracebacks would show."""
        messages = "\n".join(map(str, _chain(cause)))
        return cause if self._censored(messages) == messages else None

    def words(self, detail: object) -> str:
        """The message of the service in one line, without secrets."""
        return one_line(self._censored(str(detail)))

    def _censored(self, text: str) -> str:
        key = self.key.get_secret_value() if self.key else ""
        return without_secrets(text.replace(key, HIDDEN) if key else text)


def safe_cause(cause: BaseException) -> BaseException | None:
    """As :meth:`Service.safe_cause`, where no key is known: ``None`` if it quotes anything that looks like a secret."""
    messages = "\n".join(map(str, _chain(cause)))
    return cause if without_secrets(messages) == messages else None


def _chain(problem: BaseException | None) -> Iterator[BaseException]:
    while problem:
        yield problem
        problem = problem.__cause__ or problem.__context__


def _attempts(message: str) -> str:
    """The part of a message of ``DefaultAzureCredential`` about credentials that are available, but failed."""
    head, _, attempts = message.partition("Attempted credentials:")
    if not attempts:
        return head
    lines = [line.strip() for line in attempts.splitlines() if re.match(r"\s+\w+Credential: ", line)]
    failed = [line for line in lines if _TOKEN_ERROR in line or not _NOT_AVAILABLE.search(line)]
    return "; ".join(failed) or "none was found"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a service asks to wait, from ``retry-after-ms``, ``x-ms-retry-after-ms`` or ``Retry-After``.

    The last is a number of seconds or a date (RFC 9110, section 10.2.3).
    """
    values = {name.lower(): value for name, value in headers.items()}
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if (milliseconds := _number(values.get(name))) is not None:
            return milliseconds / 1000
    value = values.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text else math.nan
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def one_line(text: str) -> str:
    """The message of a service in one line, shortened, without keys, tokens and signatures."""
    return " ".join(without_secrets(text).split())[:_LONGEST_DETAIL]
