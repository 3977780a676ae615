"""Answers a request of the Responses protocol whose conversations cannot be used, as the other routes do.

The protocol's server says only "internal server error", or says what happened with HTTP status 500.
"""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import answer_problem
from app.conversations.responses_store import failures
from app.errors import AnswerError


class ReportFailedStore:
    """Replaces a response with status 500 by the failure of the store that led to it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        noted: list[AnswerError] = []
        failures.set(noted)
        replaced = False

        async def replacing(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and message["status"] == 500 and noted:
                replaced = True
                await answer_problem(noted[0])(scope, receive, send)
            elif not replaced:
                await send(message)

        await self._app(scope, receive, replacing)
