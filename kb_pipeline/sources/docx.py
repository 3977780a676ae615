"""Word documents (Office Open XML, ECMA-376), read by mammoth.

Headings, lists, tables with merged cells, footnotes, links, images and code by the names of their styles. Tracked
insertions are kept and deletions left out; comments, headers and footers are left out.
"""

import io
import re
import zipfile
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from itertools import chain
from typing import Any, ClassVar

import mammoth  # type: ignore[import-untyped]
from lxml import etree

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.sources.base import Source, SourceDocument
from kb_pipeline.sources.containers import check_container
from kb_pipeline.steps.fingerprint import sha256

_BODY = "word/document.xml"
_PROPERTIES = "docProps/core.xml"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_DC = "{http://purl.org/dc/elements/1.1/}"

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
_HEADING_TAG = re.compile(r"(</?h)([1-5])(?=[ >])")
_TITLE_TAG = f'<h1 class="{_TITLE_CLASS}">'
_FORGOTTEN_TITLE = re.compile(r"(?:microsoft word|document|dokument|untitled|unbenannt)\b.{0,12}$|.*\.docx?$", re.I)
_ENDINGS = {"image/jpeg": ".jpg", "image/svg+xml": ".svg", "image/tiff": ".tif"}
_NOT_DRAWN = re.compile(r"image/(?:x-)?(?:emf|wmf|emz|wmz|pict)$", re.I)
_LETTERS = re.compile(r"[^\W_]")
_WORTH_A_WARNING = 0.02


class DocxSource(Source):
    """Reads Word documents."""

    version: ClassVar[str] = f"docx-1+mammoth-{version('mammoth')}"

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        try:
            check_container(name, data, _BODY)
            data, letters = _prepared(name, data)
            images = _Images(name)
            result = mammoth.convert_to_html(
                io.BytesIO(data),
                style_map=_STYLES,
                convert_image=images.convert,
                include_embedded_style_map=False,
            )
        except UnreadableArticleError as exc:
            raise UnreadableArticleError(f"{article_id}: {exc}") from exc
        except (KeyError, ValueError, zipfile.BadZipFile, OSError, AttributeError, etree.LxmlError) as exc:
            reason = " ".join(str(exc).split())[:200]
            raise UnreadableArticleError(
                f"{article_id}: {name} is damaged ({type(exc).__name__}: {reason}); open it in Word and save it again"
            ) from exc
        body = _with_title_above(result.value)
        if not _LETTERS.search(re.sub(r"<[^>]*>", "", body)) and not images.files:
            raise EmptyArticleError(f"{article_id}: {name} holds no text and no image")
        warnings = (*images.warnings, *_lost_letters(name, letters, body))
        head = f"<head><title>{escape(_title(data))}</title></head>"
        return SourceDocument(f"<html>{head}<body>{body}</body></html>", "", images.files, warnings)


def _prepared(name: str, data: bytes) -> tuple[bytes, int]:
    """Return the document with equations as text, which mammoth would leave out, and the number of its letters."""
    with zipfile.ZipFile(io.BytesIO(data)) as container:
        body = container.read(_BODY)
        if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
            raise UnreadableArticleError(f"{name} is refused: it defines entities, which no Office program writes")
        tree = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True))
        deleted = {id(text) for element in tree.iter("{*}del", "{*}moveFrom") for text in element.iter("{*}t")}
        letters = sum(_letters_in(text.text) for text in tree.iter("{*}t") if id(text) not in deleted)
        equations = list(tree.iter(f"{_M}oMath"))
        if not equations:
            return data, letters
        for equation in equations:
            _spell_out(equation)
        changed = io.BytesIO()
        with zipfile.ZipFile(changed, "w", zipfile.ZIP_STORED) as copy:
            for entry in container.infolist():
                copy.writestr(
                    entry.filename, etree.tostring(tree) if entry.filename == _BODY else container.read(entry)
                )
    return changed.getvalue(), letters


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
    """Takes the images out of a document; equal ones are one file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._names: dict[str, str] = {}
        self.files: dict[str, bytes] = {}
        self.warnings: list[str] = []

    def convert(self, image: Any) -> Sequence[Any]:  # noqa: ANN401 - mammoth has no types
        alt = " ".join((image.alt_text or "").split())
        if _NOT_DRAWN.match(image.content_type or ""):
            kind = image.content_type.rpartition("/")[2].removeprefix("x-")
            self.warnings.append(f"a drawing in {self._name} is a Windows metafile ({kind}); insert it as PNG or SVG")
            return [mammoth.html.text(alt)] if alt else []
        try:
            with image.open() as opened:
                data = opened.read()
        except (ValueError, KeyError, OSError) as exc:  # linked, not embedded, or the part is missing
            self.warnings.append(f"an image of {self._name} is not inside it and was left out: {str(exc)[:200]}")
            return [mammoth.html.text(alt)] if alt else []
        digest = sha256(data)
        if digest not in self._names:
            ending = _ENDINGS.get(image.content_type, "." + (image.content_type or "image/png").rpartition("/")[2])
            self._names[digest] = f"{self._name}/image{len(self._names) + 1}{ending}"
            self.files[self._names[digest]] = data
        return [mammoth.html.element("img", {"src": self._names[digest], **({"alt": alt} if alt else {})})]


def _with_title_above(body: str) -> str:
    """Move all headings one level down if the document has a title paragraph: the title is above its chapters."""
    if _TITLE_TAG not in body:
        return body
    before, _, after = body.partition(_TITLE_TAG)
    end = after.index("</h1>")
    return f"{_lowered(before)}<h1>{after[:end]}</h1>{_lowered(after[end + 5 :])}"


def _lowered(html: str) -> str:
    return _HEADING_TAG.sub(lambda tag: f"{tag[1]}{int(tag[2]) + 1}", html.replace(_TITLE_TAG, "<h1>"))


def _title(data: bytes) -> str:
    """Return the title in the document's properties, unless it is what programs write when nobody entered one."""
    with zipfile.ZipFile(io.BytesIO(data)) as container:
        if _PROPERTIES not in container.namelist():
            return ""
        try:
            tree = etree.fromstring(container.read(_PROPERTIES), etree.XMLParser(resolve_entities=False))
        except etree.XMLSyntaxError:
            return ""  # the title is only a convenience
    title = " ".join((tree.findtext(f"{_DC}title") or "").split())
    return "" if _FORGOTTEN_TITLE.match(title) else title


def _lost_letters(name: str, expected: int, body: str) -> tuple[str, ...]:
    found = _letters_in(re.sub(r"<[^>]*>|&#?\w+;", "", body))
    if found >= expected * (1 - _WORTH_A_WARNING):
        return ()
    return (f"{expected - found:,} of {expected:,} letters of {name} stand where they are not read (shapes, charts)",)


def _letters_in(text: str | None) -> int:
    return len(_LETTERS.findall(text or ""))
