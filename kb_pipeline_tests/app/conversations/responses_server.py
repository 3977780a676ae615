"""The Responses protocol's own server on loopback, answering by repeating what was said, with our store behind it.

``python -m kb_pipeline_tests.app.conversations.responses_server FILE`` serves until it is killed, and prints where.
"""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from azure.ai.agentserver.responses import ResponseContext, ResponseEventStream, ResponsesAgentServerHost

from app.conversations.base import ConversationStore
from app.conversations.responses_store import ResponseStore, user_of
from app.conversations.sqlite import SQLiteConversations
from app.conversations.turns import STOPPED, TurnRecorder
from app.schema.answers import ChatAnswer
from kb_pipeline_tests.app.serving import serving_app

HANG = "never answer"
FAIL = "fail"
COUNT = "how much was said?"


def responses_app(conversations: ConversationStore) -> ResponsesAgentServerHost:
    host = ResponsesAgentServerHost(
        prefix="/v1",
        store=ResponseStore(conversations, lambda turns: turns),
        configure_observability=None,
        access_log=None,
    )

    @host.response_handler
    async def repeat(request: Any, context: ResponseContext, cancelled: asyncio.Event) -> AsyncGenerator[Any, None]:
        stream = ResponseEventStream(response_id=context.response_id, request=request)
        yield stream.emit_created()
        yield stream.emit_in_progress()
        said = [_text(item) for item in (*await context.get_history(), *await context.get_input_items())]
        keep = request.get("store") is not False
        user = user_of(context.platform_context)
        async with TurnRecorder(conversations, user, context, said[-1], keep=keep) as turn:
            answer = str(len(said)) if said[-1] == COUNT else f"heard: {' | '.join(said)}"
            turn.so_far = lambda: ChatAnswer(answer=answer, citations=(), answered_by="extractive")
            if said[-1] == HANG:
                await cancelled.wait()
                turn.problem = STOPPED
                return
            if said[-1] == FAIL:
                raise RuntimeError("a failure of the test")
            message = stream.add_output_item_message()
            yield message.emit_added()
            part = message.add_text_content()
            yield part.emit_added()
            yield part.emit_delta(answer)
            yield part.emit_text_done(answer)
            yield part.emit_done()
            yield message.emit_done()
        yield stream.emit_completed()

    return host


def _text(item: Any) -> str:
    content = item["content"]
    return content if isinstance(content, str) else " ".join(part["text"] for part in content)


@contextmanager
def serving(conversations: ConversationStore) -> Iterator[str]:
    """The server's ``base_url`` for OpenAI's clients."""
    with serving_app(responses_app(conversations)) as url:
        yield f"{url}/v1"


if __name__ == "__main__":
    with serving(SQLiteConversations(Path(sys.argv[1]))) as url:
        print(url, flush=True)
        threading.Event().wait()
