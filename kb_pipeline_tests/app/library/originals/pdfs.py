"""PDF files made for a test, and documents published from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kb_pipeline.flow.layers.serving_article import OCR_LINES, load_manifest
from kb_pipeline.records import PageInfo, PageLine, PageLines, ServedDocument
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.layout import Layout

SIZE = 400, 300
"""Of a page, in points."""


def pdf_of(*pages: Sequence[str], rotate: int = 0) -> bytes:
    """A PDF with these lines of text on its pages, 20 points below each other, the first at a height of 250."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        shown = " ".join(f"1 0 0 1 40 {250 - 20 * at} Tm ({_escaped(line)}) Tj" for at, line in enumerate(lines))
        objects.append(f"<< /Length {len(shown) + 18} >>\nstream\nBT /F1 12 Tf {shown} ET\nendstream")
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {SIZE[0]} {SIZE[1]}] /Rotate {rotate} "
            f"/Contents {len(objects)} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    body, offsets = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return (body + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}" + end).encode("latin-1")


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def serve_document(
    knowledge_base: Settings,
    article_id: str,
    name: str,
    data: bytes,
    media_type: str = "application/pdf",
    pages: Sequence[PageInfo] = (PageInfo(number=1),),
    lines: Mapping[int, tuple[PageLine, ...]] | None = None,
) -> None:
    """Put the original file beside a published article, as if it had been made from it; ``lines`` are those of OCR."""
    folder = Path(Layout.of(knowledge_base).serving(article_id))
    (folder / "document").mkdir(exist_ok=True)
    (folder / "document" / name).write_bytes(data)
    document = ServedDocument(path=f"document/{name}", sha256=sha256(data), size=len(data), media_type=media_type)
    if lines:
        places = PageLines(pages=dict(lines)).model_dump_json().encode()
        (folder / OCR_LINES).write_bytes(places)
        document = document.model_copy(update={"ocr_lines": sha256(places)})
    made = load_manifest(folder).model_copy(update={"document": document, "pages": tuple(pages)})
    (folder / ".new").write_text(made.model_dump_json())
    (folder / ".new").replace(folder / "manifest.json")
