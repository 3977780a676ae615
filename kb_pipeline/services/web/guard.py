"""Connects only to public addresses, whatever names and redirects lead there.

A name is resolved once, every address it has is checked, and one of those is connected to, so that a name cannot lead
elsewhere between the check and the connection.
"""

from collections.abc import Awaitable, Callable, Sequence

import httpx

from kb_pipeline.errors import WebError
from kb_pipeline.services.web.addresses import is_public, resolve
from kb_pipeline.services.web.limited import direct_transport

PORTS = {"http": 80, "https": 443}
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns all addresses of a host name."""


class PublicTransport(httpx.AsyncBaseTransport):
    """Connects to the checked address of a host; certificates are still those of its name.

    ``is_allowed`` says of an address whether it may be connected to; without it those of the public web may.
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport | None = None,
        resolve: Resolve = resolve,
        is_allowed: Callable[[str], bool] = is_public,
    ) -> None:
        self._inner = inner or direct_transport()
        self._resolve, self._is_allowed = resolve, is_allowed

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request.

        Raises:
            WebError: an address of the host is not public, or it has none.
        """
        host, port = request.url.raw_host.decode(), request.url.port or PORTS[request.url.scheme]
        try:
            addresses = await self._resolve(host.strip("[]"), port)
        except (OSError, UnicodeError) as exc:
            raise WebError(f"{host} has no address", "unreachable") from exc
        if not addresses or not all(map(self._is_allowed, addresses)):
            raise WebError(f"{host} is refused: it has an address that is not of the public web", "refused")
        extensions = {**request.extensions, "sni_hostname": host}
        for last, address in enumerate(addresses, 1 - len(addresses)):
            url = request.url.copy_with(host=address)
            # the header Host of the request, with the name, is kept
            pinned = httpx.Request(request.method, url, headers=request.headers, extensions=extensions)
            try:
                return await self._inner.handle_async_request(pinned)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if last == 0:
                    raise
        raise AssertionError("there is at least one address")

    async def aclose(self) -> None:
        await self._inner.aclose()
