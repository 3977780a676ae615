"""Decides which pages are fetched: only public addresses, over HTTP(S), of hosts that are allowed.

The address of a backend comes from the settings, and is not checked.
"""

import asyncio
from collections.abc import Collection

import httpx

from kb_pipeline.errors import WebError
from kb_pipeline.services.web.guard import PORTS, PublicTransport
from kb_pipeline.services.web.limited import REDIRECTS, Received, get

_MOST_REDIRECTS = 5
"""To https, to "www", to the newest version, and two to spare."""
ANY_HOST = "*"

_PAGE = "text/html,application/xhtml+xml,text/plain;q=0.8,text/markdown;q=0.8"


class PageFetcher:
    """Fetches pages of allowed hosts. ``hosts`` are names, ``*.example.com`` for all below one, or ``*`` for any."""

    def __init__(
        self,
        hosts: Collection[str],
        *,
        seconds: float,
        most_bytes: int,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._transport = transport or PublicTransport()

    async def fetch(self, url: str) -> tuple[str, Received]:
        """The page at an address, and where redirects led; all together within the time limit.

        Raises:
            WebError: the address or one that it leads to is refused, or the page cannot be had.
        """
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(self._allowed(url))
        except TimeoutError as exc:
            raise WebError(f"a page took more than {self._seconds:g} s (KB_WEB_SECONDS)", "timeout") from exc

    async def close(self) -> None:
        await self._transport.aclose()

    async def _follow(self, url: httpx.URL) -> tuple[str, Received]:
        for _ in range(_MOST_REDIRECTS + 1):
            received = await get(self._transport, url, accept=_PAGE, seconds=self._seconds, most_bytes=self._most_bytes)
            location = received.headers.get("location")
            if received.status not in REDIRECTS or not location:
                if received.status != 200:
                    raise WebError(f"{url.host} answered with status {received.status}", "status")
                return str(url.copy_with(fragment=None)), received
            url = self._allowed(location, url)
        raise WebError(f"{url.host} redirects more than {_MOST_REDIRECTS} times", "refused")

    def _allowed(self, address: str, base: httpx.URL | None = None) -> httpx.URL:
        try:
            url = base.join(address) if base else httpx.URL(address)
            _ = url.host  # raises where its form in Unicode is none
        except (httpx.InvalidURL, UnicodeError, ValueError) as exc:
            raise WebError("this is no address of a page", "refused") from exc
        host = url.raw_host.decode("ascii", "replace").lower().rstrip(".")
        if url.scheme not in PORTS or not host:
            raise WebError(f"addresses of {url.scheme or 'no scheme'} are not fetched, only http and https", "refused")
        if url.userinfo:
            raise WebError(f"an address of {host} holds a user name or a password, which are not sent", "refused")
        if url.port not in (None, PORTS[url.scheme]):
            raise WebError(f"port {url.port} of {host} is not one of web pages", "refused")
        if not self._allows(host):
            raise WebError(f"{host} is not among the hosts whose pages may be fetched (KB_WEB_HOSTS)", "refused")
        return url

    def _allows(self, host: str) -> bool:
        if ANY_HOST in self._hosts or host in self._hosts:
            return True
        _, *parents = host.split(".")
        return any("*." + ".".join(parents[at:]) in self._hosts for at in range(len(parents)))
