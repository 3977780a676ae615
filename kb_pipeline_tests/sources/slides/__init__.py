"""Tests of :mod:`kb_pipeline.sources.slides`."""
