"""PowerPoint presentations (Office Open XML, ECMA-376), opened by python-pptx: each slide is a page.

Titles are headings; text, tables, pictures, the data of charts and the texts of diagrams follow in reading order, and
the speaker's notes as a quote. Hidden slides, dates, footers, slide numbers and what readers do not see are left out.
"""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from html import escape
from importlib.metadata import version
from itertools import chain
from typing import Any, ClassVar

from lxml import etree

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import PageInfo
from kb_pipeline.sources.base import Source, SourceDocument, page_element
from kb_pipeline.sources.containers import check_container
from kb_pipeline.sources.office import (
    DAMAGED,
    InsideImages,
    metafile,
    number_of,
    safe_tree,
    shown_title,
    title_and_facts,
)
from kb_pipeline.sources.slides.graphics import chart_html, diagram_html, table_html
from kb_pipeline.sources.slides.reading_order import ReadingBox, in_reading_order
from kb_pipeline.sources.slides.text import A, R, as_html, is_link, paragraphs_of, plain
from kb_pipeline.sources.slides.unseen import Colours, Ground, Sight, paints
from kb_pipeline.wording import counted

MAIN_PART = "ppt/presentation.xml"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_ALTERNATIVES = f"{_MC}AlternateContent"
_POINT = 12_700
"""Units of a slide in a point."""

_FURNITURE = {"dt", "ftr", "hdr", "sldNum", "sldImg"}
_TITLES = {"title", "ctrTitle"}
_OPENING_LAYOUTS = {"title", "secHead"}
"""Layouts whose title is that of the presentation, or of a part of it."""
_TABLE = "http://schemas.openxmlformats.org/drawingml/2006/table"
_CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_OBJECT = "http://schemas.openxmlformats.org/presentationml/2006/ole"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PAINTING = {"sp", "pic", "grpSp", "graphicFrame"}
_LETTERS = re.compile(r"[^\W_]")
_DEEPEST_GROUP = 50
"""Groups in groups: Python's stack has room for them, and nobody draws so."""
_MOST_WARNINGS = 50
"""Warnings of a presentation; of more, the others are counted."""

Element = Any
"""An element of lxml."""


class PptxSource(Source):
    """Reads PowerPoint presentations."""

    version: ClassVar[str] = f"pptx-4+python-pptx-{version('python-pptx')}"

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        from pptx import Presentation as open_presentation
        from pptx.exc import PythonPptxError

        try:
            check_container(name, data, MAIN_PART)
            with zipfile.ZipFile(io.BytesIO(data)) as container:
                safe_tree(name, container.read(MAIN_PART))
                title, facts = title_and_facts(container)
            reader = _Presentation(name, open_presentation(io.BytesIO(data)))
            body = "".join(reader.slides())
        except UnreadableArticleError as exc:
            raise UnreadableArticleError(f"{article_id}: {exc}") from exc
        except (*DAMAGED, PythonPptxError) as exc:
            reason = " ".join(str(exc).split())[:200]
            raise UnreadableArticleError(
                f"{article_id}: {name} is damaged ({type(exc).__name__}: {reason}); "
                "open it in PowerPoint and save it again"
            ) from exc
        if not reader.has_content:
            raise EmptyArticleError(f"{article_id}: {name} holds no text and no image{reader.hidden_said}")
        return SourceDocument(
            f"<html><head><title>{escape(shown_title(title, reader.lines))}</title></head><body>{body}</body></html>",
            images=reader.images.files,
            warnings=reader.all_warnings(),
            pages=tuple(reader.pages),
            facts=facts,
        )


class _Presentation:
    """Reads one presentation; what it finds besides the text is in its attributes."""

    def __init__(self, name: str, presentation: Any) -> None:  # noqa: ANN401 - python-pptx has no types
        self._name, self._presentation = name, presentation
        self._width = (presentation.slide_width or 0) / _POINT
        self._height = (presentation.slide_height or 0) / _POINT
        self.images = InsideImages(name)
        self._warnings: dict[str, None] = {}
        self._hidden: list[int] = []
        self._unseen = 0
        self.pages: list[PageInfo] = []
        self.lines: list[str] = []
        """The lines of the slides, as far as a title stands in them."""
        self.has_content = False

    def slides(self) -> Iterator[str]:
        """Write the slides that are shown, each with the mark of its page."""
        slides = [
            (number, slide)
            for number, slide in enumerate(self._presentation.slides, 1)
            if self._is_shown(number, slide)
        ]
        has_parts = any(_opens_a_part(slide) for _, slide in slides)
        for number, slide in slides:
            level = 2 if has_parts and not _opens_a_part(slide) else 1
            yield page_element(number) + self._slide(_Slide(number, level, slide))

    def _is_shown(self, number: int, slide: Any) -> bool:  # noqa: ANN401
        if _is_hidden(slide):
            self._hidden.append(number)
        return number not in self._hidden[-1:]

    def _slide(self, slide: "_Slide") -> str:
        self._unseen += slide.leave_out_unseen(self._width * _POINT, self._height * _POINT)
        shapes = list(_unwrapped(slide.tree))
        titles = [shape for shape in shapes if slide.placeholder(shape) in _TITLES and _text_body(shape) is not None]
        title = " ".join(filter(None, (plain(_text_body(shape)) for shape in titles)))
        rest = [shape for shape in shapes if shape not in titles and slide.placeholder(shape) not in _FURNITURE]
        parts = [self._shape(slide, shape) for shape in in_reading_order(rest, slide.box)]
        notes = self._notes(slide)
        content = "".join([*parts, notes])
        words = sum(len(text.split()) for text in chain([title], map(_raw_text, rest)))
        self.lines += [line for shape in (*titles, *rest) for line in _raw_text(shape).splitlines()]
        self.pages.append(
            PageInfo(
                number=slide.number,
                width=round(self._width, 1),
                height=round(self._height, 1),
                words=words,
                read_by="text" if words else "nothing",
            )
        )
        if not title and not content:
            return ""
        self.has_content |= bool(_LETTERS.search(title + re.sub("<[^>]*>", "", content))) or "<img" in content
        return f"<h{slide.level}>{escape(title) or f'Slide {slide.number}'}</h{slide.level}>{content}"

    def _shape(self, slide: "_Slide", shape: Element, depth: int = 0) -> str:
        kind = etree.QName(shape).localname
        if kind == "grpSp":
            if depth > _DEEPEST_GROUP:
                return self._left_out(slide, "groups that are nested too deeply")
            members = in_reading_order(list(_unwrapped(shape)), slide.box)
            return "".join(self._shape(slide, member, depth + 1) for member in members)
        if kind == "sp":
            body = _text_body(shape)
            text = (
                ""
                if body is None
                else as_html(paragraphs_of(body, slide.styles_of(shape), slide.links), slide.level + 1)
            )
            return self._picture(slide, shape, shape.find(f"{_P}spPr/{A}blipFill/{A}blip")) + text
        if kind == "pic":
            return self._picture(slide, shape, shape.find(f"{_P}blipFill/{A}blip"))
        if kind == "graphicFrame":
            return self._graphic(slide, shape)
        return "" if kind == "cxnSp" else self._left_out(slide, f"a shape of a kind that is not read ({kind})")

    def _graphic(self, slide: "_Slide", frame: Element) -> str:
        data = frame.find(f"{A}graphic/{A}graphicData")
        kind = "" if data is None else data.get("uri", "")
        try:
            if kind == _TABLE:
                return table_html(
                    data.find(f"{A}tbl"), lambda body: _in_cell(as_html(paragraphs_of(body, (), slide.links)))
                )
            if kind == _CHART:
                return chart_html(safe_tree(self._name, slide.related(data[0].get(f"{R}id")).blob))
            if kind == _DIAGRAM:
                return diagram_html(safe_tree(self._name, slide.related(data[0].get(f"{R}dm")).blob))
        except (*DAMAGED, UnreadableArticleError):
            return self._left_out(slide, f"a {kind.rpartition('/')[2]} that is damaged")
        if kind == _OBJECT:
            program = next((element.get("progId", "") for element in data.iter(f"{_P}oleObj")), "")
            picture = self._picture(slide, frame, data.find(f".//{_P}pic/{_P}blipFill/{A}blip"))
            return picture or self._left_out(slide, f"an embedded object ({program or 'of unknown kind'})")
        return self._left_out(slide, f"a graphic of a kind that is not read ({kind.rpartition('/')[2] or 'unnamed'})")

    def _picture(self, slide: "_Slide", shape: Element, blip: Element | None) -> str:
        relationship = "" if blip is None else blip.get(f"{R}embed", "")
        properties = next(shape.iter(f"{_P}cNvPr"), None)
        alt = "" if properties is None else " ".join((properties.get("descr") or properties.get("title") or "").split())
        if not relationship:
            return self._left_out(slide, "a picture that is linked, not inside", alt) if blip is not None else ""
        try:
            part = slide.related(relationship)
            data, kind = part.blob, str(part.content_type)
        except DAMAGED:
            return self._left_out(slide, "a picture whose file is missing", alt)
        if format_name := metafile(kind):
            return self._left_out(
                slide, f"a Windows metafile ({format_name}), which can be inserted as PNG or SVG,", alt
            )
        file = self.images.add(data, kind)
        image = f'<img src="{escape(file)}"' + (f' alt="{escape(alt)}">' if alt else ">")
        link = properties.find(f"{A}hlinkClick") if properties is not None else None
        address = "" if link is None else slide.links.get(link.get(f"{R}id", ""), "")
        return f'<p><a href="{escape(address)}">{image}</a></p>' if address else f"<p>{image}</p>"

    def _notes(self, slide: "_Slide") -> str:
        body, links = slide.notes()
        if body is None or not (written := as_html(paragraphs_of(body, (), links))):
            return ""
        return f"<blockquote><p><strong>Notes:</strong></p>{written}</blockquote>"

    def _left_out(self, slide: "_Slide", what: str, alt: str = "") -> str:
        self._warnings[f"{self._name}, slide {slide.number}: {what} was left out"] = None
        return f"<p>{escape(alt)}</p>" if alt else ""

    @property
    def hidden_said(self) -> str:
        """How many slides are hidden, as the end of a sentence."""
        return f", besides {_slides(len(self._hidden))}" if self._hidden else ""

    def all_warnings(self) -> tuple[str, ...]:
        """The warnings, each once."""
        were = "was" if len(self._hidden) == 1 else "were"
        hidden = [f"{_slides(len(self._hidden))} of {self._name} {were} left out"] if self._hidden else []
        more = len(self._warnings) - _MOST_WARNINGS
        rest = [f"{more:,} more things in {self._name} were left out"] if more > 0 else []
        if self._unseen:
            words = counted(self._unseen, "word that readers cannot see was", "words that readers cannot see were")
            hidden.append(f"{words} left out")
        return (*hidden, *list(self._warnings)[:_MOST_WARNINGS], *rest)


class _Slide:
    """One slide with what its layout and master say about it; ``level`` is that of its title."""

    def __init__(self, number: int, level: int, slide: Any) -> None:  # noqa: ANN401 - python-pptx has no types
        self.number, self.level = number, level
        self._part = slide.part
        self.tree = slide.element.find(f"{_P}cSld/{_P}spTree")
        self._slide = slide
        self.links = _links_of(slide.part)
        layout = _layout_of(slide)
        self._layout = layout.element if layout is not None else None
        master = layout.slide_master if layout is not None else None
        self._master = master.element if master is not None else None

    def related(self, relationship: str | None) -> Any:  # noqa: ANN401
        """The part that a relationship names."""
        return self._part.related_part(relationship)

    def placeholder(self, shape: Element) -> str:
        """The kind of the placeholder that the shape fills; "" if it fills none."""
        mark = next(shape.iter(f"{_P}ph"), None)
        return "" if mark is None else mark.get("type", "obj")

    def box(self, shape: Element) -> ReadingBox:
        """Where the shape stands: by itself, or as the placeholder of the layout or the master that it fills."""
        for candidate in (shape, *self._inherited(shape)):
            place = next(chain(candidate.iter(f"{A}xfrm"), candidate.iter(f"{_P}xfrm")), None)
            offset, size = (None, None) if place is None else (place.find(f"{A}off"), place.find(f"{A}ext"))
            if offset is not None and size is not None:
                return ReadingBox(*map(number_of, (offset.get("x"), offset.get("y"), size.get("cx"), size.get("cy"))))
        return ReadingBox(0, 0, 0, 0)

    def styles_of(self, shape: Element) -> list[Element]:
        """The lists of styles that decide on a shape's bullets, the nearest first."""
        styles = [
            found
            for one in (shape, *self._inherited(shape))
            if (found := one.find(f"{_P}txBody/{A}lstStyle")) is not None
        ]
        kind = self.placeholder(shape)
        if self._master is not None and kind:
            name = "titleStyle" if kind in _TITLES else "bodyStyle"
            styles += self._master.iterfind(f"{_P}txStyles/{_P}{name}")
        return styles

    def _inherited(self, shape: Element) -> Iterator[Element]:
        """The placeholders of layout and master that the shape fills."""
        mark = next(shape.iter(f"{_P}ph"), None)
        if mark is None or self._layout is None:
            return
        kind = mark.get("type", "obj")
        same_index = [one for one in self._layout.iter(f"{_P}sp") if _index_of(one) == mark.get("idx", "0")]
        yield from same_index[:1]
        kind = next((self.placeholder(one) for one in same_index), kind)
        wanted = "title" if kind in _TITLES else kind if kind in _FURNITURE else "body"
        if self._master is not None:
            yield from [one for one in self._master.iter(f"{_P}sp") if self.placeholder(one) == wanted][:1]

    def leave_out_unseen(self, width: float, height: float) -> int:
        """Take out what no reader of a slide of this size sees; return the number of words."""
        above = [one for one in (self._layout, self._master) if one is not None]
        backgrounds = (one.find(f"{_P}cSld/{_P}bg") for one in (self._slide.element, *above))
        background = next((one for one in backgrounds if one is not None), None)
        theme = None
        if self._master is not None:
            theme = _theme_of(self._slide.slide_layout.slide_master)
        colours = Colours(theme, None if self._master is None else self._master.find(f"{_P}clrMap"))
        boxes = [
            self.box(shape)
            for one in above
            for shape in one.find(f"{_P}cSld/{_P}spTree")
            if paints(shape) and etree.QName(shape).localname in _PAINTING and not self.placeholder(shape)
        ]
        ground = Ground(_ground_colour(background, colours), boxes)
        return Sight((width, height), colours, ground, self.box, self._inherited).leave_out_unseen(self.tree)

    def notes(self) -> tuple[Element | None, dict[str, str]]:
        """The text body of the speaker's notes, and its links."""
        if not self._slide.has_notes_slide:
            return None, {}
        notes = self._slide.notes_slide
        shapes = [one for one in notes.element.iter(f"{_P}sp") if self.placeholder(one) == "body"]
        return (_text_body(shapes[0]) if shapes else None), _links_of(notes.part)


def _opens_a_part(slide: Any) -> bool:  # noqa: ANN401
    layout = _layout_of(slide)
    kinds = {one.get("type") for one in slide.element.iter(f"{_P}ph")}
    return "ctrTitle" in kinds or (
        layout is not None and layout.element.get("type") in _OPENING_LAYOUTS and "title" in kinds
    )


def _ground_colour(background: Element | None, colours: Colours) -> str:
    """The colour of a slide: white if none is said, "" if it is none, such as a picture."""
    if background is None:
        return "ffffff"
    reference = background.find(f"{_P}bgRef")
    return colours.of(background.find(f"{_P}bgPr/{A}solidFill") if reference is None else reference)


def _theme_of(master: Any) -> Element | None:  # noqa: ANN401
    try:
        return safe_tree("theme", master.part.part_related_by(f"{_RELATIONS}/theme").blob)
    except (*DAMAGED, UnreadableArticleError):  # its colours are not certain then
        return None


def _layout_of(slide: Any) -> Any:  # noqa: ANN401
    try:
        return slide.slide_layout
    except DAMAGED:  # its text is there without it
        return None


def _links_of(part: Any) -> dict[str, str]:  # noqa: ANN401
    relationships = ((key, link) for key, link in part.rels.items() if link.is_external)
    return {key: link.target_ref for key, link in relationships if is_link(link.target_ref)}


def _index_of(shape: Element) -> str:
    mark = next(shape.iter(f"{_P}ph"), None)
    return "" if mark is None else mark.get("idx", "0")


def _unwrapped(tree: Element) -> Iterator[Element]:
    """The shapes of a tree or group; of what is given in alternatives, the one that we can read."""
    for child in tree:
        if not isinstance(child.tag, str) or etree.QName(child).localname in ("nvGrpSpPr", "grpSpPr", "extLst"):
            continue
        if child.tag != _ALTERNATIVES:
            yield child
            continue
        choices = [list(_unwrapped(choice)) for choice in child.iterchildren(f"{_MC}Choice", f"{_MC}Fallback")]
        yield from next(
            (shapes for shapes in choices if shapes and all(map(_is_known, shapes))), choices[0] if choices else ()
        )


def _is_known(shape: Element) -> bool:
    kinds = {data.get("uri") for data in shape.iter(f"{A}graphicData")}
    return etree.QName(shape).localname in ("sp", "pic", "grpSp", "cxnSp", "graphicFrame") and kinds <= {
        *(_TABLE, _CHART, _DIAGRAM, _OBJECT)
    }


def _text_body(shape: Element) -> Element | None:
    return shape.find(f"{_P}txBody")


def _raw_text(shape: Element) -> str:
    paragraphs: Iterable[Element] = shape.iter(f"{A}p")
    return "\n".join("".join(text.text or "" for text in paragraph.iter(f"{A}t")) for paragraph in paragraphs)


def _in_cell(html: str) -> str:
    """A single paragraph of a cell needs no element of its own."""
    return html[3:-4] if html.startswith("<p>") and html.count("<p>") == 1 and html.endswith("</p>") else html


def without_hidden_slides(data: bytes) -> bytes:
    """Return a presentation that :class:`PptxSource` could read without its hidden slides; if it has none, as it is."""
    from pptx import Presentation as open_presentation

    presentation = open_presentation(io.BytesIO(data))
    listed = list(presentation.slides._sldIdLst)
    hidden = [entry for entry, slide in zip(listed, presentation.slides, strict=True) if _is_hidden(slide)]
    if not hidden:
        return data
    for entry in hidden:
        presentation.part.drop_rel(entry.rId)
        presentation.slides._sldIdLst.remove(entry)
    written = io.BytesIO()
    presentation.save(written)
    return written.getvalue()


def _is_hidden(slide: Any) -> bool:  # noqa: ANN401
    return slide.element.get("show") in ("0", "false")


def _slides(count: int) -> str:
    return "1 hidden slide" if count == 1 else f"{count} hidden slides"
