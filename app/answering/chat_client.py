"""The connection to the model: any OpenAI-compatible endpoint, or Azure OpenAI, as the settings say."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agent_framework import FunctionInvocationConfiguration, Message
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpx2Client, Timeout

from app.errors import UpstreamRefusedError
from app.settings import AppSettings

if TYPE_CHECKING:
    import httpx2  # the SDK's own

OPENAI_URL = "https://api.openai.com/v1"
AZURE_SCOPE = "https://cognitiveservices.azure.com/.default"

_NO_KEY = "none"
"""Local servers want no key, but the protocol wants one sent."""

_RETRIES = 2
_LONGEST_WAIT = 2.0
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
            model=settings.chat_model,
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
    key = settings.chat_api_key.get_secret_value() if settings.chat_api_key else None
    silence = settings.chat_timeout_seconds
    shared: dict[str, Any] = {
        "max_retries": _RETRIES,
        "timeout": Timeout(silence, connect=min(silence, _CONNECT_SECONDS)),
        "http_client": DefaultAsyncHttpx2Client(event_hooks={"response": [_no_long_waits]}),
    }
    endpoint = (settings.chat_azure_endpoint or "").rstrip("/")
    if not endpoint:
        return AsyncOpenAI(base_url=settings.chat_base_url or OPENAI_URL, api_key=key or _NO_KEY, **shared)
    if not settings.chat_api_version:
        return AsyncOpenAI(base_url=f"{endpoint}/openai/v1/", api_key=key or entra_tokens(), **shared)
    secret = {"api_key": key} if key else {"azure_ad_token_provider": entra_tokens()}
    return AsyncAzureOpenAI(azure_endpoint=endpoint, api_version=settings.chat_api_version, **secret, **shared)


def entra_tokens() -> TokenProvider:
    """Tokens of whoever this process runs as; the credential keeps them until shortly before they expire."""
    from azure.core.exceptions import ClientAuthenticationError
    from azure.identity import DefaultAzureCredential, get_bearer_token_provider

    provide = get_bearer_token_provider(DefaultAzureCredential(), AZURE_SCOPE)

    async def token() -> str:
        try:
            return await asyncio.to_thread(provide)
        except ClientAuthenticationError as exc:
            raise UpstreamRefusedError(
                "no token for Azure OpenAI: set KB_CHAT_API_KEY, or let this process have an identity "
                "(az login, a managed identity) with the role Cognitive Services OpenAI User"
            ) from exc

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
    """Let the SDK try again at once or in a moment; a reader is told of longer waits rather than left waiting."""
    try:
        wait = float(response.headers.get("retry-after", 0))
    except ValueError:  # a date
        wait = _LONGEST_WAIT + 1
    if wait > _LONGEST_WAIT:
        response.headers["x-should-retry"] = "false"
