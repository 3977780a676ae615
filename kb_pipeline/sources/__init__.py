"""Sources read documents, in formats other than HTML, into the HTML that the converter turns into markdown.

One module each. Here: the source of a format. To add a format, write its module, and name it here and in
``steps/main_file``; or name a class of your own in ``KB_SOURCES``.
"""

from collections.abc import Callable, Sequence
from functools import cache

from kb_pipeline.errors import SettingsError
from kb_pipeline.plugins import find_opener
from kb_pipeline.sources.base import DocumentLimits, Equipment, Source, SourceDocument
from kb_pipeline.steps.main_file import add_formats

__all__ = ["DocumentLimits", "Equipment", "Source", "SourceDocument", "source_of", "use_sources"]


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


_NEVER = {".html", ".htm", ".json"}
"""Endings that no plug-in can have: a page and its metadata."""


@cache
def source_of(file_format: str) -> Source:
    """Return the source that reads a format: one of ``steps.main_file.DOCUMENTS``, or a plug-in by its name.

    Raises:
        SettingsError: the plug-in cannot be opened.
    """
    return find_opener("KB_SOURCES", file_format, _SOURCES, Source)()  # type: ignore[type-abstract]


def use_sources(names: Sequence[str]) -> None:
    """Read files with the endings of these plug-ins (``package.module:Class``) by them, in this process.

    Raises:
        SettingsError: one cannot be opened, or its endings are none.
    """
    formats: dict[str, str] = {}
    for name in names:
        if ":" not in name:
            raise SettingsError(f"KB_SOURCES has {name!r}; write package.module:Class of your own")
        endings = source_of(name).endings
        if wrong := [one for one in endings if one in _NEVER or not one.startswith(".") or one != one.lower()]:
            raise SettingsError(f"KB_SOURCES has {name!r}, whose ending {wrong[0]!r} is none; it must be like .epub")
        if not endings:
            raise SettingsError(f"KB_SOURCES has {name!r}, which has no endings; see kb_pipeline.sources.base")
        formats |= dict.fromkeys(endings, name)
    add_formats(formats)
