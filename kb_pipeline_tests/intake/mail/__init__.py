"""Tests of :mod:`kb_pipeline.intake.mail.source`."""
