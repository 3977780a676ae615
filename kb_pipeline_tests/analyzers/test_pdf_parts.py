"""Long and large PDFs are split at page borders, and nothing is lost or comes twice."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, NameObject

from kb_pipeline.analyzers.pdf_parts import split_pdf
from kb_pipeline.errors import ArticleError


def pdf_of(*sizes: int) -> bytes:
    """A page for each number, as many bytes large; its width is its number, from 1."""
    writer = PdfWriter()
    for number, size in enumerate(sizes, 1):
        page = writer.add_blank_page(width=number, height=10)
        if size:
            content = DecodedStreamObject()
            content.set_data(b"%" + bytes([number % 256 or 1]) * size)
            page[NameObject("/Contents")] = writer._add_object(content)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def numbers(pdf: bytes) -> list[int]:
    return [int(page.mediabox.width) for page in PdfReader(io.BytesIO(pdf)).pages]


def test_a_document_within_the_limits_is_sent_as_it_is() -> None:
    pdf = pdf_of(0, 0)
    assert [(part.pdf, part.pages) for part in split_pdf(pdf, 30, 1_000_000)] == [(pdf, 2)]


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 40), st.integers(1, 7))
def test_parts_have_all_pages_in_order_and_no_more_than_allowed(count: int, most: int) -> None:
    parts = split_pdf(pdf_of(*[0] * count), most, 1_000_000)
    assert [number for part in parts for number in numbers(part.pdf)] == list(range(1, count + 1))
    assert all(part.pages == len(numbers(part.pdf)) <= most for part in parts)


def test_parts_with_too_many_bytes_are_halved() -> None:
    parts = split_pdf(pdf_of(*[20_000] * 8), 30, 50_000)
    assert [numbers(part.pdf) for part in parts] == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert all(len(part.pdf) <= 50_000 for part in parts)


def test_a_page_that_is_too_large_alone_is_refused() -> None:
    with pytest.raises(ArticleError, match=r"page 2 of its PDF has [\d,]+ bytes, more than 50,000"):
        split_pdf(pdf_of(10, 90_000, 10), 30, 50_000)


def test_an_encrypted_document_is_refused_with_what_to_do() -> None:
    writer = PdfWriter()
    writer.add_blank_page(width=10, height=10)
    writer.encrypt("secret")
    written = io.BytesIO()
    writer.write(written)
    with pytest.raises(ArticleError, match=r"print it to a new PDF without a password, or choose KB_ANALYZER=local"):
        split_pdf(written.getvalue(), 30, 1_000_000)
