"""What Office documents have in common: the parts in which they say what they are, and the images inside them."""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from itertools import islice
from typing import Any
from xml.parsers.expat import ExpatError

from lxml import etree

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.steps.fingerprint import sha256

_CORE, _PROGRAM = "docProps/core.xml", "docProps/app.xml"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_EXTENDED = "{http://schemas.openxmlformats.org/officeDocument/2006/extended-properties}"
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?")
_LONGEST = 300
"""Characters of a fact."""
_FIRST_LINES, _TITLE_LINES = 40, 3
"""Lines among which a title stands, and those that it may have."""
_ENDINGS = {"image/jpeg": ".jpg", "image/svg+xml": ".svg", "image/tiff": ".tif", "image/x-png": ".png"}
_METAFILE = re.compile(r"image/(?:x-)?(emf|wmf|emz|wmz|pict)$", re.IGNORECASE)


DAMAGED = (
    *(LookupError, ValueError, TypeError, AttributeError, NotImplementedError, OSError, EOFError),
    *(
        RecursionError,
        RuntimeError,
        OverflowError,
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        ExpatError,
        etree.LxmlError,
    ),
)
"""What zipfile, lxml and the readers of Office documents raise for parts that are missing or wrong."""


def name_of(element: Any) -> str:  # noqa: ANN401 - an element of lxml
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def number_of(text: str | None) -> float:
    """The number that an attribute states; 0 if it states none."""
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


class InsideImages:
    """The images that are inside a document; equal ones are one file."""

    def __init__(self, document: str) -> None:
        self._document = document
        self._names: dict[str, str] = {}
        self.files: dict[str, bytes] = {}

    def add(self, data: bytes, content_type: str) -> str:
        """Add an image, and return the name of its file."""
        digest = sha256(data)
        if digest not in self._names:
            kind = content_type.lower()
            ending = _ENDINGS.get(kind) or ("." + kind.removeprefix("image/") if kind.startswith("image/") else "")
            self._names[digest] = f"{self._document}/image{len(self._names) + 1}{ending}"
            self.files[self._names[digest]] = data
        return self._names[digest]


def metafile(content_type: str) -> str:
    """Return the name of the Windows or Macintosh format of a drawing that nothing here can draw; else ""."""
    match = _METAFILE.match(content_type)
    return match[1].lower() if match else ""


def safe_tree(name: str, xml: bytes) -> Any:  # noqa: ANN401 - an element of lxml
    """Parse a part of a document without entities and without the network.

    Raises:
        UnreadableArticleError: it defines entities.
        etree.XMLSyntaxError: it is no XML.
    """
    check_xml(name, xml)
    return etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True))


def check_xml(name: str, xml: bytes) -> None:
    """Check that a part of the document ``name`` defines no entities, which may grow beyond all bounds when used.

    Raises:
        UnreadableArticleError: it does.
    """
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise UnreadableArticleError(f"{name} is refused: it defines entities, which no Office program writes")


def title_and_facts(container: zipfile.ZipFile) -> tuple[str, DocumentFacts | None]:
    """Return what the document calls its title, and the facts; ``None`` if it tells none.

    Properties that cannot be read are as if they were not there: they are only a convenience.
    """
    core, program = _properties(container, _CORE), _properties(container, _PROGRAM)
    title = _text(core, f"{_DC}title")
    facts = DocumentFacts(
        author=_text(core, f"{_DC}creator"),
        created=_date(core, f"{_TERMS}created"),
        changed=_date(core, f"{_TERMS}modified"),
        producer=_text(program, f"{_EXTENDED}Application"),
    )
    return title, None if facts == DocumentFacts() else facts


def shown_title(title: str, lines: Iterable[str]) -> str:
    """Return the title if the document begins with it, in lines of its own; else "".

    Programs and templates write titles that nobody chose, in every language; readers never see them.
    """
    wanted = _letters(title)
    first = list(islice(filter(None, map(_letters, lines)), _FIRST_LINES))
    ends = ((at, at + count) for at in range(len(first)) for count in range(1, _TITLE_LINES + 1))
    return title if wanted and any("".join(first[at:end]) == wanted for at, end in ends) else ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def pages_said(container: zipfile.ZipFile) -> int:
    """Return the number of pages that the program counted when it wrote the document; 0 if it does not say."""
    pages = _text(_properties(container, _PROGRAM), f"{_EXTENDED}Pages")
    return int(pages) if pages.isdecimal() else 0


def _properties(container: zipfile.ZipFile, part: str) -> Any:  # noqa: ANN401 - an element of lxml
    try:
        return safe_tree(part, container.read(part))
    except (*DAMAGED, UnreadableArticleError):
        return etree.Element("none")


def _text(properties: Any, name: str) -> str:  # noqa: ANN401 - an element of lxml
    return " ".join((properties.findtext(name) or "").split())[:_LONGEST]


def _date(properties: Any, name: str) -> str:  # noqa: ANN401 - an element of lxml
    text = _text(properties, name)
    return text if _DATE.fullmatch(text) else ""
