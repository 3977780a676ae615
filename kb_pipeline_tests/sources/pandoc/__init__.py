"""Tests of :mod:`kb_pipeline.sources.pandoc.source`."""
