"""The messages between the service and its clients, apart from the Responses protocol. Both sides use these classes."""

import re
from datetime import UTC, date, datetime
from operator import not_
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints

from kb_pipeline.records import (
    ContributionSource,
    ContributionState,
    ContributionType,
    DocumentSort,
    KnowledgeMode,
    PageBreak,
    SearchMode,
)


class Wire(BaseModel):
    """Base of all messages: immutable; unknown fields are ignored, so that a newer service can add fields."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Problem(Wire):
    """Why a request failed: ``message`` tells a person what happened and what to do."""

    code: str
    message: str


WHOLE_ANSWER = "whole_answer"
"""Key of a request's ``metadata``: with the value "true", a response carries the whole :class:`ChatAnswer`."""

AnsweredBy = Literal["agent", "retrieve-first", "extractive"]


class CitedImage(Wire):
    """A screenshot of a cited passage. ``url`` is below the service: ``/api/images/<article_id>/images/<stem>.png``."""

    url: str
    alt: str = ""


class Passage(Wire):
    """A passage of an article: ``passage`` is markdown whose images are URLs below the service.

    If the article is a document, ``filename`` is its file; if that has pages, ``pages`` are the numbers of those on
    which the passage stands, ``page_labels`` what is printed on each, and ``page_breaks`` where in ``passage`` each
    begins. The JSON of other articles has none of these fields.
    """

    chunk_id: str
    article_id: str
    title: str
    section: str
    heading_path: tuple[str, ...]
    passage: str
    images: tuple[CitedImage, ...] = ()
    score: float
    filename: str = Field(default="", exclude_if=not_)
    pages: tuple[int, ...] = Field(default=(), exclude_if=not_)
    page_labels: tuple[str, ...] = Field(default=(), exclude_if=not_)
    page_breaks: tuple[PageBreak, ...] = Field(default=(), exclude_if=not_)

    @property
    def file_for_readers(self) -> str:
        """The name of its file if that tells a reader anything, as ``index.md`` does not."""
        return "" if self.filename.startswith("index.") else self.filename

    @property
    def has_slides(self) -> bool:
        """Whether its pages are slides."""
        return self.filename.casefold().endswith(".pptx")

    @property
    def pages_in_words(self) -> str:
        """``page 3, 4``, or ``slide 3``: what is printed on its pages; nothing if it has none."""
        return f"{'slide' if self.has_slides else 'page'} {', '.join(self.page_labels)}" if self.page_labels else ""

    def page_at(self, offset: int) -> int | None:
        """The number of the page on which the character ``offset`` of the passage stands, if it has pages."""
        begun = [page_break.page for page_break in self.page_breaks if page_break.offset <= offset]
        return begun[-1] if begun else None

    def label_of(self, page: int) -> str:
        """What is printed on a page of the passage."""
        return dict(zip(self.pages, self.page_labels, strict=False)).get(page, str(page))


class CitationOrigin(Wire):
    """The provenance of a passage: pipeline run, converter with version, hash, embedding model.

    ``run_url`` is the run in the Dagster UI. ``generation`` is the id of the generation of the index in which the
    passage was found; ``None`` in answers from before it was kept.
    """

    run_id: str
    run_url: str | None = None
    converter: str
    content_hash: str
    embedding_model: str
    generation: str | None = None


CitationKind = Literal["article", "document", "web"]
"""What a passage is part of: an article that was HTML, a document with a file of its own, or a page of the web."""


class Citation(Passage):
    """A passage that was available for an answer. ``[Ref #number]`` in the answer refers to it; references count from 1
    in the order in which a reader meets them.

    ``used`` says whether the answer refers to it. ``quotes`` are the sentences of ``passage``, verbatim, that support
    the answer; ``quote_pages`` are the pages on which each or most of it stands, if the passage has pages, and
    ``answer_page`` is the page of the quote that says most of what was asked. ``kind`` is left out of the JSON of
    articles. ``document_url`` is the original file below the service, at that page, or else at the passage's first;
    there is none if the service keeps the files to itself. A page of the web
    has its address as ``source_url``, and ``fetched_at``, when it was read, in ISO 8601.
    """

    number: int
    source_url: str | None = None
    origin: CitationOrigin
    used: bool = False
    quotes: tuple[str, ...] = ()
    kind: CitationKind = Field(default="article", exclude_if=lambda kind: kind == "article")
    quote_pages: tuple[int, ...] = Field(default=(), exclude_if=not_)
    answer_page: int | None = Field(default=None, exclude_if=not_)
    document_url: str | None = Field(default=None, exclude_if=not_)
    fetched_at: str | None = Field(default=None, exclude_if=not_)

    @property
    def pages_for_readers(self) -> tuple[int, ...]:
        """The pages that a reader is told, each once: that of the answer first, else all of the passage."""
        of_quotes = self.quote_pages if self.answer_page is None else (self.answer_page, *self.quote_pages)
        return tuple(dict.fromkeys(of_quotes)) or self.pages

    @property
    def is_of_web(self) -> bool:
        """Whether this is a page of the web, and not of the knowledge base."""
        return self.kind == "web"

    @property
    def fetched(self) -> str:
        """When a page of the web was fetched, for people: ``10:41 UTC on 2026-03-04``; empty for all others."""
        if not self.fetched_at:
            return ""
        at = datetime.fromisoformat(self.fetched_at).astimezone(UTC)
        return f"{at:%H:%M} UTC on {at.date()}"


CitationStyle = Literal["ref", "source"]
"""How an answer refers to its passages: ``[Ref #3]``, or ``(Source: manual.pdf, S. 12)``."""


_Names = Annotated[tuple[Annotated[str, StringConstraints(min_length=1, max_length=200)], ...], Field(max_length=20)]


class Scope(Wire):
    """What a question is limited to: documents with one of these types, and departments, and topics.

    An empty list limits nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: _Names = Field(default=(), exclude_if=not_)
    department: _Names = Field(default=(), exclude_if=not_)
    topic: _Names = Field(default=(), exclude_if=not_)

    @property
    def in_words(self) -> str:
        """The scope as a person would name it: ``type Manual, department Sales or Support``."""
        named = ((name, getattr(self, name)) for name in ("type", "department", "topic"))
        return ", ".join(f"{name} {' or '.join(values)}" for name, values in named if values)


CollectionKind = Literal["type", "department", "topic"]


class Collection(Wire):
    """Documents that have a type, a department or a topic in common, but not all of them; ``documents`` counts them."""

    kind: CollectionKind
    name: str
    documents: int

    @property
    def scope(self) -> Scope:
        """What limits a question to this collection."""
        return Scope.model_validate({self.kind: (self.name,)})


class CollectionList(Wire):
    """The collections to which a question can be limited: types, then departments, then topics."""

    collections: tuple[Collection, ...]


class ChatRequest(Wire):
    """A question without a conversation. ``citation_style`` is that of the service if it is not given.

    ``document_ids`` are the articles that the question is about, at most 7, as many as the options of a
    clarification. ``web``: answer from the web, if the service may search it. ``mode``: without sections that are left
    for later (poc), or with them; the service's own if it is not given. ``scope``: search in these documents only.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    top_k: int = Field(5, ge=1, le=50, strict=True)
    document_ids: tuple[str, ...] = Field(default=(), exclude_if=not_)
    citation_style: CitationStyle | None = None
    web: Annotated[bool, Field(strict=True)] = False
    mode: KnowledgeMode | None = Field(default=None, exclude_if=not_)
    scope: Scope | None = Field(default=None, exclude_if=not_)


class TokenUsage(Wire):
    """The tokens that the model read and wrote."""

    input_tokens: int = 0
    output_tokens: int = 0


QueryKind = Literal["CONTENT_SEARCH", "LISTING", "METADATA_SEARCH", "DOCUMENT_SUMMARY", "COMPARISON"]
"""What a question wants: passages, a list of documents, facts about documents, a summary, or documents side by side."""

PlanStatus = Literal["PENDING", "IN_PROGRESS", "COMPLETED", "FAILED"]


class PlanItem(Wire):
    """A step of a plan: an outcome, not a tool. ``position`` counts from 1; ``dependencies`` are positions before it.

    ``acceptance_criteria`` says what must be true of the outcome; code checks it.
    """

    position: int
    description: str
    acceptance_criteria: str
    dependencies: tuple[int, ...] = ()
    status: PlanStatus = "PENDING"


class Plan(Wire):
    """How a question of this kind is answered."""

    kind: QueryKind
    items: tuple[PlanItem, ...]

    def with_status(self, position: int, status: PlanStatus) -> "Plan":
        """The plan with one item in another status."""
        items = (
            item.model_copy(update={"status": status}) if item.position == position else item for item in self.items
        )
        return self.model_copy(update={"items": tuple(items)})


class DocumentOption(Wire):
    """A document that a question may mean. Facts that nobody says are empty, ``page_count`` is 0 without pages.

    ``reply`` is a text that chooses it, as a person would say it; its number does as well.
    """

    number: int
    article_id: str
    title: str
    filename: str = ""
    document_type: str = ""
    department: str = ""
    upload_date: str = ""
    page_count: int = 0
    reply: str = Field(default="", exclude_if=not_)


class Clarification(Wire):
    """The question that is asked back: which of 2 to 7 documents is meant.

    ``asked`` is the reader's question. ``allows_all``: all of them together are an answer as well.
    """

    question: str
    asked: str
    options: tuple[DocumentOption, ...]
    allows_all: bool = False


class ChatAnswer(Wire):
    """An answer with all passages that were available for it. ``searches`` are the queries in order.

    ``refused``: nothing in the knowledge base answers the question; the text says so, and may name what is close. Then
    ``ask_instead`` are questions that the closest sections answer. ``did_you_mean`` is the question with its spelling
    corrected, if that has an answer, or a better one than these passages.
    ``unsupported`` are the statements of the text that no passage bears out; each is marked in it. ``withdrawn``: the
    passages do not bear out what the model said, so quotations of them are, or follow, the answer.
    ``prompt_version`` is that of the model's instructions; ``None`` without a model. ``profile`` is the agent's profile
    that the request chose, if it is not the usual one. ``plan`` is how the question was answered, unless it was a plain
    search; ``clarification`` is what is asked back instead of an answer.
    ``offers_web`` is the name of what may be searched on the web, where the knowledge base has no answer. ``mode`` is
    what of the knowledge base was used, and ``scope`` in which documents was searched, if the request said it.
    ``follow_ups`` are questions that other sections of the cited articles answer.
    """

    answer: str
    citations: tuple[Citation, ...]
    answered_by: AnsweredBy
    model: str | None = None
    prompt_version: str | None = None
    profile: str | None = Field(default=None, exclude_if=not_)
    searches: tuple[str, ...] = ()
    usage: TokenUsage | None = None
    refused: bool = False
    did_you_mean: str | None = None
    ask_instead: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    withdrawn: bool = False
    plan: Plan | None = Field(default=None, exclude_if=not_)
    clarification: Clarification | None = Field(default=None, exclude_if=not_)
    offers_web: str | None = Field(default=None, exclude_if=not_)
    mode: KnowledgeMode | None = Field(default=None, exclude_if=not_)
    scope: Scope | None = Field(default=None, exclude_if=not_)
    follow_ups: tuple[str, ...] = Field(default=(), exclude_if=not_)


class ConversationSummary(Wire):
    """A conversation in a list. Times are ISO 8601 in UTC."""

    id: str
    title: str
    created_at: str
    updated_at: str
    turns: int


class ConversationList(Wire):
    """A page of conversations, the most recently continued first; ``next`` is the ``after`` of the next page."""

    conversations: tuple[ConversationSummary, ...]
    next: str | None


class Feedback(Wire):
    """A reader's rating of an answer."""

    rating: Literal["up", "down"]
    comment: Annotated[str, StringConstraints(strip_whitespace=True, max_length=4000)] = ""


UNANSWERED = "there is no answer: it is still being written, or was cut off when the service stopped; ask again"
"""The problem of a turn whose result is not stored, or not yet."""


class TextPiece(Wire):
    """A piece of two compared texts, with its line breaks: in both, only in the earlier, or only in the later one.

    "skipped" stands for lines that are in both and not shown; its ``text`` is empty.
    """

    change: Literal["same", "removed", "added", "skipped"]
    text: str = ""


class StaleReference(Wire):
    """A citation whose section does not read as it did when the answer was given; ``number`` is the citation's.

    "changed": ``difference`` leads from the cited passage to what stands there now. "gone": nothing like it is there,
    or nothing that the caller may see; the two look the same.
    """

    number: int
    state: Literal["changed", "gone"]
    difference: tuple[TextPiece, ...] = ()


def with_picture_text(question: str, text: str) -> str:
    """A question with what was read on its picture: the first line is the reader's own, which counts most."""
    return f"{' '.join(question.split())}\n{' '.join(text.split())}" if text else question


ABOUT_A_PICTURE = "What is this?"
"""What a picture without a word asks."""

_PICTURE = re.compile(r"/api/responses/([A-Za-z0-9_-]{1,128})/picture")


def picture_path(response_id: str) -> str:
    """Where the service has the picture that came with a question."""
    return f"/api/responses/{response_id}/picture"


def picture_at(path: str) -> str | None:
    """The id of the response whose picture is at an address; ``None`` if it is another address."""
    found = _PICTURE.fullmatch(path)
    return found[1] if found else None


class AskedPicture(Wire):
    """A picture that came with a question, which is at ``/api/responses/<id>/picture``; ``text`` was read on it."""

    width: int
    height: int
    text: str = ""


class Turn(Wire):
    """A question and its answer. If ``answer`` is ``None``, ``problem`` says why.

    ``stale`` are the references of the answer that are not what they were; it is not stored.
    """

    response_id: str
    asked_at: str
    question: str
    picture: AskedPicture | None = Field(default=None, exclude_if=not_)
    answer: ChatAnswer | None = None
    problem: str | None = None
    feedback: Feedback | None = None
    stale: tuple[StaleReference, ...] = ()

    @property
    def in_words(self) -> str:
        """The question, and below it what was read on the picture that came with it."""
        return with_picture_text(self.question, self.picture.text if self.picture else "")

    @property
    def has_ended(self) -> bool:
        """Whether its result is stored: an answer, or why there is none."""
        return self.answer is not None or self.problem not in (None, UNANSWERED)


class Conversation(Wire):
    """A conversation with all its turns, oldest first.

    ``not_compared`` says why it is not known which references are stale; ``None`` if it is known.
    """

    id: str
    title: str
    created_at: str
    updated_at: str
    turns: tuple[Turn, ...]
    not_compared: str | None = None


class ComparedSection(Wire):
    """A section that an earlier answer or the answer of now refers to, by its number in each.

    ``state`` says how it reads now compared with then, as in :class:`StaleReference`; ``None`` if it was not cited then
    or could not be compared.
    """

    article_id: str
    title: str
    heading_path: tuple[str, ...]
    number_then: int | None = None
    number_now: int | None = None
    state: Literal["unchanged", "changed", "gone"] | None = None
    difference: tuple[TextPiece, ...] = ()


class Circumstance(Wire):
    """Something that answers are made with, then and now; ``None`` if there was none, or if it was not kept."""

    name: Literal["index generation", "answered by", "model", "prompt version", "profile"]
    then: str | None
    now: str | None


class AnswerThenAndNow(Wire):
    """A stored answer, and what would be answered to its question now.

    ``difference`` leads from the one text to the other; it is empty if they are the same. ``not_compared`` says why it
    is not known whether the sections have changed.
    """

    response_id: str
    asked_at: str
    question: str
    then: ChatAnswer
    now: ChatAnswer
    difference: tuple[TextPiece, ...]
    sections: tuple[ComparedSection, ...]
    circumstances: tuple[Circumstance, ...]
    not_compared: str | None = None


class NewTitle(Wire):
    """The new title of a conversation."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class ArticleSummary(Wire):
    """An article in a list. ``state`` says which text readers see: the newest, an older one, or none.

    ``page_count`` is 0 if it has no pages; facts that nobody says are empty, dates ISO 8601.
    """

    article_id: str
    title: str
    state: Literal["published", "behind", "failed", "pinned"]
    published_at: str | None = None
    images: int = 0
    chunks: int = 0
    error: str | None = None
    filename: str = ""
    document_type: str = ""
    department: str = ""
    author: str = ""
    upload_date: str = ""
    page_count: int = 0


ArticleSort = Literal["title", "file", "type", "pages", "date"]


class ArticleList(Wire):
    """A page of the matching articles; ``total`` counts all of them.

    ``document_types`` and ``departments`` are those of all articles that the caller may see, to choose from.
    """

    total: int
    articles: tuple[ArticleSummary, ...]
    document_types: tuple[str, ...] = ()
    departments: tuple[str, ...] = ()


_Values = Annotated[tuple[Annotated[str, StringConstraints(min_length=1, max_length=200)], ...], Field(max_length=50)]


class DocumentFilters(BaseModel):
    """The parameters of a list of documents. The newest come first, everything else in ascending order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: _Values = ()
    department: _Values = ()
    author: _Values = ()
    language: _Values = ()
    filename: _Values = ()
    since: date | None = None
    until: date | None = None
    sort: DocumentSort = "upload_date"
    descending: bool | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 20
    offset: Annotated[int, Field(ge=0, le=100_000)] = 0


class DocumentItem(Wire):
    """A document in a list; ``page_count`` is 0 if it has no pages, dates are ISO 8601."""

    article_id: str
    title: str
    filename: str
    document_type: str = ""
    department: str = ""
    author: str = ""
    language: str = ""
    upload_date: str = ""
    page_count: int = 0
    summary_brief: str = ""


class DocumentList(Wire):
    """A page of the documents that meet the filters; ``total`` counts all of them."""

    total: int
    documents: tuple[DocumentItem, ...]


class DocumentPassage(Wire):
    """Words of a document, and the page on which they stand, if it has pages."""

    text: str
    page: int | None = None


class DocumentDetails(DocumentItem):
    """A document: ``brief`` and ``standard`` are the sentences of its summaries, the latter in paragraphs."""

    summary_standard: str = ""
    brief: tuple[DocumentPassage, ...] = ()
    standard: tuple[tuple[DocumentPassage, ...], ...] = ()
    headings: tuple[DocumentPassage, ...] = ()
    source_url: str | None = None
    created: str = ""
    changed: str = ""


class BacklogPart(Wire):
    """A section that is left for later, and its bullets as text."""

    heading_path: tuple[str, ...]
    items: tuple[str, ...]


class Backlog(Wire):
    """What an article leaves for later; ``items`` are those of all sections, in the order of the text."""

    article_id: str
    title: str
    items: tuple[str, ...]
    sections: tuple[BacklogPart, ...]


class Mode(Wire):
    """The mode of questions that name none. ``has_backlog``: the caller may see sections that are left for later."""

    mode: KnowledgeMode
    has_backlog: bool


class ContextArticle(Wire):
    """An article in a context: how many of its sections are there whole, of how many."""

    article_id: str
    title: str
    sections: int
    of_sections: int


class KnowledgeContext(Wire):
    """What articles say, as markdown for a model, in at most as many tokens as asked for.

    ``tokens`` is a cautious estimate, as for all that models are given. ``is_cut``: something is left out at the end.
    """

    text: str
    mode: KnowledgeMode
    tokens: int
    is_cut: bool
    articles: tuple[ContextArticle, ...]


class ArticleChunk(Wire):
    """A chunk of the index; its images are URLs below the service."""

    chunk_id: str
    chunk_index: int
    heading_path: tuple[str, ...]
    content: str
    images: tuple[CitedImage, ...] = ()
    content_hash: str
    page_breaks: tuple[PageBreak, ...] = Field(default=(), exclude_if=not_)


class Article(Wire):
    """A published article: markdown whose images are URLs below the service.

    ``links`` maps link targets in it to ids of other articles. If it is a document, ``filename`` is its file, and
    ``document_url`` leads to it if readers may open it. If that has pages, ``page_breaks`` say where in ``markdown``
    each begins, and ``page_count`` how many there are; ``markdown`` and ``chunks`` may be only the part from
    ``first_page`` to ``last_page``.
    """

    article_id: str
    title: str
    source_url: str | None
    markdown: str
    images: tuple[CitedImage, ...]
    chunks: tuple[ArticleChunk, ...]
    links: dict[str, str] = Field(default_factory=dict)
    published_at: str | None
    run_id: str
    run_url: str | None
    converter: str
    content_hash: str
    filename: str = Field(default="", exclude_if=not_)
    document_url: str | None = Field(default=None, exclude_if=not_)
    page_breaks: tuple[PageBreak, ...] = Field(default=(), exclude_if=not_)
    page_count: int = Field(default=0, exclude_if=not_)
    first_page: int = Field(default=0, exclude_if=not_)
    last_page: int = Field(default=0, exclude_if=not_)


class SearchResult(Passage):
    """A hit with its scores; ``None`` if that search did not find it."""

    keyword_score: float | None = None
    vector_score: float | None = None


class SearchResults(Wire):
    """The hits of one search, best first."""

    query: str
    mode: SearchMode
    results: tuple[SearchResult, ...]


QualityKind = Literal["retrieval", "answers"]
"""What a run evaluates: search or answers."""


class QualityScore(Wire):
    """A measure over ``n`` questions with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int


class QualityRun(Wire):
    """An evaluation of one state of the knowledge base.

    ``scores`` are by measure, then by group: "all", "paraphrase", each kind of question. ``worse`` lists the measures
    that are significantly worse than in the run ``compared_with``; such a run can only be accepted manually.
    ``tokens`` counts what models read and wrote for it; ``cost`` is ``None`` if it is not known.
    """

    id: str
    kind: QualityKind
    made_at: str
    generation: str
    commit: str = ""
    settings: dict[str, str] = Field(default_factory=dict)
    question_sets: dict[str, int] = Field(default_factory=dict)
    scores: dict[str, dict[str, QualityScore]]
    unknown_articles: tuple[str, ...] = ()
    tokens: int = 0
    cost: float | None = None
    accepted: bool = False
    accepted_by_hand: bool = False
    compared_with: str | None = None
    worse: tuple[str, ...] = ()


class QualityMeasure(Wire):
    """A measure from 0 to 1, higher is better; ``meaning`` explains it in a sentence."""

    name: str
    kind: QualityKind
    meaning: str


class QualityRuns(Wire):
    """All runs, oldest first; ``measures`` are in display order."""

    runs: tuple[QualityRun, ...]
    measures: tuple[QualityMeasure, ...]


class FoundPassage(Wire):
    """A passage that was found or cited: the title of its article, and whether that article answers the question."""

    article_id: str
    chunk_id: str
    title: str
    right: bool


class EvaluatedAnswer(Wire):
    """An answer in an evaluation. ``unsupported`` are statements whose words are in no cited passage.

    ``failure`` says why there is no answer. ``grounded`` is a model's grade with its ``reason``, if a model graded it.
    """

    text: str
    refused: bool = False
    failure: str = ""
    unsupported: tuple[str, ...] = ()
    grounded: float | None = None
    reason: str = ""


class EvaluatedQuestion(Wire):
    """A question of an evaluation with the expected result and the outcome.

    ``article_id`` is ``None`` if no article answers. Ranks begin at 1. ``values`` are the measures of this question,
    ``missed`` the measures that failed.
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
    page: int | None = None
    found: tuple[FoundPassage, ...] = ()
    article_rank: int | None = None
    span_rank: int | None = None
    image_rank: int | None = None
    page_rank: int | None = None
    confidence: float | None = None
    values: dict[str, float] = Field(default_factory=dict)
    missed: tuple[str, ...] = ()
    answer: EvaluatedAnswer | None = None


class QualityRunDetails(Wire):
    """A run with its questions, except those about articles that the caller may not see."""

    run: QualityRun
    questions: tuple[EvaluatedQuestion, ...]


class QualityChange(Wire):
    """A question whose outcome changed; ``changed`` means neither lost nor won."""

    fate: Literal["lost", "won", "changed"]
    before: EvaluatedQuestion
    after: EvaluatedQuestion


class QualityComparison(Wire):
    """The changes between two runs, over the questions that both asked.

    ``differences`` are by measure, after minus before. Changes that the caller may not see are left out.
    """

    before: QualityRun
    after: QualityRun
    questions: int
    differences: dict[str, QualityScore]
    changes: tuple[QualityChange, ...]


class KnowledgeGap(Wire):
    """Questions that ask the same and were not answered: how often they were asked, and when last (ISO 8601, UTC).

    ``question`` is how they were last worded; it is empty for callers who do not review, and where no content is
    recorded. ``refused``, ``closest`` and ``disliked`` count why they are here. ``article_id`` and ``title`` are those
    of the nearest article, if there is one that the caller may see.
    """

    question: str = ""
    count: int
    refused: int = 0
    closest: int = 0
    disliked: int = 0
    last_asked: str
    article_id: str | None = None
    title: str | None = None


class KnowledgeGapList(Wire):
    """The gaps of the last ``days`` days, most asked first. ``made_at`` is ``None`` if they were never looked for.

    ``is_reviewer``: the caller may see questions of others. ``records_content``: words of questions are kept.
    """

    made_at: str | None
    days: int
    questions: int = 0
    is_reviewer: bool = False
    records_content: bool = False
    gaps: tuple[KnowledgeGap, ...] = ()


class WebStatistics(Wire):
    """What conversations looked up on the web, as far as it is still kept; all 0 if the web is off.

    ``searches`` is the name of what is searched, "" if the web is off. ``hits`` were found again without a search,
    ``misses`` were not, ``entries`` are kept now. ``failures`` counts searches and pages that failed, by reason, since
    the service started.
    """

    searches: str = ""
    hits: int = 0
    misses: int = 0
    entries: int = 0
    failures: dict[str, int] = Field(default_factory=dict)


class ArticleUse(Wire):
    """How readers used an article in the ``days`` before ``made_at``, which is ``None`` if nobody looked yet.

    ``cited`` counts the answers that cite it. ``gaps`` are questions that nothing answered, to which it is nearest.
    """

    made_at: str | None
    days: int
    cited: int = 0
    gaps: tuple[KnowledgeGap, ...] = ()


class IndexHealth(Wire):
    """The state of the search index."""

    reachable: bool
    chunks: int = 0
    embedding_model: str | None = None
    generation: str | None = None
    problem: str | None = None


class NetworkHealth(Wire):
    """The network that is served, and until when its alerts go. ``reachable`` is ``None`` until somebody has looked."""

    backend: str
    scenario: str = ""
    vertices: int = 0
    edges: int = 0
    telemetry_until: str | None = None
    reachable: bool | None = None
    problem: str | None = None


class Health(Wire):
    """The state of the service. ``last_published_at`` is when an article was last published.

    ``network`` is there if a scenario is configured.
    """

    status: Literal["ok", "degraded"]
    version: str
    index: IndexHealth
    answered_by: AnsweredBy
    model: str | None
    vision: bool
    last_published_at: str | None = None
    network: NetworkHealth | None = None


class ModelAddress(Wire):
    """A language model at an endpoint that speaks OpenAI's protocol, or on Azure OpenAI, where it is a deployment.

    Without an ``endpoint``, OpenAI's own is meant; without a ``model``, one of those that the endpoint lists.
    """

    endpoint: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""
    model: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""
    api_key: SecretStr = Field(default=SecretStr(""), max_length=4000)


class ModelTrial(Wire):
    """What a model answered when it was tried. ``models`` are those that its endpoint lists, ``model`` the tried one.

    ``problem`` says why it cannot be used; empty if it can. ``seconds`` is the time of its first answer.
    """

    models: tuple[str, ...] = ()
    model: str = ""
    seconds: float | None = None
    calls_tools: bool = False
    sees_images: bool = False
    problem: str = ""


class ModelChoice(ModelAddress):
    """The model that words answers from now on, with what a trial found out about it."""

    model: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    calls_tools: bool = False
    sees_images: bool = False


class ModelInUse(Wire):
    """What words answers now. ``endpoint`` is the model's address, for those who may choose another.

    ``is_chosen``: somebody chose it while the service runs; otherwise the settings say it.
    """

    answered_by: AnsweredBy
    model: str | None
    endpoint: str = ""
    sees_images: bool = False
    is_chosen: bool = False
    may_choose: bool = False


class Suggestions(Wire):
    """Questions to start with, made from the headings of the articles."""

    questions: tuple[str, ...]


class NewContribution(Wire):
    """Knowledge that somebody proposes, as Markdown. ``draft``: it is only checked, and nothing is handed in.

    ``section`` is the heading under which it belongs; by default it follows from the type.
    """

    service: Annotated[str, StringConstraints(max_length=400)]
    description: Annotated[str, StringConstraints(max_length=400)]
    content: Annotated[str, StringConstraints(max_length=300_000)]
    type: Annotated[str, StringConstraints(max_length=100)] = "Pitfall"
    section: Annotated[str, StringConstraints(max_length=400)] = ""
    draft: bool = False


class ContributionItem(Wire):
    """A contribution in a list. Times are ISO 8601 in UTC.

    ``contributed_by`` is empty for what the service handed in by itself, after what ``source`` says. ``section`` is
    where it goes in the article ``article_id``, "" for the whole of it; both are empty for those who may not read that.
    ``reason`` is why it was rejected.
    """

    id: str
    state: ContributionState
    service: str
    type: ContributionType
    description: str
    source: ContributionSource
    contributed_by: str
    contributed_at: str
    article_id: str
    section: str
    decided_by: str = ""
    decided_at: str = ""
    reason: str = ""


class ContributionList(Wire):
    """Contributions that the caller may see, the newest first; all of them, or those in one state.

    ``counts`` are those of all states. ``may_review``: the caller may accept and reject.
    """

    total: int
    contributions: tuple[ContributionItem, ...]
    counts: dict[ContributionState, int]
    may_review: bool


class NearbyPassage(Wire):
    """A published passage about the same; ``similarity`` is the cosine of the meanings, at most 1."""

    chunk_id: str
    article_id: str
    title: str
    section: str
    similarity: float


class SimilarContribution(Wire):
    """A contribution that says about the same."""

    id: str
    description: str
    state: ContributionState
    similarity: float


class ContributionDetails(ContributionItem):
    """A contribution with its text and, as far as the caller may read the article, what accepting it would change.

    ``diff`` is a unified diff below the staging folder; ``problem`` says why it cannot be accepted as it is. Both are
    empty once it is decided. ``duplicates`` are named when it is handed in. ``published``: it was accepted, and is in
    a passage that the caller may read.
    """

    content: str
    content_hash: str
    nearest: tuple[NearbyPassage, ...] = ()
    duplicates: tuple[SimilarContribution, ...] = ()
    diff: str = ""
    problem: str = ""
    published: bool = False
    may_review: bool = False


class Acceptance(Wire):
    """How a contribution is accepted: in another section, or with its content edited."""

    section: Annotated[str, StringConstraints(max_length=400)] = ""
    content: Annotated[str, StringConstraints(max_length=300_000)] | None = None


class Rejection(Wire):
    """Why a contribution is rejected."""

    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
