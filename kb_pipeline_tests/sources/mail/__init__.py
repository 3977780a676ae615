"""Tests of :mod:`kb_pipeline.sources.mail.source`."""
