"""The agent service's parts, opened once from the settings and closed together."""

import asyncio
import unicodedata
from dataclasses import dataclass

from app.answering import open_answerer
from app.answering.base import Answerer, Message, Question
from app.articles import Articles
from app.conversations import open_conversations
from app.conversations.base import ConversationStore
from app.errors import BadQuestionError
from app.grounding.citations import CitationBook
from app.principal import Principal
from app.retrieval import Retrieval
from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import open_workspace


@dataclass(frozen=True)
class Service:
    """What the routes answer with."""

    settings: AppSettings
    dagster_url: str
    retrieval: Retrieval
    answerer: Answerer
    articles: Articles
    conversations: ConversationStore

    def question(
        self, text: str, who: Principal, *, top: int | None = None, history: tuple[Message, ...] = ()
    ) -> Question:
        """A question that may be asked.

        Raises:
            BadQuestionError: it is empty or too long.
        """
        most = self.settings.question_characters
        text = _readable(text).strip()
        if not text:
            raise BadQuestionError("the question is empty; write what you want to know")
        if len(text) > most:
            raise BadQuestionError(
                f"the question has {len(text):,} characters, the limit is {most:,} (KB_QUESTION_CHARACTERS); shorten it"
            )
        return Question(text, who, top or self.settings.search_top, history)

    def book(self) -> CitationBook:
        """An empty book for one answer."""
        return CitationBook(self.run_url)

    def run_url(self, run_id: str) -> str | None:
        """Where a run of the pipeline is looked at; runs that Dagster did not do have no page there."""
        return f"{self.dagster_url}/runs/{run_id}" if _is_dagster_run(run_id) else None

    async def close(self) -> None:
        """Give back connections, files and threads."""
        await self.answerer.close()
        await self.conversations.close()
        await asyncio.to_thread(self.retrieval.close)


def _readable(text: str) -> str:
    """The text without what is no character: halves of surrogate pairs, control codes."""
    whole = text.encode("utf-8", "replace").decode()
    return "".join(char for char in whole if char in "\n\t" or unicodedata.category(char) != "Cc")


def _is_dagster_run(run_id: str) -> bool:
    parts = run_id.split("-")
    return [len(part) for part in parts] == [8, 4, 4, 4, 12] and all(c in "0123456789abcdef" for c in "".join(parts))


def open_service(settings: AppSettings, knowledge_base: Settings) -> Service:
    """All parts, from the settings; nothing is read from the index yet."""
    # a reader waits less for an embedding than a run does
    seconds = min(knowledge_base.service_timeout_seconds, settings.chat_timeout_seconds)
    workspace = open_workspace(knowledge_base.model_copy(update={"service_timeout_seconds": seconds}))
    retrieval = Retrieval(workspace, record_content=settings.record_content)
    return Service(
        settings=settings,
        dagster_url=settings.dagster_url_of(knowledge_base),
        retrieval=retrieval,
        answerer=open_answerer(settings, retrieval),
        articles=Articles(workspace.layout),
        conversations=open_conversations(settings, knowledge_base),
    )
