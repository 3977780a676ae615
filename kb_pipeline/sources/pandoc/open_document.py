"""OpenDocument texts (ODF 1.3, of LibreOffice), read by pandoc.

Before pandoc sees a document, what it does not read is written as something that it does: the title, lines of code, and
what readers do not see, which is taken out.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from itertools import groupby
from typing import Any, ClassVar

from lxml import etree

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.sources.containers import check_container
from kb_pipeline.sources.office import DAMAGED, check_xml
from kb_pipeline.sources.pandoc.source import PandocSource
from kb_pipeline.wording import counted

_CONTENT, _STYLES, _META, _MANIFEST = "content.xml", "styles.xml", "meta.xml", "META-INF/manifest.xml"
_TYPE = "application/vnd.oasis.opendocument.text"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_TEXT, _STYLE = f"{{{_ODF}:text:1.0}}", f"{{{_ODF}:style:1.0}}"
_OFFICE, _DRAW, _ABOUT = f"{{{_ODF}:office:1.0}}", f"{{{_ODF}:drawing:1.0}}", f"{{{_ODF}:meta:1.0}}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_LEVEL = f"{_TEXT}outline-level"
_CONTENTS = (
    f"{_TEXT}table-of-content",
    *(f"{_TEXT}{name}-index" for name in ("alphabetical", "illustration", "table", "object", "user")),
)
_BLOCKS = (f"{_TEXT}p", f"{_TEXT}h", f"{_TEXT}list", f"{{{_ODF}:table:1.0}}table")
_FREED = "kb-freed"
_HREF = "{http://www.w3.org/1999/xlink}href"
_READ = frozenset(
    f"{_TEXT}{name}"
    for name in ("a", "bookmark-ref", "h", "hidden-text", "note-citation", "p", "reference-ref", "ruby-text", "span")
)
"""Elements with text that pandoc reads, or that readers do not see in a sentence."""
_CODE_STYLES = frozenset({"Preformatted_20_Text", "Source_20_Code", "HTML_20_Preformatted", "Code"})
_DEEPEST_STYLE = 20
"""Styles that inherit from each other; ends one that inherits from itself."""
_CODE, _BREAK, _SPACE = "\ue000", "\ue001", "\ue002"
"""Stand for the beginning of code, its line ends and its spaces, which pandoc would take for those of a sentence."""
_CODE_PARAGRAPH = re.compile(f"<p>{_CODE}([^<]*)</p>")
_MARKS = tuple(f"{_TEXT}{kind}{end}" for kind in ("bookmark", "reference-mark") for end in ("", "-start", "-end"))
_MOST_REFERENCES = 1_000
"""References within a document that are links. pandoc looks each up among all: 850 pages with 14,000 took over 200 s,
and 24 s without."""
_MOST_SPACES = 1_000
"""Spaces that one element stands for; it may claim billions."""


class OdtSource(PandocSource):
    """Reads OpenDocument texts."""

    reader: ClassVar[str] = "odt"
    shows_title: ClassVar[bool] = False
    names_languages: ClassVar[bool] = False

    def prepare(self, name: str, data: bytes) -> tuple[bytes, tuple[str, ...]]:
        check_container(name, data, _CONTENT)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as container:
                return _prepared(name, container)
        except DAMAGED as exc:
            reason = " ".join(str(exc).split())[:200]
            raise UnreadableArticleError(
                f"{name} is damaged ({type(exc).__name__}: {reason}); open it in LibreOffice and save it again"
            ) from exc

    def facts(self, data: bytes, said: object) -> DocumentFacts:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as container:
                about = _tree(_META, container.read(_META))
        except (*DAMAGED, UnreadableArticleError):  # they are only a convenience
            return DocumentFacts()
        texts = {each.tag: " ".join((each.text or "").split())[:300] for each in about.iter() if each.text}
        return DocumentFacts(
            author=texts.get(f"{_ABOUT}initial-creator", "") or texts.get(f"{_DC}creator", ""),
            created=_second(texts.get(f"{_ABOUT}creation-date", "")),
            changed=_second(texts.get(f"{_DC}date", "")),
            producer=texts.get(f"{_ABOUT}generator", ""),
        )

    def finish(self, html: str) -> str:
        """Write code as what it is."""
        return _CODE_PARAGRAPH.sub(
            lambda code: f"<pre><code>{code[1].replace(_BREAK, chr(10)).replace(_SPACE, ' ')}</code></pre>", html
        )


def _second(date: str) -> str:
    """A date without fractions of a second, which other formats have not."""
    return re.sub(r"\.\d+", "", date) if re.match(r"\d{4}-\d\d-\d\d", date) else ""


def _prepared(name: str, container: zipfile.ZipFile) -> tuple[bytes, tuple[str, ...]]:
    names = set(container.namelist())
    kind = container.read("mimetype").decode("ascii", "replace").strip() if "mimetype" in names else _TYPE
    if not kind.startswith(_TYPE):
        raise UnreadableArticleError(f"{name} is another kind of document ({kind[:100]!a}); rename it")
    if _MANIFEST in names and b"encryption-data" in container.read(_MANIFEST):
        raise UnreadableArticleError(f"{name} needs a password; save it without one")
    content = _tree(name, container.read(_CONTENT))
    styles = _Styles([_tree(name, container.read(_STYLES))] if _STYLES in names else [], content)
    hidden = _take_out_unseen(content, styles)
    _free_boxes(content)
    _spell_fields(content)
    _raise_title(content, styles)
    _join_code(content, styles)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as changed:
        for entry in container.infolist():
            if entry.filename == _CONTENT:
                changed.writestr(_CONTENT, etree.tostring(content, encoding="UTF-8", xml_declaration=True))
            elif not entry.is_dir():
                changed.writestr(entry.filename, container.read(entry))
    return written.getvalue(), (f"{counted(hidden, 'word')} that readers do not see left out",) if hidden else ()


def _tree(name: str, xml: bytes) -> Any:  # noqa: ANN401 - an element of lxml
    """Parse a part as ``safe_tree`` does, also if an identifier is there twice or is none."""
    check_xml(name, xml)
    return etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True, collect_ids=False))


class _Styles:
    """What each style is based on, and which hide their text."""

    def __init__(self, others: list[Any], content: Any) -> None:  # noqa: ANN401 - an element of lxml
        self._parents: dict[str, str] = {}
        self._hiding: set[str] = set()
        for style in (each for tree in (*others, content) for each in tree.iter(f"{_STYLE}style")):
            own = style.get(f"{_STYLE}name") or ""
            self._parents[own] = style.get(f"{_STYLE}parent-style-name") or ""
            properties = style.find(f"{_STYLE}text-properties")
            if properties is not None and properties.get(f"{_TEXT}display") == "none":
                self._hiding.add(own)

    def line_of(self, element: Any) -> Iterator[str]:  # noqa: ANN401
        """Yield the style of an element and those that it is based on."""
        name = element.get(f"{_TEXT}style-name") or ""
        for _ in range(_DEEPEST_STYLE):
            if not name:
                return
            yield name
            name = self._parents.get(name, "")

    def hides(self, element: Any) -> bool:  # noqa: ANN401
        return not self._hiding.isdisjoint(self.line_of(element))

    def is_title(self, element: Any) -> bool:  # noqa: ANN401
        return "Title" in self.line_of(element)

    def is_code(self, element: Any) -> bool:  # noqa: ANN401
        return element.tag == f"{_TEXT}p" and not _CODE_STYLES.isdisjoint(self.line_of(element))


def _take_out_unseen(content: Any, styles: _Styles) -> int:  # noqa: ANN401
    """Remove hidden text, comments and lists of contents; return the number of words that were hidden."""
    hidden = [each for each in content.iter(f"{_TEXT}p", f"{_TEXT}h", f"{_TEXT}span") if styles.hides(each)]
    hidden += [each for each in content.iter(f"{_TEXT}section") if each.get(f"{_TEXT}display") == "none"]
    hidden += [
        paragraph
        for mark in content.iter(f"{_TEXT}hidden-paragraph")
        if mark.get(f"{_TEXT}is-hidden") == "true"
        for paragraph in mark.iterancestors(f"{_TEXT}p", f"{_TEXT}h")
    ]
    words = 0
    for element in hidden:
        words += len("".join(element.itertext()).split())
        _empty(element)
    for element in list(content.iter(f"{_OFFICE}annotation", *_CONTENTS)):
        _empty(element)
    return words


def _empty(element: Any) -> None:  # noqa: ANN401
    """Empty an element, but keep what stands behind it."""
    tail = element.tail
    for child in list(element):
        element.remove(child)
    element.text, element.tail = None, tail


def _free_boxes(content: Any) -> None:  # noqa: ANN401
    """Move the text of boxes and shapes behind the paragraph that they are bound to; captions stay at pictures."""
    etree.strip_tags(content, f"{_DRAW}g")
    for drawing in [each for each in content.iter() if str(each.tag).startswith(_DRAW) and _is_on_page(each)]:
        paragraph = drawing.makeelement(f"{_TEXT}p")
        drawing.getparent().replace(drawing, paragraph)
        paragraph.append(drawing)
    for block in [each for each in content.iter(*_BLOCKS) if each.getparent() is not None and _is_in_box(each)]:
        box = next(each for each in block.iterancestors() if each.tag.startswith(_DRAW))
        while (around := box.getparent()) is not None and around.tag.startswith(_DRAW):
            box = around
        if next(box.iter(f"{_DRAW}image", f"{_DRAW}object"), None) is not None:
            continue
        bound = next((each for each in box.iterancestors(f"{_TEXT}p", f"{_TEXT}h")), box)
        block.tail = None
        bound.getparent().insert(_end_of_boxes(bound, block), block)


def _is_on_page(drawing: Any) -> bool:  # noqa: ANN401
    """Whether a drawing is bound to a page and not to a paragraph."""
    return drawing.getparent().tag in (f"{_OFFICE}text", f"{_TEXT}section")


def _is_in_box(block: Any) -> bool:  # noqa: ANN401
    parent = block.getparent()
    return bool(parent.tag.startswith(_DRAW))


def _end_of_boxes(bound: Any, block: Any) -> int:  # noqa: ANN401
    """Return the place behind a paragraph and the blocks that came out of boxes in it before."""
    block.set(_FREED, "")
    parent, at = bound.getparent(), bound.getparent().index(bound) + 1
    while at < len(parent) and parent[at].get(_FREED) is not None:
        at += 1
    return int(at)


def _spell_fields(content: Any) -> None:  # noqa: ANN401
    """Write the text of fields, which pandoc does not know, as text; formulas are where it looks for them."""
    for paragraph in content.iter(f"{_TEXT}p", f"{_TEXT}h"):
        for part in paragraph.iterdescendants():
            is_field = not len(part) and part.text and str(part.tag).startswith(_TEXT)
            if is_field and part.tag not in _READ:
                part.tag = f"{_TEXT}span"
    references = list(content.iter(f"{_TEXT}reference-ref", f"{_TEXT}bookmark-ref"))
    if len(references) > _MOST_REFERENCES:
        for reference in references:
            reference.tag = f"{_TEXT}span"
        etree.strip_elements(content, *_MARKS, with_tail=False)
    for formula in content.iter(f"{_DRAW}object"):
        formula.set(_HREF, (formula.get(_HREF) or "").rstrip("/"))


def _raise_title(content: Any, styles: _Styles) -> None:  # noqa: ANN401
    """Make the title a heading, and the chapters headings below it."""
    title = next((each for each in content.iter(f"{_TEXT}p") if styles.is_title(each) and _words(each)), None)
    if title is None:
        return
    for heading in content.iter(f"{_TEXT}h"):
        level = heading.get(_LEVEL) or "1"
        heading.set(_LEVEL, str(int(level) + 1 if level.isdecimal() else 2))
    title.tag = f"{_TEXT}h"
    title.set(_LEVEL, "1")


def _words(element: Any) -> str:  # noqa: ANN401
    return "".join(element.itertext()).strip()


def _join_code(content: Any, styles: _Styles) -> None:  # noqa: ANN401
    """Make one paragraph of lines of code that follow each other."""
    parents = dict.fromkeys(each.getparent() for each in content.iter(f"{_TEXT}p") if styles.is_code(each))
    for parent in parents:
        for is_code, group in groupby(list(parent), lambda each: styles.is_code(each) and not _holds_more(each)):
            lines = list(group)
            if not is_code or not any(map(_words, lines)):
                continue
            text = _BREAK.join("".join(_code_in(line)) for line in lines)
            _empty(lines[0])
            lines[0].text = _CODE + text.replace(" ", _SPACE).strip(_BREAK)
            for line in lines[1:]:
                parent.remove(line)


def _holds_more(line: Any) -> bool:  # noqa: ANN401
    """Whether a line of code holds something that is no text, such as a picture or a note."""
    return next(line.iter(f"{_TEXT}note", f"{_DRAW}frame"), None) is not None


def _code_in(part: Any) -> Iterator[str]:  # noqa: ANN401
    if part.tag == f"{_TEXT}s":
        count = part.get(f"{_TEXT}c") or "1"
        yield " " * min(int(count) if count.isdecimal() else 1, _MOST_SPACES)
    elif part.tag == f"{_TEXT}tab":
        yield "\t".expandtabs(4)
    elif part.tag == f"{_TEXT}line-break":
        yield _BREAK
    yield re.sub(r"\s+", " ", part.text or "")
    for child in part:
        yield from _code_in(child)
        yield re.sub(r"\s+", " ", child.tail or "")
