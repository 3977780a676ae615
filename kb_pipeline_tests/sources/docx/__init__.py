"""Tests of :mod:`kb_pipeline.sources.docx.source`."""
