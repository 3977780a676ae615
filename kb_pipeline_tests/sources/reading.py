"""Converts what a source read as the pipeline does."""

from kb_pipeline.records import ImageInfo
from kb_pipeline.sources import SourceDocument
from kb_pipeline.steps.html import convert_document


def markdown_of(document: SourceDocument, *beside: str) -> str:
    """Return the markdown of a document; ``beside`` are the names of pictures in its folder."""
    names = (*document.images, *beside)
    images = {
        name: ImageInfo(file=name, sha256=f"{number:064}", width=400, height=300) for number, name in enumerate(names)
    }
    pages = [page.number for page in document.pages]
    return convert_document("guide", "guide", document.html, images, pages).markdown.strip()
