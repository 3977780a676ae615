"""The real service on a real port, over a knowledge base of the test's own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest
from openai import AsyncOpenAI, OpenAI

from app.api.server import create_app
from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.serving import serving_app

Serve = Callable[..., httpx.Client]


@contextmanager
def serving(settings: AppSettings, knowledge_base: Settings) -> Iterator[str]:
    """The service's URL, while it runs."""
    with serving_app(create_app(settings, knowledge_base)) as url:
        yield url


@pytest.fixture
def serve(own: Settings) -> Iterator[Serve]:
    """Start the service with some settings; gives a client of it."""
    with ExitStack() as stack:

        def start(knowledge_base: Settings = own, **settings: Any) -> httpx.Client:
            url = stack.enter_context(serving(AppSettings(**settings), knowledge_base))
            return stack.enter_context(httpx.Client(base_url=url, timeout=30))

        yield start


@pytest.fixture
def service(serve: Serve) -> httpx.Client:
    """The service as it is on a laptop: no model, everybody is the local user."""
    return serve()


def openai_of(client: httpx.Client, **headers: str) -> OpenAI:
    """OpenAI's own client, for the service that another client is for."""
    return OpenAI(base_url=f"{_root(client)}/v1", api_key="none", max_retries=0, default_headers=headers)


def async_openai_of(client: httpx.Client) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{_root(client)}/v1", api_key="none", max_retries=0)


def _root(client: httpx.Client) -> str:
    return str(client.base_url).rstrip("/")


def signed_in(user: str, *groups: str) -> dict[str, str]:
    """What Easy Auth adds to a request."""
    import base64
    import json

    claims = json.dumps({"claims": [{"typ": "groups", "val": group} for group in groups]})
    return {
        "X-MS-CLIENT-PRINCIPAL-ID": user,
        "X-MS-CLIENT-PRINCIPAL-NAME": f"{user}@example.com",
        "X-MS-CLIENT-PRINCIPAL": base64.b64encode(claims.encode()).decode(),
    }
