"""The client: one method for each route of the service."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import unquote

import httpx
from pydantic import BaseModel, ValidationError

from app.client.answers import (
    NO_IMAGE,
    NOT_THE_SERVICE,
    TOO_LONG,
    AnswerStream,
    ClientError,
    SentPicture,
    ServiceDownError,
    open_answer,
    path_of,
    problem_of,
)
from app.client.network import NetworkClient
from app.client.service_token import ServiceToken
from app.grounding.citations import DOCUMENT_ROUTE, IMAGE_ROUTE
from app.schema.answers import ChatAnswer
from app.schema.articles import Article, ArticleList, ArticleSort, ArticleStatus, ArticleUse
from app.schema.asking import ChatRequest, CollectionList, Suggestions, picture_at
from app.schema.context import Backlog, KnowledgeContext, Mode
from app.schema.contributions import (
    Acceptance,
    ContributionDetails,
    ContributionList,
    NewContribution,
    NewUpload,
    Rejection,
)
from app.schema.conversations import (
    Conversation,
    ConversationList,
    Feedback,
    NewTitle,
    OpenedSource,
    Share,
    SharedAnswer,
)
from app.schema.documents import DocumentDetails, DocumentList, DocumentListParameters
from app.schema.gaps import GapDecided, KnowledgeGap, KnowledgeGapList
from app.schema.health import Health
from app.schema.models import ModelAddress, ModelChoice, ModelInUse, ModelTrial
from app.schema.permissions import Permissions
from app.schema.quality import QualityComparison, QualityKind, QualityRunDetails, QualityRuns, UseOfAnswers
from app.schema.search import SearchResults
from app.schema.usage import UsageReport
from app.schema.wire import Wire
from kb_pipeline.asking import NO_OPTIONS, AskOptions
from kb_pipeline.records import ContributionState, KnowledgeMode, SearchMode

_Message = TypeVar("_Message", bound=BaseModel)
SECONDS = 60.0
"""Seconds of silence: an answer sends something more often, also while a model thinks."""
_UPLOAD_SECONDS = 300.0
"""Files of others may be converted before."""
_KEPT_SECONDS = 2.0
"""How long an idle connection is used again: the service closes it after 5 s, and a request must not meet that."""


@dataclass(frozen=True, slots=True)
class ServedBytes:
    """A file from the service; without ``content`` if ``status`` is 304, not modified."""

    status: int
    content: bytes
    headers: Mapping[str, str]


class Client(NetworkClient):
    """A client of one service for one person. Threads can share it."""

    keeps_answers: ClassVar[bool] = True
    """Whether the service keeps the answers, so that they can be rated and shared."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        token: ServiceToken | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """``headers`` are sent with every request; behind Easy Auth they identify the person.

        ``token`` is the one of this process, for a service that asks for one.
        """
        self.url = url.rstrip("/")
        self._headers = dict(headers or {})
        self._token = token
        self._http = httpx.Client(
            base_url=self.url,
            headers=self._headers,
            auth=token,
            timeout=SECONDS,
            limits=httpx.Limits(keepalive_expiry=_KEPT_SECONDS),
            transport=transport,
        )

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- answers ---------------------------------------------------------------------------------

    def chat(self, question: str, options: AskOptions = NO_OPTIONS) -> ChatAnswer:
        """Answer a question that belongs to no conversation."""
        return self._send(ChatAnswer, "POST", "/chat", ChatRequest(question=question, **options.given()))

    def ask(
        self,
        question: str,
        options: AskOptions = NO_OPTIONS,
        *,
        conversation: str | None = None,
        picture: SentPicture | None = None,
    ) -> AbstractAsyncContextManager[AnswerStream]:
        """Stream the answer to a question; leaving the block early stops the answer.

        Raises:
            ClientError: the service refused the question or cannot be reached.
        """
        return open_answer(
            self.url,
            self._headers,
            SECONDS,
            question,
            conversation,
            options,
            token=self._token.fetch if self._token else None,
            picture=picture,
        )

    def picture(self, response_id: str) -> SentPicture:
        """The picture that the person sent with a question."""
        reply = self._request("GET", path_of("responses", response_id, "picture"))
        return SentPicture(reply.content, reply.headers.get("content-type", ""))

    def answer(self, response_id: str) -> ChatAnswer:
        """A finished answer with its citations."""
        return self._get(ChatAnswer, path_of("responses", response_id, "answer"))

    def feedback(self, response_id: str, feedback: Feedback) -> None:
        """Store a reader's rating of an answer."""
        self._request("POST", path_of("responses", response_id, "feedback"), feedback)

    def source_opened(self, response_id: str, number: int) -> None:
        """Count that a reader opened a source of an answer."""
        self._request("POST", path_of("responses", response_id, "opened"), OpenedSource(number=number))

    # --- conversations ---------------------------------------------------------------------------

    def conversations(self, *, limit: int = 50, after: str | None = None, search: str = "") -> ConversationList:
        """The person's conversations, newest first; ``search``: words of their titles or questions."""
        return self._get(ConversationList, "/api/conversations", limit=limit, after=after, search=search or None)

    def conversation(self, conversation_id: str) -> Conversation:
        """A conversation with all its turns."""
        return self._get(Conversation, path_of("conversations", conversation_id))

    def conversation_as_markdown(self, conversation_id: str) -> str:
        """A conversation with the sources of its answers, as the text of a Markdown file."""
        return self._request("GET", path_of("conversations", conversation_id, "markdown")).text

    def rename(self, conversation_id: str, title: str) -> Conversation:
        """Give a conversation another title."""
        return self._send(Conversation, "PATCH", path_of("conversations", conversation_id), NewTitle(title=title))

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation."""
        self._request("DELETE", path_of("conversations", conversation_id))

    def share(self, conversation_id: str, response_id: str) -> Share:
        """Make a link by which others may read an answer."""
        return self._send(Share, "POST", path_of("conversations", conversation_id, "shares", response_id))

    def take_back(self, conversation_id: str, response_id: str) -> None:
        """Take back the link of an answer."""
        self._request("DELETE", path_of("conversations", conversation_id, "shares", response_id))

    def shared(self, share_id: str) -> SharedAnswer:
        """The answer that a link leads to, as far as the person may read it."""
        return self._get(SharedAnswer, path_of("shares", share_id))

    # --- the knowledge base ----------------------------------------------------------------------

    def articles(
        self,
        search: str = "",
        *,
        status: ArticleStatus | None = None,
        document_type: str = "",
        department: str = "",
        since: date | None = None,
        sort: ArticleSort = "title",
        descending: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> ArticleList:
        """The articles with this status whose title, id or file name contains ``search``, that came in since then."""
        return self._get(
            ArticleList,
            "/api/articles",
            search=search,
            status=status,
            limit=limit,
            offset=offset,
            type=document_type or None,
            department=department or None,
            since=since.isoformat() if since else None,
            sort=sort if sort != "title" else None,
            descending=descending,
        )

    def documents(self, filters: DocumentListParameters | None = None) -> DocumentList:
        """The documents that meet the filters, the newest first."""
        parameters = (filters or DocumentListParameters()).model_dump(mode="json", exclude_defaults=True)
        return self._get(DocumentList, "/api/documents", **parameters)

    def document(self, article_id: str) -> DocumentDetails:
        """A document with its summaries."""
        return self._get(DocumentDetails, path_of("documents", article_id))

    def article(self, article_id: str, *, page: int | None = None, chunk: str | None = None) -> Article:
        """A published article; of a long document the part with this page or this chunk."""
        return self._get(Article, path_of("articles", article_id), page=page, chunk=chunk)

    def article_use(self, article_id: str) -> ArticleUse:
        """How often an article is cited, and the questions that it should have answered."""
        return self._get(ArticleUse, path_of("articles", article_id, "use"))

    def search(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid",
        top: int = 10,
        knowledge: KnowledgeMode | None = None,
    ) -> SearchResults:
        """Search for passages; ``knowledge`` is another mode than the service's own."""
        modes = [mode, knowledge] if knowledge else mode
        return self._get(SearchResults, "/api/search", q=query, mode=modes, top=top)

    def backlog(self, article_id: str) -> Backlog:
        """The items of an article's sections that are left for later."""
        return self._get(Backlog, path_of("articles", article_id, "backlog"))

    def context(
        self, articles: Sequence[str], *, mode: KnowledgeMode | None = None, tokens: int = 10_000
    ) -> KnowledgeContext:
        """What these articles say, as one text for another agent."""
        return self._get(KnowledgeContext, "/api/context", articles=list(articles), tokens=tokens, mode=mode)

    def mode(self) -> Mode:
        """The service's own mode, and whether it makes a difference to the person."""
        return self._get(Mode, "/api/mode")

    def collections(self) -> CollectionList:
        """The collections to which a question can be limited."""
        return self._get(CollectionList, "/api/collections")

    def suggestions(self) -> Suggestions:
        """Questions to start with."""
        return self._get(Suggestions, "/api/suggestions")

    def health(self) -> Health:
        """The state of the service."""
        return self._get(Health, "/health")

    def permissions(self) -> Permissions:
        """What the person may do beyond asking and reading."""
        return self._get(Permissions, "/api/me")

    def model(self) -> ModelInUse:
        """What words answers, and whether the person may choose another model."""
        return self._get(ModelInUse, "/api/model")

    def try_model(self, address: ModelAddress) -> ModelTrial:
        """Try a model with three small requests."""
        return self._send(ModelTrial, "POST", "/api/model/trial", json=_with_key(address))

    def choose_model(self, choice: ModelChoice) -> ModelInUse:
        """Let this model word the answers until the service ends."""
        return self._send(ModelInUse, "PUT", "/api/model", json=_with_key(choice))

    def forget_model(self) -> ModelInUse:
        """Answer as the service's settings say again."""
        return self._send(ModelInUse, "DELETE", "/api/model")

    def file(self, path: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> ServedBytes:
        """An image, an original file, the picture of a page or of a question at a percent-encoded path of the service.

        ``headers`` are for this request only; with those of ranges and validators the status may be 206, 304 or 416.
        """
        plain = unquote(path.partition("?")[0])
        if ".." in plain.split("/") or not (plain.startswith((IMAGE_ROUTE, DOCUMENT_ROUTE)) or picture_at(plain)):
            raise ClientError(NO_IMAGE, 404)
        reply = self._request(method, path, headers=dict(headers or {}), accepted=(200, 206, 304, 416))
        return ServedBytes(reply.status_code, reply.content, reply.headers)

    # --- contributions ---------------------------------------------------------------------------

    def contributions(
        self, state: ContributionState | None = None, *, limit: int = 50, offset: int = 0
    ) -> ContributionList:
        """The contributions that the person may see, the newest first."""
        return self._get(ContributionList, "/api/contributions", state=state, limit=limit, offset=offset)

    def contribution(self, contribution_id: str) -> ContributionDetails:
        """A contribution with what accepting it would change."""
        return self._get(ContributionDetails, path_of("contributions", contribution_id))

    def contribute(self, new: NewContribution) -> ContributionDetails:
        """Propose knowledge, or only check a draft."""
        return self._send(ContributionDetails, "POST", "/api/contributions", new)

    def upload(self, new: NewUpload, data: bytes) -> ContributionDetails:
        """Hand in a file as a whole article."""
        return self._send(
            ContributionDetails,
            "POST",
            "/api/uploads",
            params=new.model_dump(exclude_defaults=True),
            content=data,
            headers={"content-type": "application/octet-stream"},
            timeout=_UPLOAD_SECONDS,
        )

    def accept(self, contribution_id: str, acceptance: Acceptance) -> ContributionDetails:
        """Put a contribution into the staging folder."""
        return self._send(ContributionDetails, "POST", path_of("contributions", contribution_id, "accept"), acceptance)

    def reject(self, contribution_id: str, reason: str) -> ContributionDetails:
        """Reject a contribution."""
        path = path_of("contributions", contribution_id, "reject")
        return self._send(ContributionDetails, "POST", path, Rejection(reason=reason))

    # --- quality ---------------------------------------------------------------------------------

    def quality_runs(self, kind: QualityKind | None = None) -> QualityRuns:
        """All evaluation runs, or those of one kind, oldest first."""
        return self._get(QualityRuns, "/api/quality/runs", kind=kind)

    def use_of_answers(self) -> UseOfAnswers:
        """How the answers of the last month were used."""
        return self._get(UseOfAnswers, "/api/quality/use")

    def quality_run(self, run_id: str) -> QualityRunDetails:
        """An evaluation run with the outcome of each question."""
        return self._get(QualityRunDetails, path_of("quality", "runs", run_id))

    def compare_quality(self, before: str, after: str) -> QualityComparison:
        """The questions whose outcome differs between two runs."""
        return self._get(QualityComparison, "/api/quality/compare", before=before, after=after)

    def usage(self) -> UsageReport:
        """How the knowledge base was used in the last weeks; for reviewers."""
        return self._get(UsageReport, "/api/usage")

    def gaps(self, *, now: bool = False, dismissed: bool = False) -> KnowledgeGapList:
        """What was asked and not answered, most asked first: as of last night, or as of now, for reviewers."""
        return self._get(KnowledgeGapList, "/api/gaps", now=now, dismissed=dismissed)

    def gap(self, gap_id: str, *, whole: bool = False) -> KnowledgeGap:
        """One gap, for reviewers; ``whole``: with the last question as it was written, if that is kept."""
        return self._get(KnowledgeGap, path_of("gaps", gap_id), whole=whole)

    def decide_gap(self, gap_id: str, decided: GapDecided) -> KnowledgeGap:
        """Assign or dismiss a gap, for reviewers."""
        return self._send(KnowledgeGap, "PUT", path_of("gaps", gap_id), decided)

    # --- requests --------------------------------------------------------------------------------

    def _get(self, kind: type[_Message], path: str, /, **params: Any) -> _Message:
        """Read what is at a path; parameters that are ``None`` are not sent."""
        query = {name: value for name, value in params.items() if value is not None}
        return self._send(kind, "GET", path, params=query)

    def _send(
        self, kind: type[_Message], method: str, path: str, message: Wire | None = None, **options: Any
    ) -> _Message:
        reply = self._request(method, path, message, **options)
        try:
            return kind.model_validate_json(reply.content)
        except ValidationError as exc:
            raise ClientError(NOT_THE_SERVICE, reply.status_code) from exc

    def _request(
        self,
        method: str,
        path: str,
        message: Wire | None = None,
        *,
        accepted: tuple[int, ...] = (200, 201, 204),
        **options: Any,
    ) -> httpx.Response:
        if message is not None:
            options["json"] = message.model_dump(mode="json")
        try:
            reply = self._http.request(method, path, **options)
        except httpx.TimeoutException as exc:
            raise ClientError(TOO_LONG) from exc
        except httpx.HTTPError as exc:
            raise ServiceDownError(self.url) from exc
        if reply.status_code not in accepted:
            raise ClientError(problem_of(reply), reply.status_code)
        return reply


def _with_key(address: ModelAddress) -> dict[str, Any]:
    """The message with its key, which no other form of it shows."""
    return {**address.model_dump(mode="json"), "api_key": address.api_key.get_secret_value()}
