"""Paid services on the network: who signs in, and how a refusal is told to a person.

Not here: any one service's protocol. Every adapter describes its service once and lets it explain what went wrong.
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
from kb_pipeline.steps.secrets import HIDDEN, without_credentials, without_secrets

if TYPE_CHECKING:
    from azure.identity import DefaultAzureCredential

BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, *range(520, 531)})
"""HTTP statuses after which the same request may succeed; the last are those of content delivery networks."""

_KEY = re.compile(r"[!-~]+")
_ELSEWHERE = frozenset({301, 302, 303, 307, 308})
_LONGEST_DETAIL = 300
_OF_ENTRA = ("AADSTS", "failed to retrieve a token")
"""In what Entra ID and the credentials say themselves; the rest is the service's."""


_NOT_THERE = re.compile("unavailable|not found|could not be found|not installed|is required|to be installed")
"""How a credential says that it does not apply here."""
_ASKED = "Token request error: (invalid_scope)"
"""How a managed identity says that it was asked, whatever stands before it."""
_PASSES = re.compile(rf"{re.escape(_ASKED)} (?:429|5\d\d)\b|HTTPS?Connection(?:Pool)?\(")
"""How credentials say that whoever gives tokens is busy, or cannot be reached."""


@lru_cache(maxsize=1)
def azure_credential() -> "DefaultAzureCredential":
    """Who we are to Azure where no key is set: one credential a process, so that tokens are asked for once.

    Raises:
        SettingsError: what the ``AZURE_*`` variables say is wrong.
    """
    from azure.identity import DefaultAzureCredential

    logging.getLogger("azure.identity").setLevel(logging.ERROR)  # what it warns of at length, the error says
    try:
        return DefaultAzureCredential()
    except (ValueError, OSError) as exc:  # the latter for a certificate
        raise SettingsError(f"nobody can be signed in as the AZURE_* variables say: {one_line(str(exc))}") from exc


@dataclass(frozen=True)
class Service:
    """A service as messages name it; ``role`` is what an identity needs instead of a ``key``, "" if only keys help.

    Its key, and whatever looks like one, is in none of its messages.
    """

    name: str
    endpoint: str
    endpoint_setting: str
    key_setting: str
    role: str
    key: SecretStr | None = None

    def __post_init__(self) -> None:
        """Refuse a key that no header can hold: whoever sends it would quote it.

        Raises:
            SettingsError: it is one.
        """
        if self.key and not _KEY.fullmatch(self.key.get_secret_value()):
            raise SettingsError(f"{self.key_setting} holds characters that no key has; copy it again")

    @property
    def place(self) -> str:
        """Name and address, without what signs in."""
        return f"{self.name} at {without_credentials(self.endpoint)}"

    def refused(self, status: int, detail: str = "", retry_after: float | None = None) -> KnowledgeBaseError:
        """The error for an HTTP status: what happened, and which setting to look at."""
        said = f": {line}" if (line := self.words(detail)) else ""
        if status in (401, 403):
            identity = f", or without a key give this identity the role {self.role}" if self.role else ""
            return ServiceRefusedError(
                f"{self.place} refused our credentials ({status}){said}; check {self.key_setting}{identity}"
            )
        if status == 404:
            return ServiceRefusedError(f"{self.place} has no such thing (404){said}; check {self.endpoint_setting}")
        if status in BUSY:
            return TransientError(f"{self.place} is busy ({status}){said}; try again", retry_after)
        if status in _ELSEWHERE:
            return ServiceRefusedError(
                f"{self.place} is elsewhere ({status}){said}; no redirect is followed, check {self.endpoint_setting}"
            )
        if status < 300:
            return ServiceError(f"{self.place} answered what cannot be read ({status}){said}")
        return ServiceError(f"{self.place} did not accept this ({status}){said}")

    def unreachable(self, detail: object) -> TransientError:
        """The error for a service that does not answer at all."""
        return TransientError(
            f"{self.name} cannot be reached at {without_credentials(self.endpoint)} ({self.words(detail)}); "
            f"check {self.endpoint_setting}"
        )

    def silent(self, seconds: float) -> TransientError:
        """The error for a service that did not answer in time."""
        return TransientError(
            f"{self.place} did not answer within {seconds:g} s; try again, or raise KB_SERVICE_TIMEOUT_SECONDS"
        )

    def no_token(self, detail: object) -> KnowledgeBaseError:
        """The error for a process that Azure does not know, or could not be asked about."""
        attempts = _attempts(str(detail))
        if _PASSES.search(attempts):
            return TransientError(f"no token for {self.place} now; try again: {self.words(attempts)}")
        return ServiceRefusedError(
            f"no token for {self.place}: set {self.key_setting}, or let this process have an identity (az login, a "
            f"managed identity, AZURE_CLIENT_ID and so on) with the role {self.role}: "
            f"{self.words(attempts)}"
        )

    def tokens(self, scope: str) -> Callable[[], str]:
        """What gives a token for ``scope`` at each call; one is kept until shortly before it expires.

        Raises (at the call):
            ServiceRefusedError: this process has no identity, or may not have a token.
            TransientError: whoever gives tokens cannot be reached.
        """
        from azure.identity import get_bearer_token_provider

        provide = get_bearer_token_provider(azure_credential(), scope)

        def token() -> str:
            with self.explained():
                return provide()

        return token

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what clients built on ``azure.core`` raise into our errors.

        Raises:
            KnowledgeBaseError: the service refused, is busy, or cannot be reached.
        """
        from azure.core import exceptions as azure

        try:
            yield
        except azure.ClientAuthenticationError as exc:
            no_token = not exc.status_code or any(words in exc.message for words in _OF_ENTRA)
            refusal = self.no_token(exc.message) if no_token else self.refused(exc.status_code or 401, exc.message)
            raise refusal from self.told(exc)
        except azure.HttpResponseError as exc:
            headers = getattr(exc.response, "headers", {})
            raise self.refused(exc.status_code or 500, exc.message, retry_after(headers)) from self.told(exc)
        except azure.AzureError as exc:
            raise self.unreachable(exc.message) from self.told(exc)

    def told(self, cause: BaseException) -> BaseException | None:
        """The cause to chain to one of our errors: none that quotes a secret, because tracebacks show it."""
        said = "\n".join(map(str, _chain(cause)))
        return cause if self._censored(said) == said else None

    def words(self, detail: object) -> str:
        """What the service said, as a message may repeat it."""
        return one_line(self._censored(str(detail)))

    def _censored(self, text: str) -> str:
        key = self.key.get_secret_value() if self.key else ""
        return without_secrets(text.replace(key, HIDDEN) if key else text)


def _chain(problem: BaseException | None) -> Iterator[BaseException]:
    while problem:
        yield problem
        problem = problem.__cause__ or problem.__context__


def _attempts(said: str) -> str:
    """Of what ``DefaultAzureCredential`` says: the ways that were there to sign in and failed."""
    head, _, attempts = said.partition("Attempted credentials:")
    if not attempts:
        return head
    lines = [line.strip() for line in attempts.splitlines() if re.match(r"\s+\w+Credential: ", line)]
    return "; ".join(line for line in lines if _ASKED in line or not _NOT_THERE.search(line)) or "none was found"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a service asks to wait, from ``retry-after-ms``, ``x-ms-retry-after-ms`` or ``Retry-After``.

    The last is a number of seconds or a date (RFC 9110, section 10.2.3).
    """
    known = {name.lower(): value for name, value in headers.items()}
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if (milliseconds := _number(known.get(name))) is not None:
            return milliseconds / 1000
    asked = known.get("retry-after")
    seconds = _number(asked)
    if seconds is not None or not asked:
        return seconds
    try:
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text else math.nan
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def one_line(text: str) -> str:
    """What a service said, short enough for a message, and without keys, tokens and signatures that it quotes."""
    return " ".join(without_secrets(text).split())[:_LONGEST_DETAIL]
