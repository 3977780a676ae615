"""Asks servers politely: at a steady rate, as their ``robots.txt`` allows, and later when they say so.

Only public addresses are connected to, or for the site itself those of our own networks if that is declared.
"""

import asyncio
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
from protego import Protego
from tenacity import AsyncRetrying

from kb_pipeline.errors import IntakeError, TransientError, WebError
from kb_pipeline.intake.website.addresses import whole
from kb_pipeline.intake.website.page import AGENT
from kb_pipeline.services.retry import after_transient_errors
from kb_pipeline.services.service import BUSY, retry_after
from kb_pipeline.services.web.addresses import is_own, is_public
from kb_pipeline.services.web.guard import PublicTransport
from kb_pipeline.services.web.limited import REDIRECTS, Reads, Received, direct_transport, get

_USER_AGENT = f"{AGENT} (knowledge base; takes in the pages of a site)"
_ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8"
_SECONDS, _ALL_SECONDS = 30.0, 300.0
"""For each part of an exchange, and for all of it."""
_MOST_BYTES = 100_000_000
"""Bytes of any file: a manual full of pictures."""
_MOST_OF_RULES = 512_000
"""Bytes of a ``robots.txt``; RFC 9309 asks for 500 KiB at least."""
_LONGEST_PAUSE = 120.0
"""Seconds that a server may ask to wait; a crawl that shall wait longer ends, and goes on with the next run."""
_MOST_REDIRECTS = 5
"""RFC 9309: at least five are followed."""
_REMEMBERED = 50_000
"""Addresses for which the answer is remembered: navigation asks for the same on every page."""


class Site(NamedTuple):
    """How a site may be asked: its ``origin``, how often in a second, and whether it may be in our own networks."""

    origin: str
    rate: float
    at_once: int
    allow_private: bool


class SiteClient:
    """Asks a site, and other hosts that its pictures are on."""

    def __init__(self, site: Site, attempts: int) -> None:
        self._site = site
        patience = after_transient_errors(attempts, _LONGEST_PAUSE)
        self._patiently = AsyncRetrying(retry=patience.retry, stop=patience.stop, wait=patience.wait, reraise=True)
        self._transports: dict[str, PublicTransport] = {}
        self._rules: dict[str, Protego] = {}
        self._can_fetch = lru_cache(_REMEMBERED)(lambda rules, address: bool(rules.can_fetch(address, AGENT)))
        self._reading, self._turn = asyncio.Lock(), asyncio.Lock()
        self._next = 0.0
        self.is_sent_away = ""
        """That the site shall not be asked for longer than a crawl waits, if it says so."""

    async def close(self) -> None:
        """Close all connections."""
        for transport in self._transports.values():
            await transport.aclose()

    async def is_allowed(self, address: str) -> bool:
        """Whether the ``robots.txt`` of its host allows an address.

        Raises:
            TransientError: it cannot be read now; then nothing is allowed.
        """
        return self._can_fetch(await self.rules(address), address)

    async def rules(self, address: str) -> Protego:
        """The ``robots.txt`` of the host of an address.

        Raises:
            TransientError: it cannot be read now.
        """
        parts = urlsplit(address)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._rules:
            async with self._reading:
                if origin not in self._rules:
                    self._rules[origin] = Protego.parse(await self._read_rules(f"{origin}/robots.txt"))
        return self._rules[origin]

    async def _read_rules(self, address: str) -> str:
        for _ in range(_MOST_REDIRECTS + 1):
            received = await self.get(address, turns=False)
            leads_to = whole(received.headers.get("location", ""), address) if received.status in REDIRECTS else None
            if not leads_to:
                # RFC 9309, section 2.3.1.3: without rules everything is allowed
                return received.body[:_MOST_OF_RULES].decode("utf-8", "replace") if received.status == 200 else ""
            address = leads_to
        return ""

    async def get(
        self,
        address: str,
        headers: Mapping[str, str] | None = None,
        reads: Reads = lambda status, _: status == 200,
        turns: bool = True,
    ) -> Received:
        """Ask for an address; redirects are not followed.

        Raises:
            TransientError: it is busy or cannot be reached, also when asked again.
            IntakeError: what it answers cannot be used.
        """
        pause = await self._pause() if turns else 0.0
        received: Received = await self._patiently.copy()(self._once, address, headers or {}, reads, pause)
        return received

    async def _pause(self) -> float:
        """The seconds between two requests."""
        asked_for = (await self.rules(self._site.origin)).crawl_delay(AGENT) or 0.0
        if asked_for > _LONGEST_PAUSE:
            raise IntakeError(f"{self._site.origin}/robots.txt asks for {asked_for:g} s between two requests")
        return max(float(asked_for), 1 / self._site.rate)

    async def _once(self, address: str, headers: Mapping[str, str], reads: Reads, pause: float) -> Received:
        async with self._turn:
            await asyncio.sleep(max(0.0, self._next - time.monotonic()))
            self._next = max(self._next, time.monotonic()) + pause
        url = httpx.URL(address)
        try:
            async with asyncio.timeout(_ALL_SECONDS):
                received = await get(
                    self._transport(url), url, accept=_ACCEPT, seconds=_SECONDS, most_bytes=_MOST_BYTES,
                    headers={"user-agent": _USER_AGENT, **headers}, reads=reads,
                )  # fmt: skip
        except TimeoutError as exc:
            raise TransientError(f"{address} took more than {_ALL_SECONDS:g} s") from exc
        except WebError as exc:
            if exc.reason == "timeout":
                raise TransientError(f"{address} was silent for {_SECONDS:g} s") from exc
            if exc.reason == "unreachable":
                raise TransientError(f"{address} cannot be read: {exc}") from exc
            if exc.reason == "too large":
                raise IntakeError(f"{address} has more than {_MOST_BYTES:,} bytes") from exc
            advice = "; for a site in your own network say allow_private: true" if exc.reason == "refused" else ""
            raise IntakeError(f"{address}: {exc}{advice}") from exc
        if received.status in BUSY:
            wait = retry_after(received.headers)
            if wait and wait <= _LONGEST_PAUSE:
                self._next = max(self._next, time.monotonic() + wait)  # for all that is asked
            elif wait:
                self.is_sent_away = f"{address} answered with status {received.status}, and asks to wait {wait:,.0f} s"
                raise IntakeError(self.is_sent_away)
            raise TransientError(f"{address} answered with status {received.status}", wait)
        return received

    def _transport(self, url: httpx.URL) -> PublicTransport:
        """The connections to a host; each has its own, so that none is shared by two names."""
        host = f"{url.scheme}://{url.netloc.decode()}"
        if host not in self._transports:
            may_be_own = self._site.allow_private and host == self._site.origin
            self._transports[host] = PublicTransport(
                direct_transport(self._site.at_once),
                is_allowed=(lambda each: is_public(each) or is_own(each)) if may_be_own else is_public,
            )
        return self._transports[host]
