"""The agent in a Python program: the same answers as over HTTP, without a server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from app.answering.base import Message, Step, TextPart
from app.answering.grounded import GroundedAnswer
from app.answering.profiles import profile_named
from app.callers.principal import Principal
from app.grounding.references import without_references
from app.library.withheld import shown_turns
from app.schema.answers import ChatAnswer
from app.schema.conversations import Turn
from app.service import AgentService, open_service
from app.settings import AppSettings, load_app_settings
from kb_pipeline.settings import Settings, load_settings


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer is complete."""

    answer: ChatAnswer


class DocumentsAgent:
    """Answers messages of one user. Sessions are remembered until the agent is closed; close it, or use it with
    ``async with``."""

    def __init__(self, service: AgentService, user: Principal, profile: str = "") -> None:
        self.service = service
        self.user = user
        self._profile = profile_named(profile)
        self._sessions: dict[str, list[Turn]] = {}

    async def execute(self, message: str, session: str = "") -> AsyncGenerator[Step | TextPart | Answered, None]:
        """Answer a message: steps and text as they come, then :class:`Answered`.

        With a ``session``, what was said in it before is known, and a reply to a question that was asked back is
        understood.

        Raises:
            AnswerError: the message is not valid, or a service failed.
            KnowledgeBaseError: the index cannot be searched.
        """
        kept = self._sessions.get(session, []) if session else []
        turns = await asyncio.to_thread(shown_turns, self.service.articles, kept, self.user)
        answers = [(turn.question, turn.answer) for turn in turns if turn.answer]
        history = tuple(
            said
            for asked, answered in answers
            for said in (Message("user", asked), Message("assistant", without_references(answered.answer)))
        )
        last = turns[-1].answer if turns else None
        pending = last.clarification if last else None
        question = self.service.question(
            message,
            self.user,
            history=history,
            clarification=pending,
            conversation=session,
            profile=self._profile,
        )
        answer = GroundedAnswer(self.service.answerer, question, self.service.book())
        async with aclosing(answer.events()) as events:
            async for event in events:
                yield event
        whole = answer.so_far()
        if session:
            turn = Turn(response_id="", asked_at="", question=question.text, answer=whole)
            self._sessions.setdefault(session, []).append(turn)
        yield Answered(whole)

    async def close(self) -> None:
        """Close connections, files and threads."""
        await self.service.close()

    async def __aenter__(self) -> "DocumentsAgent":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def open_agent(
    settings: AppSettings | None = None,
    user: Principal | None = None,
    *,
    knowledge_base: Settings | None = None,
    profile: str = "",
) -> DocumentsAgent:
    """An agent for a user, the local one unless given; settings that are not given come from the environment.

    Raises:
        SettingsError: a setting is missing or not valid.
    """
    chosen = settings or load_app_settings()
    service = open_service(chosen, knowledge_base or load_settings())
    return DocumentsAgent(service, user or chosen.local_principal, profile)
