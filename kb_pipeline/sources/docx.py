"""Word documents (Office Open XML, ECMA-376), read by mammoth.

Headings, lists, tables with merged cells, footnotes, links, images, text boxes, and code by the names of their styles.
Tracked insertions are kept and deletions left out; comments, headers, footers and what readers do not see are left out.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from importlib.metadata import version
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import mammoth  # type: ignore[import-untyped]
from lxml import etree

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import DocumentFacts
from kb_pipeline.sources.base import Source, SourceDocument
from kb_pipeline.sources.containers import check_container
from kb_pipeline.sources.docx_pages import MarkedPages, mark_pages
from kb_pipeline.sources.docx_unseen import has_pictures_behind, leave_out_unseen
from kb_pipeline.sources.office import (
    DAMAGED,
    InsideImages,
    check_xml,
    metafile,
    pages_said,
    safe_tree,
    title_and_facts,
)
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.wording import counted

_BODY, _STYLE_NAMES = "word/document.xml", "word/styles.xml"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

_TITLE_CLASS = "kb-title"
_CODE = ("Source Code", "Code", "Code Block", "HTML Preformatted", "Preformatted Text", "Plain Text", "Macro Text")
_INLINE_CODE = ("Verbatim Char", "HTML Code", "Source Text", "Code Char", "Inline Code", "HTML Typewriter")
_QUOTES = ("Quote", "Intense Quote", "Block Text", "Quotations")
_STYLES = "\n".join(
    chain(
        (f"p[style-name='Title'] => h1.{_TITLE_CLASS}:fresh", "p[style-name='Subtitle'] => p:fresh"),
        (f"p[style-name='{name}'] => pre:separator('\\n')" for name in _CODE),
        (f"r[style-name='{name}'] => code" for name in _INLINE_CODE),
        (f"p[style-name='{name}'] => blockquote > p:fresh" for name in _QUOTES),
    )
)
_CONTENTS = re.compile(
    r"(?:toc|index|contents|user index|illustration index) ?\d|(?:toc|index|contents|figure index|table index) heading|"
    r"table of (?:figures|authorities)|toa heading|(?:figure|table) index \d",
    re.I,
)
"""Names of the styles in which Word and LibreOffice set contents, lists of figures and indexes, in every language."""
_HEADING_TAG = re.compile(r"(</?h)([1-5])(?=[ >])")
_TITLE_TAG = f'<h1 class="{_TITLE_CLASS}">'
_ROOT = re.compile(rb"<(?:\w+:)?(footnotes|endnotes|hdr)[\s>]")
_LONGEST_HEAD = 10_000
"""Bytes of a part before its root element ends."""
_LETTERS = re.compile(r"[^\W_]")
_WORTH_A_WARNING = 0.02


class DocxSource(Source):
    """Reads Word documents."""

    version: ClassVar[str] = f"docx-4+mammoth-{version('mammoth')}"

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        try:
            check_container(name, data, _BODY)
            prepared = _prepared(name, data)
            images = _Images(name)
            result = mammoth.convert_to_html(
                io.BytesIO(prepared.data),
                style_map=_STYLES,
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
        body = _with_title_above(prepared.marked.in_html(result.value))
        if not _LETTERS.search(re.sub(r"<[^>]*>", "", body)) and not images.inside.files:
            raise EmptyArticleError(f"{article_id}: {name} holds no text and no image")
        head = f"<head><title>{escape(prepared.title)}</title></head>"
        return SourceDocument(
            f"<html>{head}<body>{body}</body></html>",
            images=images.inside.files,
            warnings=(*images.warnings, *_left_out(prepared.unseen), *_lost_letters(name, prepared.letters, body)),
            pages=prepared.marked.pages,
            facts=prepared.facts,
        )


class _Prepared(NamedTuple):
    """A document as mammoth reads all of it: with equations as text, text boxes as paragraphs, and marks of pages.

    ``letters`` are those of the original that readers see, and ``unseen`` is the number of words that they do not.
    """

    data: bytes
    letters: int
    unseen: int
    marked: MarkedPages
    title: str
    facts: DocumentFacts | None


def _prepared(name: str, data: bytes) -> _Prepared:
    with zipfile.ZipFile(io.BytesIO(data)) as container:
        parts: dict[str, Any] = {}
        others: list[Any] = []
        for entry in container.infolist():
            if entry.filename.endswith((".xml", ".rels")) and entry.filename != _BODY:
                xml = container.read(entry)
                check_xml(name, xml)  # mammoth reads them with entities
                if root := _ROOT.search(xml[:_LONGEST_HEAD]):
                    tree = safe_tree(name, xml)
                    if root[1] == b"hdr":
                        others.append(tree)
                    else:
                        parts[entry.filename] = tree
        tree = parts[_BODY] = safe_tree(name, container.read(_BODY))
        styles = safe_tree(name, container.read(_STYLE_NAMES)) if _STYLE_NAMES in container.namelist() else None
        title, facts = title_and_facts(container)
        is_on_white = (
            next(tree.iter("{*}background"), None) is None
            and not has_pictures_behind(tree)
            and not any(has_pictures_behind(header, anywhere=True) for header in others)
        )
        unseen = sum(leave_out_unseen(part, styles, is_on_white=is_on_white) for part in parts.values())
        for part in parts.values():
            _spell_out_runs(part)
        not_read = {
            text for element in chain(tree.iter("{*}del", "{*}moveFrom"), _twins(tree)) for text in element.iter("{*}t")
        }
        _leave_out_contents(tree, styles)
        letters = sum(_letters_in(text.text) for text in tree.iter("{*}t") if text not in not_read)
        marked = mark_pages(tree, sha256(data)[:16], pages_said(container))
        for equation in list(tree.iter(f"{_M}oMath")):
            _spell_out(equation)
        for box in list(_boxes(tree)):
            _put_below(box)
        changed = io.BytesIO()
        with zipfile.ZipFile(changed, "w", zipfile.ZIP_STORED) as copy:
            for entry in container.infolist():
                part = parts.get(entry.filename)
                copy.writestr(entry.filename, container.read(entry) if part is None else etree.tostring(part))
    return _Prepared(changed.getvalue(), letters, unseen, marked, title, facts)


def _leave_out_contents(tree: Any, styles: Any) -> None:  # noqa: ANN401 - elements of lxml
    """Take the words of contents and indexes from a document, in place; the pages that begin there stay known."""
    found = () if styles is None else styles.iter(f"{_W}style")
    named = ((style.get(f"{_W}styleId"), style.find(f"{_W}name")) for style in found)
    ids = {key for key, said in named if said is not None and _CONTENTS.fullmatch(said.get(f"{_W}val") or "")}
    found = [style.getparent().getparent() for style in tree.iter(f"{_W}pStyle") if style.get(f"{_W}val") in ids]
    for text in [text for paragraph in found for text in paragraph.iter(f"{_W}t", f"{_W}tab")]:
        text.getparent().remove(text)


def _spell_out_runs(tree: Any) -> None:  # noqa: ANN401 - an element of lxml
    """Replace what mammoth does not read by what it does: the letters below ruby, line ends, results of fields."""
    for ruby in list(tree.iter(f"{_W}ruby")):
        letters = ruby.makeelement(f"{_W}t", {})
        letters.text = "".join(text.text or "" for text in ruby.iterfind(f"{_W}rubyBase//{_W}t"))
        letters.tail = ruby.tail
        ruby.getparent().replace(ruby, letters)
    for end in tree.iter(f"{_W}cr"):
        end.tag = f"{_W}br"
    etree.strip_tags(tree, f"{_W}fldSimple")


def _twins(tree: Any) -> Iterator[Any]:  # noqa: ANN401 - elements of lxml
    """The alternatives that mammoth does not read, because it reads the other one."""
    for alternatives in tree.iter(f"{_MC}AlternateContent"):
        if alternatives.find(f"{_MC}Fallback") is not None:
            yield from alternatives.iterchildren(f"{_MC}Choice")


def _boxes(tree: Any) -> Iterator[Any]:  # noqa: ANN401 - elements of lxml
    """The contents of text boxes that mammoth would leave out: they are there only as drawings."""
    read_otherwise = {box for twin in _twins(tree) for box in twin.iter("{*}txbxContent")}
    for box in tree.iter("{*}txbxContent"):
        if box not in read_otherwise and etree.QName(box.getparent()).localname == "txbx":
            yield box


def _put_below(box: Any) -> None:  # noqa: ANN401 - an element of lxml
    """Put the blocks of a text box after the paragraph from which it hangs, in place."""
    paragraph = next(box.iterancestors("{*}p"), None)
    if paragraph is not None:
        for block in reversed(list(box)):
            paragraph.addnext(block)


def _spell_out(equation: Any) -> None:  # noqa: ANN401 - an element of lxml
    """Replace an equation by a run with its text, in place."""
    text = "".join(part.text or "" for part in equation.iter(f"{_M}t"))
    parent = equation.getparent()
    if parent.tag == f"{_M}oMathPara":
        equation, parent = parent, parent.getparent()
    run = etree.Element(f"{_W}r")
    etree.SubElement(run, f"{_W}t").text = text
    run.tail = equation.tail
    parent.replace(equation, run)


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


def _left_out(unseen: int) -> tuple[str, ...]:
    said = counted(unseen, "word that readers cannot see was", "words that readers cannot see were")
    return (f"{said} left out",) if unseen else ()


def _lost_letters(name: str, expected: int, body: str) -> tuple[str, ...]:
    found = _letters_in(re.sub(r"<[^>]*>|&#?\w+;", "", body))
    if found >= expected * (1 - _WORTH_A_WARNING):
        return ()
    return (f"{expected - found:,} of {expected:,} letters of {name} stand where they are not read (shapes, charts)",)


def _letters_in(text: str | None) -> int:
    return len(_LETTERS.findall(text or ""))
