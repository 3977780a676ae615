"""Mirrors app/planning."""
