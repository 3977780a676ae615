"""Reads a PDF into HTML. This runs in a process that can be killed; see :mod:`kb_pipeline.sources.pdf`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import pypdfium2 as pdfium

from kb_pipeline.limited import doing
from kb_pipeline.records import DocumentFacts, PageInfo, PageReading
from kb_pipeline.sources.base import page_element
from kb_pipeline.sources.pdf_figures import draw_page, draw_region, rasters_of
from kb_pipeline.sources.pdf_file import facts_of, labels_of, opened, outline_of, warnings_of
from kb_pipeline.sources.pdf_pages import read_page
from kb_pipeline.sources.pdf_tags import is_tagged, read_tags
from kb_pipeline.steps.describe.lines import OcrLine
from kb_pipeline.steps.pdf.figures import Raster, Region, caption_of, figure_regions, repeated
from kb_pipeline.steps.pdf.model import OutlineEntry, Page
from kb_pipeline.steps.pdf.scanned import has_text_layer, needs_ocr, page_of_lines, with_text_layer
from kb_pipeline.steps.pdf.tagged import Element, tagged_html, tagged_words

MOST_FIGURES = 2_000
"""Of a document."""
_BY_TAGS = 0.95
"""Share of a page's words that its tags must hold."""
_MARGIN = 0.12
"""Share of a page's height at its top and foot, where running lines stand that no tag holds."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Lines:
    """What OCR read on the picture of a page that has ``scale`` pixels a point."""

    lines: tuple[OcrLine, ...]
    scale: float


@dataclass(frozen=True)
class PdfReading:
    """What a PDF was read into. ``unread`` are pages, from 1, that OCR has to read first; then there is nothing else."""

    html: str = ""
    title: str = ""
    images: Mapping[str, bytes] = field(default_factory=dict)
    pages: tuple[PageInfo, ...] = ()
    facts: DocumentFacts | None = None
    outline: tuple[OutlineEntry, ...] = ()
    control: Mapping[int, str] = field(default_factory=dict)
    left_out: Mapping[int, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    unread: tuple[int, ...] = ()


def draw(path: Path, name: str, password: str, number: int) -> tuple[bytes, float]:
    """Return the picture of a page, counted from 1, as PNG for OCR, and its pixels a point.

    Raises:
        UnreadableArticleError: the file cannot be opened.
    """
    doing(f"drawing page {number} of {name}")
    with opened(path, name, password=password, most_pages=1 << 30) as document:
        return draw_page(document[number - 1])


def read(path: Path, name: str, password: str, most_pages: int, ocr: Mapping[int, Lines] | None) -> PdfReading:
    """Read the PDF at ``path``; ``ocr`` has what OCR read, by page, and is ``None`` before it was asked.

    Raises:
        UnreadableArticleError: it cannot be opened; the message says why.
    """
    with opened(path, name, password=password, most_pages=most_pages) as document:
        return _Reading(document, name, ocr).result()


class _Reading:
    """One document while it is read."""

    def __init__(self, document: pdfium.PdfDocument, name: str, ocr: Mapping[int, Lines] | None) -> None:
        self._document = document
        self._name = name
        self._ocr = ocr
        self._pages: list[Page] = []
        self._rasters: dict[int, list[Raster]] = {}
        self._read_by: dict[int, PageReading] = {}
        self._images: dict[str, bytes] = {}
        self._warnings: list[str] = []

    def result(self) -> PdfReading:
        self._read_pages()
        unread = tuple(number for number, by in self._read_by.items() if by == "ocr")
        if unread and self._ocr is None:
            return PdfReading(unread=unread)
        title, facts = facts_of(self._document)
        outline, problems = outline_of(self._document)
        self._warnings += [*problems, *warnings_of(self._document)]
        labels = labels_of(self._document)
        control = {page.number: page.text for page in self._pages}
        regions = self._figures()
        body, left_out = self._body(labels, outline, regions)
        infos = tuple(
            PageInfo(
                number=page.number,
                label=labels[page.number - 1],
                width=round(page.width, 2),
                height=round(page.height, 2),
                words=len(_WORD.findall(page.text)),
                read_by=self._read_by[page.number],
            )
            for page in self._pages
        )
        html = f"<html><head><title>{escape(title)}</title></head><body>{body}</body></html>"
        return PdfReading(html, title, self._images, infos, facts, outline, control, left_out, tuple(self._warnings))

    def _read_pages(self) -> None:
        broken, invisible = [], 0
        for number in range(1, len(self._document) + 1):
            if number % 50 == 1:
                doing(f"reading page {number} of {self._name}")
            try:
                loaded = self._document[number - 1]
            except pdfium.PdfiumError:
                broken.append(number)
                self._pages.append(Page(number, 0, 0))
                self._read_by[number] = "nothing"
                continue
            page = read_page(self._document, loaded, number)
            rasters = rasters_of(loaded) if page.images else []
            loaded.close()
            if rasters:
                self._rasters[number] = rasters
            by: PageReading = "text" if any(not word.style.hidden for word in page.words) else "nothing"
            if needs_ocr(page, rasters):
                by = "ocr"
                self._rasters.pop(number, None)
                if found := (self._ocr or {}).get(number):
                    page = page_of_lines(page, found.lines, found.scale)
                by = "ocr" if self._ocr is None or page.words else "nothing"
            elif by == "nothing" and has_text_layer(page):
                page, by = with_text_layer(page), "text"
                self._rasters.pop(number, None)
            else:
                invisible += sum(word.style.hidden for word in page.words)
            self._pages.append(page)
            self._read_by[number] = by
        if broken:
            shown = ", ".join(map(str, broken[:10])) + (", ..." if len(broken) > 10 else "")
            self._warnings.append(f"{len(broken)} pages are damaged and were left out: {shown}")
        if invisible:
            self._warnings.append(f"{invisible} invisible words were left out")

    def _figures(self) -> dict[int, list[Region]]:
        """The figures of each page that are content."""
        regions = {
            page.number: found
            for page in self._pages
            if self._read_by[page.number] != "ocr"
            and (found := figure_regions(page, self._rasters.get(page.number, ())))
        }
        ornaments = repeated([[region.key for region in found] for found in regions.values()], len(self._pages))
        kept = {
            number: [region for region in found if region.key not in ornaments] for number, found in regions.items()
        }
        count = sum(map(len, kept.values()))
        if count > MOST_FIGURES:
            self._warnings.append(f"{count:,} figures are more than {MOST_FIGURES:,}; none was taken over")
            return {}
        return kept

    def _body(
        self, labels: Sequence[str], outline: Sequence[OutlineEntry], regions: Mapping[int, Sequence[Region]]
    ) -> tuple[str, Mapping[int, str]]:
        if is_tagged(self._document):
            roots = read_tags(self._document, range(1, len(self._pages) + 1))
            words = tagged_words(roots)
            tagged = {page.number for page in self._pages if self._is_by_tags(page, words)}
            if tagged:
                return self._tagged(roots, tagged, labels, outline, regions), {}
        return self._laid_out(self._pages, labels, outline, regions), {}

    def _is_by_tags(self, page: Page, words: frozenset[tuple[int, int]]) -> bool:
        """Whether the tags hold nearly all words of the page that are not running lines."""
        held = missed = 0
        for word in page.words:
            if word.style.hidden or word.style.rotation:
                continue
            if (page.number, word.style.mcid) in words:
                held += 1
            elif _MARGIN * page.height < word.baseline < (1 - _MARGIN) * page.height or word.style.mcid >= 0:
                missed += 1
        return held > 0 and held >= _BY_TAGS * (held + missed)

    def _tagged(
        self,
        roots: Sequence[Element],
        tagged: set[int],
        labels: Sequence[str],
        outline: Sequence[OutlineEntry],
        regions: Mapping[int, Sequence[Region]],
    ) -> str:
        for number in tagged:
            self._read_by[number] = "tags"
        pictures: dict[tuple[int, int], str] = {}
        for number, found in regions.items():
            if number not in tagged:
                continue
            for region in found:
                free = [mcid for mcid in region.mcids if (number, mcid) not in pictures]
                if free:
                    pictures[number, free[0]] = self._drawn(number, region)
        pages = [page if page.number in tagged else Page(page.number, page.width, page.height) for page in self._pages]
        others = {
            page.number: self._laid_out([page], labels, outline, regions)
            for page in self._pages
            if page.number not in tagged and self._read_by[page.number] != "nothing"
        }

        def mark(number: int) -> str:
            return page_element(number, labels[number - 1])

        return tagged_html(roots, pages, mark, pictures, others)

    def _drawn(self, number: int, region: Region) -> str:
        """Draw a figure, and return its name among the images."""
        prefix = f"{self._name}/figure-p{number}-"
        name = f"{prefix}{sum(name.startswith(prefix) for name in self._images) + 1}.png"
        loaded = self._document[number - 1]
        self._images[name] = draw_region(loaded, region.box, region.scale)
        loaded.close()
        return name

    def _laid_out(
        self,
        pages: Sequence[Page],
        labels: Sequence[str],
        outline: Sequence[OutlineEntry],
        regions: Mapping[int, Sequence[Region]],
    ) -> str:
        parts = []
        for page in pages:
            parts.append(page_element(page.number, labels[page.number - 1]))
            parts.append(f"<p>{escape(' '.join(word.text for word in page.words if not word.style.hidden))}</p>")
            for region in regions.get(page.number, ()):
                alt = caption_of(page, region.box)
                parts.append(f'<p><img src="{escape(self._drawn(page.number, region))}" alt="{escape(alt)}"></p>')
        return "".join(parts)
