"""This application as the command line and Dagster use it: see :mod:`kb_pipeline.application`."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console

from app.page import page_command
from app.schema.answers import ChatAnswer
from app.schema.conversations import AnswerThenAndNow
from app.settings import AppSettings, load_app_settings
from kb_pipeline.application import Application, Investigated, Server
from kb_pipeline.asking import AskOptions
from kb_pipeline.evaluation.gaps import RecordedQuestions
from kb_pipeline.evaluation.questions import QuestionSet
from kb_pipeline.evaluation.records import Evaluation
from kb_pipeline.evaluation.usage import UsageReport
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.check import Connection

if TYPE_CHECKING:
    from app.conversations.base import ConversationStore

Result = TypeVar("Result")

# -P: without the working directory on the path, because people have folders that are called app
_MODULE = ("-P", "-m")


def agent_service() -> list[str]:
    """The arguments of ``python`` for the agent service, which listens where its settings say."""
    return [*_MODULE, "app"]


def chat_page(port: int) -> list[str]:
    """The arguments of ``python`` for the chat page on loopback."""
    return [*_MODULE, *page_command(port)]


class AgentApplication(Application):
    """The agent service and the chat page. Methods import what they need when they are called: it loads slowly."""

    def __init__(self, knowledge_base: Settings) -> None:
        super().__init__(knowledge_base)
        self.settings: AppSettings = load_app_settings()

    def servers(self) -> Sequence[Server]:
        name = "Chat page and agent service" if self.settings.one_port else "Agent service"
        service = Server(name, self.settings.listening_url, "/health", b"answered_by", "KB_APP_PORT", agent_service())
        if self.settings.one_port:
            return (service,)
        port = self.settings.page_port
        page = f"http://127.0.0.1:{port}"
        return Server("Chat page", page, "/_stcore/health", b"ok", "KB_PAGE_PORT", chat_page(port)), service

    @property
    def is_paid(self) -> bool:
        return self.settings.mode != "extractive"

    def check(self) -> Iterator[Connection]:
        from app.application.checking import check_answering

        return check_answering(self.settings, self.knowledge_base)

    def ask(
        self,
        question: str,
        options: AskOptions,
        console: Console | None,
        *,
        sources: bool = False,
        picture: Path | None = None,
    ) -> ChatAnswer:
        from app.application import terminal

        settings = self.settings.model_copy(update={"citation_style": "source"}) if sources else self.settings
        return asyncio.run(terminal.ask(question, options, settings, self.knowledge_base, console, picture=picture))

    def ask_again(self, answer_id: str, top: int | None, console: Console | None) -> AnswerThenAndNow:
        from app.application import terminal

        return asyncio.run(terminal.ask_again(answer_id, top, self.settings, self.knowledge_base, console))

    def serve_mcp(self) -> None:
        from app.api.mcp_server import serve_stdio
        from app.logs.redacting import configure_logging

        configure_logging()  # to stderr: stdout is the protocol's
        asyncio.run(serve_stdio(self.settings, self.knowledge_base))

    def evaluate(self, sets: Sequence[QuestionSet], at: str, *, graded: bool) -> Evaluation:
        from app.evaluating import evaluate_answers

        return asyncio.run(evaluate_answers(self.knowledge_base, sets, at, graded=graded, settings=self.settings))

    def evaluate_diagnosis(self, scenario: str, at: str) -> Evaluation:
        from app.evaluating.diagnosing import evaluate_diagnosis

        return asyncio.run(evaluate_diagnosis(self.knowledge_base, scenario, at))

    def asked(self, since: str) -> RecordedQuestions:
        from app.conversations.asked import asked_since
        from app.conversations.base import ConversationStore
        from app.conversations.loose_questions import take_over
        from app.library.articles import Articles
        from app.library.retrieval import Retrieval
        from kb_pipeline.flow.workspace import open_workspace

        workspace = open_workspace(self.knowledge_base)
        articles = Articles(workspace.layout, workspace.deferred_titles)

        async def read(store: ConversationStore) -> RecordedQuestions:
            with closing(Retrieval(workspace)) as retrieval:
                await take_over(store, keeps_whole=self.keeps_whole_questions)
                return await asked_since(since, store, retrieval, articles)

        return self._with_conversations(read)

    def usage(self) -> UsageReport:
        from app.conversations.usage import usage_since_weeks
        from app.library.articles import Articles
        from kb_pipeline.flow.workspace import open_workspace

        layout = open_workspace(self.knowledge_base).layout
        prices = self.knowledge_base.prices
        return self._with_conversations(
            lambda store: usage_since_weeks(store, Articles(layout).for_its_owner(), prices)
        )

    def count_conversations(self) -> int:
        return self._with_conversations(lambda store: store.count())

    def delete_conversations(self) -> None:
        self._with_conversations(lambda store: store.clear())

    def _with_conversations(self, work: "Callable[[ConversationStore], Awaitable[Result]]") -> Result:
        from app.conversations import open_conversations

        async def within() -> Result:
            store = open_conversations(self.settings, self.knowledge_base)
            try:
                return await work(store)
            finally:
                await store.close()

        return asyncio.run(within())

    def investigate(self, alert: str, scenario: str, console: Console | None) -> Investigated:
        from app.application.terminal import investigate

        return asyncio.run(investigate(alert, scenario, self.settings, self.knowledge_base, console))

    @property
    def records_content(self) -> bool:
        return self.settings.record_content

    @property
    def keeps_whole_questions(self) -> bool:
        return self.settings.whole_questions
