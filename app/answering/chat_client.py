"""The connection to the model: any OpenAI-compatible endpoint, or Azure OpenAI, as the settings say."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agent_framework import FunctionInvocationConfiguration, Message
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpx2Client, Timeout

from app.answering.chat_endpoint import chat_endpoint
from app.errors import UpstreamRefusedError
from app.settings import AppSettings
from kb_pipeline.errors import ServiceRefusedError
from kb_pipeline.models.openai_client import NO_KEY, no_long_waits
from kb_pipeline.models.openai_endpoint import AZURE_SCOPE, OpenAIEndpoint

if TYPE_CHECKING:
    import httpx2  # the SDK's own

_RETRIES = 2
_CONNECT_SECONDS = 10.0

TokenProvider = Callable[[], Awaitable[str]]


class ChatClient(OpenAIChatCompletionClient[Any]):
    """The framework's client for chat completions, which is what every compatible endpoint speaks.

    One serves all answers at once; it keeps nothing of them.
    """

    def __init__(self, settings: AppSettings) -> None:
        """Open the connection that the settings describe; nothing is sent yet."""
        self.connection = connect(settings)
        super().__init__(
            model=chat_endpoint(settings).deployment(settings.chat_model or ""),
            async_client=self.connection,
            message_preparer=_one_message,
            function_invocation_configuration=FunctionInvocationConfiguration(
                max_iterations=settings.search_rounds,
                max_function_calls=settings.search_rounds,
                # passages are numbered in the order in which they are found
                allow_concurrent_invocation=False,
            ),
        )

    async def close(self) -> None:
        """Give back connections."""
        await self.connection.close()


def connect(settings: AppSettings) -> AsyncOpenAI:
    """The SDK's client. Everything is said, so that no ``OPENAI_*`` variable of the machine says something else."""
    endpoint = chat_endpoint(settings)
    key = endpoint.key.get_secret_value() if endpoint.key else None
    shared: dict[str, Any] = {
        "max_retries": _RETRIES,
        "timeout": Timeout(endpoint.timeout, connect=min(endpoint.timeout, _CONNECT_SECONDS)),
        # a redirect would take the question, and the belief in its answer, to another host
        "http_client": DefaultAsyncHttpx2Client(follow_redirects=False, event_hooks={"response": [_no_long_waits]}),
    }
    if not endpoint.azure:
        return AsyncOpenAI(base_url=endpoint.base_url, api_key=key or NO_KEY, **shared)
    if not endpoint.version:
        return AsyncOpenAI(base_url=endpoint.base_url, api_key=key or _tokens(endpoint), **shared)
    secret = {"api_key": key} if key else {"azure_ad_token_provider": _tokens(endpoint)}
    return AsyncAzureOpenAI(azure_endpoint=endpoint.url, api_version=endpoint.version, **secret, **shared)


def _tokens(endpoint: OpenAIEndpoint) -> TokenProvider:
    """Tokens of whoever this process runs as; asking for one waits, so it is done in a thread."""
    provide = endpoint.service.tokens(AZURE_SCOPE)

    async def token() -> str:
        try:
            return await asyncio.to_thread(provide)
        except ServiceRefusedError as exc:
            raise UpstreamRefusedError(str(exc)) from exc

    return token


def _one_message(message: Message, prepared: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A user's message as one: the framework makes one of each part, but many models want turns to alternate."""
    if message.role != "user" or len(prepared) < 2:
        return prepared
    parts = [part for each in prepared for part in _parts(each["content"])]
    if all(part["type"] == "text" for part in parts):
        return [{**prepared[0], "content": "\n\n".join(part["text"] for part in parts)}]
    return [{**prepared[0], "content": parts}]


def _parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


async def _no_long_waits(response: "httpx2.Response") -> None:
    """A reader is told of longer waits rather than left waiting."""
    no_long_waits(response)
