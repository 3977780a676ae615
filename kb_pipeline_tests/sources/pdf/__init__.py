"""Tests of :mod:`kb_pipeline.sources.pdf.source`."""
