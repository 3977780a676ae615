"""Tests of :mod:`kb_pipeline.intake.sharepoint`."""
