"""Makes the sample documents of the invented help desk anew: a manual and a scan (PDF), a Word file, slides, Markdown.

python samples/render_documents.py [FOLDER]    (default: samples/staging; needs Chromium, or KB_CHROMIUM)
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

SAMPLES = Path(__file__).parent
sys.path.insert(0, str(SAMPLES.parent))

from kb_pipeline_tests.sources.word import document, paragraph, table  # noqa: E402


def main() -> None:
    """Write all documents into the folder."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES / "staging"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "administrator-handbook.pdf").write_bytes(with_labels(manual()))
    (folder / "signed-agreement.pdf").write_bytes(scan())
    (folder / "onboarding-guide.docx").write_bytes(guide())
    (folder / "quarterly-review.pptx").write_bytes(slides())
    (folder / "service-notes.md").write_text(NOTES)


def _chromium(*arguments: str) -> None:
    program = os.environ.get("KB_CHROMIUM", "chromium")
    subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", *arguments], check=True, timeout=120)


def manual() -> bytes:
    """A tagged PDF of eight pages with an outline: a title page and seven chapters."""
    with tempfile.TemporaryDirectory() as work:
        printed = Path(work, "manual.pdf")
        options = ("--no-pdf-header-footer", "--generate-pdf-document-outline", f"--print-to-pdf={printed}")
        _chromium(*options, (SAMPLES / "printed" / "administrator-handbook.html").as_uri())
        return printed.read_bytes()


def with_labels(pdf: bytes) -> bytes:
    """Label the first two pages i and ii, and count from 1 after them, in an update at the end of the file."""
    root = re.search(rb"/Root (\d+) 0 R", pdf)
    start = re.findall(rb"startxref\s+(\d+)", pdf)
    size = re.search(rb"/Size (\d+)", pdf)
    if not root or not start or not size:
        raise SystemExit("Chromium writes another kind of PDF now; change with_labels()")
    number = int(root[1])
    catalog = re.search(rb"\n%d 0 obj\s*<<(.*?)>>\s*endobj" % number, pdf, re.DOTALL)
    if not catalog:
        raise SystemExit("the catalog of the PDF is compressed; change with_labels()")
    labels = b"/PageLabels << /Nums [0 << /S /r >> 2 << /S /D >>] >>"
    place = len(pdf)
    update = b"%d 0 obj\n<<%s%s>>\nendobj\n" % (number, catalog[1], labels)
    table = b"xref\n%d 1\n%010d 00000 n \n" % (number, place)
    end = b"trailer\n<</Size %s /Root %d 0 R /Prev %s>>\nstartxref\n%d\n%%%%EOF\n" % (
        *(size[1], number, start[-1], place + len(update)),
    )
    return pdf + update + table + end


def scan() -> bytes:
    """A page without any text but its picture, a little askew."""
    with tempfile.TemporaryDirectory() as work:
        picture = Path(work, "page.png")
        page = (SAMPLES / "printed" / "signed-agreement.html").as_uri()
        _chromium(f"--screenshot={picture}", "--window-size=940,1330", "--hide-scrollbars", page)
        sheet = Image.open(picture).convert("L").rotate(0.6, resample=Image.Resampling.BICUBIC, fillcolor=255)
    saved = io.BytesIO()
    sheet.save(saved, "PDF", resolution=114, quality=60)
    return saved.getvalue()


def guide() -> bytes:
    """A Word document of two pages, as Word saw them."""
    seen = "<w:r><w:lastRenderedPageBreak/><w:t>Access</w:t></w:r>"
    facts = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        "<dc:title>Onboarding guide</dc:title><dc:creator>Mira Okafor</dc:creator>"
        "<dcterms:created>2026-03-02T09:00:00Z</dcterms:created>"
        "</cp:coreProperties>"
    )
    return document(
        paragraph("Onboarding guide", "Title"),
        paragraph("First week", "Heading 1"),
        paragraph("A new agent reads along for two days, and then answers tickets of the queue Questions."),
        table(("Day", "What to do"), ("1", "Read the house rules"), ("3", "Answer the first ticket")),
        paragraph(seen, "Heading 1"),
        paragraph("The team lead asks for an account at least five working days before the first day."),
        paragraph("A password is never sent by mail.", "Quote"),
        parts={"docProps/core.xml": facts},
    )


def slides() -> bytes:
    """Four slides, the last one hidden."""
    deck: Any = Presentation()
    opening = deck.slides.add_slide(deck.slide_layouts[0])
    opening.shapes.title.text, opening.placeholders[1].text = "Quarterly review", "Support team, third quarter of 2026"
    numbers = deck.slides.add_slide(deck.slide_layouts[5])
    numbers.shapes.title.text = "Tickets by month"
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["July", "August", "September"]
    data.add_series("Opened", (412, 388, 455))
    data.add_series("Solved", (401, 396, 449))
    numbers.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(8), Inches(4), data)
    plans = deck.slides.add_slide(deck.slide_layouts[1])
    plans.shapes.title.text = "Plans"
    plans.placeholders[1].text_frame.text = "Answer half of all questions from the knowledge base"
    plans.notes_slide.notes_text_frame.text = "The target was a third in the last quarter."
    hidden = deck.slides.add_slide(deck.slide_layouts[5])
    hidden.shapes.title.text = "Salaries"
    hidden.element.set("show", "0")
    saved = io.BytesIO()
    deck.save(saved)
    return saved.getvalue()


NOTES = """---
title: Service notes
tags: operations, backlog
---

# Service notes

## Rate limits

The public interface takes 120 requests a minute from one key. Beyond that it answers 429 and names the second from
which it takes requests again.

## Search

The index is refreshed every ten seconds. A ticket is found under its number at once.

## Production Backlog Items

- Move the attachment store to two regions.
- Rotate the signing keys without a restart.
- Alert when the mail fetcher has been silent for ten minutes.
"""


if __name__ == "__main__":
    main()
