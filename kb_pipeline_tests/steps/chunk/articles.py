"""Small articles to chunk, and the words in them."""

import re

from kb_pipeline.records import Chunk, DocumentCounts, Manifest, Provenance
from kb_pipeline.steps.chunk import chunk_article


def manifest(article_id: str = "install-guide", title: str = "Install guide", **fields: object) -> Manifest:
    provenance = Provenance(
        content_hash="0",
        source_file="index.html",
        source_sha256="0",
        converter="local/1",
        image_model="m",
        prompt_version="1",
        run_id="run-1",
        created_at="",
    )
    return Manifest.model_validate(
        {
            "article_id": article_id,
            "title": title,
            "source_url": None,
            "language": "en",
            "key_topics": (),
            "access_control_list": (),
            "images": (),
            "article_links": (),
            "counts": DocumentCounts(),
            "decorative_images": 0,
            "unplaced_images": 0,
            "warnings": (),
            "provenance": provenance,
            **fields,
        }
    )


def count_words(text: str) -> int:
    return len(text.split())


def chunk(markdown: str, max_tokens: int = 1000, min_tokens: int = 0, **fields: object) -> list[Chunk]:
    """Chunk an article whose tokens are its words; ``fields`` are the manifest's."""
    return chunk_article(
        markdown, manifest(**fields), count_tokens=count_words, max_tokens=max_tokens, min_tokens=min_tokens
    )


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def sentence(word: str, length: int) -> str:
    """``length`` distinct words that start with ``word``."""
    return " ".join(f"{word}{i}" for i in range(length))


def image(stem: str, description: str = "A dialog.") -> str:
    return f"> **[Image: {stem}](images/{stem}.png)**\n> {description}\n> UI elements: OK, Cancel\n"
