"""A question on its own, and its answer with the passages that it rests on."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from app.schema.base import Wire

AnsweredBy = Literal["agent", "retrieve-first", "extractive"]


class CitedImage(Wire):
    """A screenshot of a cited passage. ``url`` is below the service: ``/api/images/<article_id>/images/<stem>.png``."""

    url: str
    alt: str = ""


class Passage(Wire):
    """A passage of an article: ``passage`` is markdown whose images are URLs below the service."""

    chunk_id: str
    article_id: str
    title: str
    section: str
    heading_path: tuple[str, ...]
    passage: str
    images: tuple[CitedImage, ...] = ()
    score: float


class CitationOrigin(Wire):
    """What made the passage: run of the pipeline, converter and its version, hash of the passage, embedding model.

    ``run_url`` leads to that run in the Dagster UI.
    """

    run_id: str
    run_url: str | None = None
    converter: str
    content_hash: str
    embedding_model: str


class Citation(Passage):
    """A passage that an answer could rest on; ``[Ref #number]`` in the answer leads here.

    ``used`` says whether the answer refers to it,
    ``quotes`` which of its sentences (exactly as they stand in ``passage``) support the answer. ``follows`` and
    ``precedes`` are numbers of found passages that it stands right beside, where it was not found itself.
    """

    number: int
    source_url: str | None = None
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
