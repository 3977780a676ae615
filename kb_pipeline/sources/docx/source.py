"""Word documents (Office Open XML, ECMA-376), read by mammoth.

Headings, lists with their numbers, tables with merged cells, footnotes, links, images, text boxes, equations, code.
Tracked insertions are kept and deletions left out, as are comments, footers and what readers do not see. What mammoth
does not read is written as something that it does before it sees the document: paragraphs by ``blocks``, what stands in
them by ``inside``.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from typing import Any, ClassVar, NamedTuple

import mammoth
from lxml import etree

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.sources.base import Source, SourceDocument
from kb_pipeline.sources.containers import check_container
from kb_pipeline.sources.docx.blocks import TITLE_CLASS, PlacedBlocks, place_blocks
from kb_pipeline.sources.docx.code import INLINE_CODE
from kb_pipeline.sources.docx.headers import insert_headers
from kb_pipeline.sources.docx.inside import (
    FORMULA,
    Graphics,
    choose_alternatives,
    free_boxes_and_pictures,
    mark_graphics,
    spell_out_equations,
    spell_out_runs,
)
from kb_pipeline.sources.docx.numbering import Numbering
from kb_pipeline.sources.docx.pages import MarkedPages, mark_pages
from kb_pipeline.sources.docx.styles import WordStyles, value
from kb_pipeline.sources.docx.tables import tidy_tables
from kb_pipeline.sources.docx.unseen import has_pictures_behind, leave_out_unseen
from kb_pipeline.sources.office import (
    DAMAGED,
    InsideImages,
    check_xml,
    metafile,
    pages_said,
    safe_tree,
    shown_title,
    title_and_facts,
)
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.wording import counted

_BODY, _RELATIONSHIPS = "word/document.xml", "word/_rels/document.xml.rels"

_CODE_STYLES = ("Verbatim Char", "HTML Code", "Source Text", "Code Char", "Inline Code", "HTML Typewriter")
_RUNS = "\n".join(
    [
        *(f"r[style-name='{name}'] => code" for name in _CODE_STYLES),
        f"r.{INLINE_CODE} => code",
        f"r.{FORMULA} => code:fresh",
    ]
)
_CONTENTS = re.compile(
    r"(?:toc|index|contents|user index|illustration index) ?\d|(?:toc|index|contents|figure index|table index) heading|"
    r"table of (?:figures|authorities)|toa heading|(?:figure|table) index \d",
    re.I,
)
"""Names of the styles in which Word and LibreOffice set contents, lists of figures and indexes, in every language."""
_HEADING_TAG = re.compile(r"(</?h)([1-5])(?=[ >])")
_TITLE_TAG = f'<h1 class="{TITLE_CLASS}">'
_ROOT = re.compile(rb"<(?:\w+:)?(footnotes|endnotes|hdr)[\s>]")
_LONGEST_HEAD = 10_000
"""Bytes of a part before its root element ends."""
_LETTERS = re.compile(r"[^\W_]")
_WORTH_A_WARNING = 0.02
"""Share of letters from which a loss is told; a few are counted otherwise on both sides."""


class DocxSource(Source):
    """Reads Word documents."""

    version: ClassVar[str] = f"docx-6+mammoth-{version('mammoth')}"

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        try:
            check_container(name, data, _BODY)
            prepared = _prepared(name, data)
            images = _Images(name)
            result = mammoth.convert_to_html(
                io.BytesIO(prepared.data),
                style_map=f"{prepared.blocks.style_map}\n{_RUNS}",
                convert_image=images.convert,
                include_embedded_style_map=False,
            )
        except UnreadableArticleError as exc:
            raise UnreadableArticleError(f"{article_id}: {exc}") from exc
        except DAMAGED as exc:
            reason = " ".join(str(exc).split())[:200]
            raise UnreadableArticleError(
                f"{article_id}: {name} is damaged ({type(exc).__name__}: {reason}); open it in Word and save it again"
            ) from exc
        written = prepared.marked.in_html(prepared.blocks.in_html(prepared.graphics.in_html(result.value)))
        body = _with_title_above(written)
        if not _LETTERS.search(re.sub(r"<[^>]*>", "", body)) and not images.inside.files:
            raise EmptyArticleError(f"{article_id}: {name} holds no text and no image")
        head = f"<head><title>{escape(prepared.title)}</title></head>"
        return SourceDocument(
            f"<html>{head}<body>{body}</body></html>",
            images=images.inside.files,
            warnings=(
                *images.warnings,
                *_unread(name, prepared.graphics.unread, "chart or diagram", "charts or diagrams"),
                *_unread(name, prepared.embedded, "embedded document", "embedded documents"),
                *_left_out(prepared.unseen),
                *_lost_letters(name, prepared.letters, body),
            ),
            pages=prepared.marked.pages,
            facts=prepared.facts,
        )


class _Prepared(NamedTuple):
    """A document as mammoth reads all of it, and what is to be done with the HTML that it writes.

    ``letters`` are those of the original that readers see, and ``unseen`` is the number of words that they do not.
    ``embedded`` is the number of whole documents inside of it, which Word shows as its own text.
    """

    data: bytes
    letters: int
    unseen: int
    marked: MarkedPages
    blocks: PlacedBlocks
    graphics: Graphics
    embedded: int
    title: str
    facts: DocumentFacts | None


def _prepared(name: str, data: bytes) -> _Prepared:
    with zipfile.ZipFile(io.BytesIO(data)) as container:
        parts: dict[str, Any] = {}
        headers: dict[str, Any] = {}
        for entry in container.infolist():
            if entry.filename.endswith((".xml", ".rels")) and entry.filename != _BODY:
                xml = container.read(entry)
                check_xml(name, xml)  # mammoth reads them with entities
                if root := _ROOT.search(xml[:_LONGEST_HEAD]):
                    kept = headers if root[1] == b"hdr" else parts
                    kept[entry.filename] = safe_tree(name, xml)
        tree = parts[_BODY] = safe_tree(name, container.read(_BODY))
        beside = _Beside(name, container)
        styles = WordStyles(beside.part(beside.file_of("styles")))
        title, facts = title_and_facts(container)
        is_on_white = (
            next(tree.iter("{*}background"), None) is None
            and not has_pictures_behind(tree)
            and not any(has_pictures_behind(header, anywhere=True) for header in headers.values())
        )
        seen = [*parts.values(), *headers.values()]
        unseen = sum(leave_out_unseen(part, styles, is_on_white=is_on_white) for part in seen)
        for part in seen:
            choose_alternatives(part)
            spell_out_runs(part)
        _leave_out_contents(tree, styles)
        not_read = {text for element in tree.iter("{*}del", "{*}moveFrom") for text in element.iter("{*}t")}
        title = shown_title(title, map(_text_of, tree.iter("{*}p")))
        letters = sum(_letters_in(text.text) for text in tree.iter("{*}t") if text not in not_read)
        token = sha256(data)[:16]
        notes = [part for name, part in parts.items() if name != _BODY]
        for part in parts.values():
            free_boxes_and_pictures(part)
            tidy_tables(part, styles)
        graphics = mark_graphics(tree, token, beside.related)
        blocks = place_blocks(
            [tree, *notes], styles, Numbering(beside.part(beside.file_of("numbering")), styles), token
        )
        insert_headers(tree, [headers[part] for part in beside.headers(tree) if part in headers])
        marked = mark_pages(tree, token, pages_said(container))
        for part in parts.values():
            spell_out_equations(part)
        changed = io.BytesIO()
        with zipfile.ZipFile(changed, "w", zipfile.ZIP_STORED) as copy:
            for entry in container.infolist():
                if entry.filename == beside.file_of("numbering"):
                    continue  # all of it is in the text now
                part = parts.get(entry.filename)
                copy.writestr(entry.filename, container.read(entry) if part is None else etree.tostring(part))
    embedded = sum(1 for _ in tree.iter("{*}altChunk"))
    return _Prepared(changed.getvalue(), letters, unseen, marked, blocks, graphics, embedded, title, facts)


class _Beside:
    """The parts of a document that lie beside its text."""

    def __init__(self, name: str, container: zipfile.ZipFile) -> None:
        self._name, self._container = name, container
        self._files = set(container.namelist())
        relationships = self.part(_RELATIONSHIPS)
        inside = [
            one
            for one in (() if relationships is None else relationships.iter("{*}Relationship"))
            if value(one, "TargetMode") != "External"
        ]
        self._targets = {
            value(one, "Id"): posixpath.normpath(posixpath.join("word", value(one, "Target"))).removeprefix("/")
            for one in inside
        }
        self._kinds = {value(one, "Type").rpartition("/")[2]: self._targets[value(one, "Id")] for one in inside}

    def file_of(self, kind: str) -> str:
        """The path of the part that a document has once, such as its styles, wherever its program put it."""
        return self._kinds.get(kind, f"word/{kind}.xml")

    def part(self, file: str) -> Any | None:  # noqa: ANN401 - an element of lxml
        """A part by its path; ``None`` if it is not there."""
        return safe_tree(self._name, self._container.read(file)) if file in self._files else None

    def related(self, relationship: str) -> Any | None:  # noqa: ANN401
        """The part that a relationship of the text names."""
        return self.part(self._targets.get(relationship, ""))

    def headers(self, tree: Any) -> list[str]:  # noqa: ANN401
        """The paths of the headers of the pages, in the order of the sections, each once."""
        targets = (self._targets.get(value(one, "id"), "") for one in tree.iter("{*}headerReference"))
        return list(dict.fromkeys(targets))


def _leave_out_contents(tree: Any, styles: WordStyles) -> None:  # noqa: ANN401 - an element of lxml
    """Take the words of contents and indexes from a document, in place; the pages that begin there stay known."""
    for paragraph in tree.iter("{*}p"):
        if _CONTENTS.fullmatch(styles.name(styles.of_paragraph(paragraph))):
            for text in list(paragraph.iter("{*}t", "{*}tab")):
                text.getparent().remove(text)


class _Images:
    """Takes the images out of a document."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.inside = InsideImages(name)
        self.warnings: list[str] = []

    def convert(self, image: Any) -> Sequence[Any]:  # noqa: ANN401 - mammoth has no types
        alt = " ".join((image.alt_text or "").split())
        if kind := metafile(image.content_type or ""):
            self.warnings.append(f"a drawing in {self._name} is a Windows metafile ({kind}); insert it as PNG or SVG")
            return [mammoth.html.text(alt)] if alt else []
        try:
            with image.open() as opened:
                data = opened.read()
        except (ValueError, KeyError, OSError) as exc:  # linked, not embedded, or the part is missing
            self.warnings.append(f"an image of {self._name} is not inside it and was left out: {str(exc)[:200]}")
            return [mammoth.html.text(alt)] if alt else []
        file = self.inside.add(data, image.content_type or "image/png")
        return [mammoth.html.element("img", {"src": file, **({"alt": alt} if alt else {})})]


def _with_title_above(body: str) -> str:
    """Move all headings one level down if the document has a title paragraph: the title is above its chapters."""
    if _TITLE_TAG not in body:
        return body
    before, _, after = body.partition(_TITLE_TAG)
    end = after.index("</h1>")
    return f"{_lowered(before)}<h1>{after[:end]}</h1>{_lowered(after[end + 5 :])}"


def _lowered(html: str) -> str:
    return _HEADING_TAG.sub(lambda tag: f"{tag[1]}{int(tag[2]) + 1}", html.replace(_TITLE_TAG, "<h1>"))


def _unread(name: str, number: int, one: str, many: str) -> tuple[str, ...]:
    return (f"{counted(number, one, many)} of {name} cannot be read",) if number else ()


def _left_out(unseen: int) -> tuple[str, ...]:
    said = counted(unseen, "word that readers cannot see was", "words that readers cannot see were")
    return (f"{said} left out",) if unseen else ()


def _lost_letters(name: str, expected: int, body: str) -> tuple[str, ...]:
    letters = _letters_in(re.sub(r"<[^>]*>|&#?\w+;", "", body))
    if letters >= expected * (1 - _WORTH_A_WARNING):
        return ()
    return (f"{expected - letters:,} of {expected:,} letters of {name} stand where they are not read (shapes, charts)",)


def _text_of(paragraph: Any) -> str:  # noqa: ANN401 - an element of lxml
    return "".join(text.text or "" for text in paragraph.iter("{*}t"))


def _letters_in(text: str | None) -> int:
    return len(_LETTERS.findall(text or ""))
