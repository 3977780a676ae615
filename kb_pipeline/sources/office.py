"""What all Office documents say about themselves, in the same parts of their ZIP."""

import re
import zipfile
from typing import Any

from lxml import etree

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import DocumentFacts

_CORE, _PROGRAM = "docProps/core.xml", "docProps/app.xml"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_EXTENDED = "{http://schemas.openxmlformats.org/officeDocument/2006/extended-properties}"
_FORGOTTEN_TITLE = re.compile(
    r"(?:microsoft (?:word|powerpoint)|document|dokument|untitled|unbenannt)\b.{0,12}$"
    r"|powerpoint.pr[eä]sentation$|(?:slide|folie) \d+$|.*\.(?:docx?|pptx?)$",
    re.IGNORECASE,
)
"""What programs write as a title when nobody entered one."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?")
_LONGEST = 300
"""Characters of a fact."""


def safe_tree(name: str, xml: bytes) -> Any:  # noqa: ANN401 - an element of lxml
    """Parse a part of a document without entities and without the network.

    Raises:
        UnreadableArticleError: it defines entities.
        etree.XMLSyntaxError: it is no XML.
    """
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise UnreadableArticleError(f"{name} is refused: it defines entities, which no Office program writes")
    return etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True))


def title_and_facts(container: zipfile.ZipFile) -> tuple[str, DocumentFacts | None]:
    """Return the title that somebody entered, or "", and the facts; ``None`` if the document tells none.

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
    return "" if _FORGOTTEN_TITLE.match(title) else title, None if facts == DocumentFacts() else facts


def _properties(container: zipfile.ZipFile, part: str) -> Any:  # noqa: ANN401 - an element of lxml
    try:
        return safe_tree(part, container.read(part))
    except (KeyError, etree.XMLSyntaxError, UnreadableArticleError, zipfile.BadZipFile):
        return etree.Element("none")


def _text(properties: Any, name: str) -> str:  # noqa: ANN401 - an element of lxml
    return " ".join((properties.findtext(name) or "").split())[:_LONGEST]


def _date(properties: Any, name: str) -> str:  # noqa: ANN401 - an element of lxml
    text = _text(properties, name)
    return text if _DATE.fullmatch(text) else ""
