"""HTML pages of any documentation tool become markdown with image markers."""

from kb_pipeline.steps.html.convert import CONVERTER_VERSION, convert_html

__all__ = ["CONVERTER_VERSION", "convert_html"]
