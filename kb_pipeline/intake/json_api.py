"""Asks an API of a service on the internet for JSON.

Credentials go to the declared host only, and files are fetched from no host that only an answer names.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, ClassVar
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx

from kb_pipeline.errors import IntakeError, StorageError
from kb_pipeline.intake.service import DeniedError, ServiceClient, json_of
from kb_pipeline.secrets import credentials_in
from kb_pipeline.services.urls import LOOPBACK

_MOST_REDIRECTS = 3
"""An attachment is one redirect away, at the service's storage; a login that leads back to itself ends here."""


def checked_address(value: str) -> str:
    """The address of a service, to which credentials may be sent.

    Raises:
        ValueError: it is none.
    """
    parts = urlsplit(value)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise ValueError("it is not an address that passwords may be sent to (https://...)")
    if not parts.hostname:
        raise ValueError("it is not a web address (https://...)")
    if credentials := credentials_in(value.partition("?")[0].partition("#")[0]):
        raise ValueError(f"it holds {credentials}; declare the user, and set KB_INTAKE_PASSWORDS")
    return value


class JsonApi(ServiceClient):
    """The API below one address. Several threads may ask.

    ``user`` and ``password`` are sent if there is a user. No answer has more than ``largest`` bytes. Files may also be
    on hosts that are, or end with, one of ``file_hosts``.
    """

    credentials: ClassVar[str] = "KB_INTAKE_PASSWORDS must hold a token that is valid"
    """What to do if the service does not let in who asks."""

    def __init__(
        self, base: str, user: str, password: str, largest: int, attempts: int, file_hosts: tuple[str, ...] = ()
    ) -> None:
        super().__init__(largest, attempts)
        self.base, self._file_hosts = base.rstrip("/"), file_hosts
        self._auth: httpx.Auth | None = httpx.BasicAuth(user, password) if user else None

    def listing(self, path: str, of: str = "results", **parameters: str) -> Iterator[dict[str, Any]]:
        """What an endpoint lists, to its end; only the place to go on from is taken from its answers.

        ``of`` is what the answers call it.

        Raises:
            IntakeError: the listing is refused, or does not come to its end.
            TransientError: the service did not answer, also when asked again.
        """
        seen: set[str] = set()
        more: dict[str, str] = {}
        while True:
            answer = self.patiently_ask(path, **parameters, **more)
            results = answer.get(of)
            if not isinstance(results, list):
                raise IntakeError(f"{self.base}{path} lists nothing that can be read")
            yield from results
            following = str((answer.get("_links") or answer.get("links") or {}).get("next") or "")
            if not following or (answer.get("meta") or {}).get("has_more") is False:
                return
            query = parse_qs(urlsplit(following).query)
            more = {name: query[name][0] for name in ("cursor", "start", "page[after]") if name in query}
            if not more or str(more) in seen:
                raise IntakeError(f"{self.base}{path} lists the same again and again")
            seen.add(str(more))

    def patiently_ask(self, path: str, **parameters: str) -> dict[str, Any]:
        """As :meth:`ask`, again and again while the service is busy."""
        return dict(self._patiently(self.ask, path, **parameters))

    def ask(self, path: str, **parameters: str) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            DeniedError: this user may not read it, or it is not there.
            IntakeError: the service refuses it.
            TransientError: the service is busy, or did not answer completely.
        """
        return json_of(self._send(f"{self.base}{path}", dict(parameters)), f"{self.base}{path}")

    def file(self, path: str) -> bytes:
        """The content of a file.

        Raises:
            IntakeError, TransientError: as :meth:`ask`; or it is on another host.
        """
        return self._send(f"{self.base}{path}", {})

    def file_into(self, path: str, target: Path) -> None:
        """Write the content of a file to another one, without having all of it in memory.

        Raises:
            IntakeError, TransientError: as :meth:`file`.
            StorageError: it cannot be written.
        """
        try:
            with target.open("wb") as into:
                self._send(f"{self.base}{path}", {}, into)
        except OSError as exc:
            raise StorageError(f"cannot write {target}: {exc.strerror}") from exc

    def _send(self, address: str, parameters: Mapping[str, str], into: BinaryIO | None = None) -> bytes:
        own = urlsplit(self.base)
        for _ in range(_MOST_REDIRECTS + 1):
            place, parts = address.partition("?")[0], urlsplit(address)
            auth = self._auth if (parts.scheme, parts.netloc) == (own.scheme, own.netloc) else None
            request = self._client.build_request("GET", address, params=parameters or None)
            status, headers, body = self._answer(request, auth, into)
            if status == 401:
                raise IntakeError(f"{place} does not let this user sign in; {self.credentials}")
            if status in (403, 404, 410):
                raise DeniedError(f"{place} answered with status {status}")
            if 300 <= status < 400 and headers.get("location"):
                address, parameters = urljoin(address, headers["location"]), {}
                self._check_host(address, place)
                continue
            if status != 200:
                raise IntakeError(f"{place} answered with status {status}")
            return body
        raise IntakeError(f"{place} leads from one address to the next")

    def _check_host(self, address: str, place: str) -> None:
        own, parts = urlsplit(self.base), urlsplit(address)
        host = parts.hostname or ""
        is_known = host == own.hostname or any(f".{host}".endswith(f".{known}") for known in self._file_hosts)
        if not is_known or parts.scheme not in (own.scheme, "https"):
            raise IntakeError(f"{place} leads to the host {host}, from which nothing is taken")
