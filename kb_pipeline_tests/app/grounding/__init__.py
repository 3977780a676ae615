"""Mirrors app/grounding."""
