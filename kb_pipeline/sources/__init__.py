"""Sources read documents, in formats other than HTML, into the HTML that the converter turns into markdown.

One module each. Here: the source of a format. To add a format, write its module, and name it here and in
``steps/main_file``.
"""

from collections.abc import Callable
from functools import cache

from kb_pipeline.sources.base import DocumentLimits, Equipment, Source, SourceDocument

__all__ = ["DocumentLimits", "Equipment", "Source", "SourceDocument", "source_of"]


def _markdown() -> Source:
    from kb_pipeline.sources.markdown import MarkdownSource

    return MarkdownSource()


def _docx() -> Source:
    from kb_pipeline.sources.docx import DocxSource

    return DocxSource()


def _pdf() -> Source:
    from kb_pipeline.sources.pdf import PdfSource

    return PdfSource()


def _pptx() -> Source:
    from kb_pipeline.sources.pptx import PptxSource

    return PptxSource()


_SOURCES: dict[str, Callable[[], Source]] = {"markdown": _markdown, "docx": _docx, "pdf": _pdf, "pptx": _pptx}


@cache
def source_of(file_format: str) -> Source:
    """Return the source that reads a format of ``steps.main_file.DOCUMENTS``."""
    return _SOURCES[file_format]()
