"""Documents as the fake of Content Understanding reads them: the markdown of each page.

PDFs by the reader of the other fake, Word files by mammoth and markdownify, slides by the texts of their shapes; with
the comments that the service writes between pages (its documentation of markdown). None of it is the pipeline's code.
"""

import io
from html import escape

import mammoth
from pptx import Presentation

from kb_pipeline_tests.content_understanding_markdown import cu_markdown
from kb_pipeline_tests.mistral_reader import read_pages, recognised_lines, written_lines

_OFFICE = "application/vnd.openxmlformats-officedocument."


def document_pages(data: bytes, content_type: str) -> list[str] | None:
    """The markdown of each page, which together are that of the document; ``None`` for what is no document."""
    if content_type == "application/pdf":
        texts = read_pages(data, written_lines)
        if not any(map(str.strip, texts)):
            texts = read_pages(data, recognised_lines)
        return _between_comments(texts)
    if content_type == f"{_OFFICE}wordprocessingml.document":
        page = mammoth.convert_to_html(io.BytesIO(data), convert_image=mammoth.images.img_element(lambda _: {})).value
        return [cu_markdown(f"<html><body>{page}</body></html>")]
    if content_type == f"{_OFFICE}presentationml.presentation":
        return _between_comments([_slide(slide) for slide in Presentation(io.BytesIO(data)).slides])
    return None


def _between_comments(texts: list[str]) -> list[str]:
    last = len(texts)
    return [
        f'{text}\n\n<!-- PageNumber="{number}" -->\n' + ("" if number == last else "<!-- PageBreak -->\n\n")
        for number, text in enumerate(texts, 1)
    ]


def _slide(slide: object) -> str:
    blocks = []
    for shape in slide.shapes:  # type: ignore[attr-defined]
        if shape.has_text_frame and shape.text_frame.text.strip():
            lines = [escape(line.text, quote=False) for line in shape.text_frame.paragraphs if line.text.strip()]
            blocks.append(f"# {lines[0]}" if shape == slide.shapes.title else "\n".join(f"- {x}" for x in lines))  # type: ignore[attr-defined]
        elif shape.has_table:
            rows = [
                "".join(f"<td>{escape(cell.text, quote=False)}</td>" for cell in row.cells) for row in shape.table.rows
            ]
            blocks.append("\n".join(["<table>", *(f"<tr>{row}</tr>" for row in rows), "</table>"]))
    return "\n\n".join(blocks)
