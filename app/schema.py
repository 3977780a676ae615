"""What the service and its clients say to each other, beside the Responses protocol: one definition for both ends."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kb_pipeline.records import SearchMode

AnsweredBy = Literal["agent", "retrieve-first", "extractive"]


class Wire(BaseModel):
    """Base of all messages: immutable; a newer service may say more than an older client knows."""

    model_config = ConfigDict(frozen=True, extra="ignore")


# --- answers -------------------------------------------------------------------------------------


class CitedImage(Wire):
    """A screenshot of a cited passage. ``url`` is below the service: ``/api/images/<article_id>/images/<stem>.png``."""

    url: str
    alt: str = ""


class CitationOrigin(Wire):
    """What made the passage: run of the pipeline, converter and its version, hash of the passage, embedding model.

    ``run_url`` leads to that run in the Dagster UI.
    """

    run_id: str
    run_url: str | None = None
    converter: str
    content_hash: str
    embedding_model: str


class Citation(Wire):
    """A passage that an answer could rest on; ``[Ref #number]`` in the answer leads here.

    ``passage`` is markdown whose images are URLs below the service. ``used`` says whether the answer refers to it,
    ``quotes`` which of its sentences (exactly as they stand in ``passage``) support the answer.
    """

    number: int
    chunk_id: str
    article_id: str
    title: str
    section: str
    heading_path: tuple[str, ...]
    passage: str
    images: tuple[CitedImage, ...] = ()
    source_url: str | None = None
    score: float
    origin: CitationOrigin
    used: bool = False
    quotes: tuple[str, ...] = ()


class ChatRequest(Wire):
    """A question on its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    top_k: int = Field(5, ge=1, le=50, strict=True)


class TokenUsage(Wire):
    """What the model was given and what it wrote, in its own tokens."""

    input_tokens: int = 0
    output_tokens: int = 0


class ChatAnswer(Wire):
    """An answer with everything that it could rest on. ``searches`` are the queries in order."""

    answer: str
    citations: tuple[Citation, ...]
    answered_by: AnsweredBy
    model: str | None = None
    searches: tuple[str, ...] = ()
    usage: TokenUsage | None = None


class Problem(Wire):
    """Why a request failed, for a person: what happened, what to do."""

    code: str
    message: str


# --- conversations -------------------------------------------------------------------------------


class ConversationSummary(Wire):
    """A conversation in a list. Times are ISO 8601 in UTC."""

    id: str
    title: str
    created_at: str
    updated_at: str
    turns: int


class Feedback(Wire):
    """What the reader thought of an answer."""

    rating: Literal["up", "down"]
    comment: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4000)] = ""


class Turn(Wire):
    """A question and what came of it; ``answer`` is ``None`` where there is none, ``problem`` then says why."""

    response_id: str
    asked_at: str
    question: str
    answer: ChatAnswer | None = None
    problem: str | None = None
    feedback: Feedback | None = None


class Conversation(Wire):
    """A conversation with all its turns, oldest first."""

    id: str
    title: str
    created_at: str
    updated_at: str
    turns: tuple[Turn, ...]


class NewTitle(Wire):
    """A conversation is renamed."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


# --- the knowledge base --------------------------------------------------------------------------


class ArticleSummary(Wire):
    """An article in a list. ``state`` is what a reader gets: the newest text, an older one, or none."""

    article_id: str
    title: str
    state: Literal["published", "behind", "failed", "pinned"]
    published_at: str | None = None
    images: int = 0
    chunks: int = 0
    error: str | None = None


class ArticleList(Wire):
    """A page of the articles that match, by title; ``total`` counts all of them."""

    total: int
    articles: tuple[ArticleSummary, ...]


class ArticleChunk(Wire):
    """A chunk as it lies in the index, its images as URLs below the service."""

    chunk_id: str
    chunk_index: int
    heading_path: tuple[str, ...]
    content: str
    images: tuple[CitedImage, ...] = ()
    content_hash: str


class Article(Wire):
    """An article as its readers see it: markdown whose images are URLs below the service.

    ``links`` are the link targets in it that lead to other articles, with the ids of those.
    """

    article_id: str
    title: str
    source_url: str | None
    markdown: str
    images: tuple[CitedImage, ...]
    chunks: tuple[ArticleChunk, ...]
    links: dict[str, str] = {}
    published_at: str | None
    run_id: str
    run_url: str | None
    converter: str
    content_hash: str


class SearchResult(Wire):
    """A hit with the scores of each search; ``None`` where that search did not find it."""

    chunk_id: str
    article_id: str
    title: str
    section: str
    heading_path: tuple[str, ...]
    passage: str
    images: tuple[CitedImage, ...] = ()
    score: float
    keyword_score: float | None = None
    vector_score: float | None = None


class SearchResults(Wire):
    """The hits of one search, best first."""

    query: str
    mode: SearchMode
    results: tuple[SearchResult, ...]


# --- the service ---------------------------------------------------------------------------------


class IndexHealth(Wire):
    """Whether questions can be searched for."""

    reachable: bool
    chunks: int = 0
    embedding_model: str | None = None
    generation: str | None = None
    problem: str | None = None


class Health(Wire):
    """What the service can do now. ``last_published_at`` is when an article last changed for readers."""

    status: Literal["ok", "degraded"]
    version: str
    index: IndexHealth
    answered_by: AnsweredBy
    model: str | None
    vision: bool
    last_published_at: str | None = None


class Suggestions(Wire):
    """Questions to begin with, made from what the articles are about."""

    questions: tuple[str, ...]
