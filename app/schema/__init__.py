"""What the service and its clients say to each other, beside the Responses protocol: one definition for both ends."""

from app.schema.answers import (
    AnsweredBy,
    ChatAnswer,
    ChatRequest,
    Citation,
    CitationOrigin,
    CitedImage,
    Passage,
    TokenUsage,
)
from app.schema.base import Problem, Wire
from app.schema.conversations import Conversation, ConversationSummary, Feedback, NewTitle, Turn
from app.schema.knowledge import Article, ArticleChunk, ArticleList, ArticleSummary, SearchResult, SearchResults
from app.schema.quality import (
    EvaluatedAnswer,
    EvaluatedQuestion,
    FoundPassage,
    QualityChange,
    QualityComparison,
    QualityKind,
    QualityMeasure,
    QualityRun,
    QualityRunDetails,
    QualityRuns,
    QualityScore,
)
from app.schema.service import Health, IndexHealth, Suggestions

__all__ = [
    "AnsweredBy",
    "Article",
    "ArticleChunk",
    "ArticleList",
    "ArticleSummary",
    "ChatAnswer",
    "ChatRequest",
    "Citation",
    "CitationOrigin",
    "CitedImage",
    "Conversation",
    "ConversationSummary",
    "EvaluatedAnswer",
    "EvaluatedQuestion",
    "Feedback",
    "FoundPassage",
    "Health",
    "IndexHealth",
    "NewTitle",
    "Passage",
    "Problem",
    "QualityChange",
    "QualityComparison",
    "QualityKind",
    "QualityMeasure",
    "QualityRun",
    "QualityRunDetails",
    "QualityRuns",
    "QualityScore",
    "SearchResult",
    "SearchResults",
    "Suggestions",
    "TokenUsage",
    "Turn",
    "Wire",
]
