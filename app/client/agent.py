"""A client for which an agent elsewhere answers, over the Responses protocol alone.

Such an agent keeps no conversations for us and has none of our other routes, so this client keeps what a reader asked,
in memory. Articles, images and searches are those of an agent service over the same knowledge base. An agent of this
same image sends its citations with each answer; what another one sends is text, and the answer says what is missing.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from threading import Lock

from app.client.answers import Agent, AnswerStream, ClientError, SentPicture, open_answer
from app.client.service import SECONDS, Client
from app.client.service_token import ServiceToken
from app.conversations.markdown import markdown_of
from app.schema.answers import ChatAnswer
from app.schema.conversations import Conversation, ConversationList, ConversationSummary, Feedback, Turn
from app.schema.health import Health
from app.schema.models import ModelInUse
from app.schema.wire import Problem
from kb_pipeline.asking import NO_OPTIONS, AskOptions
from kb_pipeline.steps.markers import escape_inline

MOST_CONVERSATIONS = 50
"""Conversations that are remembered, because such an agent keeps none: a day's of one reader."""
_LONGEST_TITLE = 60
"""Characters of a title in the list of conversations."""
_CUT_OFF = "this answer was stopped"
_NOT_KEPT = Problem(code="not_found", message="the page keeps no such conversation; it forgets them when it restarts")
_NO_RATING = Problem(code="not_supported", message="answers of an agent elsewhere are not rated here")
_NO_CITATIONS = (
    "This agent sent its answer without citations: references are as it wrote them, and cannot be opened here."
)


class AgentClient(Client):
    """A client of one reader. Threads can share it."""

    keeps_answers = False

    def __init__(
        self,
        agent: Agent,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        token: ServiceToken | None = None,
        agent_token: ServiceToken | None = None,
    ) -> None:
        """``agent`` answers; ``url``, ``headers`` and ``token`` are those of the service for all the rest."""
        super().__init__(url, headers=headers, token=token)
        self._agent = agent
        self._agent_token = agent_token
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = Lock()

    # --- answers ---------------------------------------------------------------------------------

    @asynccontextmanager
    async def ask(
        self,
        question: str,
        options: AskOptions = NO_OPTIONS,
        *,
        conversation: str | None = None,
        picture: SentPicture | None = None,
    ) -> AsyncIterator[AnswerStream]:
        asked_at = _now()
        async with open_answer(
            self._agent.url,
            {},
            SECONDS,
            question,
            None,
            options,
            token=self._agent_token.fetch if self._agent_token else None,
            picture=picture,
            agent=Agent(self._agent.url, self._agent.api_version, self._last_response(conversation)),
        ) as stream:
            try:
                yield stream
            finally:
                if conversation and stream.response_id:
                    self._keep(conversation, _turn(stream, stream.response_id, question, asked_at))

    def answer(self, response_id: str) -> ChatAnswer:
        with self._lock:
            turns = [turn for each in self._conversations.values() for turn in each.turns]
        answer = next((turn.answer for turn in turns if turn.response_id == response_id), None)
        if answer is None:
            raise ClientError(_NOT_KEPT, 404)
        return answer

    def feedback(self, response_id: str, feedback: Feedback) -> None:
        raise ClientError(_NO_RATING, 404)

    def source_opened(self, response_id: str, number: int) -> None:
        pass  # nobody counts there

    # --- conversations ---------------------------------------------------------------------------

    def conversations(self, *, limit: int = 50, after: str | None = None, search: str = "") -> ConversationList:
        with self._lock:
            kept = [*reversed(self._conversations.values())]
        matching = [each for each in kept if _has_words(each, search)]
        start = int(after) if after and after.isdecimal() else 0
        end = start + limit
        summaries = tuple(
            ConversationSummary.model_validate({**dict(each), "turns": len(each.turns)}) for each in matching[start:end]
        )
        return ConversationList(conversations=summaries, next=str(end) if end < len(matching) else None)

    def conversation(self, conversation_id: str) -> Conversation:
        with self._lock:
            conversation = self._conversations.get(conversation_id)
        if conversation is None:
            raise ClientError(_NOT_KEPT, 404)
        return conversation

    def conversation_as_markdown(self, conversation_id: str) -> str:
        return markdown_of(self.conversation(conversation_id), self.url)

    def rename(self, conversation_id: str, title: str) -> Conversation:
        renamed = self.conversation(conversation_id).model_copy(update={"title": title})
        with self._lock:
            self._conversations[conversation_id] = renamed
        return renamed

    def delete(self, conversation_id: str) -> None:
        with self._lock:
            self._conversations.pop(conversation_id, None)

    # --- what is said of the service -------------------------------------------------------------

    def health(self) -> Health:
        """The state of the service beside, whose articles are shown; the agent answers."""
        return super().health().model_copy(update={"answered_by": "agent", "model": None})

    def model(self) -> ModelInUse:
        return ModelInUse(answered_by="agent", model=None)

    def _last_response(self, conversation: str | None) -> str | None:
        with self._lock:
            kept = self._conversations.get(conversation or "")
        answered = [turn.response_id for turn in kept.turns if turn.answer and not turn.problem] if kept else []
        return answered[-1] if answered else None

    def _keep(self, conversation_id: str, turn: Turn) -> None:
        with self._lock:
            before = self._conversations.pop(conversation_id, None) or Conversation(
                id=conversation_id,
                title=turn.question[:_LONGEST_TITLE],
                created_at=turn.asked_at,
                updated_at=turn.asked_at,
                turns=(),
            )
            self._conversations[conversation_id] = before.model_copy(
                update={"turns": (*before.turns, turn), "updated_at": _now()}
            )
            while len(self._conversations) > MOST_CONVERSATIONS:
                self._conversations.popitem(last=False)


def _turn(stream: AnswerStream, response_id: str, question: str, asked_at: str) -> Turn:
    problem = stream.problem.message if stream.problem else None if stream.has_ended else _CUT_OFF
    answer = stream.answer or (_without_citations(stream) if stream.text else None)
    return Turn(response_id=response_id, asked_at=asked_at, question=question, answer=answer, problem=problem)


def _without_citations(stream: AnswerStream) -> ChatAnswer:
    """The answer of an agent that sends text and addresses; says what cannot be shown."""
    links = [
        f"- [{escape_inline(title) or url}](<{url}>)"
        for url, title in stream.sources.items()
        if url.startswith(("https://", "http://")) and not set(url) & set("<>\n ")
    ]
    parts = [stream.text, "\n".join(links), _NO_CITATIONS]
    return ChatAnswer(answer="\n\n".join(filter(None, parts)), citations=(), answered_by="agent")


def _has_words(conversation: Conversation, words: str) -> bool:
    text = " ".join([conversation.title, *(turn.question for turn in conversation.turns)]).casefold()
    return all(word in text for word in words.casefold().split())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
