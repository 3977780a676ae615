"""Tests of :mod:`kb_pipeline.intake.mediawiki.source`."""
