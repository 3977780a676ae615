"""Reads a PDF into HTML. This runs in a process that can be killed; see :mod:`kb_pipeline.sources.pdf.source`."""

import gc
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

import pypdfium2 as pdfium

from kb_pipeline.limited import doing
from kb_pipeline.records import DocumentFacts, PageInfo, PageReading
from kb_pipeline.sources.base import page_element
from kb_pipeline.sources.pdf.figures import draw_page, draw_region, painted_boxes, rasters_of
from kb_pipeline.sources.pdf.file import facts_of, labels_of, load_page, opened, outline_of, warnings_of
from kb_pipeline.sources.pdf.notes import fields_of, notes_of
from kb_pipeline.sources.pdf.pages import read_page
from kb_pipeline.sources.pdf.tags import is_tagged, read_tags
from kb_pipeline.steps.describe.lines import OcrLine
from kb_pipeline.steps.pdf.blocks import Figure
from kb_pipeline.steps.pdf.figures import Raster, Region, figure_regions, repeated
from kb_pipeline.steps.pdf.furniture import without_furniture
from kb_pipeline.steps.pdf.layout import layout_html
from kb_pipeline.steps.pdf.lines import without_doubles
from kb_pipeline.steps.pdf.model import ARTIFACT, Box, Page, PdfOutlineEntry, Word
from kb_pipeline.steps.pdf.notes import Note, with_notes
from kb_pipeline.steps.pdf.scanned import has_text_layer, is_scan, needs_ocr, page_of_lines, with_text_layer
from kb_pipeline.steps.pdf.study import Study, study
from kb_pipeline.steps.pdf.tagged import Element, tagged_html, tagged_words
from kb_pipeline.steps.pdf.tagged_figures import pages_of_figures, tagged_figures
from kb_pipeline.steps.pdf.titles import FIRST_PAGES, mark_title, title_of
from kb_pipeline.steps.pdf.vertical import vertical_letters
from kb_pipeline.wording import counted

MOST_FIGURES = 2_000
"""Figures of a document: a manual with several on each of hundreds of pages."""
_OBJECTS_TO_A_COLLECTION = 50_000
"""Nearly everything that reading makes lives to its end, so that collections of garbage find little."""
_BY_TAGS = 0.95
"""Share of a page's words that its tags must hold."""
_MARGIN = 0.12
"""Share of a page's height at its top and foot, where running lines stand that no tag holds."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Lines:
    """What OCR read on the picture of a page that has ``scale`` pixels a point.

    The picture was turned before by ``turn`` degrees against the clock. ``unsure`` says that OCR was sure of nothing.
    """

    lines: tuple[OcrLine, ...]
    scale: float
    turn: int = 0
    unsure: bool = False


@dataclass(frozen=True)
class PdfReading:
    """What a PDF was read into. ``unread`` are pages, from 1, that OCR has to read before."""

    html: str = ""
    title: str = ""
    images: Mapping[str, bytes] = field(default_factory=dict)
    pages: tuple[PageInfo, ...] = ()
    facts: DocumentFacts | None = None
    outline: tuple[PdfOutlineEntry, ...] = ()
    control: Mapping[int, str] = field(default_factory=dict)
    left_out: Mapping[int, str] = field(default_factory=dict)
    beside_text: Mapping[int, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    unread: tuple[int, ...] = ()


def draw(path: Path, name: str, password: str, number: int) -> tuple[bytes, float]:
    """Return the picture of a page, counted from 1, as PNG for OCR, and its pixels a point.

    Raises:
        UnreadableArticleError: the file cannot be opened.
    """
    doing(f"drawing page {number} of {name}")
    with opened(path, name, password=password, most_pages=1 << 30) as document:
        return draw_page(load_page(document, number))


def read(path: Path, name: str, password: str, most_pages: int, ocr: Mapping[int, Lines] | None) -> PdfReading:
    """Read the PDF at ``path``; ``ocr`` has what OCR read, by page, and is ``None`` before it was asked.

    Raises:
        UnreadableArticleError: it cannot be opened; the message says why.
    """
    with opened(path, name, password=password, most_pages=most_pages) as document, _few_collections():
        return _Reading(document, name, ocr).result()


@contextmanager
def _few_collections() -> Iterator[None]:
    """Let Python seldom look for cycles: it would go through the words of all pages again and again and find few."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS_TO_A_COLLECTION, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Reading:
    """One document while it is read."""

    def __init__(self, document: pdfium.PdfDocument, name: str, ocr: Mapping[int, Lines] | None) -> None:
        self._document = document
        self._name = name
        self._ocr = ocr
        self._infos: dict[int, PageInfo] = {}
        self._control: dict[int, str] = {}
        self._regions: dict[int, list[Region]] = {}
        self._images: dict[str, bytes] = {}
        self._warnings: list[str] = []
        self._broken: list[int] = []
        self._painted: list[int] = []
        self._hidden: dict[int, str] = {}
        self._beside_text: defaultdict[int, list[str]] = defaultdict(list)
        self._vertical: list[int] = []
        self._first_pages: list[Page] = []
        self._labels = labels_of(document)
        self._is_tagged = is_tagged(document)
        self._fields = fields_of(document)
        self._comments: list[int] = []
        self._unsure: list[int] = []

    def result(self) -> PdfReading:
        given, facts = facts_of(self._document)
        outline, problems = outline_of(self._document)
        self._warnings += [*problems, *warnings_of(self._document)]
        in_document = [entry for entry in outline if entry.page]
        left_out: dict[int, str] = {}
        if self._is_tagged:
            pages = list(self._pages())
            body = "" if self._unread() else self._tagged(pages, in_document, left_out)
        else:
            studied = study(self._pages(), in_document)
            body = "" if self._unread() else self._laid_out(studied)
            left_out |= {number: studied.left_out(number) for number in studied.sheets}
        if unread := self._unread():
            return PdfReading(unread=unread)
        self._count_what_is_left_out()
        for number, words in self._hidden.items():
            self._beside_text[number].append(words)
        beside_text = {number: " ".join(words) for number, words in self._beside_text.items() if words}
        for number, words in beside_text.items():
            left_out[number] = f"{left_out.get(number, '')} {words}"
        left_out = {number: text for number, text in left_out.items() if text.strip()}
        title = title_of(given, body, self._first_pages)
        html = f"<html><head><title>{escape(title)}</title></head><body>{body}</body></html>"
        return PdfReading(
            html,
            title,
            self._images,
            tuple(self._infos.values()),
            facts,
            outline,
            self._control,
            left_out,
            beside_text,
            tuple(self._warnings),
        )

    def _unread(self) -> tuple[int, ...]:
        """The pages that OCR has to read before anything else can be done."""
        if self._ocr is not None:
            return ()
        if all(info.read_by == "nothing" for info in self._infos.values()):
            # so that nobody can say that a document is blank before OCR has looked at all that is painted
            return tuple(self._painted)
        return tuple(number for number, info in self._infos.items() if info.read_by == "ocr")

    def _pages(self) -> Iterator[Page]:
        """Read the pages one by one, with what OCR read on those without usable text."""
        for number in range(1, len(self._document) + 1):
            if number % 50 == 1:
                doing(f"reading page {number} of {self._name}")
            try:
                loaded = load_page(self._document, number)
            except pdfium.PdfiumError:
                self._broken.append(number)
                yield self._noted(Page(number, 0, 0), "nothing", ())
                continue
            try:
                page = replace(read_page(self._document, loaded, number), label=self._labels[number - 1])
                rasters = rasters_of(loaded) if page.images else []
                notes, comments = notes_of(loaded)
                self._comments += [number] * comments
            finally:
                loaded.close()
            yield self._usable(page, rasters, [*notes, *self._fields.get(number, ())])

    def _usable(self, page: Page, rasters: Sequence[Raster], notes: Sequence[Note]) -> Page:
        """The page with words that can be used, and with what is written beside them."""
        if found := (self._ocr or {}).get(page.number):
            read = with_notes(page_of_lines(page, found.lines, found.scale, found.turn), notes, is_tagged=False)
            if found.unsure:
                self._unsure.append(page.number)
            self._noted(read, "ocr" if read.words else "nothing", ())
            size = {"width": round(page.width, 2), "height": round(page.height, 2)}  # as the file has it
            self._infos[page.number] = self._infos[page.number].model_copy(update=size)
            return read
        if needs_ocr(page, rasters):
            return self._noted(page, "ocr" if self._ocr is None else "nothing", ())
        if is_layer := has_text_layer(page) and (is_scan(page, rasters) or not _shows_words(page)):
            page = with_text_layer(page)
        if hidden := [word.text for word in page.words if word.style.hidden]:
            self._hidden[page.number] = " ".join(hidden)
        page = with_notes(page, notes, is_tagged=self._is_tagged)
        if _shows_words(page):
            shown = [word for word in page.words if not word.style.hidden]
            once = set(map(id, without_doubles(shown)))
            self._beside_text[page.number] += [word.text for word in shown if id(word) not in once]
            return self._noted(page, "text", () if is_layer else rasters)
        if page.drawings or page.images:
            self._painted.append(page.number)
        return self._noted(page, "nothing", rasters)

    def _noted(self, page: Page, read_by: PageReading, rasters: Sequence[Raster]) -> Page:
        self._control[page.number] = page.text
        if page.number <= FIRST_PAGES:
            self._first_pages.append(page)
        if read_by == "text" and vertical_letters(page):
            self._vertical.append(page.number)
        if found := figure_regions(page, rasters) if read_by != "ocr" else []:
            self._regions[page.number] = found
        self._infos[page.number] = PageInfo(
            number=page.number,
            label=self._labels[page.number - 1],
            width=round(page.width, 2),
            height=round(page.height, 2),
            words=len(_WORD.findall(page.text)),
            read_by=read_by,
        )
        return page

    def _count_what_is_left_out(self) -> None:
        if self._broken:
            self._warnings.append(f"{len(self._broken)} pages are damaged and were left out: {_first(self._broken)}")
        if self._hidden:
            count = sum(len(words.split()) for words in self._hidden.values())
            words = counted(count, "word that readers cannot see was", "words that readers cannot see were")
            self._warnings.append(f"{words} left out, on pages: {_first(list(self._hidden))}")
        if self._unsure:
            self._warnings.append(f"OCR cannot read what is on pages, which were left out: {_first(self._unsure)}")
        if self._comments:
            comments = counted(
                len(self._comments), "comment that opens on a click was", "comments that open on a click were"
            )
            self._warnings.append(f"{comments} not read, on pages: {_first(sorted(set(self._comments)))}")
        if vertical := [number for number in self._vertical if self._infos[number].read_by == "text"]:
            self._warnings.append(f"text from top to bottom may be out of order on pages: {_first(vertical)}")

    # --- figures ---------------------------------------------------------------------------------

    def _figures(self) -> Mapping[int, Sequence[Region]]:
        """The figures of each page that are content."""
        keys = [[region.key for region in found] for found in self._regions.values()]
        ornaments = repeated(keys, len(self._infos))
        kept = {
            number: [region for region in found if region.key not in ornaments]
            for number, found in self._regions.items()
        }
        count = sum(map(len, kept.values()))
        if count > MOST_FIGURES:
            self._warnings.append(f"its {count:,} figures were left out, as they are more than {MOST_FIGURES:,}")
            return {}
        return kept

    def _add_tagged_figures(self, roots: Sequence[Element], pages: Sequence[Page]) -> None:
        """Add what the tags call a figure; what is in it on a page is no figure by itself."""
        numbers = pages_of_figures(roots)
        with_figures = {page.number: page for page in pages if page.number in numbers}
        painted: dict[tuple[int, int], Box] = {}
        for number in with_figures:
            loaded = load_page(self._document, number)
            try:
                painted |= {(number, mcid): box for mcid, box in painted_boxes(loaded).items()}
            finally:
                loaded.close()
        for number, found in tagged_figures(roots, with_figures, painted, self._regions).items():
            mcids = {mcid for region in found for mcid in region.mcids}
            others = [region for region in self._regions.get(number, ()) if not mcids.intersection(region.mcids)]
            self._regions[number] = [*others, *found]

    def _drawn(self, number: int, regions: Sequence[Region]) -> list[str]:
        """Draw figures of a page, and return their names among the images."""
        loaded = load_page(self._document, number)
        try:
            names = [f"{self._name}/figure-p{number}-{place + 1}.png" for place in range(len(regions))]
            doing(f"drawing the figures on page {number} of {self._name}")
            for name, region in zip(names, regions, strict=True):
                self._images[name] = draw_region(loaded, region.box, region.scale)
        finally:
            loaded.close()
        return names

    # --- text ------------------------------------------------------------------------------------

    def _laid_out(self, known: Study, only: Collection[int] | None = None) -> str:
        """The HTML of all pages, or of those in ``only`` without their marks, by their layout."""
        figures = {
            number: [
                Figure(number, region.box, name, is_drawing=region.is_drawing)
                for region, name in zip(regions, self._drawn(number, regions), strict=True)
            ]
            for number, regions in self._figures().items()
            if only is None or number in only
        }
        doing(f"laying out {self._name}")
        element = page_element if only is None else lambda number, label: ""
        html = layout_html(known, sorted(known.sheets if only is None else only), element, figures)
        for number in known.sheets if only is None else only:
            self._beside_text[number] += known.sheets[number].on_pictures
        return html

    def _tagged(self, pages: Sequence[Page], outline: Sequence[PdfOutlineEntry], left_out: dict[int, str]) -> str:
        """The HTML of all pages by the tags, and of those that these do not hold by their layout.

        What is left out of each page on purpose is added to ``left_out``.
        """
        doing(f"reading the tags of {self._name}")
        roots = read_tags(self._document, self._infos)
        words = tagged_words(roots)
        tagged = {page.number for page in pages if self._is_by_tags(page, words)}
        if not tagged:
            studied = study(pages, outline)
            html = self._laid_out(studied)
            left_out |= {number: studied.left_out(number) for number in studied.sheets}
            return html
        if 1 in tagged:
            mark_title(roots, pages)
        self._add_tagged_figures(roots, [page for page in pages if page.number in tagged])
        pictures: dict[tuple[int, int], str] = {}
        for number, regions in self._figures().items():
            within = [region for region in regions if any((number, mcid) in words for mcid in region.mcids)]
            if number in tagged and within:
                for region, name in zip(within, self._drawn(number, within), strict=True):
                    pictures[number, next(mcid for mcid in region.mcids if (number, mcid) in words)] = name
        for number in tagged:
            self._infos[number] = self._infos[number].model_copy(update={"read_by": "tags"})
        others: dict[int, str] = {}
        if any(info.read_by in ("text", "ocr") for info in self._infos.values()):
            studied = study(pages, outline)
            for number, info in self._infos.items():
                if info.read_by in ("text", "ocr"):
                    others[number] = self._laid_out(studied, [number])
                    left_out[number] = studied.left_out(number)
        others |= self._beside_tags([page for page in pages if page.number in tagged], words, left_out)
        by_tags = tagged_html(
            roots,
            [page if page.number in tagged else replace(page, words=()) for page in pages],
            lambda number: page_element(number, self._labels[number - 1]),
            pictures,
            others,
        )
        for number in tagged:
            self._beside_text[number] += by_tags.on_pictures.get(number, "").split()
            left_out[number] = f"{by_tags.left_out.get(number, '')} {left_out.get(number, '')}"
        return by_tags.html

    def _beside_tags(
        self, pages: Sequence[Page], words: frozenset[tuple[int, int]], left_out: dict[int, str]
    ) -> dict[int, str]:
        """The HTML of what is neither in the tags nor an artifact in a margin, by page. Running heads are left out.

        Forms mark their labels as artifacts, too, as their fields have other names for readers who cannot see them.
        """
        untagged = []
        for page in pages:
            others = [word for word in page.words if not word.style.hidden and _key(page, word) not in words]
            artifacts = [word for word in others if word.style.mcid == ARTIFACT and _is_in_margin(page, word)]
            self._beside_text[page.number] += [word.text for word in artifacts]
            rest = [word for word in others if word not in artifacts and _WORD.search(word.text)]
            untagged.append(replace(page, words=tuple(rest)))
        shown = without_furniture(untagged)
        for page, kept in zip(untagged, shown, strict=True):
            left_out[page.number] = " ".join(word.text for word in page.words if word not in kept.words)
        studied = study(page for page in shown if page.words)
        return {number: layout_html(studied, [number], lambda number, label: "") for number in studied.sheets}

    def _is_by_tags(self, page: Page, words: frozenset[tuple[int, int]]) -> bool:
        """Whether the tags hold nearly all words of the page that are not running lines."""
        if self._infos[page.number].read_by != "text":
            return False
        held = missed = 0
        for word in page.words:
            if word.style.hidden or word.style.rotation:
                continue
            if _key(page, word) in words:
                held += 1
            elif word.style.mcid >= 0 or not _is_in_margin(page, word):
                missed += 1
        return held > 0 and held >= _BY_TAGS * (held + missed)


def _first(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:10])) + (", ..." if len(numbers) > 10 else "")


def _is_in_margin(page: Page, word: Word) -> bool:
    """Whether it stands where running lines do, or is turned as what is written across a page."""
    is_in_middle = _MARGIN * page.height < word.baseline < (1 - _MARGIN) * page.height
    return bool(word.style.rotation) or not is_in_middle


def _key(page: Page, word: Word) -> tuple[int, int]:
    return page.number, word.style.mcid


def _shows_words(page: Page) -> bool:
    return any(not word.style.hidden for word in page.words)
