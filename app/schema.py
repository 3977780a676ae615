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
    ``quotes`` which of its sentences (exactly as they stand in ``passage``) support the answer. ``follows`` and
    ``precedes`` are numbers of found passages that it stands right beside, where it was not found itself.
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
    follows: int | None = None
    precedes: int | None = None


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


# --- quality -------------------------------------------------------------------------------------

QualityKind = Literal["retrieval", "answers"]
"""What is measured: what searches find, or what is answered."""


class QualityScore(Wire):
    """A measure over ``n`` questions with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int


class QualityRun(Wire):
    """What was measured of one state of the knowledge base.

    ``scores`` are by measure, then by group: "all", "paraphrase" (in other words), each kind of question. ``worse``
    says in what it was significantly worse than the run ``compared_with``; then it is ``accepted`` only by hand.
    ``tokens`` are those that models read and wrote for it, ``cost`` what they cost, where that is known.
    """

    id: str
    kind: QualityKind
    made_at: str
    generation: str
    commit: str = ""
    settings: dict[str, str] = {}
    question_sets: dict[str, int] = {}
    scores: dict[str, dict[str, QualityScore]]
    unknown_articles: tuple[str, ...] = ()
    tokens: int = 0
    cost: float | None = None
    accepted: bool = False
    accepted_by_hand: bool = False
    compared_with: str | None = None
    worse: tuple[str, ...] = ()


class QualityMeasure(Wire):
    """Something that is measured, always from 0 to 1, the more the better: what it is a share of, in a sentence."""

    name: str
    kind: QualityKind
    meaning: str


class QualityRuns(Wire):
    """All that was measured, oldest first; ``measures`` in the order in which they are best shown."""

    runs: tuple[QualityRun, ...]
    measures: tuple[QualityMeasure, ...]


class FoundPassage(Wire):
    """A passage that was found or referred to; ``title`` is its article's, ``right`` whether that answers."""

    article_id: str
    chunk_id: str
    title: str
    right: bool


class EvaluatedAnswer(Wire):
    """What was answered. ``unsupported`` are its statements that no passage it refers to holds the words of.

    ``failure`` says why there is no answer; ``grounded`` is a model's judgement with its ``reason``, if one was asked.
    """

    text: str
    refused: bool = False
    failure: str = ""
    unsupported: tuple[str, ...] = ()
    grounded: float | None = None
    reason: str = ""


class EvaluatedQuestion(Wire):
    """A question as it was asked, what was expected, and what came of it.

    ``article_id`` is ``None`` where nothing answers. Ranks begin at 1; ``values`` are the measures of this question,
    ``missed`` those of them that say it went wrong.
    """

    question_id: str
    asked: str
    paraphrase: bool = False
    kind: str
    article_id: str | None = None
    title: str | None = None
    section: str | None = None
    answer_span: str | None = None
    image: str | None = None
    found: tuple[FoundPassage, ...] = ()
    article_rank: int | None = None
    span_rank: int | None = None
    image_rank: int | None = None
    confidence: float | None = None
    values: dict[str, float] = {}
    missed: tuple[str, ...] = ()
    answer: EvaluatedAnswer | None = None


class QualityRunDetails(Wire):
    """A run with its questions, without those about articles that the asker may not see."""

    run: QualityRun
    questions: tuple[EvaluatedQuestion, ...]


class QualityChange(Wire):
    """A question that came out otherwise; ``changed``: neither lost nor won, but not the same either."""

    fate: Literal["lost", "won", "changed"]
    before: EvaluatedQuestion
    after: EvaluatedQuestion


class QualityComparison(Wire):
    """What changed from one run to another, over the questions that both asked.

    ``differences`` are by measure, after minus before. Changes leave out what the asker may not see.
    """

    before: QualityRun
    after: QualityRun
    questions: int
    differences: dict[str, QualityScore]
    changes: tuple[QualityChange, ...]
