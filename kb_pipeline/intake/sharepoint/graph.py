"""Asks Microsoft Graph, as the identity of this process on Azure."""

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, ClassVar

import httpx

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.json_api import JsonApi
from kb_pipeline.services.retry import after_transient_errors
from kb_pipeline.services.service import Service

PERMISSION = "Sites.Read.All (or Sites.Selected) of Microsoft Graph"
"""What an identity needs."""
_VERSION = "/v1.0"
_LONGEST_PAUSE = 600.0
"""Seconds. A busy Graph asks for pauses of minutes, and for longer ones where somebody does not wait for their end."""


class GraphApi(JsonApi):
    """Microsoft Graph. Files come from ``file_hosts``, where its answers lead without the token."""

    credentials: ClassVar[str] = f"the identity of this process needs the permission {PERMISSION}"

    def __init__(self, address: str, largest: int, attempts: int, file_hosts: tuple[str, ...]) -> None:
        super().__init__(f"{address.rstrip('/')}{_VERSION}", "", "", largest, attempts, file_hosts)
        service = Service("Microsoft Graph", address, "graph in KB_INTAKE", "the AZURE_* variables", PERMISSION)
        self._patiently = after_transient_errors(attempts, _LONGEST_PAUSE)
        self._auth = _Bearer(service.tokens(f"{address.rstrip('/')}/.default"))

    def answers(self, path: str, **parameters: str) -> Iterator[Mapping[str, Any]]:
        """The answers of a listing, to its end. Each names where it goes on, which is asked as it is.

        ``path`` may be where an earlier listing was to go on.

        Raises:
            IntakeError: the listing is refused, or does not come to its end.
            TransientError: the service did not answer, also when asked again.
        """
        seen: set[str] = set()
        path = path.removeprefix(self.base)
        while path:
            if not path.startswith("/"):
                raise IntakeError(f"{self.base} was to go on at a place that is not its own")
            answer = self.patiently_ask(path, **parameters)
            if not isinstance(answer.get("value"), list):
                raise IntakeError(f"{self.base}{path.partition('?')[0]} lists nothing that can be read")
            yield answer
            following = str(answer.get("@odata.nextLink") or "")
            if following in seen:
                raise IntakeError(f"{self.base}{path.partition('?')[0]} lists the same again and again")
            seen.add(following)
            path, parameters = following.removeprefix(self.base), {}

    def entries(self, path: str, **parameters: str) -> Iterator[Mapping[str, Any]]:
        """What a listing names, to its end; raises as :meth:`answers`."""
        for answer in self.answers(path, **parameters):
            yield from answer["value"]


class _Bearer(httpx.Auth):
    def __init__(self, token: Callable[[], str]) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._token()}"
        yield request
