"""Conversion of HTML pages, from any documentation tool or document, to markdown with image markers."""

from kb_pipeline.steps.html.convert import CONVERTER_VERSION, convert_document, convert_html
from kb_pipeline.steps.html.decode import decode

__all__ = ["CONVERTER_VERSION", "convert_document", "convert_html", "decode"]
