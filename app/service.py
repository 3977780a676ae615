"""The parts of the agent service, opened once from the settings and closed together."""

import asyncio
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from app.answering import open_answerer
from app.answering.base import Answerer, Message, Question
from app.answering.chosen_model import ChosenModel
from app.answering.profiles import KNOWLEDGE_BASE, Profile
from app.callers.picture import Picture, PictureReader
from app.callers.principal import Principal
from app.contributing.contributing import Contributing
from app.contributing.own_findings import OwnFindings
from app.conversations import open_conversations
from app.conversations.base import ConversationStore
from app.conversations.loose_questions import LooseQuestions
from app.conversations.references import References
from app.errors import BadQuestionError
from app.grounding.citations import CitationBook
from app.library.articles import Articles
from app.library.originals.pictures import PagePictures
from app.library.retrieval import Retrieval
from app.library.standings import Standings
from app.network.networks import Networks
from app.network.queries import NetworkQueries
from app.network.running import Investigations
from app.network.served import Network
from app.schema.answers import Clarification
from app.schema.asking import ABOUT_A_PICTURE
from app.settings import AppSettings
from app.tools import AnyTool, open_tools
from app.tools.base import ToolServices
from app.tools.image_links import ImageLinks, open_image_links
from app.web import open_web
from kb_pipeline.asking import NO_OPTIONS, AskOptions
from kb_pipeline.contributions import open_queue
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.steps.article_ids import is_article_id
from kb_pipeline.store.audit import AuditLog

MOST_CHOSEN = 7
"""As many documents as a clarification has options; a question can be about them all."""

if TYPE_CHECKING:
    from app.network.base import Investigator
    from app.web.lookup import WebLookup

_DAGSTER_RUN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class AgentService:
    """The parts that the routes use."""

    settings: AppSettings
    dagster_url: str
    retrieval: Retrieval
    usual_answerer: Answerer
    chosen_model: ChosenModel
    articles: Articles
    standings: Standings
    conversations: ConversationStore
    references: References
    pictures: PagePictures
    tools: Mapping[str, AnyTool]
    contributing: Contributing
    own_findings: OwnFindings
    loose_questions: LooseQuestions
    picture_reader: PictureReader
    networks: Networks
    queries: NetworkQueries
    investigations: Investigations
    image_links: ImageLinks | None = None
    web: "WebLookup | None" = None

    @property
    def audit(self) -> AuditLog:
        """Records who does what."""
        return self.retrieval.workspace.audit

    @property
    def answerer(self) -> Answerer:
        """The one for questions that are asked now: of the settings, or of a model that was chosen since."""
        return self.chosen_model.answerer or self.usual_answerer

    def question(
        self,
        text: str,
        who: Principal,
        options: AskOptions = NO_OPTIONS,
        *,
        history: tuple[Message, ...] = (),
        clarification: Clarification | None = None,
        conversation: str = "",
        profile: Profile = KNOWLEDGE_BASE,
        picture: Picture | None = None,
    ) -> Question:
        """A valid question; ``picture`` came with it.

        Raises:
            BadQuestionError: it is empty or too long, or about too many documents, or about one with an impossible id,
                or the web is off.
        """
        most = self.settings.question_characters
        text = _without_control_characters(text).strip() or (ABOUT_A_PICTURE if picture else "")
        if not text:
            raise BadQuestionError("the question is empty; write what you want to know")
        if len(text) > most:
            raise BadQuestionError(
                f"the question has {len(text):,} characters, the limit is {most:,} (KB_QUESTION_CHARACTERS); shorten it"
            )
        chosen = tuple(dict.fromkeys(options.document_ids))
        if len(chosen) > MOST_CHOSEN:
            raise BadQuestionError(f"a question can be about {MOST_CHOSEN} documents at most; {len(chosen)} are chosen")
        if wrong := [each for each in chosen if not is_article_id(each)]:
            raise BadQuestionError(f"{wrong[0][:80]!r} cannot be the id of a document; GET /api/documents lists them")
        if options.web and self.web is None:
            raise BadQuestionError("the web is not searched here; it is off (KB_WEB_SEARCH)")
        scope = options.scope if options.scope and options.scope.in_words else None
        return Question(
            text,
            who.in_mode(options.mode).in_scope(scope),
            options.top_k or self.settings.search_top,
            history,
            options.model_copy(update={"document_ids": chosen}),
            clarification,
            conversation=f"{who.user_id}/{conversation}" if conversation else "",
            profile=profile,
            picture=picture,
        )

    async def offered_tools(self, who: Principal) -> Mapping[str, AnyTool]:
        """The tools for programs: those of the knowledge base, and of networks that are loaded, if they may see one."""
        offered = await self.networks.offered_to(who)
        if not offered:
            return self.tools
        from app.network.tools import network_tools

        services = ToolServices(self.retrieval, record_content=self.settings.record_content)
        return {**self.tools, **network_tools(services, self.queries, offered)}

    def book(self) -> CitationBook:
        """A new citation book, for one answer."""
        return CitationBook(self.run_url, links_documents=self.settings.serve_documents)

    def run_url(self, run_id: str) -> str | None:
        """The page of a pipeline run in the Dagster UI; ``None`` if Dagster did not execute the run."""
        return run_url(self.dagster_url, run_id)

    async def close(self) -> None:
        """Close connections, files and threads."""
        await self.investigations.close()
        await self.networks.close()
        await self.chosen_model.close()
        await self.usual_answerer.close()
        if self.web:
            await self.web.close()
        await self.loose_questions.close()
        await self.conversations.close()
        self.references.close()
        await asyncio.to_thread(self.own_findings.close)
        await asyncio.to_thread(self.contributing.close)
        await asyncio.to_thread(self.pictures.close)
        await asyncio.to_thread(self.picture_reader.close)
        await asyncio.to_thread(self.retrieval.close)


def run_url(dagster_url: str, run_id: str) -> str | None:
    """The page of a run below the address of the Dagster UI; ``None`` if Dagster did not execute the run."""
    return f"{dagster_url}/runs/{run_id}" if _DAGSTER_RUN.fullmatch(run_id) else None


def _without_control_characters(text: str) -> str:
    """The text without control characters; lone surrogates become question marks."""
    whole = text.encode("utf-8", "replace").decode()
    return "".join(char for char in whole if char in "\n\t" or unicodedata.category(char) != "Cc")


def open_service(settings: AppSettings, knowledge_base: Settings) -> AgentService:
    """Open all parts from the settings; nothing is read from the index yet."""
    # a reader does not wait as long for an embedding as a pipeline run
    seconds = min(knowledge_base.service_timeout_seconds, settings.chat_timeout_seconds)
    workspace = open_workspace(knowledge_base.model_copy(update={"service_timeout_seconds": seconds}))
    retrieval = Retrieval(workspace, record_content=settings.record_content)
    articles = Articles(workspace.layout, workspace.deferred_titles)
    image_links = open_image_links(settings, workspace.layout)
    tools = open_tools(ToolServices(retrieval, record_content=settings.record_content), settings.tools)
    web = open_web(settings)
    queue = open_queue(knowledge_base)
    conversations = open_conversations(settings, knowledge_base)
    networks = Networks(knowledge_base)
    dagster_url = settings.dagster_url_of(knowledge_base)

    def investigator(network: Network, who: Principal) -> "Investigator":
        from app.network.opening import open_investigator  # with the rooms of networks

        book = CitationBook(partial(run_url, dagster_url), links_documents=settings.serve_documents)
        return open_investigator(settings, knowledge_base, network, retrieval, who, book)

    def answerer_for(settings: AppSettings) -> Answerer:
        return open_answerer(settings, retrieval, articles, web, tools)

    return AgentService(
        settings=settings,
        dagster_url=dagster_url,
        retrieval=retrieval,
        usual_answerer=answerer_for(settings),
        chosen_model=ChosenModel(settings, answerer_for),
        articles=articles,
        standings=Standings(workspace, articles),
        conversations=conversations,
        references=References(retrieval, articles),
        pictures=PagePictures(workspace.layout, knowledge_base.document_password),
        tools=tools,
        contributing=Contributing(queue, retrieval, articles),
        own_findings=OwnFindings(workspace, queue),
        loose_questions=LooseQuestions(
            conversations, records_content=settings.record_content, keeps_whole=settings.whole_questions
        ),
        picture_reader=PictureReader(),
        networks=networks,
        queries=NetworkQueries(networks),
        investigations=Investigations(
            networks,
            knowledge_base.home_path,
            investigator,
            articles,
            at_once=settings.runs_at_once,
            seconds=settings.run_seconds,
        ),
        image_links=image_links,
        web=web,
    )
