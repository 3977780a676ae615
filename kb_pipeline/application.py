"""The application that answers readers, as the command line and Dagster use it.

It is opened by its name, like a plug-in: nothing in kb_pipeline imports it, and it is loaded only where it is needed.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel
from pydantic_settings import BaseSettings

from kb_pipeline.asking import AskOptions
from kb_pipeline.evaluation.gaps import RecordedQuestions
from kb_pipeline.evaluation.questions import QuestionSet
from kb_pipeline.evaluation.records import Evaluation
from kb_pipeline.evaluation.usage import UsageReport
from kb_pipeline.plugins import find_opener
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.check import Connection

if TYPE_CHECKING:
    from rich.console import Console

APPLICATION = "app.application:AgentApplication"


@dataclass(frozen=True)
class Server:
    """A server that ``kb serve`` starts: its name for people, its URL, and the setting that moves it.

    It is up when ``url`` + ``health_path`` answers with a text that holds ``health_text``. ``command`` holds the
    arguments of ``python``.
    """

    name: str
    url: str
    health_path: str
    health_text: bytes
    setting: str
    command: Sequence[str] = ()

    @property
    def address(self) -> tuple[str, int]:
        """Its host and port on this machine."""
        parts = urlsplit(self.url)
        return parts.hostname or "127.0.0.1", parts.port or 80


class Investigated(BaseModel):
    """The report of an investigation in markdown, the events that led to it, and the passages that it refers to."""

    report: str
    events: list[dict[str, Any]]
    citations: list[dict[str, Any]] = []


class Application(ABC):
    """Answers questions from the knowledge base of ``knowledge_base``; ``settings`` are its own."""

    settings: BaseSettings

    def __init__(self, settings: Settings) -> None:
        self.knowledge_base = settings

    @abstractmethod
    def servers(self) -> Sequence[Server]:
        """The servers that people and programs ask, those for people first."""

    @property
    @abstractmethod
    def is_paid(self) -> bool:
        """Whether answers cost money, because a model words them."""

    @abstractmethod
    def check(self) -> Iterator[Connection]:
        """Try every service that answering needs. A service that bills is asked for a few words."""

    @abstractmethod
    def ask(
        self,
        question: str,
        options: AskOptions,
        console: "Console | None",
        *,
        sources: bool = False,
        picture: Path | None = None,
    ) -> BaseModel:
        """Answer a question; with a console, print the answer as it is worded.

        ``sources``: name file and page behind each statement, instead of a number. ``picture`` is a file that belongs
        to the question.

        Raises:
            KnowledgeBaseError: the question cannot be answered, or a service failed.
        """

    @abstractmethod
    def ask_again(self, answer_id: str, top: int | None, console: "Console | None") -> BaseModel:
        """Compare a stored answer with what would be answered to its question now; with a console, print both.

        Raises:
            KnowledgeBaseError: there is no such answer, the question cannot be answered, or a service failed.
        """

    @abstractmethod
    def serve_mcp(self) -> None:
        """Serve the tools by the Model Context Protocol over stdin and stdout, until stdin ends.

        Raises:
            KnowledgeBaseError: a part cannot be opened, or a package is missing.
        """

    @abstractmethod
    def evaluate(self, sets: Sequence[QuestionSet], at: str, *, graded: bool) -> Evaluation:
        """Answer all questions of the sets and score the answers; ``graded``: the chat model judges them as well."""

    @abstractmethod
    def evaluate_diagnosis(self, scenario: str, at: str) -> Evaluation:
        """Diagnose all incidents of a scenario whose causes are known, and score the diagnoses; no model is asked.

        Raises:
            ScenarioError: the scenario is not loaded, its incidents cannot be used, or none could be diagnosed.
        """

    @abstractmethod
    def asked(self, since: str) -> RecordedQuestions:
        """What was asked since a time (ISO 8601, UTC) and not answered, and what was cited, without who asked.

        Raises:
            KnowledgeBaseError: the conversations cannot be read.
        """

    @abstractmethod
    def usage(self) -> UsageReport:
        """Count how the knowledge base was used in the last weeks, without who asked.

        Raises:
            KnowledgeBaseError: the conversations cannot be read.
        """

    @abstractmethod
    def count_conversations(self) -> int:
        """The number of conversations of all people.

        Raises:
            KnowledgeBaseError: the conversations cannot be read.
        """

    @abstractmethod
    def delete_conversations(self) -> None:
        """Delete the conversations of all people.

        Raises:
            KnowledgeBaseError: some are left; call it again.
        """

    @abstractmethod
    def investigate(self, alert: str, scenario: str, console: "Console | None") -> Investigated:
        """Say what broke in a network, and why; with a console, print the steps as they are taken.

        Raises:
            KnowledgeBaseError: the scenario cannot be used.
        """

    @property
    @abstractmethod
    def records_content(self) -> bool:
        """Whether words of questions may be kept outside of the conversations."""

    @property
    @abstractmethod
    def keeps_whole_questions(self) -> bool:
        """Whether they may be kept as they were written, not only masked."""


def open_application(settings: Settings) -> Application:
    """Load the application; its own settings are read now.

    Raises:
        SettingsError: a setting of the application is not valid.
    """
    return find_opener("the application", APPLICATION, {}, Application)(settings)  # type: ignore[type-abstract]
