"""Tries a language model with three small requests: whether it answers, calls tools, and sees images."""

import base64
import io
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PIL import Image

from app.model.calls import explain
from app.model.client import chat_endpoint, connect
from app.schema.models import ModelTrial
from app.settings import AppSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion, ChatCompletionMessage

_NO_CHAT = re.compile(
    "embed|whisper|tts|transcri|dall-e|image|audio|realtime|moderation|rerank|sora|babbage|davinci|turbo-instruct|search"
)
"""Parts of the names of models that do not chat."""
_SMALL = re.compile("mini|small|flash|haiku|nano")
_SECONDS = 20.0
"""Seconds for each request, while somebody looks at a dialog."""
_HELLO = "Call the tool `search` with the query: hello"
_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search the articles.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        },
    },
}
_COLOUR = "What colour is this picture: red, green or blue? Answer with one word."


async def try_model(settings: AppSettings) -> ModelTrial:
    """Try the chat model of the settings, or one that the endpoint lists if they name none.

    What goes wrong is in ``problem``; only bugs of ours raise.
    """
    settings = settings.model_copy(update={"chat_timeout_seconds": min(settings.chat_timeout_seconds, _SECONDS)})
    connection = connect(settings).with_options(max_retries=0)
    trial = ModelTrial(model=settings.chat_model or "")
    try:
        models = await _models(connection, required=not trial.model)
        trial = ModelTrial(models=models, model=trial.model or suggested(models))
        if not trial.model:
            problem = "the endpoint lists no model that chats; write its name"
            return trial.model_copy(update={"problem": problem})
        settings = settings.model_copy(update={"chat_model": trial.model})
        return await _tried(connection, chat_endpoint(settings).deployment(trial.model), trial)
    except Exception as exc:
        if (explained := explain(exc, settings, begun=False)) is None:
            raise
        return trial.model_copy(update={"problem": str(explained)})
    finally:
        await connection.close()


def suggested(models: Sequence[str]) -> str:
    """The model to try first: a small one that chats, if the names tell; "" if there is none."""
    chatting = [model for model in models if not _NO_CHAT.search(model.lower())]
    return next((model for model in chatting if _SMALL.search(model)), next(iter(chatting), ""))


async def _models(connection: "AsyncOpenAI", *, required: bool) -> tuple[str, ...]:
    """The names of the models that chat, the newest first, then the others; none if the endpoint does not list them.

    Raises:
        openai.OpenAIError: it is ``required``, and the endpoint refuses the key or cannot be reached. Otherwise the
            first question tells, because a key may be allowed to ask a model, but not to list them.
    """
    import openai

    try:
        listed = (await connection.models.list()).data
        dated = sorted(listed, key=lambda model: (-(model.created or 0), model.id))
    except (openai.OpenAIError, AttributeError, TypeError) as exc:
        if required and isinstance(exc, openai.APIConnectionError | openai.AuthenticationError):
            raise
        return ()
    return tuple(sorted((model.id for model in dated), key=lambda name: bool(_NO_CHAT.search(name.lower()))))


async def _tried(connection: "AsyncOpenAI", model: str, trial: ModelTrial) -> ModelTrial:
    import openai

    began = time.monotonic()
    try:
        calls_tools = bool((await _ask(connection, model, _HELLO, tools=[_TOOL])).tool_calls)
    except openai.BadRequestError:  # it may only be the tools that it does not accept
        began = time.monotonic()
        await _ask(connection, model, _HELLO)
        calls_tools = False
    seconds = time.monotonic() - began
    try:
        colour = await _ask(connection, model, [{"type": "text", "text": _COLOUR}, _red_picture()])
        sees_images = "red" in (colour.content or "").lower()
    except openai.APIStatusError:
        sees_images = False
    return trial.model_copy(
        update={"seconds": round(seconds, 2), "calls_tools": calls_tools, "sees_images": sees_images}
    )


async def _ask(
    connection: "AsyncOpenAI", model: str, content: str | list[dict[str, Any]], **options: Any
) -> "ChatCompletionMessage":
    messages: Any = [{"role": "user", "content": content}]
    reply: ChatCompletion = await connection.chat.completions.create(model=model, messages=messages, **options)
    return reply.choices[0].message


def _red_picture() -> dict[str, Any]:
    file = io.BytesIO()
    Image.new("RGB", (64, 64), (220, 20, 20)).save(file, "PNG")
    return {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"},
    }
