"""The access token that the page sends to the agent service: one of this process's identity on Azure."""

import asyncio
from collections.abc import Generator
from functools import lru_cache

import httpx

from app.client.answers import ClientError
from app.schema.wire import Problem
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.services.service import Service


class ServiceToken(httpx.Auth):
    """A token, kept until shortly before it expires; httpx adds it to each request.

    It may raise:
        ClientError: this process has no identity, or its identity gets no token.
    """

    def __init__(self, url: str, scope: str, *, of_agent: bool = False) -> None:
        service = (
            Service("the hosted agent", url, "KB_AGENT_ENDPOINT", "KB_AGENT_SCOPE", "Foundry User")
            if of_agent
            else Service("the agent service", url, "KB_APP_URL", "KB_APP_SCOPE", "Knowledge.Ask.ForOthers")
        )
        self._token = service.tokens(scope)

    async def fetch(self) -> str:
        """The token, without holding up others."""
        return await asyncio.to_thread(self._current)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["authorization"] = f"Bearer {self._current()}"
        yield request

    def _current(self) -> str:
        try:
            return self._token()
        except KnowledgeBaseError as exc:
            raise ClientError(Problem(code="no_token", message=str(exc))) from exc


@lru_cache(maxsize=8)
def service_token(url: str, scope: str, *, of_agent: bool = False) -> ServiceToken:
    """The token for a service, or for an agent elsewhere, shared by all who ask it."""
    return ServiceToken(url, scope, of_agent=of_agent)
