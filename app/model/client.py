"""The connection to the chat model: any OpenAI-compatible endpoint, or Azure OpenAI."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agent_framework import FunctionInvocationConfiguration, Message
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpx2Client, Timeout

from app.errors import as_answer_error
from app.settings import AppSettings
from kb_pipeline.errors import ServiceRefusedError
from kb_pipeline.models.openai_client import AZURE_SCOPE, NO_KEY, OPENAI_URL, OpenAIEndpoint, no_long_waits
from kb_pipeline.services.urls import azure_url, web_url

if TYPE_CHECKING:
    import httpx2  # the SDK's own


def chat_endpoint(settings: AppSettings) -> OpenAIEndpoint:
    """The endpoint of the chat model, and the credentials for it.

    The ``KB_CHAT_...`` settings and the shared ``KB_OPENAI_...`` settings are never mixed: a key is only sent to the
    endpoint that it belongs to.

    Raises:
        SettingsError: the URL is not valid.
    """
    own = (settings.chat_azure_endpoint, settings.chat_base_url, settings.chat_api_key)
    shared = not any(own) and any((settings.openai_azure_endpoint, settings.openai_base_url, settings.openai_api_key))
    group = "KB_OPENAI" if shared else "KB_CHAT"
    azure = settings.openai_azure_endpoint if shared else settings.chat_azure_endpoint
    other = settings.openai_base_url if shared else settings.chat_base_url
    url_setting = f"{group}_AZURE_ENDPOINT" if azure else f"{group}_BASE_URL"
    if settings.is_model_chosen:
        url_setting = "the address"
    return OpenAIEndpoint(
        url=azure_url(url_setting, azure) if azure else web_url(url_setting, other or OPENAI_URL),
        azure=bool(azure),
        version=settings.openai_api_version if shared else settings.chat_api_version,
        key=settings.openai_api_key if shared else settings.chat_api_key,
        deployments=settings.openai_deployments if shared else (),
        timeout=settings.chat_timeout_seconds,
        url_setting=url_setting,
        key_setting="the key" if settings.is_model_chosen else f"{group}_API_KEY",
    )


_RETRIES = 2
"""As the SDK does it; a reader waits meanwhile."""
_CONNECT_SECONDS = 10.0
"""Seconds to connect; an endpoint that takes longer is down."""

TokenProvider = Callable[[], Awaitable[str]]


class ChatClient(OpenAIChatCompletionClient[Any]):
    """The framework's client for chat completions, the protocol of every compatible endpoint.

    One client serves all answers at once and keeps no state of them.
    """

    def __init__(
        self,
        settings: AppSettings,
        *,
        connection: AsyncOpenAI | None = None,
        rounds: int | None = None,
        is_concurrent: bool = False,
    ) -> None:
        """Create the connection that the settings describe, without sending anything, or share another client's.

        ``rounds``: how often the model may call tools, instead of KB_SEARCH_ROUNDS. ``is_concurrent``: the calls of one
        response run at the same time.
        """
        self.connection = connection or connect(settings)
        rounds = rounds or settings.search_rounds
        super().__init__(
            model=chat_endpoint(settings).deployment(settings.chat_model or ""),
            async_client=self.connection,
            message_preparer=_one_message,
            function_invocation_configuration=FunctionInvocationConfiguration(
                max_iterations=rounds,
                max_function_calls=rounds,
                # passages are numbered in the order of the searches
                allow_concurrent_invocation=is_concurrent,
            ),
        )

    async def close(self) -> None:
        await self.connection.close()


def connect(settings: AppSettings) -> AsyncOpenAI:
    """The SDK's client. Every option is set, so that no ``OPENAI_*`` environment variable changes it."""
    endpoint = chat_endpoint(settings)
    key = endpoint.key.get_secret_value() if endpoint.key else None
    shared: dict[str, Any] = {
        "max_retries": _RETRIES,
        "timeout": Timeout(endpoint.timeout, connect=min(endpoint.timeout, _CONNECT_SECONDS)),
        # a redirect would send the question to another host, whose answer we would trust
        "http_client": DefaultAsyncHttpx2Client(follow_redirects=False, event_hooks={"response": [_no_long_waits]}),
    }
    if not endpoint.azure:
        return AsyncOpenAI(base_url=endpoint.base_url, api_key=key or NO_KEY, **shared)
    if not endpoint.version:
        return AsyncOpenAI(base_url=endpoint.base_url, api_key=key or _tokens(endpoint), **shared)
    secret = {"api_key": key} if key else {"azure_ad_token_provider": _tokens(endpoint)}
    return AsyncAzureOpenAI(azure_endpoint=endpoint.url, api_version=endpoint.version, **secret, **shared)


def _tokens(endpoint: OpenAIEndpoint) -> TokenProvider:
    """Return a provider of tokens for this process's identity. Getting a token blocks, so it runs in a thread."""
    provide = endpoint.service.tokens(AZURE_SCOPE)

    async def token() -> str:
        try:
            return await asyncio.to_thread(provide)
        except ServiceRefusedError as exc:
            raise as_answer_error(exc) from exc

    return token


def _one_message(message: Message, prepared: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join a user's message: the framework sends each part separately, but many models require turns to alternate."""
    if message.role != "user" or len(prepared) < 2:
        return prepared
    parts = [part for prepared_part in prepared for part in _parts(prepared_part["content"])]
    if all(part["type"] == "text" for part in parts):
        return [{**prepared[0], "content": "\n\n".join(part["text"] for part in parts)}]
    return [{**prepared[0], "content": parts}]


def _parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


async def _no_long_waits(response: "httpx2.Response") -> None:
    """Let a long wait that the server requests become an error, which a reader sees at once."""
    no_long_waits(response)
