"""Messages of the service for tests of what is shown of them."""

from typing import Any

from app.schema.answers import ChatAnswer
from app.schema.articles import ArticleSummary
from app.schema.passages import Citation, CitationOrigin, CitedImage
from app.schema.search import SearchResult

IMAGE = "/api/images/layers/images/crop.png"
ORIGIN = CitationOrigin(
    run_id="11111111-2222",
    run_url="http://127.0.0.1:3000/runs/11111111-2222",
    converter="local-2",
    content_hash="0123456789abcdef",
    embedding_model="hashing",
)


def citation(number: int = 1, **changed: Any) -> Citation:
    fields: dict[str, Any] = {
        "number": number,
        "chunk_id": f"layers-{number}",
        "article_id": "layers",
        "title": "Layers",
        "section": "Crop a layer",
        "heading_path": ("Layers", "Crop a layer"),
        "passage": f"Choose Crop to Content. Then press OK.\n\n> **[Image: crop]({IMAGE})**\n> A menu.",
        "images": (CitedImage(url=IMAGE, alt="crop"),),
        "score": 0.5,
        "origin": ORIGIN,
        "used": True,
        "quotes": ("Choose Crop to Content.",),
    }
    return Citation(**fields | changed)


def answer(text: str, *citations: Citation, **changed: Any) -> ChatAnswer:
    fields: dict[str, Any] = {"answer": text, "citations": citations, "answered_by": "extractive"}
    return ChatAnswer(**fields | changed)


def result(chunk_id: str, score: float, **changed: Any) -> SearchResult:
    fields: dict[str, Any] = {
        "chunk_id": chunk_id,
        "article_id": "layers",
        "title": "Layers",
        "section": chunk_id,
        "heading_path": ("Layers", chunk_id),
        "passage": f"Text of {chunk_id}.",
        "score": score,
    }
    return SearchResult(**fields | changed)


def summary(**changed: Any) -> ArticleSummary:
    return ArticleSummary(**{"article_id": "layers", "title": "Layers", "state": "published"} | changed)
