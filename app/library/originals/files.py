"""Opens the original file of a published document for one person. HTTP is in :mod:`app.api.originals`."""

from functools import lru_cache

from upath import UPath

from app.callers.principal import Principal
from app.library.served_files import OpenedFile, Version, may_see, open_served, version_of
from kb_pipeline.errors import KnowledgeBaseError, TransientError
from kb_pipeline.flow.layers.serving_article import OCR_LINES, load_manifest
from kb_pipeline.records import PageLine, PageLines, ServedDocument
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.layout import Layout

_KEPT = 256
"""Documents whose manifests are remembered; that of a long one lists thousands of pages."""


class DocumentNotFoundError(KnowledgeBaseError):
    """There is no such document or page that this person may see; it does not say whether the document exists."""


def document_of(layout: Layout, article_id: str, who: Principal) -> ServedDocument:
    """The original file of an article that was a document.

    Raises:
        DocumentNotFoundError: there is no such article, it is no document, or this person may not see it.
        TransientError: the storage account that holds it does not answer.
    """
    try:
        document = _document(layout, article_id) if may_see(layout, article_id, who) else None
    except TransientError:
        raise
    except (KnowledgeBaseError, OSError, ValueError) as exc:
        raise not_found(article_id) from exc
    if document is None:
        raise not_found(article_id)
    return document


def is_scan(layout: Layout, article_id: str, page: int) -> bool:
    """Whether this page, counted from 1, of a document that :func:`document_of` returned was read by OCR.

    Raises:
        KnowledgeBaseError: its manifest cannot be read.
    """
    folder = layout.serving(article_id)
    version = version_of(folder / "manifest.json")
    return page in (_known(folder, version) if version else _facts_of(folder))[1]


def lines_on(layout: Layout, article_id: str, document: ServedDocument, page: int) -> tuple[PageLine, ...]:
    """What OCR read where on a page of the document that :func:`document_of` returned.

    Empty if the page is no scan, or if the file is not that of the version.

    Raises:
        TransientError: the storage account that holds it does not answer.
    """
    if not document.ocr_lines:
        return ()
    try:
        file = open_served(layout.serving(article_id), OCR_LINES, "application/json")
        data = b"".join(file.blocks())
        return PageLines.model_validate_json(data).pages.get(page, ()) if sha256(data) == document.ocr_lines else ()
    except TransientError:
        raise
    except (KnowledgeBaseError, OSError, ValueError):
        return ()


def open_document(layout: Layout, article_id: str, document: ServedDocument) -> OpenedFile:
    """Open the file that :func:`document_of` returned.

    Raises:
        DocumentNotFoundError: the file is not there, or not there any more.
        TransientError: the storage account that holds it does not answer.
    """
    try:
        return open_served(layout.serving(article_id), document.path, document.media_type)
    except TransientError:
        raise
    except (KnowledgeBaseError, OSError, ValueError) as exc:
        raise not_found(article_id) from exc


def file_name(document: ServedDocument) -> str:
    """The name that its author gave the file."""
    return document.path.rpartition("/")[2]


def not_found(article_id: str) -> DocumentNotFoundError:
    """The error for everything that a person may not see."""
    return DocumentNotFoundError(f"there is no document {article_id[:80]!r}")


def _document(layout: Layout, article_id: str) -> ServedDocument | None:
    folder = layout.serving(article_id)
    version = version_of(folder / "manifest.json")
    return (_known(folder, version) if version else _facts_of(folder))[0]


@lru_cache(maxsize=_KEPT)
def _known(folder: UPath, _version: Version) -> tuple[ServedDocument | None, frozenset[int]]:
    """Return the facts of a manifest that is read once: that of a long document lists thousands of pages."""
    return _facts_of(folder)


def _facts_of(folder: UPath) -> tuple[ServedDocument | None, frozenset[int]]:
    """Return the document of a manifest, and the pages of it that were read by OCR."""
    manifest = load_manifest(folder)
    return manifest.document, frozenset(page.number for page in manifest.pages if page.read_by == "ocr")
