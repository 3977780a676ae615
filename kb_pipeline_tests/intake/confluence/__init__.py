"""Tests of :mod:`kb_pipeline.intake.confluence.source`."""
