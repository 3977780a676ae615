"""Asks a MediaWiki's API, politely: it waits when the server says so, and signs in with a bot password if it has one.

What pages become is not here, see :mod:`.source`.
"""

import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from kb_pipeline.errors import IntakeError, TransientError
from kb_pipeline.intake.service import DeniedError, ServiceClient, json_of, place_of
from kb_pipeline.services.service import one_line, retry_after
from kb_pipeline.steps.html.dom import parse

_LAG = 5
"""Seconds that the copies of its database may be behind, before the server asks to wait (``maxlag``)."""
_LONG = 2000
"""Characters of parameters, from which they are sent in the body: servers limit addresses."""
_REDIRECTS = 3
"""Redirects to the page that names the API: from the server's root to its main page, and to https."""
_BUSY = frozenset({"maxlag", "ratelimited", "readonly"})
_SIGNED_OUT = frozenset({"assertuserfailed", "assertbotfailed"})
_DENIED = frozenset({"readapidenied", "permissiondenied"})


class MediaWikiApi(ServiceClient):
    """The API of one wiki. Several threads may ask.

    ``user`` and ``password`` are those of Special:BotPasswords, or empty. No answer has more than ``largest`` bytes.
    """

    def __init__(self, address: str, user: str, password: str, largest: int, attempts: int) -> None:
        super().__init__(largest, attempts)
        self._user, self._password = user, password
        self._lock = threading.Lock()
        self._is_signed_in = False
        self.address = self._patiently(self._find, address)

    def _find(self, address: str) -> str:
        """The address of the API, which every page of a wiki names."""
        if urlsplit(address).path.endswith("/api.php"):
            return address
        page = parse(self.get(address, redirects=_REDIRECTS).decode(errors="replace"))
        for link in page.iter("link") if page is not None else ():
            if link.get("rel") == "EditURI":
                return urljoin(address, link.get("href") or "").partition("?")[0]
        raise IntakeError(f"{address} is no page of a MediaWiki that names its API; give the address of its api.php")

    def listing(self, **parameters: str) -> Iterator[Mapping[str, Any]]:
        """Query all pages to the end of the listing, each when it is complete.

        Raises:
            IntakeError: the listing is refused, or does not come to its end.
            TransientError: the wiki did not answer, also when asked again.
        """
        pages: dict[int, dict[str, Any]] = {}
        more: dict[str, str] = {}
        while True:
            answer = self.patiently_ask(action="query", **parameters, **more)
            for page in answer.get("query", {}).get("pages", ()):
                _add(pages.setdefault(page["pageid"], {}), page)
            if answer.get("batchcomplete"):
                yield from pages.values()
                pages.clear()
            following = answer.get("continue", {})
            if not following and not answer.get("batchcomplete"):
                raise IntakeError(f"{self.address} ended a listing before it was complete")
            if not following:
                return
            if following == more:
                raise IntakeError(f"{self.address} lists the same pages again and again")
            more = following

    def patiently_ask(self, **parameters: str) -> dict[str, Any]:
        """As :meth:`ask`, again and again while the wiki is busy."""
        return dict(self._patiently(self.ask, **parameters))

    def ask(self, **parameters: str) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            IntakeError: the wiki refuses it.
            TransientError: the wiki is busy, or did not answer completely.
        """
        if self._user:
            self._sign_in()
            parameters = {**parameters, "assert": "user"}
        return self._ask(parameters)

    def _ask(self, parameters: Mapping[str, str], *, post: bool = False) -> dict[str, Any]:
        fields = {**parameters, "format": "json", "formatversion": "2", "maxlag": str(_LAG)}
        if post or sum(map(len, fields.values())) > _LONG:
            request = self._client.build_request("POST", self.address, data=fields)
        else:
            request = self._client.build_request("GET", self.address, params=fields)
        headers, body = self._send(request)
        answer = json_of(body, self.address, "is not the API of a MediaWiki")
        if problem := answer.get("error"):
            raise self._error(problem, headers)
        return answer

    def _error(self, problem: Mapping[str, Any], headers: httpx.Headers) -> Exception:
        code = str(problem.get("code", ""))
        said = f"{self.address}: {one_line(str(problem.get('info', code)))}"
        if code in _SIGNED_OUT:
            self._is_signed_in = False
            return TransientError(said)
        if code in _BUSY or code.startswith("internal_api_error"):
            return TransientError(said, retry_after(headers))
        if code not in _DENIED:
            return IntakeError(said)
        if not self._user:
            said += " Make a bot password (Special:BotPasswords); declare its user, and set KB_INTAKE_PASSWORDS"
        return DeniedError(said)

    def _sign_in(self) -> None:
        with self._lock:
            if self._is_signed_in:
                return
            answer = self._ask({"action": "query", "meta": "tokens", "type": "login"})
            token = answer["query"]["tokens"]["logintoken"]
            login = {"action": "login", "lgname": self._user, "lgpassword": self._password, "lgtoken": token}
            done = self._ask(login, post=True)["login"]
            if done.get("result") != "Success":
                raise IntakeError(
                    f"{self.address} does not let {self._user} sign in: {one_line(str(done.get('reason', '')))}; "
                    "KB_INTAKE_PASSWORDS must hold the password that Special:BotPasswords gave"
                )
            self._is_signed_in = True

    def get(self, address: str, *, redirects: int = 0) -> bytes:
        """What is at an address, or where it leads to at the same server.

        Raises:
            IntakeError: there is nothing that can be used.
            TransientError: the server is busy, or did not answer completely.
        """
        try:
            return self._send(self._client.build_request("GET", address), redirects)[1]
        except httpx.InvalidURL as exc:
            raise IntakeError(f"{address} is not an address") from exc

    def _send(self, request: httpx.Request, redirects: int = 0) -> tuple[httpx.Headers, bytes]:
        status, headers, body = self._answer(request)
        if 300 <= status < 400 and headers.get("location"):
            there = request.url.join(headers["location"])
            if redirects and there.netloc == request.url.netloc and there.scheme in (request.url.scheme, "https"):
                return self._send(self._client.build_request("GET", there), redirects - 1)
            raise IntakeError(f"{place_of(request)} leads to {headers['location']}; declare that address")
        if status != 200:
            raise IntakeError(f"{place_of(request)} answered with status {status}")
        return headers, body


def _add(page: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add what a further answer says of a page: its lists go on."""
    for key, value in more.items():
        page[key] = [*page.get(key, ()), *value] if isinstance(value, list) else value
