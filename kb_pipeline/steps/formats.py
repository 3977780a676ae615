"""The formats of documents: the one list of their names, endings and media types, and of who reads them.

A new format is a class (``sources/base.py``) and an entry here; all else asks this list. It is data, because the names
of files are looked at long before a document is read, and by programs that never read one. Sources that settings name
(``KB_SOURCES``) say the same of themselves, and come first.
"""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

PDF = "application/pdf"
UNKNOWN = "application/octet-stream"
"""The media type of a file of which nothing is known: browsers save it."""
SHOWN_IN_BROWSERS = frozenset({PDF})
"""Media types of documents that browsers show by themselves, each in a sandbox of its own."""
_OFFICE = "application/vnd.openxmlformats-officedocument"


@dataclass(frozen=True)
class Format:
    """A format: its name, and the media type of each ending, in lower case with its dot.

    ``source`` is the class that reads it, ``package.module:Class``. ``part`` is what readers call a page of it, ""
    if the page's label says that; ``kind`` is what they call such a document in a question, if there is a word for it.
    ``standing`` says when it is an article: always; only where no other document lies in its folder, as a table that
    is an ``attachment``; or only where nothing else does, and never in a tree of pages, as a ``note``.
    """

    name: str
    media_types: Mapping[str, str]
    source: str
    part: str = "page"
    kind: str = ""
    standing: Literal["article", "attachment", "note"] = "article"


FORMATS = (
    Format(
        "markdown",
        {".md": "text/markdown", ".markdown": "text/markdown"},
        "kb_pipeline.sources.markdown:MarkdownSource",
    ),
    Format("docx", {".docx": f"{_OFFICE}.wordprocessingml.document"}, "kb_pipeline.sources.docx.source:DocxSource"),
    Format("pdf", {".pdf": PDF}, "kb_pipeline.sources.pdf.source:PdfSource", kind="pdf"),
    Format(
        "pptx",
        {".pptx": f"{_OFFICE}.presentationml.presentation"},
        "kb_pipeline.sources.slides.source:PptxSource",
        part="slide",
        kind="presentation",
    ),
    Format(
        "spreadsheet",
        {
            ".xlsx": f"{_OFFICE}.spreadsheetml.sheet",
            ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
            ".xls": "application/vnd.ms-excel",
            ".ods": "application/vnd.oasis.opendocument.spreadsheet",
            ".csv": "text/csv",
            ".tsv": "text/tab-separated-values",
        },
        "kb_pipeline.sources.sheets.source:SpreadsheetSource",
        part="",
        kind="spreadsheet",
        standing="attachment",
    ),
    Format(
        "odt", {".odt": "application/vnd.oasis.opendocument.text"}, "kb_pipeline.sources.pandoc.open_document:OdtSource"
    ),
    Format("rtf", {".rtf": "application/rtf"}, "kb_pipeline.sources.pandoc.rtf:RtfSource"),
    Format("epub", {".epub": "application/epub+zip"}, "kb_pipeline.sources.pandoc.epub:EpubSource"),
    Format("rst", {".rst": "text/x-rst"}, "kb_pipeline.sources.pandoc.page_sources:RstSource"),
    Format("org", {".org": "text/x-org"}, "kb_pipeline.sources.pandoc.page_sources:OrgSource"),
    Format(
        "asciidoc",
        {".adoc": "text/asciidoc", ".asciidoc": "text/asciidoc"},
        "kb_pipeline.sources.pandoc.asciidoc:AsciidocSource",
    ),
    Format("ipynb", {".ipynb": "application/x-ipynb+json"}, "kb_pipeline.sources.pandoc.notebook:NotebookSource"),
    Format("mail", {".eml": "message/rfc822"}, "kb_pipeline.sources.mail.source:MailSource"),
    Format("outlook", {".msg": "application/vnd.ms-outlook"}, "kb_pipeline.sources.mail.outlook:OutlookSource"),
    Format(
        "text",
        {".txt": "text/plain", ".text": "text/plain"},
        "kb_pipeline.sources.plain_text:TextSource",
        standing="note",
    ),
    Format(
        "picture",
        {
            ".png": "image/png",
            ".jpg": "image/jpeg",
            ".jpeg": "image/jpeg",
            ".webp": "image/webp",
            ".gif": "image/gif",
            ".tif": "image/tiff",
            ".tiff": "image/tiff",
        },
        "kb_pipeline.sources.picture:PictureSource",
        standing="note",
    ),
    Format(
        "recording",
        {".mp3": "audio/mpeg", ".wav": "audio/wav", ".m4a": "audio/mp4", ".ogg": "audio/ogg"},
        "kb_pipeline.sources.recording:RecordingSource",
        part="",
        kind="recording",
        standing="note",
    ),
)
_by_ending = {ending: each for each in FORMATS for ending in each.media_types}
_added: dict[str, Format] = {}
_NO_PICTURES = (
    *(".html", ".htm", ".json", ".css", ".js", ".xml", ".yaml", ".yml", ".woff", ".woff2", ".ttf"),
    *(".zip", ".gz", ".mp4", ".webm", ".mov"),
)


def add_formats(formats: Iterable[Format]) -> None:
    """Take files with these endings for documents, in this process: formats of plug-ins, instead of earlier ones."""
    _added.clear()
    _added.update({ending: each for each in formats for ending in each.media_types})


def document_format(name: str) -> Format | None:
    """Return the format of a document with this file name; ``None`` if it is none that is read."""
    ending = _ending(name)
    return _added.get(ending) or _by_ending.get(ending)


def endings() -> tuple[str, ...]:
    """The endings of all documents that are read."""
    return tuple({**_by_ending, **_added})


def endings_of(format_name: str) -> tuple[str, ...]:
    """The endings of one of :data:`FORMATS`."""
    return next(tuple(each.media_types) for each in FORMATS if each.name == format_name)


def media_type_of(name: str) -> str:
    """The media type of a document with this file name."""
    entry = document_format(name)
    return entry.media_types[_ending(name)] if entry else UNKNOWN


def part_of(name: str) -> str:
    """What readers call a page of the document with this file name."""
    entry = document_format(name)
    return entry.part if entry else "page"


def may_be_picture(name: str) -> bool:
    """Whether a file of an article can be one of its pictures. Their names need not tell: they may end in anything."""
    if document_format(name):
        return is_picture(name)
    return not name.lower().endswith(_NO_PICTURES)


def is_picture(name: str) -> bool:
    """Whether the document of this name is a picture: an article only if it lies loose, in a folder a part of one."""
    return media_type_of(name).startswith("image/")


def _ending(name: str) -> str:
    return posixpath.splitext(name)[1].lower()
